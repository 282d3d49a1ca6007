"""The suite's checks on the final answer.

``contains`` and ``not_contains`` compare exactly, ``equals`` the whole answer, ``regex`` (of Python) is searched,
``json_schema`` asks that the answer be one JSON value that the schema accepts (a finding per error), ``max_length``
counts characters. An answer that is missing is not evaluated and gives no finding: that it was not recorded says
nothing about the agent. An answer that is there and empty is evaluated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.errors import counted
from tracelens.kernels.reference.paths import render_path
from tracelens.kernels.reference.patterns import python_pattern
from tracelens.kernels.scan import ERRORS, OUT_OF_RANGE
from tracelens.kernels.shred import shred
from tracelens.rungs.pieces import shorten
from tracelens.rungs.schema.truth import CannotCheckError, CompiledSchema, compile_schema, validate

COLUMNS = {"row": pl.Int64, "severity": pl.String, "code": pl.String, "path": pl.String, "message": pl.String, "value": pl.String}  # fmt: skip


class AnswerLike(Protocol):
    """What is needed of the suite's ``[answer]``."""

    @property
    def contains(self) -> Sequence[str]:
        """Texts that must occur."""

    @property
    def not_contains(self) -> Sequence[str]:
        """Texts that must not occur."""

    @property
    def equals(self) -> str | None:
        """The whole answer."""

    @property
    def regex(self) -> str | None:
        """Regular expression that must be found."""

    @property
    def json_schema(self) -> Any:
        """Schema of an answer that is JSON."""

    @property
    def max_length(self) -> int | None:
        """Longest answer, in characters."""


@dataclass(frozen=True)
class AnswerResult:
    """What the answer checks say about n traces.

    Attributes:
        ok: bool?[n], whether the answer passed; null where it is missing, or the only check cannot be made.
        findings: row (of the trace), severity, code, path (in a JSON answer), message, value (the answer, shortened);
            sorted by row, code, path, message.
    """

    ok: pl.Series
    findings: pl.DataFrame


def check_answers(answers: pl.Series, checks: AnswerLike) -> AnswerResult:
    """Check final answers.

    Args:
        answers: str?[n].
        checks: The suite's ``[answer]``.

    Example:
        >>> from tracelens.suite import Suite
        >>> checks = Suite.from_dict({"answer": {"contains": ["booked"]}}).answer
        >>> check_answers(pl.Series(["It is booked.", "Sorry", None]), checks).ok.to_list()
        [True, False, None]
    """
    distinct = answers.drop_nulls().unique(maintain_order=True)
    schema = compile_schema(checks.json_schema) if checks.json_schema is not None else None
    rows = [(answer, *finding) for answer in distinct for finding in _findings(answer, checks, schema)]
    about = pl.DataFrame(
        rows,
        schema={"answer": pl.String, "severity": pl.String, "code": pl.String, "path": pl.String, "message": pl.String},
        orient="row",
    )
    values = pl.DataFrame({"answer": distinct.cast(pl.String), "value": shorten(_as_json(distinct))})
    found = (
        pl.DataFrame({"row": np.arange(answers.len()), "answer": answers.cast(pl.String)})
        .join(about, on="answer", how="inner")
        .join(values, on="answer", how="left")
        .select([pl.col(name).cast(dtype) for name, dtype in COLUMNS.items()])
    )
    failed = np.zeros(answers.len(), np.bool_)
    failed[found.filter(pl.col("severity") == "error")["row"].to_numpy()] = True
    # A check that cannot be made says nothing, so where it is the only one nothing is known.
    vacuous = schema is not None and not schema.usable and not _others(checks)
    seen = answers.is_not_null() & (not vacuous)
    ok = pl.select(pl.when(seen).then(pl.Series(~failed)).alias("ok"))["ok"]
    return AnswerResult(ok, found.sort(["row", "code", "path", "message"], maintain_order=True))


def _as_json(answers: pl.Series) -> pl.Series:
    return pl.Series([json.dumps(each, ensure_ascii=False) for each in answers], dtype=pl.String)


def _others(checks: AnswerLike) -> bool:
    given = (
        checks.contains,
        checks.not_contains,
        checks.equals is not None,
        checks.regex,
        checks.max_length is not None,
    )
    return any(map(bool, given))


def _findings(
    answer: str, checks: AnswerLike, schema: CompiledSchema | None
) -> Iterator[tuple[str, str, str | None, str]]:
    """Severity, code, path and message of everything that is wrong with one answer."""
    for text in checks.contains:
        if text not in answer:
            yield "error", "answer.contains", None, f"{text!r} does not occur in the answer"
    for text in checks.not_contains:
        if text in answer:
            yield "error", "answer.not_contains", None, f"{text!r} occurs in the answer"
    if checks.equals is not None and answer != checks.equals:
        yield "error", "answer.equals", None, f"the answer is not {checks.equals!r}"
    if checks.regex is not None and not python_pattern(checks.regex).found(answer):
        yield "error", "answer.regex", None, f"the answer does not match {checks.regex!r}"
    if checks.max_length is not None and len(answer) > checks.max_length:
        yield (
            "error",
            "answer.max_length",
            None,
            f"the answer has {counted(len(answer), 'character')}, more than {checks.max_length}",
        )
    if schema is not None:
        yield from _against(answer, schema)


def _against(answer: str, schema: CompiledSchema) -> Iterator[tuple[str, str, str | None, str]]:
    """What the schema says about an answer that should be JSON."""
    code = "answer.json_schema"
    if not schema.usable:
        yield "note", "schema.unusable", None, f"the answer's schema cannot be used: {schema.reason}"
        return
    data = np.frombuffer(answer.encode() + bytes(64), np.uint8).copy()
    read = shred(data, *_bounds(len(data) - 64))
    if read.error[0]:
        yield (
            "error",
            code,
            None,
            f"the answer is not one JSON value: {ERRORS[int(read.error[0])]}, at byte {int(read.position[0])}",
        )
    elif bool((read.tape.flags & OUT_OF_RANGE).any()):
        yield "error", code, None, "the answer holds a number beyond the range of a double"
    else:
        try:
            for error in validate(schema, answer):
                yield "error", code, render_path(error.path), error.message
        except CannotCheckError as failure:
            yield "note", "schema.unusable", None, f"the answer's schema cannot be applied here: {failure}"


def _bounds(size: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.array([0], np.int64), np.array([size], np.int64)
