"""The suite's own checks on single arguments: ``required``, ``equals``, ``regex``.

Values are taken as sent, before normalisation. A value that is missing fails ``required`` and nothing else; a call
whose arguments are no object (or were not captured) is not looked at here. Equality is that of JSON: ``1 = 1.0``,
``true ≠ 1``. A regular expression (of Python, searched) sees a string's contents and any other value's JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.arguments import Arguments
from tracelens.kernels import find
from tracelens.kernels.hash import hash_key
from tracelens.kernels.reference.paths import WILD, Part, parse_path, render_path
from tracelens.kernels.reference.patterns import python_pattern
from tracelens.rungs.pieces import bounds, paths, pieces, shorten

Numbers = npt.NDArray[np.int64]

COLUMNS = {
    "call": pl.Int64, "severity": pl.String, "code": pl.String, "path": pl.String, "message": pl.String,
    "value": pl.String,
}  # fmt: skip


class CheckLike(Protocol):
    """What is needed of one field check."""

    @property
    def regex(self) -> str | None:
        """Regular expression that must be found."""

    @property
    def equals(self) -> Any:
        """Value it must have."""

    @property
    def required(self) -> bool:
        """Whether it must be there."""

    @property
    def has_equals(self) -> bool:
        """Whether ``equals`` was given."""


@dataclass(frozen=True)
class _Found:
    """The values at a path, and the values that lack the next step of it.

    Attributes:
        entries: int64, entries at the path.
        lacking: Per step, entries without that step's child, and the steps from there on.
    """

    entries: Numbers
    lacking: list[tuple[Numbers, Sequence[Part]]]


def check_fields(arguments: Arguments, tools: pl.Series, fields: Mapping[str, Mapping[str, CheckLike]]) -> pl.DataFrame:
    """Findings of the field checks.

    Args:
        arguments: The calls' arguments as they were read.
        tools: str?[n], canonical names.
        fields: Checks by tool (``*``: all tools) and path.

    Returns:
        call, severity, code, path, message, value; sorted by call, path, code, message.
    """
    tape = arguments.tape
    has_object = tape.first[1:] > tape.first[:-1]
    parts = [pl.DataFrame(schema=COLUMNS)]
    for tool, checks in fields.items():
        mine = np.ones(tools.len(), np.bool_) if tool == "*" else (tools == tool).fill_null(value=False).to_numpy()
        roots = tape.first[:-1][has_object & mine]
        for path, check in checks.items():
            found = _follow(arguments, roots, parse_path(path))
            parts.extend(_apply(arguments, found, check))
    return pl.concat(parts).sort(["call", "path", "code", "message"], maintain_order=True)


def _follow(arguments: Arguments, entries: Numbers, path: Sequence[Part]) -> _Found:
    """Go along a path from every root at once."""
    data, tape = arguments.data, arguments.tape
    lacking: list[tuple[Numbers, Sequence[Part]]] = []
    for step, part in enumerate(path):
        if part is WILD:
            sizes = np.empty(entries.size, np.int64)
            find.count_elements(tape, entries, sizes)
            children, owner = np.empty(int(sizes.sum()), np.int64), np.empty(int(sizes.sum()), np.int64)
            find.list_elements(tape, entries, children, owner)
            entries = children
            continue
        children = np.empty(entries.size, np.int64)
        name = part.encode() if isinstance(part, str) else b""
        wanted = part if isinstance(part, int) else find.MEMBER
        raw = np.frombuffer(name, np.uint8)
        find.find_children(data, tape, entries, wanted, raw, hash_key(name), children)
        # An array that is not there has no elements to ask anything of.
        if WILD not in path[step:]:
            lacking.append((entries[children < 0], path[step:]))
        entries = children[children >= 0]
    return _Found(entries, lacking)


def _apply(arguments: Arguments, found: _Found, check: CheckLike) -> list[pl.DataFrame]:
    out: list[pl.DataFrame] = []
    if check.required:
        out.extend(_missing(arguments, entries, rest) for entries, rest in found.lacking)
    if check.regex is None and not check.has_equals:
        return out
    begins, ends = bounds(arguments.tape, found.entries)
    texts = pieces(arguments.data, begins, ends)
    distinct = texts.unique(maintain_order=True)
    if check.regex is not None:
        pattern = python_pattern(check.regex)
        bad = [text for text in distinct if not pattern.found(_plain(text))]
        out.append(_wrong(arguments, found.entries, texts, bad, "field.regex", f"does not match {check.regex!r}"))
    if check.has_equals:
        bad = [text for text in distinct if not _equal(json.loads(text), check.equals)]
        wanted = json.dumps(check.equals, ensure_ascii=False, default=str)
        out.append(_wrong(arguments, found.entries, texts, bad, "field.equals", f"should be {wanted}"))
    return out


def _calls(arguments: Arguments, entries: Numbers) -> Numbers:
    return np.searchsorted(arguments.tape.first, entries, side="right") - 1


def _missing(arguments: Arguments, entries: Numbers, rest: Sequence[Part]) -> pl.DataFrame:
    """Findings about values that are not there."""
    suffix = render_path(rest)
    dot = "." if isinstance(rest[0], str) else ""
    above = paths(arguments.data, arguments.tape, entries).alias("above")
    place = above.to_frame().select(
        pl.when(pl.col("above") == "").then(pl.lit(suffix)).otherwise(pl.col("above") + (dot + suffix)).alias("path")
    )["path"]
    return _frame(_calls(arguments, entries), "field.required", place, pl.col("path") + " is missing", None)


def _wrong(
    arguments: Arguments, entries: Numbers, texts: pl.Series, bad: list[str], code: str, why: str
) -> pl.DataFrame:
    """Findings about values with one of the bad texts."""
    rows = np.flatnonzero(texts.is_in(pl.Series(bad, dtype=pl.String).implode()).to_numpy())
    values = shorten(texts.gather(rows))
    place = paths(arguments.data, arguments.tape, entries[rows])
    return _frame(_calls(arguments, entries[rows]), code, place, pl.col("value") + f" {why}", values)


def _frame(calls: Numbers, code: str, place: pl.Series, message: pl.Expr, values: pl.Series | None) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "call": calls,
            "path": place,
            "value": values if values is not None else pl.Series([None], dtype=pl.String).new_from_index(0, calls.size),
        }
    )
    return frame.select(
        pl.col("call").cast(pl.Int64),
        severity=pl.lit("error"),
        code=pl.lit(code),
        path="path",
        message=message,
        value="value",
    )


def _plain(text: str) -> str:
    """A string's contents; any other value's JSON text."""
    return str(json.loads(text)) if text.startswith('"') else text


def _equal(one: Any, two: Any) -> bool:
    """Equality of JSON values.

    Example:
        >>> _equal(1, 1.0), _equal(True, 1), _equal({"a": [1]}, {"a": [1.0]})
        (True, False, True)
    """
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_equal(value, two[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(_equal, one, two))
    return bool(one == two)
