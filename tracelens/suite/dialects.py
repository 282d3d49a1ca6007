"""The dialects that a suite asks for, made ready: which metrics with which parameters, under which name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tracelens.dialects import DIALECTS
from tracelens.dialects.request import Request
from tracelens.errors import UsageError, did_you_mean
from tracelens.suite.blocks import DialectEntry

__all__ = ["Request", "requests_of"]

Wrong = tuple[int, str, str]
"""Place in the list, what is wrong, and a hint."""


def requests_of(entries: Iterable[DialectEntry]) -> tuple[tuple[Request, ...], list[Wrong]]:
    """What the entries ask for, and what is wrong with some.

    Example:
        >>> found, wrong = requests_of([DialectEntry(use="adk"), DialectEntry(use="adq")])
        >>> found[0].columns, wrong
        (('adk__exact', 'adk__in_order', 'adk__any_order', 'adk__refused'), [(1, "unknown dialect 'adq'", "did you mean 'adk'?")])
    """
    found: list[Request] = []
    wrong: list[Wrong] = []
    for index, entry in enumerate(entries):
        problem = _problem(entry)
        if problem is not None:
            wrong.append((index, *problem))
            continue
        request = Request.of(DIALECTS[entry.use], entry.name or entry.use, entry.params, entry.metrics)
        faults = [fault for each in request.metrics if (fault := each.problem(entry.params)) is not None]
        if faults:
            wrong.append((index, *faults[0]))
        elif Counter(each.label for each in found)[request.label]:
            wrong.append((index, f"{request.label!r} is there twice", "give one of them another name"))
        else:
            found.append(request)
    return tuple(found), wrong


def _problem(entry: DialectEntry) -> tuple[str, str] | None:
    """What is wrong with an entry as such."""
    if entry.use not in DIALECTS:
        known = f"known are {', '.join(DIALECTS)}"
        return f"unknown dialect {entry.use!r}", did_you_mean(entry.use, DIALECTS) or known
    dialect = DIALECTS[entry.use]
    try:
        chosen = [dialect.metric(name) for name in entry.metrics]
    except UsageError as error:
        return error.message, error.hint or ""
    parameters = {name for each in chosen or dialect.metrics for name in each.parameters}
    for name in entry.params:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f"its parameters are {', '.join(sorted(parameters))}"
            return f"{entry.use} has no parameter {name!r}", hint
    if entry.name is not None and entry.name != entry.use and not entry.name.startswith(f"{entry.use}_"):
        return f"the name {entry.name!r} does not say which dialect it is", f"begin it with {entry.use + '_'!r}"
    if "__" in (entry.name or ""):
        return f"the name {entry.name!r} has two underscores together", "they part names and metrics of columns"
    if entry.params and not Request.of(dialect, params=entry.params).metrics and not chosen:
        return f"no metric of {entry.use} has all of these parameters", "give it several entries"
    return None
