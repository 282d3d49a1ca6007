"""What formulas ask, answered for all units at once; see `tracelens.dialects.view.View` for what the members mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracelens import columns
from tracelens.dialects.model import Dialect
from tracelens.dialects.view import Equality, ExoticError, Mode, Overrides, Sequence
from tracelens.groups import offsets_of
from tracelens.kernels import meetings
from tracelens.kernels.multiset import SMALL, multiset_scores
from tracelens.kernels.sequence import sequence_scores
from tracelens.run.dialects.lists import Lists
from tracelens.run.dialects.similar import MOST_PAIRS, compare_rows, similarities

B1 = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

BROKEN = "JSONDecodeError: some arguments are no JSON"
"""What a library says that reads them all."""

NO_SCHEMAS = "no schemas"
"""In place of a reason: the suite has no tools, which is no refusal of a library."""

_WORDS = ("false", "true", '"extra"', '"missing"')
_NEITHER, _EXTRA, _MISSING = 0, 2, 3


class LazySequence(Sequence):
    """`Sequence` of many lists, each number computed when it is first asked for."""

    __slots__ = ("_a", "_e", "_lcs", "_meet", "_sizes", "_units")

    def __init__(self, units: I64, a: I32, e: I32) -> None:
        for name, value in (("_units", units), ("_a", a), ("_e", e), ("_lcs", None), ("_meet", None), ("_sizes", None)):
            object.__setattr__(self, name, value)

    def __getattribute__(self, name: str) -> Any:
        """A number by name."""
        group = _NUMBERS.get(name)
        if group is None:
            return object.__getattribute__(self, name)
        table = object.__getattribute__(self, group[0])
        if table is None:
            table = _COMPUTED[group[0]](
                object.__getattribute__(self, "_units"),
                object.__getattribute__(self, "_a"),
                object.__getattribute__(self, "_e"),
            )
            object.__setattr__(self, group[0], table)
        return table[:, group[1]]


def _met(units: I64, a: I32, e: I32) -> I64:
    """The numbers of `meetings.meet`."""
    out = np.empty((units.shape[0], 5), np.int64)
    size = 1 + max(int(a.max(initial=-1)), int(e.max(initial=-1)))
    meetings.meet(units, a, e, np.zeros(size, np.int64), out)
    return out


_NUMBERS = {
    "n": ("_units", 1),
    "m": ("_units", 3),
    "prefix": ("_meet", 0),
    "same": ("_meet", 1),
    "followed": ("_meet", 2),
    "known_a": ("_meet", 3),
    "known_e": ("_meet", 4),
    "lcs": ("_lcs", 2),
    "distinct_a": ("_sizes", 0),
    "distinct_e": ("_sizes", 1),
    "both": ("_sizes", 2),
    "overlap": ("_sizes", 3),
}
_COMPUTED = {
    "_meet": _met,
    "_lcs": sequence_scores,
    "_sizes": lambda units, a, e: multiset_scores(units, a, e, SMALL),
}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A list of verdicts for each unit.

    Attributes:
        offsets: int64[units + 1].
        word: uint8, place in false, true, "extra", "missing".
    """

    offsets: I64
    word: npt.NDArray[np.uint8]

    def texts(self) -> pa.Array:
        """Each list as JSON text."""
        words = pa.DictionaryArray.from_arrays(pa.array(self.word.astype(np.int8)), pa.array(_WORDS, pa.string()))
        lists = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), words.dictionary_decode())
        ends = [pa.scalar(each, pa.string()) for each in ("[", "]", "")]
        return pc.binary_join_element_wise(ends[0], pc.binary_join(lists, ", "), ends[1], ends[2]).cast(columns.TEXT)


