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

from tracelens.kernels import check_print
from tracelens.kernels.shred import Tape
from tracelens.rungs.pieces import bounds, paths, pieces, shown, strings
from tracelens.rungs.schema.decimals import loads
from tracelens.rungs.schema.templates import Template

Numbers = npt.NDArray[np.int64]


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
    extras, place = np.unique(extra, return_inverse=True)
    pairs, numbers = np.unique(events.op * extras.size + place, return_inverse=True)
    chosen = []
    for pair in pairs.tolist():
        template = templates[pair // extras.size]
        own = int(extras[pair % extras.size])
        chosen.append(template.by_extra(own) if template.by_extra is not None else template)
    return chosen, numbers.astype(np.int64)


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
        value = value.scatter(rows, printed(data, tape, events.item[rows]))
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


def printed(data: npt.NDArray[np.uint8], tape: Tape, items: Numbers) -> pl.Series:
    """Values (or, below zero, members' keys) as Python prints them.

    Example:
        >>> from tracelens.kernels.shred import shred
        >>> data = np.frombuffer(b'["a", 1.50, null]' + bytes(32), np.uint8)
        >>> printed(data, shred(data, np.array([0]), np.array([17])).tape, np.arange(4)).to_list()
        ["['a', 1.5, None]", "'a'", '1.5', 'None']
    """
    begins, ends = bounds(tape, items)
    first = np.maximum(items, 0)
    stop = np.where(items < 0, 0, tape.next[first]).astype(np.int64)
    sizes = np.empty(items.size, np.int64)
    # The value's own mark says nothing about what it holds.
    check_print.printed_sizes(data, begins, ends, tape.flags, first + 1, stop, sizes)
    hard = np.flatnonzero(sizes == check_print.HARD)
    sizes[hard] = 0
    offsets = np.zeros(items.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    out = np.empty(int(offsets[-1]), np.uint8)
    check_print.print_values(data, begins, ends, offsets, out)
    texts = strings(out, offsets)
    if hard.size:
        known: dict[str, str] = {}
        written = [_printed(text, known) for text in pieces(data, begins[hard], ends[hard])]
        texts = texts.scatter(hard, pl.Series(written, dtype=pl.String))
    return texts


def _printed(text: str, known: dict[str, str]) -> str:
    """A JSON text as Python prints its value; ``known`` remembers."""
    found = known.get(text)
    if found is None:
        simple = text[0] in "-0123456789" and not text.lstrip("-").isdecimal()
        found = known[text] = repr(float(text) if simple else json.loads(text))
    return found
