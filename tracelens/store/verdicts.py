"""Keeping what judges said: a file a reading, beside the runs, which never change."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING, Any

from tracelens.errors import StoreError
from tracelens.store.layout import verdict_files, verdict_folder
from tracelens.tables import conform

if TYPE_CHECKING:
    import polars as pl

    from tracelens.store.reader import Run


def next_batch(run: Run) -> int:
    """The number of the next reading of answers about a run."""
    return len(verdict_files(run.folder)) + 1


def known_answers(run: Run) -> set[str]:
    """Digests of the files of answers that were read before."""
    return {file.stem.partition("-")[2] for file in verdict_files(run.folder)}


def digest_of(data: bytes) -> str:
    """What tells one file of answers from another."""
    return hashlib.sha256(data).hexdigest()[:16]


def keep_verdicts(run: Run, rows: list[dict[str, Any]], digest: str) -> None:
    """Keep answers about a run; they appear at once, by a rename.

    Args:
        run: The run.
        rows: Rows of the table `verdicts`, without ``run_id``.
        digest: That of the file they came from.

    Raises:
        StoreError: The file system refused.
    """
    import polars as pl
    import pyarrow.parquet as pq

    from tracelens.tables import polars_schema

    frame = pl.DataFrame(rows, schema=polars_schema("verdicts", without=["run_id"]), orient="row")
    folder = verdict_folder(run.folder)
    target = folder / f"{next_batch(run):04d}-{digest}.parquet"
    part = folder / f".{uuid.uuid4().hex}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(conform("verdicts", frame, without=["run_id"]), part, compression="zstd")
        part.replace(target)
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(folder)) from error


def read_verdicts(run: Run) -> pl.DataFrame:
    """Everything that judges said about a run, in order of reading and line; without ``run_id``."""
    import polars as pl

    from tracelens.tables import empty

    files = verdict_files(run.folder)
    if not files:
        return empty("verdicts", without=["run_id"])
    return pl.concat([pl.read_parquet(file) for file in files]).sort("batch", "line")
