"""Reading suites: what is accepted, and how everything wrong is told at once."""

import datetime as dt
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tracelens.errors import SuiteError
from tracelens.suite import Suite, SuiteProblemsError

FULL = """
name = "trips"
tools_file = "defs.json"
references_file = "refs.jsonl"
server_prefixes = ["mcp__air__"]
schemas_from = "trace"

[tools.reserve]
aliases = ["hold"]
price = 0.25
[tools.reserve.schema]
type = "object"
properties = {room = {type = "integer"}}
[tools.web]
known = true
[tools.odd]
schema = '{"type": "object", "properties": {"z": {}, "a": {}}}'
[agents.finance.tools.refund]
schema = {type = "object"}

[normalize."*"]
request_id = "ignore"
[normalize.reserve]
"guests[*].name" = ["trim", "text"]
distance = {unit = "km"}
when = {datetime = "Europe/Berlin"}
amount = {number = {abs_tol = 0.01, decimals = 2}}
seats = {default = {value = 1}}
page = {default = {schema = true}}

[fields.reserve]
code = {regex = "^[A-Z]+$"}
currency = {equals = "EUR", required = true}
[answer]
contains = ["held"]
json_schema = {type = "object"}
max_length = 200

[match]
parallel = "unordered"
count = "executed"
depth = "all"
rows = ["positional", "optimal"]
credit = {exact = 1.0, name = 0.25}
output_tools = ["final"]
handoffs = ["transfer_to_*"]
[wrappers."Desk.handle"]
name = "inputs.tool"
arguments = "inputs.args"

[thresholds]
f1 = 0.5
golden_score = 80

[milestones]
must_call = ["web", {tool = "reserve", arguments = {room = {"$range" = [1, 9]}}, min = 2}]
order = [["web", "reserve"]]
max_steps = 7

[invariants]
forbidden_tools = ["drop_*"]
max_calls_by_tool = {web = 3}
max_identical = 2
max_cost = 0.5
after = [["reserve", "web"]]

[safety]
packs = ["shell"]
patterns = [{name = "drop", regex = '(?i)drop\\s+table', tools = ["web"]}]

[[state]]
name = "held once"
database = "postgresql://${DB_USER}@db/x"
sql = "select case_id, n from holds"
expect = {n = 1}
cases = [7, "b"]
[[state]]
name = "right room"
database = "holds.parquet"
sql = "select case_id, room from holds"
expect = "case"

[[check]]
name = "cheap"
sql = "select 1"
[[check]]
name = "own"
python = "my.checks:run"

[[waive]]
case_id = 7
code = "schema.required"
until = 2030-12-31
reason = "known"

[route]
state_decides = true
[judge]
questions = ["Is it polite?"]
price_per_1k_tokens = 0.003
"""


