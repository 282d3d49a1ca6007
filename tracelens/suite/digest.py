"""One number for everything in a suite that can change a result."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import pyarrow as pa

    from tracelens.suite.core import Suite
    from tracelens.suite.tools import Tool

_VERSION = "tracelens suite 1"
_EXACT = re.compile(r"[0-9]{15}|[0-9][.eE]")
"""What may be a number that a parser would round or rewrite."""

_SPACE = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
_COLUMNS = {
    "expected": ("case_id", "reference_index", "expected_index", "name", "arguments", "arguments_form"),
    "cases": ("case_id", "n_references", "state", "milestones"),
}


def suite_digest(suite: Suite) -> str:
    """SHA-256 of a suite's content (see `Suite.digest`).

    Returns:
        64 hexadecimal digits.
    """
    total = hashlib.sha256(_VERSION.encode())
    total.update(canonical(suite_content(suite)))
    for name, columns in _COLUMNS.items():
        total.update(f"\n{name}\n".encode())
        for batch in getattr(suite.references, name).select(columns).to_batches(max_chunksize=50_000):
            total.update(_rows(batch))
    return total.hexdigest()


def suite_content(suite: Suite) -> dict[str, Any]:
    """Everything in a suite but its references, as JSON can hold it; also what a run keeps of its suite.

    Returns:
        The keys of the suite file with all defaults filled in, and the schemas (as JSON text, in the order written).
    """
    from tracelens.suite.model import SuiteFile

    content: dict[str, Any] = {}
    for key in SuiteFile.model_fields:
        if key not in {"tools", "agents", "tools_file", "references_file"}:
            content[key] = _plain(getattr(suite, key))
    content["tools"] = _tools(suite.tools)
    content["agents"] = {name: _tools(agent.tools) for name, agent in suite.agents.items()}
    return content


def canonical(value: Any) -> bytes:
    r"""JSON with sorted keys and without white space.

    Example:
        >>> canonical({"b": 1, "a": "é"})
        b'{"a":"\xc3\xa9","b":1}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    from pydantic import BaseModel

    if isinstance(value, BaseModel):
        plain = value.model_dump(mode="json", by_alias=True)
        if "json_schema" in plain:
            plain["json_schema"] = json.dumps(plain["json_schema"])
        if hasattr(value, "has_equals"):
            plain["has_equals"] = value.has_equals
        return plain
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _tools(tools: Mapping[str, Tool]) -> dict[str, Any]:
    return {
        name: {
            "schema": None if tool.schema is None else json.dumps(tool.schema),
            "aliases": sorted(tool.aliases),
            "price": tool.price,
            "known": tool.known,
        }
        for name, tool in tools.items()
    }


def _rows(batch: pa.RecordBatch) -> bytes:
    """The rows of a batch as lines of JSON; JSON text inside them without its formatting."""
    columns = [column.to_pylist() for column in batch.columns]
    for index, name in enumerate(batch.schema.names):
        if name in {"arguments", "state", "milestones"}:
            columns[index] = [None if text is None else _same_text(text) for text in columns[index]]
    return b"".join(orjson.dumps(row) + b"\n" for row in zip(*columns, strict=True))


def _same_text(text: str) -> str:
    """JSON text without formatting: equal for texts that mean the same, different for those that do not.

    Numbers that a parser would round keep the text as it is, but for white space.
    """
    if _EXACT.search(text) is None:
        try:
            return orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS).decode()
        except orjson.JSONDecodeError:  # deeper than orjson goes
            pass
    return _SPACE.sub(r"\1", text)
