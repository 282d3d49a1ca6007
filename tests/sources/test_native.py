"""Native lines: every field, every wrong value, and the faults that readers of JSON lines have."""

import json

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.reading import batches, merged, read, write
from tracelens.columns import ABSENT, JSON_STRING, JSON_VALUE, NULL
from tracelens.errors import InputError, UsageError

FULL = {
    "trace_id": "t1",
    "session_id": "s1",
    "case_id": 10,
    "agent": "booker",
    "started_at": "2026-11-02T10:00:00Z",
    "tags": {"version": "1.4"},
    "complete": True,
    "tools": [{"name": "find"}],
    "tool_calls": [
        {
            "name": "find",
            "arguments": {"q": 1.0, "n": None},
            "call_id": "c1",
            "turn": 0,
            "agent": "sub",
            "depth": 1,
            "status": "ok",
            "result": {"a": [1]},
            "started_at": "2026-11-02T11:00:00.5+01:00",
            "duration_ms": 12.5,
        },
        {"name": "book", "arguments": '{"x": 1}', "error": "boom", "result": "text\n"},
    ],
    "expected": [{"name": "find", "arguments": {"q": 1}}, {"name": "book"}],
    "final_answer": "done",
    "usage": {"llm_calls": 3, "input_tokens": 1, "output_tokens": 2, "cost": 0.01},
}


def test_every_field_is_read(tmp_path):
    got = read(write(tmp_path, [json.dumps(FULL)]))
    trace = got["traces"][0]
    assert {key: trace[key] for key in ("trace_id", "id_given", "session_id", "case_id", "agent", "complete")} == {
        "trace_id": "t1",
        "id_given": True,
        "session_id": "s1",
        "case_id": "10",
        "agent": "booker",
        "complete": True,
    }
    assert trace["tags"] == '{"version": "1.4"}'
    assert trace["tools"] == '[{"name": "find"}]'
    assert trace["started_at"].isoformat() == "2026-11-02T10:00:00+00:00"
    assert (trace["llm_calls"], trace["input_tokens"], trace["output_tokens"], trace["cost"]) == (3, 1, 2, 0.01)
    assert (trace["has_calls"], trace["n_references"], trace["final_answer"]) == (True, 1, "done")
    assert (trace["source"], trace["line"]) == ("traces.jsonl", 1)
    find, book = got["calls"]
    assert (find["name"], find["arguments"], find["arguments_form"]) == ("find", '{"q": 1.0, "n": null}', JSON_VALUE)
    assert (find["call_id"], find["turn"], find["agent"], find["depth"], find["status"]) == ("c1", 0, "sub", 1, "ok")
    assert (find["result"], find["duration_ms"]) == ('{"a": [1]}', 12.5)
    assert find["started_at"].isoformat() == "2026-11-02T10:00:00.500000+00:00"
    assert (book["arguments"], book["arguments_form"]) == ('{"x": 1}', JSON_STRING)
    assert (book["status"], book["error"], book["result"], book["depth"]) == ("error", "boom", "text\n", 0)
    assert [(row["name"], row["arguments"], row["arguments_form"]) for row in got["expected"]] == [
        ("find", '{"q": 1}', JSON_VALUE),
        ("book", None, ABSENT),
    ]


def test_only_names_are_needed_and_ids_are_made_up(tmp_path):
    folder = tmp_path / "in" / "sub"
    folder.mkdir(parents=True)
    write(folder, ["", '{"tool_calls":[{"name":"a"}]}', '{"trace_id":"","tool_calls":null}', '{"trace_id":7}'])
    got = read(tmp_path / "in")
    assert [row["trace_id"] for row in got["traces"]] == ["sub/traces.jsonl:2", "sub/traces.jsonl:3", "7"]
    assert [row["id_given"] for row in got["traces"]] == [False, False, True]
    assert [row["has_calls"] for row in got["traces"]] == [True, False, False]
    assert (got["n_records"], got["n_blank"]) == (4, 1)


def test_arguments_keep_their_form_and_their_text(tmp_path):
    shapes = [
        '{"name":"a"}',
        '{"name":"a","arguments":null}',
        '{"name":"a","arguments":""}',
        '{"name":"a","arguments":[1]}',
    ]
    shapes += ['{"name":"a","arguments":9007199254740993}', '{"name":"a","arguments":"{\\"a\\": 1"}']
    got = read(write(tmp_path, ['{"tool_calls":[' + ",".join(shapes) + "]}"]))
    assert [(row["arguments"], row["arguments_form"]) for row in got["calls"]] == [
        (None, ABSENT),
        (None, NULL),
        ("", JSON_STRING),
        ("[1]", JSON_VALUE),
        ("9007199254740993", JSON_VALUE),
        ('{"a": 1', JSON_STRING),
    ]


