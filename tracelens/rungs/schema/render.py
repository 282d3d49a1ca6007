"""Findings from the kernel's events: path, message and value of each error, column by column.

A message is written once per distinct text of a value; what most values are (short strings, integers) never becomes
a Python object.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.kernels.shred import Tape
from tracelens.rungs.pieces import bounds, paths, pieces, shown
from tracelens.rungs.schema.decimals import loads
from tracelens.rungs.schema.templates import Template

Numbers = npt.NDArray[np.int64]

PLAIN_STRING = r"""^"[^'\\\x7f-\x{10ffff}]*"$"""
PLAIN_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"


def code_of(keyword: str | None) -> str:
    """The finding's code for a keyword; the schema ``false`` has none.

    Example:
        >>> code_of("required"), code_of(None)
        ('schema.required', 'schema.false')
    """
    return f"schema.{'false' if keyword is None else keyword}"


@dataclass(frozen=True)
class Events:
    """Errors as the kernel wrote them, one per finding.

    Attributes:
        call: int64, row of the call.
        item: int64, entry of the value; below zero, ``-member - 1``, its key.
        op: int64, the operation that failed.
        extra: int64, the operation's own number.
        names: Per event, the names of the members that were too many, raw and joined by NUL; empty elsewhere.
    """

    call: Numbers
    item: Numbers
    op: Numbers
    extra: Numbers
    names: pl.Series


def findings(rows: Numbers, templates: Sequence[Template], data: npt.NDArray[np.uint8], tape: Tape) -> pl.DataFrame:
    """The findings of a run.

    Args:
        rows: int64[e, 4], events: text, item, operation, extra.
        templates: What each operation says.
        data: uint8, the texts.
        tape: Their values.

    Returns:
        call, code, path, message, value; in the order of the events.
    """
    events = merged(rows, templates, data, tape)
    chosen, numbers = _choose(events, templates)
    entries = np.where(events.item < 0, tape.parent[-events.item - 1], events.item).astype(np.int64)
    up = np.array([each.up for each in chosen], np.bool_)[numbers] if chosen else np.zeros(0, np.bool_)
    entries = np.where(up, tape.parent[entries], entries)
    # A root has no parent to report at.
    entries = np.where(entries < 0, events.item, entries).astype(np.int64)
    return pl.DataFrame(
        {
            "call": events.call,
            "code": _by_number([code_of(each.keyword) for each in chosen], numbers),
            "path": paths(data, tape, entries),
            "message": _messages(events, chosen, numbers, data, tape),
            "value": shown(data, tape, events.item),
        }
    )


def merged(rows: Numbers, templates: Sequence[Template], data: npt.NDArray[np.uint8], tape: Tape) -> Events:
    """Events where the members that one object had too many are one event."""
    call, item, op, extra = (np.ascontiguousarray(rows[:, column]) for column in range(4))
    closing = np.array([each.by_extras is not None for each in templates], np.bool_)
    closed = closing[op] if op.size else np.zeros(0, np.bool_)
    # The members of one visit come one after the other, each further on; a second visit begins anew.
    same = np.zeros(op.size, np.bool_)
    same[1:] = closed[1:] & (op[1:] == op[:-1]) & (item[1:] == item[:-1]) & (extra[1:] > extra[:-1])
    first = np.flatnonzero(~same)
    group = np.cumsum(~same) - 1
    members = extra[closed]
    begins, ends = tape.key_start[members].astype(np.int64), tape.key_end[members].astype(np.int64)
    names = (
        pl.DataFrame({"group": group[closed], "name": pieces(data, begins, ends)})
        .group_by("group", maintain_order=True)
        .agg(pl.col("name").str.join("\0"))
    )
    texts = pl.Series([""], dtype=pl.String).new_from_index(0, first.size)
    if names.height:
        texts = texts.scatter(names["group"], names["name"])
    return Events(call[first], item[first], op[first], extra[first], texts)


def _choose(events: Events, templates: Sequence[Template]) -> tuple[list[Template], Numbers]:
    """The templates in use, and the number of each event's among them."""
    depends = np.array([each.by_extra is not None for each in templates], np.bool_)
    extra = np.where(depends[events.op], events.extra, 0) if events.op.size else events.extra
    pairs, numbers = np.unique(np.stack([events.op, extra], axis=1), axis=0, return_inverse=True)
    chosen = []
    for number, own in pairs.tolist():
        template = templates[number]
        chosen.append(template.by_extra(own) if template.by_extra is not None else template)
    return chosen, numbers.reshape(-1).astype(np.int64)


