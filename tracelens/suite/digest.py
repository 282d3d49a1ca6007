"""One number for everything in a suite that can change a result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from tracelens.suite.references import References
    from tracelens.suite.tools import Tool

_VERSION = "tracelens suite 1"
_BLOCK = 50_000
"""Rows that are put into bytes at a time."""

_COLUMNS = {
    "expected": ("case_id", "reference_index", "expected_index", "name", "arguments", "arguments_form"),
    "cases": ("case_id", "n_references", "state", "milestones"),
}

_NOT_HERE = frozenset({"tools", "agents", "tools_file", "references_file", "gate"})
"""Keys that stand elsewhere in the content, or that no result depends on."""
_OF_JUDGE = frozenset({"questions", "price_per_1k_tokens"})
"""What of the judge stands in results; how it is asked does not."""


def suite_digest(keys: Mapping[str, Any], references: References) -> str:
    """SHA-256 of a suite's content (see `Suite.digest`).

    Args:
        keys: The attributes of a suite by name; those that are no keys of a suite file are left alone.
        references: Its references.

    Returns:
        64 hexadecimal digits.
    """
    total = hashlib.sha256(_VERSION.encode())
    total.update(canonical(suite_content(keys)))
    for name, columns in _COLUMNS.items():
        total.update(f"\n{name}\n".encode())
        table = getattr(references, name)
        for start in range(0, table.num_rows, _BLOCK):
            for column in columns:
                total.update(_column_bytes(column, table[column].slice(start, _BLOCK).combine_chunks()))
    return total.hexdigest()


def suite_content(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Everything in a suite but its references, as JSON can hold it.

    Args:
        keys: The attributes of a suite by name.

    Returns:
        The keys of the suite file that results depend on, with all defaults filled in; schemas as JSON text, in the order written.
    """
    from tracelens.suite.model import SuiteFile

    content: dict[str, Any] = {}
    for key in SuiteFile.model_fields:
        if key not in _NOT_HERE:
            content[key] = _plain(keys[key])
    content["judge"] = {key: value for key, value in content["judge"].items() if key in _OF_JUDGE}
    content["tools"] = _tools(keys["tools"])
    content["agents"] = {name: _tools(agent.tools) for name, agent in keys["agents"].items()}
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


def _column_bytes(name: str, column: pa.Array) -> bytes:
    """A column as bytes that tell all its values and their borders apart."""
    import numpy as np
    import pyarrow as pa

    valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.uint8)
    if not pa.types.is_large_string(column.type):
        return valid.tobytes() + np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False), "<i8").tobytes()
    column = pa.concat_arrays([column.fill_null("")])
    _, offset_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64, len(column) + 1, 8 * column.offset)
    data = np.frombuffer(data_buffer or b"", np.uint8)[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    if name in {"arguments", "state", "milestones"}:
        data, offsets = compact(data, offsets)
    return valid.tobytes() + np.diff(offsets).astype("<i8").tobytes() + data.tobytes()


def compact(
    data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """JSON texts without the white space between their values; numbers and strings stay as they are written.

    Args:
        data: uint8, UTF-8 bytes of valid JSON texts back to back.
        offsets: int64[n + 1], where each text starts.

    Returns:
        The same two arrays for the shorter texts.

    Example:
        >>> import numpy as np
        >>> data, offsets = compact(np.frombuffer(b'{"a b": [1, 2]}', np.uint8), np.array([0, 15]))
        >>> data.tobytes(), offsets.tolist()
        (b'{"a b":[1,2]}', [0, 13])
    """
    import numpy as np

    quote = data == ord('"')
    if np.any(data == ord("\\")):
        quote &= ~_escaped(data)
    inside = np.bitwise_xor.accumulate(quote.view(np.uint8)).view(np.bool_)
    keep = inside | (data > 0x20)  # outside of strings, JSON has no other bytes up to the space than white space
    kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])
    return data[keep], kept[offsets]


def _escaped(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which bytes come after an odd number of back-slashes."""
    import numpy as np

    position = np.arange(data.size, dtype=np.int64)
    last_other = np.maximum.accumulate(np.where(data != ord("\\"), position, -1))
    out = np.zeros(data.size, np.bool_)
    out[1:] = (position - last_other)[:-1] % 2 == 1
    return out