def write(folder: Path, text: str, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    path = folder / "suite.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def full(tmp_path):
    definitions = [{"name": "reserve", "input_schema": {"type": "string"}}, {"name": "find", "inputSchema": {}}]
    reference = {"case_id": 7, "expected": [{"name": "hold", "arguments": {"room": 1}}], "state": {"room": 1}}
    return write(tmp_path, FULL, defs__json=json.dumps(definitions), refs__jsonl=json.dumps(reference))


def messages(text_or_dict, base=None):
    read = Suite.load if isinstance(text_or_dict, Path) else lambda data: Suite.from_dict(data, base)
    with pytest.raises(SuiteProblemsError) as caught:
        read(text_or_dict)
    return [str(problem) for problem in caught.value.problems]


def test_every_key_arrives_where_it_is_looked_for(full):
    suite = Suite.load(full)
    assert (suite.name, suite.schemas_from, suite.path) == ("trips", "trace", full)
    assert list(suite.tools) == ["reserve", "find", "web", "odd"]
    assert suite.tools["reserve"].schema == {"type": "object", "properties": {"room": {"type": "integer"}}}
    assert suite.tools["reserve"].price == 0.25
    assert list(suite.tools["odd"].schema["properties"]) == ["z", "a"]
    assert suite.tools["web"].schema is None
    assert suite.tools["web"].known
    assert suite.normalize["reserve"]["distance"] == {"unit": "km"}
    assert suite.fields["reserve"]["currency"].equals == "EUR"
    assert not suite.fields["reserve"]["code"].has_equals
    assert suite.match.credit.name == 0.25
    assert suite.match.rows == ("positional", "optimal")
    assert suite.wrappers["Desk.handle"].arguments == "inputs.args"
    assert suite.thresholds == {"f1": 0.5, "golden_score": 80.0}
    assert suite.milestones.must_call[0].tool == "web"
    assert suite.milestones.must_call[1].arguments == {"room": {"$range": [1, 9]}}
    assert suite.milestones.order == (("web", "reserve"),)
    assert suite.invariants.after == (("reserve", "web"),)
    assert suite.invariants.allowed_tools == ("*",)
    assert suite.safety.packs == ("shell",)
    assert suite.state[0].cases == ("7", "b")
    assert suite.state[0].database == "postgresql://${DB_USER}@db/x"
    assert suite.state[1].expect == "case"
    assert suite.check[1].python == "my.checks:run"
    assert (suite.waive[0].case_id, suite.waive[0].until) == ("7", dt.date(2030, 12, 31))
    assert suite.references.cases["state"].to_pylist() == ['{"room": 1}']


def test_a_suite_cannot_be_changed(full):
    suite = Suite.load(full)
    with pytest.raises(AttributeError):
        suite.name = "other"
    with pytest.raises(ValueError, match="frozen"):
        suite.match.parallel = "ordered"


def test_defaults():
    suite = Suite.default()
    assert suite.thresholds is None
    assert suite.milestones is None
    assert suite.safety.packs == ("shell", "paths", "secrets", "destructive", "network")
    assert suite.match.model_dump(exclude={"credit"}) == {
        "parallel": "ordered", "count": "requested", "depth": "top", "rows": ("optimal",), "output_tools": (),
        "handoffs": (), "dialects": (),
    }  # fmt: skip
    assert (suite.match.credit.exact, suite.match.credit.name) == (1.0, 0.5)
    assert not suite.has_tools
    assert len(suite.references) == 0


def test_all_problems_come_at_once_with_line_key_and_nearest_name(tmp_path):
    text = """name = 3
toolz_file = "x"
tools_file = "def.json"
references_file = "refs.jsonl"

[match]
parallel = "unorderd"
rows = [
  "optimal",
  "positionl",
]

[thresholds]
acuracy_optimal = 1

[[state]]
name = "twice"
database = "a.parquet"
[[state]]
name = "twice"
database = "a.parquet"
sql = "select 1"
[[state]]
name = "twice"
database = "a.parquet"
sql = "select 1"
"""
    refs = '{"case_id": 1, "expected": []}\n\n{"case_id": "1", "expected": []}\n'
    found = messages(write(tmp_path, text, defs__json="{}", refs__jsonl=refs))
    file, refs_file = tmp_path / "suite.toml", tmp_path / "refs.jsonl"
    assert [m for m in found if m.startswith(str(file))] == [
        f"{file}:1: name: should be a string, not 3",
        f"{file}:2: toolz_file: unknown key 'toolz_file'. Hint: did you mean 'tools_file'?",
        f"{file}:7: match.parallel: should be 'ordered' or 'unordered', not 'unorderd'. Hint: did you mean 'unordered'?",
        (
            f"{file}:10: match.rows[1]: should be 'positional', 'best_unused' or 'optimal', not 'positionl'. "
            "Hint: did you mean 'positional'?"
        ),
        (
            f"{file}:14: thresholds.acuracy_optimal: unknown score 'acuracy_optimal'. "
            "Hint: did you mean 'accuracy_optimal'?"
        ),
        f"{file}:16: state[0]: the key 'sql' is missing",
        f"{file}:24: state[2].name: name 'twice' is used 2 times. Hint: give each its own",
    ]
    assert (
        f"{tmp_path / 'def.json'}: cannot be read: No such file or directory. Hint: did you mean 'defs.json'?" in found
    )
    assert any(m.startswith(f"{refs_file}:3: case '1' already stands in line 1") for m in found)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"tools": {"a": {"aliases": ["b"]}, "b": {}}}, "tools.a.aliases[0]: alias 'b' is the name of a tool"),
        ({"tools": {"a": {"aliases": ["x"]}, "b": {"aliases": ["x"]}}}, "alias 'x' of 'b' already belongs to 'a'"),
        ({"tools": {"a": {"aliases": [""]}}}, "an alias should not be empty"),
        ({"tools": {"": {"known": True}}}, "should not be empty"),
        ({"agents": {"f": {"tools": {"b": {}}}}, "tools": {"a": {"aliases": ["b"]}}}, "is the name of a tool"),
        ({"tools": {"a": {"schema": '{"x": NaN}'}}}, "NaN is no JSON"),
        ({"tools": {"a": {"schema": {"default": dt.date(2026, 1, 1)}}}}, "2026-01-01 is no JSON value"),
        ({"tools": {"a": {"schema": True}}}, "a schema should be a table"),
        ({"normalize": {"a": {"b": "unti"}}}, "normalize.a.b: unknown rule 'unti'. Hint: did you mean 'unit'?"),
        ({"normalize": {"a": {"b": {"unit": "parsek"}}}}, "normalize.a.b: unknown unit 'parsek'"),
        ({"normalize": {"a": {"b": "unit"}}}, 'write {unit = "km"}'),
        ({"normalize": {"a": {"b": {"fold": 1}}}}, "rule 'fold' takes no argument"),
        ({"normalize": {"a": {"b": {"trim": 1, "unit": "km"}}}}, "exactly one rule"),
        ({"normalize": {"a": {"b": []}}}, "an empty list of rules"),
        ({"normalize": {"a": {"b": {"number": {"abs_tl": 1}}}}}, "did you mean 'abs_tol'?"),
        ({"normalize": {"a": {"b": {"number": {"decimals": 1.5}}}}}, "an integer"),
        ({"normalize": {"a": {"b": {"number": {"abs_tol": -1}}}}}, "should be 0 or more"),
        ({"normalize": {"a": {"b": {"datetime": "Europe/Berln"}}}}, "did you mean 'Europe/Berlin'?"),
        ({"normalize": {"a": {"b": {"default": {"schema": False}}}}}, "can only be true"),
        ({"normalize": {"a": {"b": {"default": {"value": 1, "schema": True}}}}}, "takes one of value and schema"),
        ({"normalize": {"a": {"b..c": "fold"}}}, "'b..c' is no path"),
        ({"normalize": {"a": {"": "fold"}}}, "an empty path"),
        ({"fields": {"a": {"b": {}}}}, "checks nothing"),
        ({"fields": {"a": {"b": {"regex": "("}}}}, "is no regular expression"),
        ({"answer": {"max_length": True}}, "answer.max_length: should be a whole number, not True"),
        ({"answer": {"contains": "one"}}, "answer.contains: should be a list, not 'one'"),
        ({"match": {"credit": {"exact": 0.2}}}, "name earns 0.5, more than exact with 0.2"),
        ({"match": {"credit": {"name": -1}}}, "greater than or equal to 0"),
        ({"invariants": {"max_tokens": 2**63}}, "less than or equal to 9223372036854775807"),
        ({"tools": {"f": {"price": float("inf")}}}, "finite"),
        ({"match": {"dialects": ["nobody"]}}, "unknown dialect 'nobody'"),
        ({"thresholds": {"f1": "1"}}, "thresholds.f1: should be a number, not '1'"),
        ({"thresholds": {"f1": float("nan")}}, "a finite number"),
        ({"thresholds": {"first_divergence": 1}}, "unknown score 'first_divergence'"),
        ({"thresholds": {"n_extra_optimal": 0}}, "a threshold is a least value"),
        ({"milestones": {"must_call": [{"tool": "a", "arguments": {"x": {"$regex": "["}}}]}}, "no regular expression"),
        ({"milestones": {"must_call": [{"tool": "a", "arguments": {"x": {"$any": False}}}]}}, "$any should be true"),
        ({"milestones": {"order": [["a"]]}}, "milestones.order[0]"),
        ({"invariants": {"after": [["a", "b", "c"]]}}, "invariants.after[0]"),
        ({"invariants": {"max_calls": -1}}, "invariants.max_calls"),
        ({"safety": {"packs": ["shel"]}}, "did you mean 'shell'?"),
        ({"state": [{"name": "a", "database": "x", "sql": "y", "expect": "cse"}]}, "a table of constants or"),
        ({"check": [{"name": "a"}]}, "check[0]: a check needs either sql or python"),
        ({"check": [{"name": "a", "sql": "x", "python": "m:f"}]}, "either sql or python"),
        ({"check": [{"name": "a", "python": "m"}]}, "check[0].python"),
        (
            {"waive": [{"case_id": "a", "code": "schem.x", "until": "2030-01-01", "reason": "r"}]},
            "did you mean 'schema'?",
        ),
        ({"waive": [{"case_id": "a", "code": "schema.x", "until": "soon", "reason": "r"}]}, "'soon' is no date"),
        ({"server_prefixes": [""]}, "server_prefixes[0]: a prefix should not be empty"),
        ({"tools_file": "nowhere.json"}, "nowhere.json: cannot be read"),
        ({"references_file": "nowhere.jsonl"}, "references_file: "),
        ({"schemas_from": "traces"}, "did you mean 'trace'?"),
        ({"match": 3}, "match: should be a table, not 3"),
    ],
)
def test_each_fault_is_named_alone(data, expected, tmp_path):
    found = messages(data, tmp_path)
    assert len(found) == 1, found
    assert expected in found[0]


