"""Taking what is new: files that are quiet, less the traces that were taken before or may still grow."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens.columns import Batch, Remark
from tracelens.errors import InputError, NothingScoredError
from tracelens.nightly.config import Config
from tracelens.nightly.ledger import KEY, Ids, Ledger, Reject
from tracelens.nightly.places import Entry, Mark, fetch, list_entries
from tracelens.run.score import score_run
from tracelens.rungs.safety import mask
from tracelens.selection import Selection
from tracelens.sources.detect import Opened, open_files, recognise
from tracelens.sources.heads import heads_of
from tracelens.sources.reading.files import File
from tracelens.sources.reading.index import Gathered
from tracelens.suite import Suite

MINUTE = 60 * 10**9
DAY = 24 * 60 * MINUTE


_REJECTS = "has records that cannot be read, and no new trace"
_AHEAD = "was changed in the future: check the clock of whoever writes it"


@dataclass(slots=True)
class Taken:
    """What came of it.

    Attributes:
        run: The run folder; None: there was no new trace.
        n_there: Files in the input.
        n_files: New files that are quiet.
        n_writing: Files left because they are still being written.
        n_held: Traces held because they may still grow.
        n_known: Traces left out because they were taken before.
        unreadable: Files that could not be read, and why; they are tried again the next time.
    """

    run: Path | None = None
    n_there: int = 0
    n_files: int = 0
    n_writing: int = 0
    n_held: int = 0
    n_known: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)


def take(config: Config, now: int) -> Taken:
    """Score what is new, as one run.

    Args:
        config: The job.
        now: The time, in nanoseconds since 1970.

    Returns:
        What was taken.

    Raises:
        TraceLensError: As for scoring.
    """
    suite = Suite.default() if config.suite is None else Suite.load(config.suite)
    ledger = Ledger(config.state, config.out)
    there = list_entries(config.input, config.written)
    new = [each for each in there if not ledger.is_done(each)]
    quiet = [each for each in new if now - each.changed >= config.quiet_minutes * MINUTE]
    early = {each.name: _AHEAD for each in new if each.changed - now > DAY}
    taken = Taken(n_there=len(there), n_files=len(quiet), unreadable=early)
    taken.n_writing = len(new) - len(quiet) - len(early)
    empty = [each for each in quiet if each.size == 0]
    quiet = [each for each in quiet if each.size]
    if empty:
        ledger.finish({each.name: each.mark for each in empty})
    if not quiet:
        return taken
    spool = config.state / "spool"  # always the same, so that what a killed job left goes
    shutil.rmtree(spool, ignore_errors=True)
    try:
        _score(config, suite, ledger, quiet, now, spool, taken)
    finally:
        shutil.rmtree(spool, ignore_errors=True)
    return taken


def _score(
    config: Config, suite: Suite, ledger: Ledger, quiet: list[Entry], now: int, spool: Path, taken: Taken
) -> None:
    """Read the files and commit the run; one that breaks while it is read must not keep the others from being taken."""
    fetched, why = fetch(quiet, spool)
    taken.unreadable.update(why)
    files = _readable(fetched, config.format, taken)
    marks = {each.name: each for each in quiet}
    while files:
        try:
            _commit(config, suite, ledger, {file.name: marks[file.name] for file in files}, files, now, taken)
        except InputError as error:
            broken = [file for file in files if error.where in {file.where, str(file.path), file.name}] or files
            taken.unreadable.update(dict.fromkeys((file.name for file in broken), error.message))
            files = [file for file in files if file not in broken]
        else:
            return


def _commit(
    config: Config,
    suite: Suite,
    ledger: Ledger,
    entries: dict[str, Entry],
    files: list[File],
    now: int,
    taken: Taken,
) -> None:
    """Score these files as one run, which notes what it took."""
    changed = {name: each.changed for name, each in entries.items()}
    cutoff = now - int(config.hold_minutes * MINUTE)
    sieve = Sieve(Ids.taken(ledger.runs), changed, cutoff, ledger.rejected(changed))

    def done() -> dict[str, Mark]:
        return {name: each.mark for name, each in entries.items() if name not in sieve.waiting}

    def aside() -> tuple[str, Mapping[str, Any]]:
        return sieve.digest(), {KEY: {"done": done()}}

    opened = open_files(files, config.format)
    rest = replace(opened, blocks=sieve.over(opened), aside=aside)
    try:
        taken.run = score_run(rest, suite, out=config.out, selection=Selection.of(sample=config.sample))
    except NothingScoredError as error:
        if not sieve.n_seen:  # nothing that can be read is no quiet night
            taken.unreadable.update(dict.fromkeys(changed, error.message))
            return
        sieve.waiting |= sieve.rejecting  # no run holds these rejects yet: the next one reads their files again
        taken.unreadable.update(dict.fromkeys(sieve.rejecting, _REJECTS))
    taken.n_held, taken.n_known = sieve.n_held, sieve.n_known
    ledger.finish(done())


def _readable(files: list[File], format: str, taken: Taken) -> list[File]:
    """The files whose format is known: one that is not must not keep the others from being taken."""
    good = []
    for file in files:
        try:
            if format == "auto":
                recognise(file)
            else:
                next(heads_of(file))
        except InputError as error:
            taken.unreadable[file.name] = error.message
            continue
        good.append(file)
    return good


@dataclass(slots=True)
class Sieve:
    """Lets through the traces that are to be scored now.

    Attributes:
        known: Ids of traces that were taken before.
        changed: When each file was changed last.
        cutoff: A trace with a part in a file that was changed after this is held.
        rejected: Records that an earlier run has rejected.
        waiting: Files with parts of traces that are held.
        rejecting: Files with records that are rejected, and were not before.
        n_seen: Traces seen.
        n_held: Traces held.
        n_known: Traces taken before.
    """

    known: Ids
    changed: Mapping[str, int]
    cutoff: int
    rejected: frozenset[Reject] = frozenset()
    waiting: set[str] = field(default_factory=set)
    rejecting: set[str] = field(default_factory=set)
    n_seen: int = 0
    n_held: int = 0
    n_known: int = 0
    _left: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def over(self, opened: Opened) -> Callable[[], Iterator[tuple[Callable[[Any], Batch], Any]]]:
        """The blocks of an input, each parsed and sifted."""

        def blocks() -> Iterator[tuple[Callable[[Any], Batch], Any]]:
            for parse, block in opened.blocks():
                yield partial(self._parsed, parse), block

        return blocks

    def digest(self) -> str:
        """What was left out, as a digest: it gives another run. Empty: nothing."""
        if not self._left:
            return ""
        return hashlib.sha256("\0".join(sorted(self._left)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _parsed(self, parse: Callable[[Any], Batch], block: Any) -> Batch:
        return self._sifted(parse(block), block)

    def _sifted(self, batch: Batch, block: Any) -> Batch:
        """The batch without what is left out."""
        batch = self._without_old_rejects(batch)
        traces = batch.traces
        known = self.known.have(traces["trace_id"])
        files = _files_of(traces, block)
        newest = [max((self.changed.get(name, 0) for name in names), default=0) for names in files]
        held = ~known & (np.array(newest, np.int64) > self.cutoff)
        left = known | held
        with self._lock:
            self.rejecting.update(batch.rejects["source"].to_pylist())
            self.n_seen += traces.num_rows
            self.n_held += int(held.sum())
            self.n_known += int(known.sum())
            self._left += traces["trace_id"].filter(pa.array(left)).to_pylist()
            for row in np.flatnonzero(held):
                self.waiting.update(files[row])
        if not left.any():
            return batch
        first = int(np.flatnonzero(left)[0])
        place = f"{traces['source'][first].as_py()}:{traces['line'][first].as_py()}"
        remark = Remark("a trace is left out, because it was taken before or may still grow", int(left.sum()), place)
        kept = batch.keeping(~left)
        return replace(kept, remarks=(*kept.remarks, remark))

    def _without_old_rejects(self, batch: Batch) -> Batch:
        """The batch without records that an earlier run has rejected: each is told once."""
        if not self.rejected or not batch.rejects.num_rows:
            return batch
        rows = batch.rejects.select(["source", "line", "reason", "text"]).to_pylist()
        new = np.array([self._is_new(*row.values()) for row in rows], np.bool_)
        return replace(
            batch, rejects=batch.rejects.filter(pa.array(new)), n_records=batch.n_records - int((~new).sum())
        )

    def _is_new(self, source: str, line: int, reason: str, text: str | None) -> bool:
        if (source, line, reason, text) in self.rejected:
            return False
        return (source, line, mask(reason), text and mask(text)) not in self.rejected


def _files_of(traces: pa.Table, block: Any) -> list[set[str]]:
    """The files in which parts of each trace stand."""
    if not isinstance(block, Gathered):
        return [{name} for name in traces["source"].to_pylist()]
    by_key: dict[str, set[str]] = {}
    keys = block.keys.to_pylist()
    pairs: npt.NDArray[np.int64] = np.unique(np.stack([block.trace, block.file], axis=1).astype(np.int64), axis=0)
    for trace, file in pairs.tolist():
        by_key.setdefault(keys[trace], set()).add(block.files[file])
    return [by_key.get(each, set()) for each in traces["trace_id"].to_pylist()]