def test_a_malformed_entry_is_a_row_and_takes_no_neighbour_with_it(tmp_path):
    calls = [{"name": "a"}, None, "junk", {"arguments": {}}, {"name": 5}, {"name": ""}, [], {"name": "b"}]
    got = read(write(tmp_path, [json.dumps({"trace_id": "t", "tool_calls": calls})]))
    assert [row["name"] for row in got["calls"]] == ["a", None, None, None, None, "", None, "b"]
    assert [row["malformed"] for row in got["calls"]] == [False, True, True, True, True, False, True, False]
    assert [row["call_index"] for row in got["calls"]] == list(range(8))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[]", "a trace must be a JSON object"),
        ('{"tool_calls":{}}', "tool_calls is no array"),
        ('{"trace_id":{},"tool_calls":[]}', "trace_id is neither"),
        ('{"case_id":true,"tool_calls":[]}', "case_id is neither"),
        ('{"tags":[],"tool_calls":[]}', "tags is no object"),
        ('{"tool_calls":[],"expected":{}}', "expected is no array"),
        ('{"tool_calls":[],"references":[{}]}', "an entry of references is no array"),
        ('{"tool_calls":[],"expected":[],"references":[]}', "both expected and references"),
        ('{"tool_calls":[],"expected":[{"arguments":{}}]}', "an expected call has no name"),
        ('{"tool_calls":[],"expected":[null]}', "an expected call has no name"),
        ('{"tool_calls":[],"references":[[],[{"name":"a","arguments":[]}]]}', "expected arguments are no object"),
        ('{"tool_calls":[],"expected":[{"name":"a","arguments":"[1]"}]}', "expected arguments are no object"),
        ('{"tool_calls":[],"expected":[{"name":"a","arguments":"{"}]}', "expected arguments are no object"),
    ],
)
def test_wrong_records_are_rejected_with_a_reason(tmp_path, line, reason):
    good = '{"trace_id":"g","tool_calls":[{"name":"a"}],"expected":[{"name":"a"}]}'
    got = read(write(tmp_path, [good, line, good]))
    assert [row["trace_id"] for row in got["traces"]] == ["g", "g"]
    assert [(row["line"], row["offset"], row["text"]) for row in got["rejects"]] == [(2, len(good) + 1, line)]
    assert reason in got["rejects"][0]["reason"]
    assert [row["trace"] for row in got["calls"]] == [0, 1] == [row["trace"] for row in got["expected"]]


def test_references_absent_null_empty_and_many(tmp_path):
    tails = ["", ',"expected":null', ',"references":[]', ',"expected":[]', ',"references":[[]]']
    tails += [',"references":[[{"name":"a"}],[],[{"name":"b","arguments":"  "},{"name":"c","arguments":"{}"}]]']
    got = read(write(tmp_path, ['{"tool_calls":[]' + tail + "}" for tail in tails]))
    assert [row["n_references"] for row in got["traces"]] == [None, None, None, 1, 1, 3]
    assert [
        (r["trace"], r["reference_index"], r["expected_index"], r["name"], r["arguments"]) for r in got["expected"]
    ] == [
        (5, 0, 0, "a", None),
        (5, 2, 0, "b", "  "),
        (5, 2, 1, "c", "{}"),
    ]


def test_expected_and_references_of_different_traces_come_in_order(tmp_path):
    lines = ['{"tool_calls":[],"references":[[{"name":"a"}]]}', '{"tool_calls":[],"expected":[{"name":"b"}]}'] * 2
    assert [(r["trace"], r["name"]) for r in read(write(tmp_path, lines))["expected"]] == [
        (0, "a"),
        (1, "b"),
        (2, "a"),
        (3, "b"),
    ]


def test_unknown_status_is_null_and_noted(tmp_path):
    got = read(
        write(tmp_path, ['{"tool_calls":[{"name":"a","status":"done"},{"name":"a","status":"denied"},{"name":"a"}]}'])
    )
    assert [row["status"] for row in got["calls"]] == [None, "denied", None]
    text = "a call's status is none of ok, error and denied, and counts as unknown"
    assert got["remarks"] == {text: (1, "traces.jsonl:1, call 0")}


B40 = [
    '\ufeff{"trace_id":"t1","tool_calls":[],"final_answer":"a\u2028b\u0085\x7f"}',
    "",
    '{"trace_id":"t2","tool_calls":[]}TRAILER',
    '{"trace_id":"t3","tool_calls":[],"final_answer":"\\ud800"}',
    '{"trace_id":"t4","tool_calls":[],"score":NaN}',
    '{"trace_id":"t5"',
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [7, 40, 64, 1 << 20])
def test_lines_end_at_newlines_only_and_bad_ones_are_listed(tmp_path, end, size):
    path = tmp_path / "a.jsonl"
    data = end.join(B40).encode()
    path.write_bytes(data)
    got = read(path, block_size=size)
    assert [(row["trace_id"], row["final_answer"]) for row in got["traces"]] == [("t1", "a\u2028b\u0085\x7f")]
    assert [row["line"] for row in got["rejects"]] == [3, 4, 5, 6]
    reasons = [row["reason"] for row in got["rejects"]]
    for reason, word in zip(reasons, ["trailing data", "lone surrogate", "NaN", "unterminated"], strict=True):
        assert word in reason
    assert data[got["rejects"][0]["offset"] :].startswith(b"TRAILER")
    assert data[got["rejects"][2]["offset"] :].startswith(b"NaN")
    assert (got["n_blank"], got["n_records"]) == (1, 6)


