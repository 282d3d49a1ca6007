"""What a run adds up over its batches, in the order of the input."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tracelens.columns import Before, Remark
from tracelens.errors import counted
from tracelens.kernels.hash import SEED_A, SEED_B
from tracelens.kernels.seen import chain
from tracelens.run.expected import CaseIndex
from tracelens.version import __version__

MASKED = "-masked"
"""End of the digest of an input of which secrets were masked before it was scored: it gives another run."""


@dataclass(slots=True)
class Tally:
    """Counts and digests of the batches so far.

    Attributes:
        cases: The suite's cases.
        n_records: Records seen.
        n_traces: Traces scored.
        n_calls: Recorded calls of those.
        n_merged: Records equal to an earlier one of the same trace.
        n_left_out: Traces that were not selected.
        n_blank: Blank records.
        n_rejects: Records that could not be read.
        notes: Remarks, once each, in order.
        first_reject: The first reject, as a sentence.
        selection: What was selected, as JSON text; None: everything.
        masked: Whether something that counts was masked, as only in records that come out of a stored run.
    """

    cases: CaseIndex
    n_records: int = 0
    n_traces: int = 0
    n_calls: int = 0
    n_merged: int = 0
    n_left_out: int = 0
    n_blank: int = 0
    n_rejects: int = 0
    notes: dict[str, None] = field(default_factory=dict)
    first_reject: str = ""
    selection: str | None = None
    masked: bool = False
    _odd: dict[str, Remark] = field(default_factory=dict)
    _left_out: dict[str, int] = field(default_factory=dict)
    _known_missing: frozenset[str] | None = None
    _digest: str = ""
    _seen_cases: npt.NDArray[np.bool_] = field(init=False)
    _state: tuple[np.uint64, np.uint64] = (SEED_A, SEED_B)

    def __post_init__(self) -> None:
        self._seen_cases = np.zeros(len(self.cases.ids) + 1, np.bool_)

    @classmethod
    def after(cls, cases: CaseIndex, before: Before | None) -> Tally:
        """A new tally, which goes on from what is known of an input of an earlier reading."""
        if before is None:
            return cls(cases)
        return cls(
            cases,
            n_records=before.n_merged + before.n_blank + before.n_left_out + before.n_more,
            n_merged=before.n_merged,
            n_left_out=before.n_left_out,
            n_blank=before.n_blank,
            notes=dict.fromkeys(before.notes),
            selection=before.selection,
            _known_missing=None if before.selection is None else frozenset(before.missing_cases),
            _digest=before.input_digest,
        )

    def saw_cases(self, rows: npt.NDArray[np.int64]) -> None:
        """Note which cases have a trace (rows of the suite's cases, -1 for none)."""
        self._seen_cases[rows] = True

    def saw_records(self, digests: npt.NDArray[np.uint64]) -> None:
        """Take the records' digests (uint64[n, 2]), in the order of the input, into the digest of the input."""
        if digests.size:
            hi, lo = np.ascontiguousarray(digests[:, 0]), np.ascontiguousarray(digests[:, 1])
            a, b = chain(hi, lo, *self._state)
            self._state = np.uint64(a), np.uint64(b)

    def left_out(self, counts: Mapping[str, int]) -> None:
        """Add up the traces that were not selected, by reason."""
        for why, number in counts.items():
            self._left_out[why] = self._left_out.get(why, 0) + number
            self.n_left_out += number

    def note(self, texts: Iterable[str]) -> None:
        """Keep remarks."""
        self.notes.update(dict.fromkeys(texts))

    def remark(self, remarks: Iterable[Remark]) -> None:
        """Add up what was odd about values; the first place counts."""
        for each in remarks:
            before = self._odd.get(each.text)
            self._odd[each.text] = each if before is None else before._replace(number=before.number + each.number)

    def all_notes(self) -> list[str]:
        """Every remark as a sentence, those about values with their number and first place."""
        odd = [f"{each.text} ({counted(each.number, 'time')}, first at {each.place})" for each in self._odd.values()]
        merged = f"{counted(self.n_merged, 'record')} merged, equal to an earlier one of the same trace_id"
        counts = [merged] if self.n_merged else []
        if self._left_out:
            counts.append(self.why_left_out())
        return list(dict.fromkeys([*self.notes, *odd, *counts]))

    def why_left_out(self) -> str:
        """How many traces were not selected, and why."""
        whys = [f"{number:,} {why}" for why, number in self._left_out.items() if number]
        return f"{counted(self.n_left_out, 'trace')} left out as not selected: {', '.join(whys)}"

    @property
    def input_digest(self) -> str:
        """Digest of the input so far: 32 hexadecimal digits, and a mark where it is not all of the input."""
        hi, lo = self._state
        digest = self._digest or f"{int(hi):016x}{int(lo):016x}"
        return f"{digest.removesuffix(MASKED)}{MASKED}" if self.masked else digest

    def missing_cases(self) -> list[str]:
        """Cases with references, without a trace in the input.

        A stored run does not tell whose traces were left out of it: only what was missing then is known to be.
        """
        seen = self._seen_cases[:-1]
        rows = np.flatnonzero(~seen & (self.cases.n_references > 0))
        unseen = self.cases.ids.take(rows).to_pylist()
        known = self._known_missing
        return [case for case in unseen if known is None or case in known]

    def run_id(self, suite_digest: str, format_name: str) -> str:
        """Digest of input, selection, suite, format and program version."""
        selected = "" if self.selection is None else f"\n{self.selection}"
        parts = f"{self.input_digest}\n{suite_digest}\n{format_name}\n{__version__}{selected}"
        return hashlib.sha256(parts.encode()).hexdigest()[:16]
