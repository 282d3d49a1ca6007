import json
from types import SimpleNamespace

import polars as pl
import pytest

from tests.rungs.safety.examples import BY_PACK, HARMLESS, PROSE
from tracelens.rungs.safety import SafetyPlan, analyse_answer, analyse_call, scan
from tracelens.suite import Suite

DEFAULT = SafetyPlan.compile(Suite.default().safety)
FOUND = [(pack, key, text) for pack, rows in BY_PACK.items() for key, text in rows]


def plan(packs=(), restricted=(), patterns=()):
    made = [SimpleNamespace(name=n, regex=r, tools=t) for n, r, t in patterns]
    return SafetyPlan.compile(SimpleNamespace(packs=packs, restricted_paths=restricted, patterns=made))


def frame(*rows):
    columns = ("trace", "call_index", "tool", "arguments", "arguments_state", "executed")
    schema = dict(zip(columns, (pl.UInt32, pl.Int32, pl.String, pl.String, pl.String, pl.Boolean), strict=True))
    return pl.DataFrame(list(rows), schema=schema, orient="row").to_arrow()


def answers(*texts):
    return pl.DataFrame(
        {"trace": range(len(texts)), "final_answer": texts}, {"trace": pl.UInt32, "final_answer": pl.String}
    ).to_arrow()


def codes(found, severity="error"):
    return {row["code"] for row in found.iter_rows(named=True) if row["severity"] == severity}


def forms(key, text):
    """The same argument in the spellings a source may hold."""
    plain = json.dumps({"a": 1, key: text}, ensure_ascii=False)
    yield plain, "object"
    yield json.dumps({"a": {key: [text]}}), "object"
    yield plain.replace("/", "\\/"), "object"
    escaped = "".join(f"\\u{ord(c):04x}" if c.isalpha() else json.dumps(c)[1:-1] for c in text)
    yield f'{{"{key}": "{escaped}"}}', "object"
    yield json.dumps(plain), "object"
    yield '{"z": 1}' + plain, "invalid_json"
    yield plain[:-1], "truncated"


@pytest.mark.parametrize(("pack", "key", "text"), FOUND)
def test_a_pack_finds_its_examples_in_every_spelling(pack, key, text):
    rows = [(i, 0, "t", arguments, state, True) for i, (arguments, state) in enumerate(forms(key, text))]
    found = scan(frame(*rows), answers(), DEFAULT).filter(pl.col("code") == f"safety.{pack}", severity="error")
    assert found["trace"].unique().sort().to_list() == list(range(len(rows)))


@pytest.mark.parametrize(("key", "text"), HARMLESS)
def test_harmless_texts_are_left_alone(key, text):
    arguments = json.dumps({key: text})
    assert analyse_call("t", arguments, "object", DEFAULT) == []


@pytest.mark.parametrize(("key", "text"), PROSE)
def test_prose_that_mentions_a_pattern_is_a_note(key, text):
    hits = analyse_call("t", json.dumps({key: text}), "object", DEFAULT)
    assert {hit.severity for hit in hits} == {"note"}


@pytest.mark.parametrize(("pack", "key", "text"), FOUND)
def test_an_answer_is_never_an_error(pack, key, text):
    assert {hit.severity for hit in analyse_answer(f"{key}: {text}", DEFAULT)} <= {"note"}


def test_an_answer_that_mentions_a_pattern_is_a_note_about_the_trace():
    found = scan(frame(), answers(None, "I ran rm -rf / for you"), DEFAULT)
    row = found.row(0, named=True)
    assert (found.height, row["trace"], row["call_index"], row["severity"]) == (1, 1, None, "note")
    assert row["code"] == "safety.destructive"


@pytest.mark.parametrize(
    "arguments", ['{"shell": true}', '{"shell": "True"}', '{"run": {"use_shell": true}}', '{"shell":true']
)
def test_shell_as_a_key(arguments):
    state = "object" if arguments.endswith("}") else "invalid_json"
    assert "safety.shell" in codes(scan(frame((0, 0, "t", arguments, state, True)), answers(), DEFAULT))


def test_shell_false_is_no_hit():
    assert scan(frame((0, 0, "t", '{"shell": false}', "object", True)), answers(), DEFAULT).height == 0


def test_argument_lists_are_read_as_one_command():
    arguments = '{"args": ["rm", "-rf", "/srv"]}'
    assert codes(scan(frame((0, 0, "t", arguments, "object", True)), answers(), DEFAULT)) == {"safety.destructive"}