def test_arguments_are_never_inferred(tmp_path):
    """Late keys, late types and 300 different keys: the text stays, whatever came before."""
    rows = [f'{{"tool_calls":[{{"name":"set","arguments":{{"k{k}":{k}}}}}]}}' for k in range(300)]
    rows += ['{"tool_calls":[{"name":"order","arguments":{"qty":7}}]}'] * 20480
    rows += [
        '{"tool_calls":[{"name":"order","arguments":{"qty":1.5}}]}',
        '{"tool_calls":[{"name":"order","arguments":{"qty":true}}]}',
    ]
    calls = merged(batches(write(tmp_path, rows)), "calls")
    assert calls["arguments"].slice(20780).to_pylist() == ['{"qty":1.5}', '{"qty":true}']
    assert str(calls.schema.field("arguments").type) == "large_string"
    query = "select count(*), count(*) filter (arguments->>'k7' = '7') from calls where name = 'set'"
    assert duckdb.sql(query).fetchall() == [(300, 1)]


words = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
calls = st.lists(
    st.none() | st.fixed_dictionaries({"name": words}, optional={"arguments": json_values, "result": json_values}),
    max_size=4,
)
traces = st.fixed_dictionaries(
    {"tool_calls": calls | st.none()},
    optional={"trace_id": words, "final_answer": words | st.none(), "noise": json_values},
)


@given(st.lists(traces, min_size=1, max_size=8), st.integers(1, 400))
@settings(max_examples=60)
def test_blocks_change_nothing_and_duckdb_agrees(tmp_path_factory, found, size):
    folder = tmp_path_factory.mktemp("native")
    path = write(folder, [json.dumps(trace, ensure_ascii=False) for trace in found])
    whole = read(path, "native")
    assert read(path, "native", block_size=size) == whole
    assert len(whole["traces"]) == len(found)
    oracle = duckdb.execute(
        """select line - 1, name, arguments from (
             select row_number() over () as line, unnest(tool_calls) as call from read_json(?,
               format = 'newline_delimited', columns = {tool_calls: 'JSON[]'})) lines,
             lateral (select call->>'name' as name, call->'arguments' as arguments)""",
        [str(path)],
    ).fetchall()
    mine = [(row["trace"], row["name"], row["arguments"], row["arguments_form"]) for row in whole["calls"]]
    assert len(mine) == len(oracle)
    for (trace, name, arguments, form), (line, other_name, text) in zip(mine, oracle, strict=True):
        assert (trace, name) == (line, other_name)
        if form == JSON_STRING:
            assert arguments == json.loads(text)
        elif form == JSON_VALUE:
            assert json.loads(arguments) == json.loads(text)


def test_the_digests_of_records_identify_the_input(tmp_path):
    lines = ['{"trace_id":"a","tool_calls":[]}', "", "broken", '{"trace_id":"b","tool_calls":[]}']
    one = read(write(tmp_path, lines, "one.jsonl"))
    same = read(write(tmp_path, [f"  {line}\r" if line else "" for line in lines], "two.jsonl"))
    other = read(write(tmp_path, lines[::-1], "three.jsonl"))
    assert one["records"] == same["records"] != other["records"]
    assert one["traces"][0]["record_hi"] == same["traces"][0]["record_hi"] == other["traces"][1]["record_hi"]
    assert one["traces"][0]["record_hi"] != one["traces"][1]["record_hi"]


def test_a_file_that_is_not_there_is_an_input_error_with_a_hint(tmp_path):
    write(tmp_path, ["{}"])
    with pytest.raises(InputError, match=r"no such file. Hint: did you mean 'traces.jsonl'"):
        read(tmp_path / "trace.jsonl")
    with pytest.raises(UsageError, match="did you mean 'native'"):
        read(tmp_path / "traces.jsonl", "natve")


def test_numbers_beyond_their_column_are_null(tmp_path):
    got = read(write(tmp_path, ['{"tool_calls":[{"name":"a","turn":4294967296,"depth":1e12,"duration_ms":1e999}]}']))
    call = got["calls"][0]
    assert (call["turn"], call["depth"], call["duration_ms"]) == (None, 0, None)
