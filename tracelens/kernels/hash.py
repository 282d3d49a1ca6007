"""A keyed 128-bit digest of bytes: two independent 64-bit lanes over eight-byte words.

Each lane's step is a bijection of the word for a given state (multiply by an odd constant, rotate, multiply), so
two texts collide only by chance: one in 2^128 for the pair. Not meant to resist an attacker who chooses both texts.
"""

from __future__ import annotations

import numpy as np

from tracelens.kernels.words import PADDING, inlined, load8

A1 = np.uint64(0x9E3779B185EBCA87)
A2 = np.uint64(0xC2B2AE3D27D4EB4F)
B1 = np.uint64(0xD6E8FEB86659FD93)
B2 = np.uint64(0xA0761D6478BD642F)
SEED_A = np.uint64(0x27D4EB2F165667C5)
SEED_B = np.uint64(0x8EBC6AF09C88C6E3)
F1 = np.uint64(0xFF51AFD7ED558CCD)
F2 = np.uint64(0xC4CEB9FE1A85EC53)


@inlined
def step_a(state: np.uint64, word: np.uint64) -> np.uint64:
    """The first lane's state after one more word."""
    state += word * A2
    return ((state << np.uint64(31)) | (state >> np.uint64(33))) * A1


@inlined
def step_b(state: np.uint64, word: np.uint64) -> np.uint64:
    """The second lane's state after one more word."""
    state ^= word * B2
    return ((state << np.uint64(29)) | (state >> np.uint64(35))) * B1 + SEED_A


@inlined
def finish(state: np.uint64) -> np.uint64:
    """Spread every bit of a lane over all of its bits."""
    state ^= state >> np.uint64(33)
    state *= F1
    state ^= state >> np.uint64(33)
    state *= F2
    return state ^ (state >> np.uint64(33))


@inlined
def tail_word(buf: np.ndarray, i: int, left: int) -> np.uint64:
    """The last ``left`` (0 to 7) bytes at ``i`` as a word with zeros above them."""
    return load8(buf, i) & ((np.uint64(1) << np.uint64(8 * left)) - np.uint64(1))


@inlined
def hash_bytes(buf: np.ndarray, start: int, end: int, seed: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The 128-bit digest ``(hi, lo)`` of ``buf[start:end]`` under a seed; the buffer is padded."""
    a = SEED_A ^ seed
    b = SEED_B + seed
    i = start
    while i + 8 <= end:
        word = load8(buf, i)
        a = step_a(a, word)
        b = step_b(b, word)
        i += 8
    word = tail_word(buf, i, end - i)
    length = np.uint64(end - start)
    return finish(step_a(step_a(a, word), length)), finish(step_b(step_b(b, word), length))


@inlined
def hash_key_bytes(buf: np.ndarray, start: int, end: int) -> np.uint64:
    """The 64-bit hash of a key: one lane, for look-ups that compare the bytes afterwards."""
    a = SEED_A
    i = start
    while i + 8 <= end:
        a = step_a(a, load8(buf, i))
        i += 8
    return finish(step_a(step_a(a, tail_word(buf, i, end - i)), np.uint64(end - start)))


def hash_key(key: bytes) -> np.uint64:
    """`hash_key_bytes` of a Python byte string.

    Example:
        >>> bool(hash_key(b"date") == hash_key(b"date")), bool(hash_key(b"date") == hash_key(b"data"))
        (True, False)
    """
    buf = np.zeros(len(key) + PADDING, dtype=np.uint8)
    buf[: len(key)] = np.frombuffer(key, dtype=np.uint8)
    return np.uint64(hash_key_bytes(buf, 0, len(key)))