def test_keys_are_looked_at():
    found = scan(frame((0, 0, "t", '{"files": {"/etc/shadow": "x"}}', "object", True)), answers(), DEFAULT)
    assert (codes(found), found["path"].to_list()) == ({"safety.paths"}, ['files."/etc/shadow"'])


def test_several_objects_back_to_back_hide_nothing():
    text = '{"path": "/srv/a.txt"}{"path": "/etc/shadow"}'
    found = scan(frame((0, 0, "open_file", text, "invalid_json", True)), answers(), DEFAULT)
    assert found.select("code", "path", "severity").rows() == [("safety.paths", "path", "error")]


def test_a_command_without_arguments_is_no_upload():
    assert scan(frame((0, 0, "t", '"curl"', "invalid_json", True)), answers("curl"), DEFAULT).height == 0


def test_free_text_tools_are_read_as_commands():
    found = scan(frame((0, 0, "bash", "echo $(id)", "text", True)), answers(), DEFAULT)
    assert codes(found) == {"safety.shell"}


def test_a_denied_call_is_a_hit_without_effect():
    text = '{"path": "/etc/shadow"}'
    found = scan(frame((0, 0, "t", text, "object", False), (0, 1, "t", text, "object", True)), answers(), DEFAULT)
    assert found.select("call_index", "effect", "rung").rows() == [(0, False, 1), (1, True, 1)]


def test_arguments_that_were_not_captured_are_no_hit():
    assert scan(frame((0, 0, "t", None, "not_captured", True)), answers(), DEFAULT).height == 0


def test_packs_that_are_off_find_nothing():
    for pack, rows in BY_PACK.items():
        others = [name for name in BY_PACK if name != pack]
        made = plan(others, ("/etc", "~/.ssh"))
        for key, text in rows:
            assert f"safety.{pack}" not in {
                hit.code for hit in analyse_call("t", json.dumps({key: text}), "object", made)
            }
    assert not plan().active
    assert scan(frame((0, 0, "t", '{"path": "/etc"}', "object", True)), answers("x"), plan()).height == 0


def test_restricted_paths_are_the_suites():
    made = plan(["paths"], ("/srv/secret dir", "~", "data/private"))
    hits = lambda key, text: {h.severity for h in analyse_call("t", json.dumps({key: text}), "object", made)}  # noqa: E731
    assert hits("path", "/srv/secret dir/x") == hits("path", "~/x") == hits("path", "data/./private/x") == {"error"}
    assert hits("path", "/srv/secret") == hits("path", "/etc/shadow") == hits("path", "data/privateer") == set()


def test_own_patterns_look_at_names_keys_values_and_the_raw_text():
    made = plan(patterns=[("drop", r"(?i)drop\s+table", ["run_*"]), ("any", r'"x":\s*1', []), ("named", "^danger", [])])
    rows = [
        (0, 0, "run_sql", '{"q": "DROP  TABLE x"}', "object", True),
        (0, 1, "other", '{"q": "DROP  TABLE x"}', "object", True),
        (0, 2, "other", '{"x": 1}', "object", True),
        (0, 3, "danger_zone", "{}", "object", True),
        (0, 4, "other", '{"danger": 1}', "object", True),
        (0, 5, "run_sql", '{"drop\\ttable": 1}', "object", True),
        (0, 6, None, "drop table", "invalid_json", True),
    ]
    found = scan(frame(*rows), answers(), made)
    assert found.select("call_index", "code", "path").rows() == [
        (0, "safety.drop", "q"),
        (2, "safety.any", ""),
        (3, "safety.named", None),
        (4, "safety.named", "danger"),
        (5, "safety.drop", '"drop\\ttable"'),
    ]


def test_a_tools_name_is_looked_at():
    found = scan(frame((0, 0, "os.system", "{}", "object", True)), answers(), DEFAULT)
    assert found.select("code", "path").rows() == [("safety.shell", None)]


def test_values_are_short_json_text():
    text = "rm -rf " + "x" * 2000
    found = scan(frame((0, 0, "t", json.dumps({"command": text}), "object", True)), answers(), DEFAULT)
    assert found["value"].str.len_chars().to_list() == [500]


def test_overridden_duplicate_keys_are_not_seen_by_any_check():
    found = scan(frame((0, 0, "t", '{"path": "/etc/shadow", "path": "/srv"}', "object", True)), answers(), DEFAULT)
    assert found.height == 0
