"""Pairs of calls that matchers and tolerances decide, each distinct pair of texts once, by the plain-Python rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tracelens.arguments import S_EMPTY, S_INVALID, S_NOT_OBJECT, S_OBJECT, S_TEXT, Arguments
from tracelens.kernels.digest import with_lone_member
from tracelens.kernels.hash import hash_key
from tracelens.kernels.reference.matchers import MATCHERS
from tracelens.kernels.reference.normal import Rules
from tracelens.kernels.reference.relation import agreement, exact
from tracelens.kernels.reference.values import Value, parse
from tracelens.kernels.relate import related_pairs

I64 = npt.NDArray[np.int64]
UNIT = 1_000_000_000

_MATCHER_HASHES = np.array([hash_key(name.encode()) for name in MATCHERS], np.uint64)


@dataclass(frozen=True, slots=True)
class Related:
    """What was decided, sorted by actual and then expected call, each pair once.

    Attributes:
        actual: int64[k], row of the actual call.
        expected: int64[k], row of the expected call.
        exact: bool[k], whether the arguments match.
        agreement: int64[k], how far they agree, in 1e-9.
    """

    actual: I64
    expected: I64
    exact: npt.NDArray[np.bool_]
    agreement: I64


@dataclass(frozen=True, slots=True)
class Side:
    """Some calls of one side.

    Attributes:
        code: int32[n], name codes.
        tool: int64[n], tool numbers of the rules.
        arguments: All distinct arguments.
        rows: int64[n], where those of these calls stand.
    """

    code: npt.NDArray[np.int32]
    tool: I64
    arguments: Arguments
    rows: I64

    def state(self, i: int) -> int:
        """State of the arguments of call i."""
        return int(self.arguments.state[self.rows[i]])

    def text(self, i: int) -> bytes:
        """Text of the arguments of call i."""
        return self.arguments.text(int(self.rows[i]))


def with_matchers(arguments: Arguments) -> npt.NDArray[np.bool_]:
    """bool[n]: expected calls whose arguments hold something that looks like a matcher."""
    found = np.zeros(len(arguments), np.bool_)
    with_lone_member(arguments.tape, _MATCHER_HASHES, found)
    return found


def relate(
    units: tuple[I64, I64, I64, I64],
    actual: Side,
    expected: Side,
    accepts_any: npt.NDArray[np.bool_],
    rules: tuple[Rules, ...],
    has_tolerance: npt.NDArray[np.bool_],
) -> Related:
    """Decide all pairs that need more than digests.

    Args:
        units: First and number of actual calls, first and number of expected ones, by unit.
        actual: The actual calls.
        expected: The expected calls.
        accepts_any: bool, expected calls without arguments.
        rules: The rules by tool number; the last are for every other tool.
        has_tolerance: bool by tool number.

    Returns:
        The decided pairs.
    """
    a_related = has_tolerance[actual.tool]
    e_related = with_matchers(expected.arguments)[expected.rows] | accepts_any | has_tolerance[expected.tool]
    if not e_related.any() and not a_related.any():
        none = np.zeros(0, np.int64)
        return Related(none, none, np.zeros(0, np.bool_), none)
    a_row, e_row = _pairs(units, actual, expected, a_related, e_related)
    values = _Values(actual, expected, accepts_any, rules)
    decided = [values.decide(int(i), int(j)) for i, j in zip(a_row, e_row, strict=True)]
    return Related(
        a_row,
        e_row,
        np.array([equal for equal, _ in decided], np.bool_),
        np.array([agreed for _, agreed in decided], np.int64),
    )


def _pairs(
    units: tuple[I64, I64, I64, I64],
    actual: Side,
    expected: Side,
    a_related: npt.NDArray[np.bool_],
    e_related: npt.NDArray[np.bool_],
) -> tuple[I64, I64]:
    """The pairs to decide, sorted, each once."""
    room = 1024
    while True:
        a_row, e_row = np.empty(room, np.int64), np.empty(room, np.int64)
        n = related_pairs(*units, actual.code, expected.code, a_related, e_related, a_row, e_row)
        if n <= room:
            break
        room = n
    pairs = np.unique(np.stack([a_row[:n], e_row[:n]], axis=1), axis=0)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


class _Values:
    """Parsed arguments and decisions, each kept for the batch."""

    def __init__(
        self, actual: Side, expected: Side, accepts_any: npt.NDArray[np.bool_], rules: tuple[Rules, ...]
    ) -> None:
        self._actual, self._expected = actual, expected
        self._any, self._rules = accepts_any, rules
        self._parsed: dict[bytes, Value] = {}
        self._decided: dict[tuple[int, bytes, bytes], tuple[bool, int]] = {}

    def decide(self, i: int, j: int) -> tuple[bool, int]:
        """Whether actual call i matches expected call j, and their agreement in 1e-9."""
        state = self._actual.state(i)
        if state in {S_INVALID, S_NOT_OBJECT}:
            return False, 0
        if self._any[j]:
            return state in {S_OBJECT, S_EMPTY, S_TEXT}, UNIT
        if state not in {S_OBJECT, S_EMPTY}:
            return False, 0
        key = (int(self._expected.tool[j]), self._actual.text(i), self._expected.text(j))
        if key not in self._decided:
            rules, left, right = self._rules[key[0]], self._value(key[1]), self._value(key[2])
            self._decided[key] = exact(left, right, rules), round(agreement(left, right, rules) * UNIT)
        return self._decided[key]

    def _value(self, text: bytes) -> Value:
        if text not in self._parsed:
            self._parsed[text] = parse(text.decode())
        return self._parsed[text]