def _by_number(texts: list[str], numbers: Numbers) -> pl.Series:
    return pl.Series(texts, dtype=pl.String).gather(numbers)


def _messages(
    events: Events, chosen: list[Template], numbers: Numbers, data: npt.NDArray[np.uint8], tape: Tape
) -> pl.Series:
    """The message of every event."""
    before = _by_number([each.before for each in chosen], numbers)
    after = _by_number([each.after for each in chosen], numbers)
    special = np.array([each.by_value is not None or each.by_extras is not None for each in chosen], np.bool_)
    shows = np.array([each.shows for each in chosen], np.bool_) & ~special
    value = pl.Series([""], dtype=pl.String).new_from_index(0, numbers.size)
    rows = np.flatnonzero(shows[numbers]) if chosen else np.zeros(0, np.int64)
    if rows.size:
        begins, ends = bounds(tape, events.item[rows])
        value = value.scatter(rows, printed(pieces(data, begins, ends)))
    messages = before + value + after
    rows = np.flatnonzero(special[numbers]) if chosen else np.zeros(0, np.int64)
    if rows.size:
        messages = messages.scatter(rows, _special(rows, events, chosen, numbers, data, tape))
    return messages


def _special(
    rows: Numbers, events: Events, chosen: list[Template], numbers: Numbers, data: npt.NDArray[np.uint8], tape: Tape
) -> pl.Series:
    """Messages that are more than a template, written once per distinct template and text."""
    by_value = np.array([each.by_value is not None for each in chosen], np.bool_)[numbers[rows]]
    begins, ends = bounds(tape, events.item[rows])
    texts = events.names.gather(rows)
    asked = np.flatnonzero(by_value)
    if asked.size:
        texts = texts.scatter(asked, pieces(data, begins[asked], ends[asked]))
    frame = pl.DataFrame({"number": numbers[rows], "text": texts})
    distinct = frame.unique(maintain_order=True)
    messages = [_one_special(chosen[number], text) for number, text in distinct.iter_rows()]
    joined = frame.join(
        distinct.with_columns(pl.Series("message", messages, dtype=pl.String)),
        on=["number", "text"],
        how="left",
        maintain_order="left",
    )
    return joined["message"]


def _one_special(template: Template, text: str) -> str:
    if template.by_value is not None:
        return template.by_value(loads(text))
    names = [json.loads(f'"{name}"') if "\\" in name else name for name in text.split("\0")]
    return template.by_extras(names) if template.by_extras is not None else ""


def printed(texts: pl.Series) -> pl.Series:
    """JSON texts as Python prints their values.

    Example:
        >>> printed(pl.Series(['"a"', "1.50", "null", '{"a": [true]}'])).to_list()
        ["'a'", '1.5', 'None', "{'a': [True]}"]
    """
    frame = pl.DataFrame({"text": texts}).with_columns(
        pl.when(pl.col("text").str.contains(PLAIN_STRING))
        .then("'" + pl.col("text").str.slice(1).str.head(-1) + "'")
        .when(pl.col("text").str.contains(PLAIN_INTEGER))
        .then(pl.col("text"))
        .alias("printed")
    )
    hard = frame.filter(pl.col("printed").is_null()).select("text").unique(maintain_order=True)
    if hard.height == 0:
        return frame["printed"]
    shown_ = pl.Series("hard", [repr(loads(text)) for text in hard["text"]], dtype=pl.String)
    joined = frame.join(hard.with_columns(shown_), on="text", how="left", maintain_order="left")
    return joined.select(pl.coalesce("printed", "hard").alias("printed"))["printed"]
