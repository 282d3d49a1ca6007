"""What dialects compare in a batch: the calls of every trace and of the reference that counted for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tracelens import columns
from tracelens.arguments import S_EMPTY, S_INVALID, S_NOT_CAPTURED, S_NOT_OBJECT, S_TEXT, S_TRUNCATED, Arguments
from tracelens.columns import PADDING
from tracelens.dialects.reading import Reading
from tracelens.dialects.view import Equality
from tracelens.groups import offsets_of
from tracelens.kernels.distinct import FREE, enter_texts
from tracelens.run.dialects.keys import Keys, keys_of
from tracelens.run.relations import with_matchers

KINDS = {"none": 0, "null": 1, "apart": 2, "fails": 3}
"""Number of what a call without arguments is taken for, see `Reading.missing`."""

B1 = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Side:
    """The calls of one side, row by row.

    Attributes:
        name: int32[n], codes of their names, never negative.
        row: int64[n], where their arguments stand.
        form: uint8[n], how the source held these; null only where that is the sender's choice, else absent.
        text: bool[n], whether these are text: by the sender's choice, or because they are no JSON.
        malformed: bool[n].
        failed: bool[n], whether the call ended in an error.
    """

    name: I32
    row: I64
    form: npt.NDArray[np.uint8]
    text: B1
    malformed: B1
    failed: B1

    def of(self, rows: npt.NDArray[np.integer] | B1) -> Side:
        """Some of them."""
        return Side(*(getattr(self, each)[rows] for each in Side.__slots__))


@dataclass(frozen=True)
class Lists:
    """Both sides of all units.

    Attributes:
        names: The text of each name code.
        arguments: Distinct arguments.
        a: Actual calls.
        e: Expected calls.
        units: int64[units, 4], first actual call, how many, first expected call, how many.
        shared: Keys and codes that were asked for before.
    """

    names: Sequence[str]
    arguments: Arguments
    a: Side
    e: Side
    units: I64
    shared: dict[object, object] = field(default_factory=dict)

    @property
    def n(self) -> I64:
        """int64[units], actual calls."""
        return self.units[:, 1]

    @property
    def m(self) -> I64:
        """int64[units], expected calls."""
        return self.units[:, 3]

    def some(self, mask: B1, side: str) -> B1:
        """bool[units]: whether some call of a unit is marked.

        Args:
            mask: bool, by call of the side.
            side: ``a`` or ``e``.
        """
        before = offsets_of(mask.astype(np.int64))
        first, count = (self.units[:, 0], self.n) if side == "a" else (self.units[:, 2], self.m)
        return np.asarray(before[first + count] > before[first], np.bool_)

    def either(self, a: B1, e: B1) -> B1:
        """bool[units]: whether some call of either side is marked."""
        return self.some(a, "a") | self.some(e, "e")

    @cached_property
    def malformed(self) -> B1:
        """bool[units]: those with an actual call that has no name."""
        return self.some(self.a.malformed, "a")

    @cached_property
    def with_text(self) -> B1:
        """bool[units]: those with arguments that are text."""
        return self.either(self.a.text, self.e.text)

    @cached_property
    def with_null(self) -> B1:
        """bool[units]: those with arguments that are null."""
        return self.either(self.a.form == columns.NULL, self.e.form == columns.NULL)

    @cached_property
    def unreadable(self) -> B1:
        """bool[units]: those with arguments that are no object, yet no broken JSON to Python, or text that was changed."""
        odd = np.isin(self.arguments.state, (S_NOT_OBJECT, S_TEXT)) | self._loose
        other = self.arguments.begin != self.arguments.sent
        return self.either(*(odd[side.row] | (side.text & other[side.row]) for side in (self.a, self.e)))

    def with_member(self, keys: Sequence[str]) -> B1:
        """bool[units]: those with an actual call whose arguments have a value at a path of keys."""
        has = rows_with_member(self.arguments, keys)
        return self.some(has[self.a.row], "a")

    @cached_property
    def are_objects(self) -> B1:
        """bool[rows]: arguments that are objects, or none at all."""
        return np.asarray(self.arguments.state <= S_EMPTY, np.bool_)

    @cached_property
    def broken(self) -> B1:
        """bool[units]: those with arguments that are no JSON."""
        bad = (self.arguments.state == S_INVALID) & ~self._loose
        return self.either(bad[self.a.row], bad[self.e.row])

    @cached_property
    def with_matchers(self) -> B1:
        """bool[units]: those with expected arguments that hold a matcher."""
        return self.some(with_matchers(self.arguments)[self.e.row], "e")

    @cached_property
    def _loose(self) -> B1:
        """bool[rows]: text that is no JSON but that Python reads, such as NaN."""
        loose = np.zeros(len(self.arguments), np.bool_)
        for row in np.flatnonzero(self.arguments.state == S_INVALID).tolist():
            loose[row] = _python_reads(self.arguments.text(row))
        return loose

    @cached_property
    def uncaptured(self) -> B1:
        """bool[units]: those with an actual call whose arguments nobody knows."""
        return self.some(np.isin(self.arguments.state, (S_NOT_CAPTURED, S_TRUNCATED))[self.a.row], "a")

    def keys(self, equality: Equality) -> Keys:
        """Digests of the distinct arguments."""
        if equality not in self.shared:
            self.shared[equality] = keys_of(self.arguments, equality)
        found = self.shared[equality]
        assert isinstance(found, Keys)  # noqa: S101 - for mypy: each kind of key has its own kind of value
        return found

    def call_codes(self, equality: Equality, reading: Reading) -> tuple[I32, I32]:
        """Codes of the calls of both sides, by name and arguments.

        Args:
            equality: When arguments are equal.
            reading: What calls without arguments, and with null, are taken for.
        """
        kinds = KINDS[reading.missing], KINDS["null" if reading.null == "keeps" else "none"]
        key = (equality, kinds)
        if key not in self.shared:
            keys = self.keys(equality)
            kind = np.zeros(256, np.int64)
            kind[[columns.ABSENT, columns.NULL]] = kinds
            pairs = [(side.name, side.row, kind[side.form]) for side in (self.a, self.e)]
            name, row, blank = (np.concatenate(each) for each in zip(*pairs, strict=True))
            salt = name.astype(np.int64) * len(KINDS) + blank
            codes = _numbered(np.stack([keys.hi[row], keys.lo[row]], axis=1), salt)
            self.shared[key] = codes[: self.a.name.size], codes[self.a.name.size :]
        return self.shared[key]  # type: ignore[return-value]  # as above

    def trimmed(self) -> Lists:
        """The same with names that are trimmed."""
        if "trimmed" not in self.shared:
            codes: dict[str, int] = {}
            short = np.array([codes.setdefault(name.strip(), len(codes)) for name in self.names], np.int32)
            a, e = (replace(side, name=short[side.name]) for side in (self.a, self.e))
            same = len(codes) == len(self.names)
            keys: dict[object, object] = {key: value for key, value in self.shared.items() if isinstance(key, Equality)}
            self.shared["trimmed"] = self if same else replace(self, names=list(codes), a=a, e=e, shared=keys)
        return self.shared["trimmed"]  # type: ignore[return-value]  # as above

    def without(self, left_out: B1) -> Lists:
        """The same without some actual calls."""
        before = offsets_of((~left_out).astype(np.int64))
        units = self.units.copy()
        units[:, 0] = before[self.units[:, 0]]
        units[:, 1] = before[self.units[:, 0] + self.n] - units[:, 0]
        keys: dict[object, object] = {key: value for key, value in self.shared.items() if isinstance(key, Equality)}
        return replace(self, a=self.a.of(~left_out), units=units, shared=keys)


def _python_reads(text: bytes) -> bool:
    """Whether `json.loads` reads the text."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def rows_with_member(arguments: Arguments, keys: Sequence[str]) -> B1:
    """bool[rows]: arguments that have a value at a path of keys."""
    tape, data = arguments.tape, arguments.data
    at = tape.first[:-1][tape.first[1:] > tape.first[:-1]]
    for key in keys:
        name = np.frombuffer(key.encode(), np.uint8)
        inside = np.zeros(tape.kind.size, np.bool_)
        inside[at] = True
        size = tape.key_end - tape.key_start
        at = np.flatnonzero((tape.parent >= 0) & (size == name.size))
        at = at[inside[tape.parent[at]]]
        spelled = data[tape.key_start[at][:, None] + np.arange(name.size)]
        at = at[(spelled == name).all(axis=1)]
    out = np.zeros(len(arguments), np.bool_)
    out[np.searchsorted(tape.first, at, side="right") - 1] = True
    return out


def _numbered(digests: npt.NDArray[np.uint64], salt: I64) -> I32:
    """int32[n]: equal numbers for equal digests and salts, in the order of their first appearance."""
    n = salt.size
    size = digests.shape[1] * 8
    data = np.zeros(n * size + PADDING, np.uint8)
    data[: n * size] = digests.view(np.uint8).ravel()
    table = np.full(1 << max(4, (2 * n).bit_length()), FREE, np.int32)
    kept, offsets = np.empty(n * size + PADDING, np.uint8), np.zeros(n + 1, np.int64)
    row = np.empty(n, np.int64)
    enter_texts(
        data, np.arange(n + 1) * size, salt, table, kept, offsets, np.empty(n, np.int64), np.empty(n, np.uint64), 0, row
    )
    return row.astype(np.int32)