def test_one_problem_is_told_without_a_list():
    with pytest.raises(SuiteError) as caught:
        Suite.from_dict({"match": {"depht": "all"}})
    assert str(caught.value) == "match.depht: unknown key 'depht'. Hint: did you mean 'depth'?"
    assert caught.value.exit_code == 2


def test_a_long_list_of_problems_is_cut():
    with pytest.raises(SuiteProblemsError) as caught:
        Suite.from_dict({f"key{number}": 1 for number in range(80)})
    assert len(caught.value.problems) == 80
    assert str(caught.value).endswith("… and 30 more")


def test_broken_toml_and_missing_files_say_where(tmp_path):
    path = write(tmp_path, "name = \n")
    assert "is no valid TOML" in messages(path)[0]
    assert "line 1" in messages(path)[0]
    assert "did you mean 'suite.toml'?" in messages(tmp_path / "suit.toml")[0]
    path.write_bytes(b'name = "\xff"')
    assert "is no UTF-8 text" in messages(path)[0]


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "suite.toml"
    path.write_bytes(b'\xef\xbb\xbfname = "w"\r\n[match]\r\ndepth = "all"\r\n')
    assert Suite.load(path).match.depth == "all"


def test_repeated_keys_in_a_tools_file_are_refused(tmp_path):
    (tmp_path / "t.json").write_text('{"a": {"type": "object", "type": "string"}}')
    assert "key 'type' stands there twice" in messages({"tools_file": "t.json"}, tmp_path)[0]