class BulkView:
    """Many pairs of lists of calls.

    Attributes:
        reasons: Why the library refuses, by code.
        refused: int32[units], code of the reason, -1 for none.
        looked: Whether arguments were looked at.
        compared: Whether expected ones were.
        doubtful: bool[units], those that the reference has to look at: what it compares is no object.
    """

    def __init__(self, lists: Lists, dialect: Dialect, schema_errors: I64 | None) -> None:
        self._lists, self._dialect, self._schema_errors = lists, dialect, schema_errors
        self.reasons: list[str] = []
        self.refused = np.full(lists.units.shape[0], -1, np.int32)
        self.looked = self.compared = False
        self.doubtful = np.zeros(lists.units.shape[0], np.bool_)

    def _with(self, lists: Lists) -> BulkView:
        """The same over other lists, with the same refusals."""
        view = BulkView(lists, self._dialect, self._schema_errors)
        view.reasons, view.refused, view.doubtful = self.reasons, self.refused, self.doubtful
        view.__dict__["_parent"] = self
        return view

    def _look(self, equality: Equality | None = None, *, compare: bool = True) -> Lists:
        """The lists, for somebody who looks at arguments, or compares them with expected ones."""
        view: BulkView | None = self
        while view is not None:
            view.looked, view.compared = True, view.compared or compare
            view = view.__dict__.get("_parent")
        lists = self._lists
        if self._dialect.reading.text == "keeps" and equality is not Equality.FOLDED:
            self.doubtful |= lists.with_text
        return lists

    @property
    def n(self) -> I64:
        """Actual calls."""
        return self._lists.n

    @property
    def m(self) -> I64:
        """Expected calls."""
        return self._lists.m

    @cached_property
    def names(self) -> Sequence:
        """The names compared."""
        lists = self._lists
        if "names" not in lists.shared:
            lists.shared["names"] = LazySequence(lists.units, lists.a.name, lists.e.name)
        return lists.shared["names"]  # type: ignore[return-value]  # each key has its own kind of value

    def calls(self, equality: Equality, *, last_given: bool = False) -> Sequence:
        """The calls compared."""
        lists, reading = self._look(equality), self._dialect.reading
        key = ("calls", equality, last_given, reading.missing, reading.null)
        if key not in lists.shared:
            a, e = lists.call_codes(equality, reading)
            lists.shared[key] = LazySequence(*((lists.units, a, e) if not last_given else self._last_given(a, e)))
        return lists.shared[key]  # type: ignore[return-value]  # as above

    def _last_given(self, a: I32, e: I32) -> tuple[I64, I32, I32]:
        """Codes where each expected call is taken for the last one of its name in its unit."""
        lists = self._lists
        out = np.empty(int(lists.m.sum()), np.int32)
        scratch = np.empty(len(lists.names) + 1, np.int32)
        meetings.take_last(lists.units[:, 2].copy(), lists.m.copy(), lists.e.name, e, scratch, out)
        units = lists.units.copy()
        units[:, 2] = offsets_of(lists.m)[:-1]
        return units, a, out

    def best_unused(self, equality: Equality) -> tuple[I64, I64]:
        """Exact and name-only pairs."""
        lists = self._look()
        a, e = lists.call_codes(equality, self._dialect.reading)
        size = 1 + max(int(a.max(initial=-1)), int(e.max(initial=-1)))
        out = np.empty((lists.units.shape[0], 2), np.int64)
        links = np.empty((3, int(lists.m.max(initial=0))), np.int64)
        heads = np.full(len(lists.names) + 1, -1, np.int64), np.full(size, -1, np.int64)
        meetings.credit_best(lists.units, lists.a.name, a, lists.e.name, e, *heads, links, out)
        return out[:, 0], out[:, 1]

    def agreeing(self, equality: Equality, mode: Mode, overrides: Overrides = None) -> I64:
        """Positions that agree."""
        if overrides:
            raise ExoticError
        if mode == "exact":
            return np.asarray(self.calls(equality).same)
        if mode == "ignore":
            return np.asarray(self.names.same)
        unit, made, wanted = self._positions()
        equal = self._compared(equality, made, wanted)
        keys, lists = self._lists.keys(equality), self._lists
        part = lists.a.row[made] if mode == "subset" else lists.e.row[wanted]
        return _added(equal == keys.top_count[part], unit, self.n.size)

    def fitted(
        self,
        equality: Equality,
        mode: Mode,
        overrides: Overrides = None,
        *,
        of: str = "expected",
        swapped: bool = False,
    ) -> I64:
        """Calls of one side that find a partner."""
        if overrides:
            raise ExoticError
        if mode == "exact":
            return np.asarray(self.calls(equality).overlap)
        if mode == "ignore":
            return np.asarray(self.names.overlap)
        # of the actual side's arguments, seen from the side that seeks
        made_within = (mode == "subset") != swapped
        seeker_within = made_within == (of == "actual")
        offsets, found = self._first_fits(equality, of, within=seeker_within, use_up=True)
        return self.reached(Verdicts(offsets, found.view(np.uint8)))

    def _first_fits(self, equality: Equality, of: str, *, within: bool, use_up: bool) -> tuple[I64, B1]:
        """Whether each call of a side finds one of the other, one unit after the other."""
        lists, keys = self._look(), self._lists.keys(equality)
        seekers, others = (lists.e, lists.a) if of == "expected" else (lists.a, lists.e)
        units = lists.units[:, [2, 3, 0, 1]] if of == "expected" else lists.units
        units = np.ascontiguousarray(units)
        offsets = offsets_of(units[:, 1])
        found = np.zeros(int(offsets[-1]), np.bool_)
        meetings.fit_first(
            units,
            seekers.name,
            seekers.row,
            others.name,
            others.row,
            meetings.SUBSET if within else meetings.SUPERSET,
            use_up,
            keys.top_first,
            keys.top_count,
            keys.top,
            np.full(len(lists.names) + 1, -1, np.int64),
            np.empty((2, int(units[:, 3].max(initial=0))), np.int64),
            found,
        )
        return offsets, found

    def found(self, equality: Equality, keys: Any = None) -> Verdicts:
        """Whether each expected call was made."""
        if keys is not None and len(keys):
            raise ExoticError
        if keys is not None:
            return self._named()
        offsets, found = self._first_fits(equality, "expected", within=False, use_up=False)
        return Verdicts(offsets, found.view(np.uint8))

    def _named(self) -> Verdicts:
        """Whether some call has the name of each expected one."""
        lists = self._lists
        offsets, size = offsets_of(lists.m), len(lists.names) + 1
        unit = np.repeat(np.arange(lists.m.size), lists.m)
        at = np.arange(int(offsets[-1])) - offsets[unit] + lists.units[unit, 2]
        of_a = np.repeat(np.arange(lists.n.size), lists.n)
        rows = np.arange(int(lists.n.sum())) - offsets_of(lists.n)[of_a] + lists.units[of_a, 0]
        made = np.unique(of_a * size + lists.a.name[rows])
        return Verdicts(offsets, np.isin(unit * size + lists.e.name[at], made).view(np.uint8))

    def reached(self, found: Verdicts) -> I64:
        """How many were found."""
        before = offsets_of((found.word == 1).astype(np.int64))
        return before[found.offsets[1:]] - before[found.offsets[:-1]]

    def _positions(self) -> tuple[I64, I64, I64]:
        """Unit, actual and expected call of every position where both have one name."""
        lists = self._lists
        size = np.minimum(lists.n, lists.m)
        unit = np.repeat(np.arange(size.size), size)
        at = np.arange(unit.size) - offsets_of(size)[unit]
        made, wanted = lists.units[unit, 0] + at, lists.units[unit, 2] + at
        alike = lists.a.name[made] == lists.e.name[wanted]
        return unit[alike], made[alike], wanted[alike]

    def _compared(self, equality: Equality, made: I64, wanted: I64) -> I64:
        """Number of arguments that are equal on both sides of pairs of calls."""
        lists = self._look()
        return compare_rows(lists.keys(equality), lists.a.row[made], lists.e.row[wanted])[:, 0]

    def matched_arguments(self, equality: Equality) -> F64:
        """Shares of equal expected arguments, added up over positions."""
        unit, made, wanted = self._positions()
        lists, keys = self._lists, self._lists.keys(equality)
        equal = self._compared(equality, made, wanted)
        given, asked = keys.top_count[lists.a.row[made]], keys.top_count[lists.e.row[wanted]]
        shares = np.divide(equal, asked, out=(given == 0).astype(np.float64), where=asked > 0)
        return np.bincount(unit, shares, self.n.size).astype(np.float64, copy=False)

    def unlike_calls(self, equality: Equality) -> I64:
        """Overlap of names without repeated calls."""
        lists = self._look(compare=False)
        code, _ = lists.call_codes(equality, self._dialect.reading)
        first = np.empty(int(lists.n.sum()), np.bool_)
        seen = np.zeros(1 + int(code.max(initial=-1)), np.int64)
        meetings.mark_first(lists.units[:, 0].copy(), lists.n.copy(), code, seen, first)
        unit = np.repeat(np.arange(lists.n.size), lists.n)
        rows = np.arange(unit.size) - offsets_of(lists.n)[unit] + lists.units[unit, 0]
        units = lists.units.copy()
        units[:, 1] = np.bincount(unit[first], minlength=lists.n.size)
        units[:, 0] = offsets_of(units[:, 1])[:-1]
        return np.asarray(multiset_scores(units, lists.a.name[rows[first]], lists.e.name, SMALL)[:, 3])

    def first_expected(self, equality: Equality, mode: Mode, occurrence: str | int) -> B1:
        """Whether a call of the first expected tool has its arguments."""
        if occurrence not in ("first", "last"):
            raise ExoticError
        lists, keys = self._lists, self._lists.keys(equality)
        self.doubtful |= lists.with_null | lists.some(lists.e.text, "e")
        unit = np.flatnonzero(lists.m > 0)
        wanted = lists.units[unit, 2]
        made = np.empty(unit.size, np.int64)
        meetings.find_named(
            lists.units[unit, 0], lists.n[unit], lists.a.name, lists.e.name[wanted], occurrence == "last", made
        )
        some = made >= 0
        equal = self._compared(equality, made[some], wanted[some])
        good = (equal == keys.top_count[lists.e.row[wanted[some]]]) & lists.are_objects[lists.a.row[made[some]]]
        if self._dialect.reading.missing == "fails":
            good &= lists.a.form[made[some]] != columns.ABSENT
        if mode == "exact":
            good &= equal == keys.top_count[lists.a.row[made[some]]]
        out = np.zeros(lists.m.size, np.bool_)
        out[unit[some]] = good
        return out

    def called(self, tool: str) -> B1:
        """Whether a tool was called."""
        code = self._lists.names.index(tool) if tool in self._lists.names else -1
        return self._lists.some(self._lists.a.name == code, "a")

    def positions(self, equality: Equality) -> Verdicts:
        """Verdicts by position."""
        lists = self._look(equality)
        a, e = lists.call_codes(equality, self._dialect.reading)
        longer = np.maximum(lists.n, lists.m)
        unit = np.repeat(np.arange(longer.size), longer)
        at = np.arange(unit.size) - offsets_of(longer)[unit]
        extra, missing = at >= lists.m[unit], at >= lists.n[unit]
        made = np.where(missing, 0, lists.units[unit, 0] + at)
        wanted = np.where(extra, 0, lists.units[unit, 2] + at)
        both = ~extra & ~missing
        equal = np.zeros(unit.size, np.uint8)
        equal[both] = a[made[both]] == e[wanted[both]]
        return Verdicts(
            offsets_of(longer), np.where(extra, _EXTRA, np.where(missing, _MISSING, equal)).astype(np.uint8)
        )

    def read_met(self) -> None:
        """Leave units where something that is no object meets a call of its name to the reference."""
        unit, made, wanted = self._positions()
        lists = self._lists
        odd = np.zeros(unit.size, np.bool_)
        for side, rows in ((lists.a, made), (lists.e, wanted)):
            odd |= side.text[rows] | (side.form[rows] == columns.NULL) | ~lists.are_objects[side.row[rows]]
        self.doubtful |= _added(odd, unit, self.n.size) > 0

    @property
    def all_given(self) -> B1:
        """Whether every expected call has arguments."""
        return ~self._lists.some(self._lists.e.form <= columns.NULL, "e")

    @property
    def last_odd(self) -> None:
        """None; the reference looks at the units that have some."""
        lists = self._lists
        self.doubtful |= lists.some(lists.e.text | (lists.e.form == columns.NULL), "e")

    @property
    def odd(self) -> tuple[list[Any], list[Any]]:
        """None; the reference looks at the units that have some."""
        lists = self._lists
        self.doubtful |= lists.unreadable | lists.broken | lists.some(lists.e.text, "e")
        return [], []

    def schema_errors(self, schemas: Mapping[str, Any] | None) -> I64:
        """Errors of the suite's schemas."""
        if schemas is not None:
            raise ExoticError
        if self._schema_errors is None:
            self.refuse(np.ones(self.n.size, np.bool_), NO_SCHEMAS)
            return np.zeros(self.n.size, np.int64)
        return self._schema_errors

    def without_failed(self) -> BulkView:
        """The same without failed calls."""
        lists = self._lists
        if not lists.a.failed.any():
            return self
        if "without_failed" not in lists.shared:
            lists.shared["without_failed"] = lists.without(lists.a.failed)
        return self._with(lists.shared["without_failed"])  # type: ignore[arg-type]  # as above

    def with_trimmed_names(self) -> BulkView:
        """The same with names that are trimmed."""
        trimmed = self._lists.trimmed()
        if trimmed is self._lists:
            return self
        loose = np.array([name != name.strip() for name in self._lists.names], np.bool_)
        self.doubtful |= self._lists.some(loose[self._lists.e.name], "e")
        return self._with(trimmed)

    def in_text_order(self) -> BulkView:
        """Not for all at once."""
        raise ExoticError

    def similarity(self, *, ordered: bool, inputs: bool, outputs: bool) -> F64:
        """Similarities of pairs added up."""
        lists = self._look()
        if outputs or not inputs or int((lists.n * lists.m).sum()) > MOST_PAIRS:
            raise ExoticError
        # where some call has no arguments at all, the library may refuse
        blank = lists.either(lists.a.form <= columns.NULL, lists.e.form <= columns.NULL)
        self.doubtful |= blank | lists.unreadable
        code, _ = lists.call_codes(Equality.PYTHON, self._dialect.reading)
        return similarities(lists, code, ordered=ordered)

    @property
    def same_outputs(self) -> B1:
        """Not for all at once."""
        raise ExoticError

    def read_all(self, *, expected: bool = True) -> None:  # noqa: ARG002 - expected arguments are always objects here
        """Refuse units with arguments that are no JSON, and leave those with others that are no object to the reference."""
        reading = self._dialect.reading
        if reading.text == "parses" and reading.broken == "refuses":
            self.refuse(self._lists.broken, reading.broken_complaint or BROKEN)
        self.doubtful |= self._lists.unreadable

    def refuse(self, when: Any, reason: str) -> None:
        """Mark units that the library refuses; the first reason counts, and the reference says it of doubtful ones."""
        when = np.broadcast_to(np.asarray(when, np.bool_), self.refused.shape) & ~self.doubtful
        if when.any():
            self.refused[when & (self.refused < 0)] = len(self.reasons)
            self.reasons.append(reason)


def _added(values: npt.NDArray[Any], unit: I64, n: int) -> I64:
    """Sums by unit."""
    return np.bincount(unit, values, n).astype(np.int64)
