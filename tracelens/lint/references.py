"""Lint of references: whether the expected calls would pass the checks that actual calls go through."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tracelens.errors import counted, did_you_mean
from tracelens.kernels.reference.decimal_form import decimal_form, is_number
from tracelens.kernels.reference.matchers import ESCAPE, MATCHERS
from tracelens.kernels.reference.paths import render_path
from tracelens.lint.limits import may_call
from tracelens.lint.problem import Found
from tracelens.lint.schemas import all_tools
from tracelens.suite import Suite
from tracelens.suite.matchers import is_matcher

if TYPE_CHECKING:
    from tracelens.rungs.schema.truth import CompiledSchema


def lint_references(suite: Suite, found: Found) -> None:
    """Expected calls of unknown or forbidden tools, and expected arguments that the current schemas refuse.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    declared = {tool.name for _, tool in all_tools(suite)}
    checker = _Checker(suite)
    for (name, arguments), (case, line, count) in _distinct(suite).items():
        place = f"{suite.references.place}:{line}" if suite.references.place else f"case {case!r}"
        also = f" (and in {counted(count - 1, 'more place')})" if count > 1 else ""
        canonical = suite.canonical_name(name)
        if declared and canonical not in declared and not _is_no_call(suite, name):
            note = found.error if suite.schemas_from == "suite" else found.warning
            hint = did_you_mean(name, sorted(declared)) or "declare it under [tools]"
            note(
                place,
                f"case {case!r} expects the unknown tool {name!r}{also}",
                hint,
                kind="unknown tools in references",
            )
        if not may_call(suite, name):
            found.error(
                place, f"case {case!r} expects {name!r}, which the invariants forbid{also}", kind="forbidden tools"
            )
        if arguments is None:
            continue
        for message in checker.messages(canonical or "", arguments):
            text = f"case {case!r} expects a call of {name!r} that its schema refuses{also}: {message}"
            found.error(place, text, "correct the reference, or the schema", kind="references that a schema refuses")
        for message in _near_matchers(arguments):
            found.warning(place, f"case {case!r}: {message}", kind="keys that look like matchers")
    _lint_lengths(suite, found)
    _lint_cases(suite, found)


def _is_no_call(suite: Suite, name: str) -> bool:
    return suite.is_handoff(name) or suite.is_output_tool(name)


def _distinct(suite: Suite) -> dict[tuple[str, str | None], tuple[str, int, int]]:
    """Different expected calls, each with the first case and line, and how often it is expected."""
    out: dict[tuple[str, str | None], tuple[str, int, int]] = {}
    for batch in suite.references.expected.select(["name", "arguments", "case_id", "line"]).to_batches(
        max_chunksize=50_000
    ):
        for name, arguments, case, line in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            known = out.get((name, arguments))
            out[name, arguments] = (case, line, 1) if known is None else (*known[:2], known[2] + 1)
    return out


class _Checker:
    """Checks expected arguments against the schemas of a tool; where agents differ, one that accepts them is enough."""

    def __init__(self, suite: Suite) -> None:
        from tracelens.rungs.schema.truth import compile_schema

        self._compiled: defaultdict[str, list[CompiledSchema]] = defaultdict(list)
        self._unchecked: set[str] = set()
        for _, tool in all_tools(suite):
            compiled = compile_schema(tool.schema) if tool.schema is not None else None
            if compiled is not None and compiled.usable:
                self._compiled[tool.name].append(compiled)
            else:
                self._unchecked.add(tool.name)

    def messages(self, name: str, arguments: str) -> list[str]:
        """What the schemas say against the arguments; empty where one of them accepts, or none can be asked."""
        from tracelens.rungs.schema.matchers import refused

        schemas = self._compiled.get(name, [])
        if not schemas or name in self._unchecked:
            return []
        if _beyond_range(json.loads(arguments)):
            return ["a number is beyond double range"]
        messages = [
            [f"{render_path(error.path) or 'arguments'}: {error.message}" for error in refused(compiled, arguments)]
            for compiled in schemas
        ]
        return min(messages, key=len)


def _beyond_range(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_beyond_range, value.values()))
    if isinstance(value, list):
        return any(map(_beyond_range, value))
    return isinstance(value, float) and math.isinf(value)


def _near_matchers(arguments: str) -> Iterator[str]:
    """Keys that are nearly a matcher's: data, or a slip."""
    if '"$' not in arguments:
        return
    queue = [json.loads(arguments)]
    while queue:
        value = queue.pop()
        if isinstance(value, list):
            queue += value
        elif isinstance(value, dict):
            if not (is_matcher(value) and "$literal" in value):
                queue += value.values()
            for key in value:
                hint = did_you_mean(key, MATCHERS) or (ESCAPE if len(value) == 1 else "")
                if hint and key[:1] == "$" and key not in MATCHERS:
                    yield f"{key!r} is compared as plain data; {hint}"


def _lint_cases(suite: Suite, found: Found) -> None:
    """Cases whose ids are one number in two spellings: they are compared as text."""
    import pyarrow.compute as pc

    ids = suite.references.cases["case_id"]
    spelled = ids.filter(pc.match_substring_regex(ids, r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"))
    if not pc.any(pc.match_substring_regex(spelled, "[.eE]|^-?0")).as_py():
        return
    seen: dict[str, str] = {}
    for case in spelled.to_pylist():
        first = seen.setdefault(decimal_form(case), case) if is_number(case) else case
        if first != case:
            message = f"cases {first!r} and {case!r} are one number, but two cases: ids are compared as text"
            found.warning(suite.references.place, message, "write one number in one way", kind="numbers as case ids")


def _lint_lengths(suite: Suite, found: Found) -> None:
    """Cases whose references are all longer than the invariants allow."""
    import pyarrow.compute as pc

    limit = suite.invariants.max_calls
    if limit is None or not suite.references.expected.num_rows:
        return
    counts = suite.references.expected.group_by(["case_id", "reference_index"]).aggregate([("line", "count")])
    shortest = counts.group_by("case_id").aggregate([("line_count", "min")])
    for row in shortest.filter(pc.greater(shortest["line_count_min"], limit)).sort_by("case_id").to_pylist():
        message = (
            f"case {row['case_id']!r} expects {counted(row['line_count_min'], 'call')}, and at most {limit} allowed"
        )
        found.warning(suite.where(["invariants", "max_calls"]), message, kind="references longer than max_calls")
