"""The text of a starter suite."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tracelens.errors import counted
from tracelens.init import toml
from tracelens.init.observe import Seen, SeenTool

TOOLS_FILE = "tools.json"
REFERENCES_FILE = "references.jsonl"


def suite_text(seen: Seen, name: str) -> str:
    """The suite file.

    Args:
        seen: What was seen in the traces.
        name: Name of the suite.

    Returns:
        TOML that `Suite.load` reads, beside the files of `tools_text` and `references_text`.
    """
    parts = [_head(seen, name), _tools(seen), _normalize(seen), _matching(seen), _limits(seen)]
    return "\n\n".join(part for part in parts if part) + "\n"


def tools_text(seen: Seen) -> str:
    """The recorded definitions as ``{name: schema}``; empty when there are none with a schema."""
    schemas = {
        n: t.definition.schema for n, t in seen.tools.items() if t.definition and t.definition.schema is not None
    }
    return json.dumps(schemas, indent=2, ensure_ascii=False) + "\n" if schemas else ""


def references_text(seen: Seen) -> str:
    """The references as JSON lines, by case; empty when the traces bring none."""
    return "".join(f"{seen.references[case]}\n" for case in sorted(seen.references))


def _head(seen: Seen, name: str) -> str:
    lines = [
        f"# A starter suite, made from {counted(seen.traces, 'trace')}. Everything in it may be edited; `tracelens lint` checks it,",
        "# and `tracelens schema` prints a JSON Schema by which an editor completes and explains the keys.",
        f"name = {toml.text(name)}",
    ]
    if tools_text(seen):
        lines += [
            "",
            "# Tool definitions as the traces recorded them: {name: schema of the arguments}.",
            f'tools_file = "{TOOLS_FILE}"',
        ]
    if seen.references:
        lines += [
            "",
            "# The expected calls of each case, as the traces brought them. Traces find theirs by case_id; a trace that",
            "# brings its own keeps it.",
            f'references_file = "{REFERENCES_FILE}"',
        ]
        if seen.conflicts:
            lines.append(
                f"# {counted(len(seen.conflicts), 'case')} with different references in different traces; "
                "the first was kept."
            )
    else:
        lines += [
            "",
            '# Expected calls, one case a line: {"case_id": "…", "expected": [{"name": "…", "arguments": {…}}]}',
            '# references_file = "references.jsonl"',
        ]
    lines += _prefixes(seen)
    return "\n".join(lines)


def _prefixes(seen: Seen) -> list[str]:
    """A proposal where tool names look as if a server put its own name in front."""
    found = sorted(
        {
            "__".join(name.split("__")[:2]) + "__"
            for name in seen.tools
            if name.startswith("mcp__") and name.count("__") > 1
        }
    )
    if not found:
        return []
    listed = ", ".join(map(toml.text, found))
    return [
        "",
        "# Take these off the names of tools, in traces and references alike.",
        f"# server_prefixes = [{listed}]",
    ]


def _tools(seen: Seen) -> str:
    """Tools without a recorded schema, each with one that was inferred; and remarks on those with several."""
    blocks = [block for name, tool in sorted(seen.tools.items()) for block in _tool(name, tool, seen)]
    if not any("schema = " in block for block in blocks):
        return "\n\n".join(blocks)
    head = [
        "# Schemas inferred from the arguments seen: types, and what every call had. They accept every call they were",
        "# made from, so a finding means something new. Tighten them by hand: enum, pattern, format, bounds,",
        '# and "additionalProperties": false to refuse arguments that are not listed.',
    ]
    return "\n\n".join(["\n".join(head), *blocks])


def _alias(name: str, seen: Seen) -> str:
    """How interfaces that allow no dots in names write a tool's name; empty where that is no other, free name."""
    plain = name.replace(".", "_")
    return "" if plain == name or plain in seen.tools else plain


def _tool(name: str, tool: SeenTool, seen_tools: Seen) -> Iterator[str]:
    title = f"[tools.{toml.key(name)}]"
    seen = f"  # {counted(tool.calls, 'call')}" + (
        f", expected {counted(tool.expected, 'time')}" if tool.expected else ""
    )
    if tool.definition is not None and tool.definition.schema is not None:
        if tool.definitions > 1:
            yield (
                f"# The traces record {tool.definitions} different schemas of {toml.text(name)}; the first was kept.\n"
                '# schemas_from = "trace", at the top, checks each trace by its own.'
            )
        if alias := _alias(name, seen_tools):
            yield f"{title}\naliases = [{toml.text(alias)}]  # where names may have no dots"
        return
    if tool.definition is not None or tool.texts or not tool.shape.objects:
        yield f"{title}{seen}\nknown = true  # no schema: its arguments are not checked"
        return
    yield f"{title}{seen}\nschema = {toml.schema(tool.shape.schema())}"


def _normalize(seen: Seen) -> str:
    lines = [
        "# How values are compared. Without rules: strings trimmed and without case, numbers by value, dates and times",
        "# where the schema says so. More: ignore, number, unit, unordered, default, path, url, text …",
        '# [normalize."*"]',
        '# request_id = "ignore"',
    ]
    for name, tool in sorted(seen.tools.items()):
        dates = tool.shape.date_members()
        if dates:
            lines += [f"# [normalize.{toml.key(name)}]", *(f'# {toml.key(toml_path(each))} = "date"' for each in dates)]
    return "\n".join(lines)


def toml_path(member: str) -> str:
    """The path of a top-level argument, as keys of rules write it."""
    from tracelens.kernels.reference.paths import render_path

    return render_path([member])


def _matching(seen: Seen) -> str:
    handoffs = sorted(name for name in seen.tools if name.startswith(("transfer_to_", "handoff_to_")))
    lines = [
        "[match]",
        'parallel = "ordered"    # "unordered": calls of one turn may come in any order',
        'count = "requested"     # "executed": leave out calls that did not run',
    ]
    if handoffs:
        lines.append(
            f"# handoffs = [{', '.join(map(toml.text, handoffs))}]    # these pass control on and are no calls"
        )
    lines += [
        "",
        "# The lowest scores that pass. Without this table a trace with a reference needs accuracy_optimal = 1.",
        "# [thresholds]",
        "# accuracy_optimal = 0.9",
        "# subset = 1.0",
    ]
    return "\n".join(lines)


def _limits(seen: Seen) -> str:
    first = toml.text(next(iter(sorted(seen.tools)), "delete_everything"))
    return "\n".join([
        "# Rules that need no reference.",
        "# [invariants]",
        f"# max_calls = {max(seen.most_calls, 1)}          # the longest trace seen has that many",
        "# max_identical = 2",
        f"# forbidden_tools = [{first}]",
        "",
        "[safety]",
        'packs = ["shell", "paths", "secrets", "destructive", "network"]',
        "",
        "# What must be true in a database after a trace.",
        "# [[state]]",
        '# name = "booked once"',
        '# database = "postgresql://${DB_USER}:${DB_PASSWORD}@localhost/bookings"',
        '# sql = "select case_id, count(*) as n from bookings group by case_id"',
        "# expect = {n = 1}",
        "",
        "# [judge]",
        '# questions = ["Is the answer grounded in the tool results?"]',
    ])  # fmt: skip
