"""The JSON Schema of the suite file, by which an editor completes keys and explains them."""

from __future__ import annotations

from typing import Any


def suite_json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a suite file.

    Returns:
        What ``tracelens schema`` prints. TOML editors take it from a first line ``#:schema FILE``.

    Example:
        >>> sorted(suite_json_schema()["properties"])[:3]
        ['agents', 'answer', 'check']
    """
    from tracelens.suite.model import SuiteFile
    from tracelens.suite.names import PAIRS, SCORES, best_value

    schema = SuiteFile.model_json_schema(by_alias=True)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "TraceLens suite"}
    schema["properties"]["thresholds"] = {
        "description": schema["properties"]["thresholds"]["description"],
        "type": "object",
        "properties": {score: {"type": "number", "minimum": 0, "maximum": best_value(score)} for score in SCORES}
        | {count: {"type": "number", "minimum": 0} for count in PAIRS},
        "patternProperties": {"__": {"type": "number"}},
        "additionalProperties": False,
    }
    return schema
