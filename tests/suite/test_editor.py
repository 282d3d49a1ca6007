"""The JSON Schema for editors accepts what the loader accepts."""

import tomllib

import jsonschema
import pytest

from tests.suite.test_load import FULL
from tracelens.suite.editor import suite_json_schema


@pytest.fixture(scope="module")
def validator():
    schema = suite_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def plain(value):
    """TOML values as an editor hands them to a JSON Schema validator: dates as text."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def test_a_full_suite_is_accepted(validator):
    assert [error.message for error in validator.iter_errors(plain(tomllib.loads(FULL)))] == []


@pytest.mark.parametrize(
    "data",
    [
        {"toolz": {}}, {"match": {"depht": "all"}}, {"thresholds": {"acuracy": 1}}, {"thresholds": {"f1": 2}},
        {"normalize": {"a": {"b": "unti"}}}, {"safety": {"packs": ["x"]}}, {"state": [{"name": "a"}]},
    ],
)  # fmt: skip
def test_faults_are_seen(validator, data):
    assert list(validator.iter_errors(data))


def test_every_key_is_explained():
    schema = suite_json_schema()
    tables = {"suite": schema, **schema["$defs"]}
    for table, definition in tables.items():
        for key, item in definition["properties"].items():
            target = schema["$defs"].get(item.get("$ref", "").rpartition("/")[2], {})
            assert item.get("description") or target.get("description"), f"{table}.{key}"
