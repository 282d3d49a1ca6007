"""A starter suite loads, passes lint, and accepts what it was made from."""

import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.suite.test_references import JSON
from tracelens.columns import CALLS, EXPECTED, REJECTS, TRACES, Batch, empty, table
from tracelens.errors import UsageError
from tracelens.init import starter_suite
from tracelens.init.shapes import MOST_MEMBERS, Shape
from tracelens.lint import lint
from tracelens.sources.detect import open_input
from tracelens.suite import Suite


def batch(*traces):
    """A batch from ``{"calls": [(name, arguments[, form])], "case": …, "references": [[…]], "tools": …}``."""
    calls, expected = [], []
    for row, trace in enumerate(traces):
        calls += [
            (row, index, *(call if len(call) == 3 else (*call, 2))) for index, call in enumerate(trace.get("calls", []))
        ]
        for r, reference in enumerate(trace.get("references") or []):
            expected += [(row, r, i, *(call if len(call) == 3 else (*call, 2))) for i, call in enumerate(reference)]
    n = len(traces)
    references = [trace.get("references") for trace in traces]
    return Batch(
        traces=table(
            TRACES, n, trace=range(n), trace_id=[f"t{i}" for i in range(n)], id_given=[True] * n, has_calls=[True] * n,
            case_id=[trace.get("case") for trace in traces], tools=[trace.get("tools") for trace in traces],
            n_references=[None if one is None else len(one) for one in references], source=["x"] * n, line=range(n),
            record_hi=range(n), record_lo=range(n),
        ),
        calls=rows(CALLS, calls, "trace call_index name arguments arguments_form", malformed=False, depth=0),
        expected=rows(EXPECTED, expected, "trace reference_index expected_index name arguments arguments_form"),
        rejects=empty(REJECTS),
        n_records=n,
    ).checked()  # fmt: skip


def rows(schema, data, names, **constants):
    columns = dict(zip(names.split(), zip(*data, strict=True), strict=True)) if data else {}
    columns |= {name: [value] * len(data) for name, value in constants.items()}
    return table(schema, len(data), **{name: list(values) for name, values in columns.items()})


def loaded(result, folder):
    result.save(folder / "suite.toml")
    suite = Suite.load(folder / "suite.toml")
    assert [str(problem) for problem in lint(suite) if problem.severity == "error"] == []
    return suite


def test_schemas_are_inferred_from_all_arguments(tmp_path):
    result = starter_suite([
        batch({"calls": [("book", '{"room": 1, "name": "x", "tags": ["a"], "who": {"age": 3}}')]}),
        batch({"calls": [("book", '{"room": 2.5, "name": null, "who": {"age": 4, "vip": true}}'), ("now", "{}"), ("now", None, 0)]}),
    ])  # fmt: skip
    suite = loaded(result, tmp_path)
    assert (result.n_traces, result.n_tools, result.n_cases, result.notes) == (2, 2, 0, ())
    assert suite.tools["book"].schema == {
        "type": "object",
        "properties": {
            "room": {"type": "number"},
            "name": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "who": {
                "type": "object",
                "properties": {"age": {"type": "integer"}, "vip": {"type": "boolean"}},
                "required": ["age"],
            },
        },
        "required": ["room", "name", "who"],
    }
    assert suite.tools["now"].schema == {"type": "object", "properties": {}}
    assert suite.thresholds is None


def test_what_says_nothing_about_arguments_is_left_out(tmp_path):
    calls = [("a", '{"x": 1}'), ("a", "{broken"), ("a", "[1]"), ("a", '{"y": 1}', 5), ("a", '"{\\"x\\": 2}"', 3), ("b", "free", 4),
             ("c", None, 6), (None, "{}"), ("", "{}")]  # fmt: skip
    suite = loaded(starter_suite([batch({"calls": calls})]), tmp_path)
    assert list(suite.tools) == ["a", "b", "c"]
    assert suite.tools["a"].schema["required"] == ["x"]
    assert suite.tools["b"].schema is suite.tools["c"].schema is None
    assert suite.tools["b"].known


def test_recorded_definitions_come_first(tmp_path):
    tools = [{"name": "book", "input_schema": {"type": "object", "required": ["room"]}}, {"type": "web_search"}]
    other = [{"name": "book", "input_schema": {"type": "object"}}, {"name": "bad", "input_schema": {"type": "dict"}}]
    result = starter_suite([batch(
        {"calls": [("book", '{"room": 1}'), ("bad", '{"x": 1}')], "tools": json.dumps(tools)},
        {"tools": json.dumps(other)}, {"tools": json.dumps(other)}, {"tools": "no json"},
    )])  # fmt: skip
    suite = loaded(result, tmp_path)
    assert suite.tools["book"].schema == {"type": "object", "required": ["room"]}
    assert suite.tools["bad"].schema["properties"] == {"x": {"type": "integer"}}
    assert suite.tools["web_search"].schema is None
    assert "2 different schemas" in result.toml
    assert json.loads(result.files["tools.json"]) == {"book": {"type": "object", "required": ["room"]}}
    assert len(result.notes) == 2
    assert "the recorded schema of 'bad' cannot be used" in result.notes[0]


