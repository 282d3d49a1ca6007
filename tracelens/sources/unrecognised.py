"""What to say of a file that no format fits: what it looks like, and what to do with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracelens.errors import InputError
from tracelens.sources.base import Head, Sniff, Source

_SQLITE = b"SQLite format 3\x00"
_ASK = (
    "`tracelens formats` lists the formats, `tracelens formats NAME` shows what one looks like; "
    "name the one it is in (--format NAME, or format=… in Python)"
)
_TABLE = (
    "write the rows of its calls as Parquet or CSV and score that, or score a frame of them in Python "
    "(tl.score(frame)); `tracelens formats table` says which columns it needs"
)
_SUITE = "and keep it out of the folder that is scored, or name the files of traces (such as `runs/*.jsonl`)"


def unrecognised(head: Head, sniffs: Sequence[tuple[Sniff, Source]]) -> InputError:
    """The error for a file whose format nobody knows.

    Args:
        head: Its beginning.
        sniffs: What the sources said, the surest first.
    """
    reason, hint = _seen(head) or (_unlike(head, sniffs), _ASK)
    return InputError(f"the format is not recognised: {reason}", where=head.file.where, hint=hint)


def _seen(head: Head) -> tuple[str, str] | None:
    """What a file is that is no input, and what to do with it; None where that cannot be told."""
    if head.start.startswith(_SQLITE):
        return (
            "it is a SQLite database",
            _TABLE,
        )
    first = head.records[0] if head.records else None
    if not isinstance(first, dict) or "tool_calls" in first:
        return None
    if "case_id" in first and ("expected" in first or "references" in first):
        return (
            "it holds references: a case_id with expected calls, and no calls",
            f'write `references_file = "{head.file.name}"` into the suite, {_SUITE}',
        )
    if _is_tool(first) or (first and all(map(_is_schema, first.values()))):
        return "it holds definitions of tools", f'write `tools_file = "{head.file.name}"` into the suite, {_SUITE}'
    return None


def _is_tool(record: dict[str, Any]) -> bool:
    """Whether a record defines a tool, as OpenAI, Anthropic or MCP do."""
    inner = record.get("function") if record.get("type") == "function" else record
    schemas = ("parameters", "input_schema", "inputSchema")
    return isinstance(inner, dict) and "name" in inner and any(isinstance(inner.get(key), dict) for key in schemas)


def _is_schema(value: Any) -> bool:
    """Whether a value looks like the JSON Schema of a tool's arguments."""
    return isinstance(value, dict) and (value.get("type") == "object" or isinstance(value.get("properties"), dict))


def _unlike(head: Head, sniffs: Sequence[tuple[Sniff, Source]]) -> str:
    """What a file looked like and why it is not that; what it holds, where it looked like nothing."""
    like = [f"it looks like {source.name}, but {sniff.why}" for sniff, source in sniffs[:5] if sniff.score > 0]
    if like:
        return "; ".join(like)
    if not head.records:
        return "no record in it is JSON"
    first = head.records[0]
    if not isinstance(first, dict):
        return f"its first record is {shown_json(first)}, and no format begins so"
    keys = ", ".join(list(first)[:8])
    more = ", …" if len(first) > 8 else ""
    return (
        f"its first record has the keys {keys}{more}, which no format has together"
        if keys
        else "its first record is {}"
    )


def shown_json(value: Any) -> str:
    """The kind of a JSON value as part of a sentence.

    Example:
        >>> shown_json([]), shown_json(None), shown_json(1.5)
        ('an array', 'null', 'a number')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true or false"
    return "an array" if isinstance(value, list) else "a string" if isinstance(value, str) else "a number"
