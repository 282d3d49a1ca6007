"""Findings from the kernel's events: path, message and value of each error, column by column.

A message is written once per distinct text of a value; what most values are (short strings, integers) never becomes
a Python object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.columns import PADDING, Texts, numbered, text_array
from tracelens.groups import offsets_of
from tracelens.kernels import check_print
from tracelens.kernels.shred import Tape
from tracelens.rungs.pieces import bounds, paths, pieces, series, shown
from tracelens.rungs.schema.decimals import loads
from tracelens.rungs.schema.templates import Template
from tracelens.rungs.sentences import Part, Spans, sentences

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
        names: Per event, the names of the members that were too many, raw, each with a NUL behind it.
    """

    call: Numbers
    item: Numbers
    op: Numbers
    extra: Numbers
    names: Texts


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
    up = np.array([each.up for each in chosen], np.bool_)[numbers]
    entries = np.where(up, tape.parent[entries], entries)
    # A root has no parent to report at.
    entries = np.where(entries < 0, events.item, entries).astype(np.int64)
    return pl.DataFrame(
        {
            "call": events.call,
            "code": pl.Series([code_of(each.keyword) for each in chosen], dtype=pl.String).gather(numbers),
            "path": paths(data, tape, entries),
            "message": series(sentences(_message(events, chosen, numbers, data, tape))),
            "value": shown(data, tape, events.item),
        }
    )


def merged(rows: Numbers, templates: Sequence[Template], data: npt.NDArray[np.uint8], tape: Tape) -> Events:
    """Events where the members that one object had too many are one event."""
    call, item, op, extra = (np.ascontiguousarray(rows[:, column]) for column in range(4))
    closed = np.array([each.by_extras is not None for each in templates], np.bool_)[op]
    # The members of one visit come one after the other, each further on; a second visit begins anew.
    same = np.zeros(op.size, np.bool_)
    same[1:] = closed[1:] & (op[1:] == op[:-1]) & (item[1:] == item[:-1]) & (extra[1:] > extra[:-1])
    first = np.flatnonzero(~same)
    members = Spans(data, tape.key_start[extra[closed]].astype(np.int64), tape.key_end[extra[closed]].astype(np.int64))
    each = np.arange(members.begin.size)
    names = sentences([(members, each), (["\0"], np.zeros_like(each))])
    counts = np.bincount(np.cumsum(~same)[closed] - 1, minlength=first.size)
    return Events(
        call[first], item[first], op[first], extra[first], Texts(names.data, names.offsets[offsets_of(counts)])
    )


def _choose(events: Events, templates: Sequence[Template]) -> tuple[list[Template], Numbers]:
    """The templates in use, and the number of each event's among them."""
    depends = np.array([each.by_extra is not None for each in templates], np.bool_)
    extra = np.where(depends[events.op], events.extra, 0)
    extras, place = np.unique(extra, return_inverse=True)
    pairs, numbers = np.unique(events.op * extras.size + place, return_inverse=True)
    chosen = []
    for pair in pairs.tolist():
        template = templates[pair // extras.size]
        own = int(extras[pair % extras.size])
        chosen.append(template.by_extra(own) if template.by_extra is not None else template)
    return chosen, numbers.astype(np.int64)


def _message(
    events: Events, chosen: list[Template], numbers: Numbers, data: npt.NDArray[np.uint8], tape: Tape
) -> Iterator[Part]:
    """The parts of the message of every event."""
    own = [each.by_value is not None or each.by_extras is not None for each in chosen]
    shows = [each.shows and not special for each, special in zip(chosen, own, strict=True)]
    yield [each.before for each in chosen], numbers
    rows = np.flatnonzero(np.array(shows, np.bool_)[numbers])
    yield printed(data, tape, events.item[rows]), _placed(rows, np.arange(rows.size), numbers.size)
    yield [each.after for each in chosen], numbers
    rows = np.flatnonzero(np.array(own, np.bool_)[numbers])
    if rows.size:
        yield _own_messages(rows, events, chosen, numbers, data, tape)


def _placed(rows: Numbers, which: Numbers, n: int) -> Numbers:
    """int64[n], some numbers at some rows, below zero elsewhere."""
    out = np.full(n, -1, np.int64)
    out[rows] = which
    return out


def _own_messages(
    rows: Numbers, events: Events, chosen: list[Template], numbers: Numbers, data: npt.NDArray[np.uint8], tape: Tape
) -> Part:
    """Messages that are more than a template, written once per distinct template and text."""
    by_value = np.array([each.by_value is not None for each in chosen], np.bool_)[numbers[rows]]
    value = Spans(data, *bounds(tape, events.item[rows]))
    texts = sentences(
        [(value, np.where(by_value, np.arange(rows.size), -1)), (events.names, np.where(by_value, -1, rows))]
    )
    code, known = numbered(text_array(texts.data, texts.offsets))
    pairs, which = np.unique(numbers[rows] * len(known) + code, return_inverse=True)
    messages = [_own_message(chosen[pair // len(known)], known[pair % len(known)]) for pair in pairs.tolist()]
    return messages, _placed(rows, which, numbers.size)


def _own_message(template: Template, text: str) -> str:
    if template.by_value is not None:
        return template.by_value(loads(text))
    names = [json.loads(f'"{name}"') if "\\" in name else name for name in text.split("\0")[:-1]]
    return template.by_extras(names) if template.by_extras is not None else ""


def printed(data: npt.NDArray[np.uint8], tape: Tape, items: Numbers) -> Texts:
    """Values (or, below zero, members' keys) as Python prints them.

    Example:
        >>> from tracelens.kernels.shred import shred
        >>> data = np.frombuffer(b'["a", 1.50, null]' + bytes(32), np.uint8)
        >>> list(printed(data, shred(data, np.array([0]), np.array([17])).tape, np.arange(4)))
        [b"['a', 1.5, None]", b"'a'", b'1.5', b'None']
    """
    begins, ends = bounds(tape, items)
    first = np.maximum(items, 0)
    stop = np.where(items < 0, 0, tape.next[first]).astype(np.int64)
    sizes = np.empty(items.size, np.int64)
    # The value's own mark says nothing about what it holds.
    check_print.printed_sizes(data, begins, ends, tape.flags, first + 1, stop, sizes)
    hard = np.flatnonzero(sizes == check_print.HARD)
    sizes[hard] = 0
    offsets = offsets_of(sizes)
    out = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
    check_print.print_values(data, begins, ends, offsets, out)
    if not hard.size:
        return Texts(out, offsets)
    known: dict[str, str] = {}
    written = [_printed(text, known) for text in pieces(data, begins[hard], ends[hard])]
    place = _placed(hard, np.arange(hard.size), items.size)
    return sentences([(Texts(out, offsets), np.arange(items.size)), (written, place)])


def _printed(text: str, known: dict[str, str]) -> str:
    """A JSON text as Python prints its value; ``known`` remembers."""
    found = known.get(text)
    if found is None:
        simple = text[0] in "-0123456789" and not text.lstrip("-").isdecimal()
        found = known[text] = repr(float(text) if simple else json.loads(text))
    return found
