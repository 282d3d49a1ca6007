r"""From windows to what `mark_texts` reads.

A *window* is a small regular expression over bytes: a row of items, each a character, an escape, a set in brackets or
``\b`` (a byte that is no letter, digit or underscore), each once or with ``?``, ``*``, ``+`` or ``{n}`` behind it. Case
of ASCII letters does not count. An item takes what it can get and gives nothing back. In front of and behind a text
stands one zero byte.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tracelens.kernels.windows import BUCKETS, ENDLESS, ESCAPED, Look

_ITEM = re.compile(r"(?P<bytes>\[(?:\\.|[^\]\\])+\]|\\.|[^\\\[?*+{}])(?P<times>[?*+]|\{\d+\})?", re.DOTALL)
_NO_WORD = "[^a-z0-9_]"
_PAIRS = 2
_WIDTH = 4
_FIXED = 6  # items looked at for the rarest four bytes

# How often a byte stands in arguments, roughly, in thousandths; all others count as rare.
_COMMON = {
    " ": 110, '"': 80, "e": 70, "a": 50, "t": 50, "i": 45, "o": 45, "n": 45, "r": 45, "s": 45, "l": 28, "d": 25, "c": 22,
    "u": 20, "m": 18, "p": 18, ":": 30, ",": 25, "0": 20, "1": 15, "2": 15, "-": 12, "_": 12, "h": 20, "g": 14, "f": 12,
    "b": 9, "y": 10, ".": 9, "w": 7, "v": 7, "k": 6, "3": 9, "4": 8, "5": 8, "6": 7, "7": 7, "8": 7, "9": 7, "/": 5,
}  # fmt: skip
# Pairs of letters that stand together more often than by chance, in ten-thousandths.
_COMMON_PAIRS = {
    150: "th he", 110: "in er an", 80: "re on at en nd ti es or te of ed is it al ar st to nt", 50: "ng se ha as ou io le ve "
    "co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur", 30: "ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly "
    "nc et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi "
    "ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt "
    "oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br "
    "bi pt ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf",
}  # fmt: skip


def _often() -> npt.NDArray[np.float64]:
    """float64[256, 256]: how often one byte stands before another."""
    single = np.full(256, 0.0005)
    single[[ord(char) for char in _COMMON]] = np.array(list(_COMMON.values())) / 1000
    often = np.outer(single, single)
    for chance, some in _COMMON_PAIRS.items():
        for pair in some.split():
            often[ord(pair[0]), ord(pair[1])] = chance / 10_000
    return often


_OFTEN = _often()


class Item(NamedTuple):
    """One item of a window.

    Attributes:
        allowed: Its bytes, ascending.
        least: Fewest repetitions.
        most: Most repetitions.
    """

    allowed: bytes
    least: int
    most: int


_ANY = bytes(range(256))


class _Start(NamedTuple):
    """Where a pattern may be suspected: four sets of bytes, and the item that stands at the first of them."""

    sets: tuple[bytes, ...]
    item: int


@cache
def window_items(window: str) -> tuple[Item, ...]:
    r"""The items of a window.

    Raises:
        ValueError: It is no window.

    Example:
        >>> window_items(r"r[mn]+")
        (Item(allowed=b'Rr', least=1, most=1), Item(allowed=b'MNmn', least=1, most=1073741824))
    """
    out: list[Item] = []
    at = 0
    while at < len(window):
        found = _ITEM.match(window, at)
        if found is None:
            raise ValueError(f"no window: {window!r}")
        out.append(Item(_bytes_of(found["bytes"]), *_repetitions(found["times"] or "")))
        at = found.end()
    if not out or out[0].least == 0:
        raise ValueError(f"a window starts with what must be there: {window!r}")
    return tuple(out)


def _repetitions(times: str) -> tuple[int, int]:
    if times.startswith("{"):
        return int(times[1:-1]), int(times[1:-1])
    return {"": (1, 1), "?": (0, 1), "*": (0, ENDLESS), "+": (1, ENDLESS)}[times]


@cache
def _bytes_of(item: str) -> bytes:
    if len(item) == 1 and item != ".":
        return bytes(sorted({ord(item.lower()), ord(item.upper())}))
    if item[0] == "\\" and not item[1].isalnum():
        return item[1].encode("latin1")
    pattern = re.compile(_NO_WORD if item == r"\b" else item, re.IGNORECASE | re.ASCII | re.DOTALL)
    return "".join(pattern.findall(_ANY.decode("latin1"))).encode("latin1")


@cache
def _chance(first: bytes, second: bytes) -> float:
    """How likely a pair of bytes is one of these pairs."""
    return float(_OFTEN[_index(first)[:, None], _index(second)].sum())


@cache
def _index(allowed: bytes) -> npt.NDArray[np.int64]:
    return np.frombuffer(allowed, np.uint8).astype(np.int64)


@cache
def _starts(items: tuple[Item, ...]) -> tuple[_Start, _Start]:
    """The rarest four bytes of a pattern, starting at an even item and at an odd one."""
    fixed: list[bytes] = []
    for item in items:
        if item.least == item.most and len(fixed) + item.most <= _FIXED:
            fixed += [item.allowed] * item.most
            continue
        fixed += [item.allowed] * min(item.least, _FIXED)
        break
    best: dict[int, tuple[float, _Start]] = {}
    around = [_ANY, *fixed, *[_ANY] * (_WIDTH - 1)]
    for at in range(-1, len(fixed)):
        four = tuple(around[at + 1 : at + 1 + _WIDTH])
        chance = _chance(*four[:_PAIRS]) * _chance(*four[_PAIRS:])
        if at % 2 not in best or chance < best[at % 2][0]:
            best[at % 2] = chance, _Start(four, at)
    return best[0][1], best[1][1]


@lru_cache(maxsize=16)
def look_for(windows: tuple[tuple[str, ...], ...]) -> Look:
    """What to look for; made once.

    Args:
        windows: Windows of each group; at most 63 groups.

    Returns:
        Bit g stands for ``windows[g]``.
    """
    patterns = [(group, window_items(window)) for group, some in enumerate(windows) for window in dict.fromkeys(some)]
    starts = [(number, start) for number, (_, items) in enumerate(patterns) for start in _starts(items)]
    bucket = _buckets([start for _, start in starts])
    order = sorted(range(len(starts)), key=lambda i: bucket[i])
    ordered = [starts[i] for i in order]
    sets = {allowed: row for row, allowed in enumerate({item.allowed: 0 for _, items in patterns for item in items})}
    rows = [(sets[item.allowed], item.least, item.most) for _, items in patterns for item in items]
    return Look(
        pairs=_pairs(starts, bucket),
        first=np.searchsorted(np.sort(np.array(bucket, np.int32)), np.arange(BUCKETS + 1)).astype(np.int32),
        checks=np.array(
            [(number, start.item, *_fixed_bits(start.sets)) for number, start in ordered], np.int64
        ).reshape(-1, 4),
        patterns=np.cumsum([0, *(len(items) for _, items in patterns)], dtype=np.int32),
        groups=np.uint64(1) << np.array([group for group, _ in patterns], np.uint64),
        items=np.array(rows, np.int32).reshape(-1, 3),
        sets=_members(sets),
    )


def _members(sets: Iterable[bytes]) -> npt.NDArray[np.uint8]:
    """See `Look.sets`."""
    rows = list(sets)
    out = np.zeros((len(rows), 256), np.uint8)
    for row, allowed in zip(out, rows, strict=True):
        row[_index(allowed)] = 1
    return out


def _fixed_bits(sets: tuple[bytes, ...]) -> tuple[int, int]:
    """Which bits all bytes of each set have in common, and their values; little-endian."""
    masks, values = 0, 0
    for position, allowed in enumerate(sets):
        mask = _common_bits(allowed)
        masks |= mask << 8 * position
        values |= (allowed[0] & mask) << 8 * position
    return masks, values


@cache
def _common_bits(allowed: bytes) -> int:
    if 0 in allowed:  # it may be the byte that only seems to stand around a text
        return 0
    return 0xFF & ~int(np.bitwise_or.reduce(_index(allowed) ^ allowed[0]))


def _buckets(starts: list[_Start]) -> list[int]:
    """A bucket for each start, so that few pairs of bytes look like the start of something in their bucket."""
    chosen: dict[tuple[bytes, ...], int] = {}
    first, second = np.zeros(BUCKETS), np.zeros(BUCKETS)
    holds: defaultdict[tuple[int, tuple[bytes, ...]], npt.NDArray[np.float64]] = defaultdict(lambda: np.ones(BUCKETS))
    chances = {sets: (_chance(*sets[:_PAIRS]), _chance(*sets[_PAIRS:])) for sets, _ in starts}
    for sets, chance in sorted(chances.items(), key=lambda each: -each[1][0] * each[1][1]):
        halves = enumerate((sets[:_PAIRS], sets[_PAIRS:]))
        known = [holds[each] for each in halves]
        more = [new * part for new, part in zip(known, chance, strict=True)]
        best = int(np.argmin((first + more[0]) * (second + more[1]) - first * second))
        first[best] += more[0][best]
        second[best] += more[1][best]
        known[0][best] = known[1][best] = 0.0
        chosen[sets] = best
    return [chosen[start.sets] for start in starts]


def _pairs(starts: list[tuple[int, _Start]], bucket: list[int]) -> npt.NDArray[np.uint64]:
    """See `Look.pairs`."""
    bits: dict[tuple[bytes, ...], int] = {}
    for (_, start), number in zip(starts, bucket, strict=True):
        for half, pair in enumerate((start.sets[:_PAIRS], start.sets[_PAIRS:])):
            bits[pair] = bits.get(pair, 0) | 1 << (number + 32 * half)
    table = np.zeros((256, 256), np.uint64)
    for (one, two), value in bits.items():
        rows = slice(None) if two is _ANY else _index(two)[:, None]
        table[rows, slice(None) if one is _ANY else _index(one)] |= np.uint64(value)
    table[:, ord("\\")] |= np.uint64(1 << ESCAPED)
    table[ord("\\")] |= np.uint64(1 << ESCAPED)
    return table.ravel()