def test_importing_the_package_is_light():
    code = (
        "import sys, tracelens.suite;"
        "print([m for m in ('pydantic', 'pyarrow', 'polars', 'duckdb', 'numpy', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_tool_is_known_by_a_schema_a_definition_or_a_word(tmp_path):
    (tmp_path / "t.json").write_text('[{"name": "defined", "type": "custom"}]')
    tools = {"a": {"schema": {}}, "b": {"known": True}, "c": {"price": 1}, "defined": {"price": 1}}
    suite = Suite.from_dict({"tools_file": "t.json", "tools": tools}, tmp_path)
    assert {tool.name: tool.known for tool in suite.tools.values()} == {
        "defined": True,
        "a": True,
        "b": True,
        "c": False,
    }


def nested(depth, open_, close, inside=""):
    return open_ * depth + inside + close * depth


@pytest.mark.parametrize("depth", [300, 2000, 100_000])
@pytest.mark.parametrize(
    ("toml", "files"),
    [
        ("tools_file = 'tools.json'", {"tools.json": ('{"f":', '{"allOf":[', "]}", "}")}),
        (
            "references_file = 'r.jsonl'",
            {"r.jsonl": ('{"case_id":1,"expected":[{"name":"f","arguments":{"a":', "[", "]", "}}]}")},
        ),
    ],
)
def test_files_that_nest_too_deeply_are_problems(tmp_path, toml, files, depth):
    for name, (head, open_, close, tail) in files.items():
        (tmp_path / name).write_text(head + nested(depth * 2, open_, close) + tail)
    (tmp_path / "suite.toml").write_text(toml)
    with pytest.raises(SuiteProblemsError, match="nested"):
        Suite.load(tmp_path / "suite.toml")


@pytest.mark.parametrize("depth", [600, 100_000])
@pytest.mark.parametrize(
    "toml",
    [
        "[tools.f]\nschema = '''{}'''",
        "[fields.f]\nx = {{equals = {}}}",
        "[milestones]\nmust_call = [{{tool = 'f', arguments = {{a = {}}}}}]",
        "[normalize.f]\nx = {{default = {{value = {}}}}}",
    ],
)
def test_suites_that_nest_too_deeply_are_problems(tmp_path, toml, depth):
    inner = nested(depth, "[", "]") if "schema" not in toml else nested(depth, '{"allOf":[', "]}", "{}")
    (tmp_path / "suite.toml").write_text(toml.format(inner))
    with pytest.raises(SuiteProblemsError, match="nested too deeply"):
        Suite.load(tmp_path / "suite.toml")


def test_values_nest_no_deeper_than_those_of_calls():
    for depth, fits in ((127, True), (129, False), (5000, False)):
        value = []
        for _ in range(depth - 1):
            value = [value]
        data = {
            "milestones": {"must_call": [{"tool": "f", "arguments": {"a": value}}]},
            "fields": {"f": {"x": {"equals": value}}},
        }
        if fits:
            Suite.from_dict(data)
        else:
            with pytest.raises(SuiteProblemsError, match="nested"):
                Suite.from_dict(data)


def test_a_short_pair_says_what_is_missing():
    with pytest.raises(SuiteProblemsError, match=r"invariants\.after\[0\]: entry 2 of the list is missing"):
        Suite.from_dict({"invariants": {"after": [["a"]]}})