def test_references_keep_the_text_of_their_arguments(tmp_path):
    one = [
        ("f", '{"x": 9007199254740993,\r\n "y": 1.0}'),
        ("g", None, 0),
        ("h", '{"s":"\u2028 \\n"}', 3),
        ("k", None, 1),
    ]
    result = starter_suite([batch(
        {"case": "b", "references": [one]}, {"case": "a", "references": [[], [("f", "{}")]]}, {"case": "none"},
        {"case": "b", "references": [[]]}, {"references": [[]]}, {"case": "e", "references": [[]], "calls": [("f", '{"x": 1.5}')]},
    )])  # fmt: skip
    suite = loaded(result, tmp_path)
    assert suite.references.cases["case_id"].to_pylist() == ["a", "b", "e"]
    assert suite.references.cases["n_references"].to_pylist() == [2, 1, 1]
    kept = suite.references.expected.select(["case_id", "name", "arguments"]).to_pylist()
    assert [tuple(row.values()) for row in kept] == [
        ("a", "f", "{}"), ("b", "f", '{"x": 9007199254740993,   "y": 1.0}'), ("b", "g", None), ("b", "h", '{"s":"\u2028 \\n"}'),
        ("b", "k", None),
    ]  # fmt: skip
    assert suite.tools["f"].schema["properties"]["x"] == {"type": "number"}
    assert result.notes == (
        "1 case with different references in different traces (b); the first was kept",
        "1 trace with a reference but without a case_id, so it stays with the trace",
    )


def test_matchers_in_references_teach_nothing(tmp_path):
    reference = [("f", '{"x": {"$any": true}}')]
    suite = loaded(
        starter_suite([batch({"case": "a", "references": [reference], "calls": [("f", '{"x": 1}')]})]), tmp_path
    )
    assert suite.tools["f"].schema["properties"] == {"x": {"type": "integer"}}


def test_proposals_stand_in_comments():
    calls = [
        ("mcp__air__book", '{"day": "2026-11-02", "no": "2026-02-30"}'),
        ("transfer_to_human", "{}"),
        ("odd name", '{"a.b": "2026-01-01"}'),
    ]
    text = starter_suite([batch({"calls": calls})], name='my "suite"').toml
    assert '# server_prefixes = ["mcp__air__"]' in text
    assert '# handoffs = ["transfer_to_human"]' in text
    assert '# day = "date"' in text
    assert '# no = "date"' not in text
    assert '# "\\"a.b\\"" = "date"' in text
    assert "# max_calls = 3 " in text


def test_proposals_work_when_they_are_switched_on(tmp_path):
    calls = [
        ("mcp__air__book", '{"day": "2026-11-02"}'),
        ("transfer_to_human", "{}"),
        ("odd name", '{"a.b": "2026-01-01"}'),
    ]
    result = starter_suite([batch({"calls": calls, "case": "c", "references": [[]]})])
    switched_off = re.compile(r'# (?=\[|(?:"(?:[^"\\]|\\.)*"|[\w-]+) = )')
    proposal = [switched_off.sub("", line) if switched_off.match(line) else line for line in result.toml.splitlines()]
    for file, text in result.files.items():
        (tmp_path / file).write_text(text)
    (tmp_path / "suite.toml").write_text("\n".join(proposal))
    suite = Suite.load(tmp_path / "suite.toml")
    assert suite.is_handoff("transfer_to_human")
    assert suite.normalize["odd name"] == {'"a.b"': "date"}
    assert suite.state[0].expect == {"n": 1}


def test_nothing_is_overwritten_unasked(tmp_path):
    result = starter_suite([batch({"case": "a", "references": [[]]})])
    written = result.save(tmp_path / "new" / "suite.toml")
    assert [path.name for path in written] == ["suite.toml", "references.jsonl"]
    (tmp_path / "new" / "suite.toml").unlink()
    with pytest.raises(UsageError, match="exists already"):
        result.save(tmp_path / "new" / "suite.toml")
    assert not (tmp_path / "new" / "suite.toml").exists()
    result.save(tmp_path / "new" / "suite.toml", overwrite=True)


@given(st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=4), min_size=1, max_size=4))
def test_an_inferred_schema_accepts_what_was_seen(values):
    shape = Shape()
    for value in values:
        shape.add(value)
    schema = shape.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(jsonschema.Draft202012Validator(schema).is_valid(value) for value in values)


@given(
    st.lists(st.tuples(st.text(max_size=6), st.dictionaries(st.text(max_size=6), JSON, max_size=3)), max_size=4),
    st.text(max_size=4),
)
def test_any_names_make_a_suite_that_loads(tmp_path_factory, calls, case):
    texts = [(name, json.dumps(arguments)) for name, arguments in calls]
    references = [[call for call in texts if call[0]]]
    suite = loaded(
        starter_suite([batch({"calls": texts, "case": case, "references": references})]), tmp_path_factory.mktemp("s")
    )
    assert set(suite.tools) == {name for name, _ in calls if name}


def test_a_map_is_no_list_of_names():
    shape = Shape()
    shape.add({f"k{n}": n for n in range(MOST_MEMBERS + 1)})
    assert shape.schema() == {"type": "object"}


def test_nothing_at_all_makes_a_suite(tmp_path):
    assert not loaded(starter_suite([]), tmp_path).has_tools


def test_real_trajectories_make_a_suite(shared, tmp_path):
    opened = open_input(shared / "workloads" / "tau-bench" / "gpt-4o-airline.json")
    result = starter_suite((parse(block) for parse, block in opened.blocks()), name="airline")
    suite = loaded(result, tmp_path)
    assert (result.n_traces, result.n_tools, result.n_cases, result.notes) == (200, 14, 50, ())
    assert all(tool.has_schema for tool in suite.tools.values())
    assert suite.tools["send_certificate"].schema["required"] == ["user_id", "amount"]
