"""Which arguments are equal under another library's equality: digests of distinct arguments and of their members."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens import columns
from tracelens.arguments import S_INVALID, Arguments
from tracelens.dialects.equality import ASCII_LOWER, by_json
from tracelens.dialects.view import Equality
from tracelens.kernels.digest import EMPTY_TRIE, FREE, Found, Opened
from tracelens.kernels.flavours import (
    BOOLS_ARE_NUMBERS,
    FLOAT_MARK,
    FLOATS_APART,
    KEYS_IN_ORDER,
    TOP_IS_FOLDED,
    TOP_IS_TEXT,
    digest_flavoured,
    finish_flavoured,
    text_words,
)
from tracelens.kernels.shred import Tape, shred
from tracelens.kernels.uppers import uppers
from tracelens.normalise.canonical import TIME_TAG, digest_texts, raw_texts, string_room

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
B1 = npt.NDArray[np.bool_]

FLAVOURS = {
    Equality.PYTHON: BOOLS_ARE_NUMBERS,
    Equality.JSON_TEXT: FLOATS_APART,
    Equality.STR: FLOATS_APART | TOP_IS_TEXT | KEYS_IN_ORDER,
    Equality.PLAIN_TEXT: FLOATS_APART | TOP_IS_TEXT,
    Equality.FOLDED: BOOLS_ARE_NUMBERS | TOP_IS_FOLDED,
}
"""What counts under each equality, see `kernels.flavours`."""

_WITHIN = BOOLS_ARE_NUMBERS | FLOATS_APART | KEYS_IN_ORDER


@dataclass(frozen=True, slots=True)
class Keys:
    """Digests of d distinct arguments.

    Attributes:
        hi: uint64[d]; equal digests of two rows mean equal arguments.
        lo: uint64[d].
        top_first: int64[d], where each row's members stand in ``top``.
        top_count: int64[d], how many it has.
        top: uint64, key hash and digest of each member, by key hash.
    """

    hi: U64
    lo: U64
    top_first: I64
    top_count: I64
    top: U64


def keys_of(arguments: Arguments, equality: Equality) -> Keys:
    """Digest arguments.

    Args:
        arguments: Distinct arguments. Text that is no JSON is equal to itself; other arguments that are no object get
            the digest 0.
        equality: When two are equal.
    """
    flavour = FLAVOURS[equality]
    odd = arguments.duplicate_keys if flavour & KEYS_IN_ORDER else np.zeros(len(arguments), np.bool_)
    keys = _digested(arguments.data, arguments.tape, odd, flavour)
    broken = np.flatnonzero(arguments.state == S_INVALID)
    if broken.size:
        texts = [json.dumps(arguments.text(row).decode()) for row in broken.tolist()]
        keys.hi[broken], keys.lo[broken] = digest_texts(texts)
    return keys


def _digested(data: npt.NDArray[np.uint8], tape: Tape, odd: B1, flavour: int) -> Keys:
    """Digest what the loop decides, then what it left open."""
    found, opened = _room(tape.kind.size, odd.size)
    room = np.empty((2, int(np.diff(tape.first).max(initial=0))), np.int64)
    table = uppers() if flavour & TOP_IS_FOLDED else np.zeros(0, np.int32)
    args = (data, tape, odd, flavour, text_words(), EMPTY_TRIE, table, string_room(tape), room, opened, found)
    count = digest_flavoured(*args)
    if count:
        texts = raw_texts(data, tape, opened.entry[:count]).to_pylist()
        hi, lo = _answers(texts, (opened.rules[:count] > 0).tolist(), flavour)
        finish_flavoured(tape, EMPTY_TRIE, hi, lo, room, flavour & KEYS_IN_ORDER != 0, found)
    return Keys(found.root_hi, found.root_lo, found.top_first, found.top_count, found.top)


def _room(entries: int, n: int) -> tuple[Found, Opened]:
    """What the kernel fills."""

    def column(size: int, dtype: type) -> npt.NDArray[Any]:
        return np.empty(size, dtype)

    i4, i8, u8 = np.int32, np.int64, np.uint64
    found = Found(
        column(entries, i4), column(entries, u8), column(entries, u8), column(entries, i4), column(0, np.uint8),
        column(n, u8), column(n, u8), column(n, i8), column(n, i8), column(3 * entries, u8),
    )  # fmt: skip
    slots = np.full(min(1 << 16, 2 << entries.bit_length()), FREE, i4)
    return found, Opened(slots, *(column(entries, kind) for kind in (i4, i4, u8, u8)))


def _answers(texts: list[str], tops: list[bool], flavour: int) -> tuple[U64, U64]:
    """Digests of open values, by Python's own reading of their texts."""
    answers = [
        _answer(json.loads(text), flavour if top else flavour & _WITHIN) for text, top in zip(texts, tops, strict=True)
    ]
    plain = [answer if isinstance(answer, str) else "null" for answer, _ in answers]
    hi, lo = digest_texts(plain)
    marked = np.array([is_float for _, is_float in answers], np.bool_)
    hi = np.where(marked, hi ^ FLOAT_MARK, hi)
    nested = [row for row, (answer, _) in enumerate(answers) if not isinstance(answer, str)]
    if nested:
        hi[nested], lo[nested] = _containers([json.dumps(answers[row][0]) for row in nested], flavour & _WITHIN)
    return hi, lo


def _answer(value: Any, flavour: int) -> tuple[Any, bool]:
    """A canonical text (JSON, or `TIME_TAG` and a text) of a value, and whether it is a float; containers as they are."""
    if flavour & TOP_IS_TEXT:
        container = _as_container(value, flavour)
        if container is not None:
            return container, False
        value = str(value)
    if isinstance(value, str):
        text = value.strip().upper().translate(ASCII_LOWER) if flavour & TOP_IS_FOLDED else value
        return json.dumps(text), False
    if isinstance(value, float):
        return _float(value, apart=flavour & FLOATS_APART != 0)
    return (value, False) if isinstance(value, dict | list) else (json.dumps(value), False)


def _float(value: float, *, apart: bool) -> tuple[str, bool]:
    """The text of a float: its integer where it may equal one."""
    if value in (float("inf"), float("-inf")):
        return f"{TIME_TAG}{value}", False
    if apart and value == 0 and str(value).startswith("-"):
        return f"{TIME_TAG}-0.0", False
    return (repr(value), True) if apart else (str(int(value)) if value.is_integer() else repr(value), False)


def _as_container(value: Any, flavour: int) -> Any:
    """The object or array whose text the value is; None where it is another value's."""
    if isinstance(value, dict | list):
        return value
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return None
    try:
        if flavour & KEYS_IN_ORDER:
            found = ast.literal_eval(value)
            json.dumps(found)
            return found if isinstance(found, dict | list) and str(found) == value and _is_json(found) else None
        found = json.loads(value)
        return found if by_json(found) == value else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _is_json(value: Any) -> bool:
    """Whether a Python value is one that JSON text may give."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    return (
        all(map(_is_json, value)) if isinstance(value, list) else value is None or isinstance(value, str | int | float)
    )


def _containers(texts: list[str], flavour: int) -> tuple[U64, U64]:
    """Digests of objects and arrays within arguments."""
    packed = columns.texts([f'{{"":{text}}}' for text in texts])
    shredded = shred(packed.data, packed.offsets[:-1], packed.offsets[1:], np.ones(len(texts), np.bool_))
    keys = _digested(packed.data, shredded.tape, np.zeros(len(texts), np.bool_), flavour)
    return keys.top[3 * keys.top_first + 1], keys.top[3 * keys.top_first + 2]
