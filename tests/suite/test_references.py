"""References keep the text of their arguments, join by text, and say what is wrong with which line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens.suite import References, Suite, SuiteProblemsError
from tracelens.suite.references import _read_line, _read_plain_line, _Rows, read_references

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def problems(*lines):
    with pytest.raises(SuiteProblemsError) as caught:
        read_references(lines, "r.jsonl")
    return [str(problem) for problem in caught.value.problems]


def test_rows_are_sorted_by_case_and_keep_order_inside():
    references = read_references([
        '{"case_id": "b", "references": [[{"name": "x"}, {"name": "y", "arguments": null}], []]}',
        "  ",
        '{"case_id": "a", "state": {"n": 1.50}}',
        '{"case_id": 10, "expected": [{"name": "z", "arguments": "{\\"k\\": 1}"}], "milestones": {"max_steps": 2}}',
    ])  # fmt: skip
    assert references.cases.to_pylist() == [
        {"case_id": "10", "n_references": 1, "state": None, "milestones": '{"max_steps": 2}', "line": 4},
        {"case_id": "a", "n_references": None, "state": '{"n": 1.50}', "milestones": None, "line": 3},
        {"case_id": "b", "n_references": 2, "state": None, "milestones": None, "line": 1},
    ]
    names = ("case_id", "reference_index", "expected_index", "name", "arguments", "arguments_form")
    assert [tuple(row.values()) for row in references.expected.select(names).to_pylist()] == [
        ("10", 0, 0, "z", '{"k": 1}', 3), ("b", 0, 0, "x", None, 0), ("b", 0, 1, "y", None, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("raw", ["9007199254740993", "1.0", "1e0", "-0.0", "1E400", '"\\u00e9"', "[ 1 ,2]", "0.10"])
def test_arguments_keep_their_text(raw):
    text = f'{{ "x":{raw} }}'
    references = read_references([f'{{"expected" : [ {{"arguments" : {text} , "name":"f"}} ] , "case_id":1}}'])
    assert references.expected["arguments"].to_pylist() == [text]


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=4),
    st.sampled_from([(",", ":"), (" , ", " : "), None]),
    st.booleans(),
)
def test_any_object_is_sliced_exactly(arguments, separators, ascii_only):
    if any(key.startswith("$") for key in arguments):
        arguments = {"$literal": arguments}
    text = json.dumps(arguments, separators=separators, ensure_ascii=ascii_only)
    line = f'{{"case_id":"c","expected":[{{"name":"f","arguments":{text}}},{{"name":"g"}}]}}'
    got = read_references([line]).expected
    assert got["arguments"].to_pylist() == [text, None]
    assert got["name"].to_pylist() == ["f", "g"]


@given(st.text('{}[]":,1ae$\\ \n', max_size=40))
def test_no_text_gets_through_that_is_no_json(text):
    from tracelens.suite.problems import Problems

    noted = Problems()
    references = read_references([text], problems=noted)
    try:
        value = json.loads(text) if text.strip() else None
    except ValueError:
        assert len(noted) == 1
        value = None
    assert len(references) == int(isinstance(value, dict) and "case_id" in value and not noted)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "a reference should be a JSON object"),
        ('{"case_id": 1, "expected": []} {}', "text behind the object"),
        ('{"case_id": 1, "expected": [', "invalid JSON at character 29"),
        ('{"case_id": 1, "expected": [{"name": "a", "arguments": {"x": NaN}}]}', "NaN is no JSON"),
        ('{"case_id": 1 "expected": []}', "invalid JSON at character 15"),
        ("{'case_id': 1}", "invalid JSON at character 2"),
        ('{"expected": []}', "a reference without case_id"),
        ('{"case_id": true}', "case_id should be text or a number, not true"),
        ('{"case_id": 1, "expcted": []}', "did you mean 'expected'?"),
        ('{"case_id": 1, "case_id": 2}', "'case_id' stands there twice"),
        ('{"case_id": 1, "expected": {}}', "expected should be a list of calls"),
        ('{"case_id": 1, "references": [{}]}', "references should be a list of lists of calls"),
        ('{"case_id": 1, "expected": [], "references": [[]]}', "both expected and references"),
        ('{"case_id": 1, "expected": ["a"]}', "expected[0]: an expected call should be an object"),
        ('{"case_id": 1, "expected": [{"name": ""}]}', "needs a name"),
        ('{"case_id": 1, "expected": [{"name": "a", "argumnts": {}}]}', "did you mean 'arguments'?"),
        (
            '{"case_id": 1, "references": [[], [{"name": "a", "arguments": []}]]}',
            "references[1][0]: expected arguments",
        ),
        ('{"case_id": 1, "expected": [{"name": "a", "arguments": "[1]"}]}', "should be an object"),
        ('{"case_id": 1, "expected": [{"name": "a", "arguments": ""}]}', "should be an object"),
        ('{"case_id": 1, "expected": [{"name": "a", "arguments": {"x": {"$regex": "("}}}]}', "no regular expression"),
        ('{"case_id": 1, "expected": [{"name": "a", "arguments": {"x": "\\ud800"}}]}', "a lone surrogate"),
        ('{"case_id": 1, "state": []}', "state should be an object"),
        ('{"case_id": 1, "milestones": {"must_cal": []}}', "did you mean 'must_call'?"),
        ("[" * 100_000, "a reference should be a JSON object"),
        ('{"case_id": ' + "[" * 100_000, "cannot be read as JSON"),
        (b'{"case_id": "\xff"}', "cannot be read as JSON"),
    ],
)
def test_each_fault_names_its_line(line, message):
    (found,) = problems('{"case_id": 0, "expected": []}', line)
    assert found.startswith("r.jsonl:2: ")
    assert message in found


def test_a_pair_of_surrogate_escapes_is_text():
    line = '{"case_id": 1, "expected": [{"name": "a", "arguments": {"x": "\\ud83d\\ude00"}}]}'
    assert read_references([line]).expected["arguments"].to_pylist() == ['{"x": "\\ud83d\\ude00"}']


def test_a_duplicate_case_names_both_lines_and_numbers_are_text():
    (found,) = problems('{"case_id": 10, "expected": []}', "", '{"case_id": "10", "expected": []}')
    assert found.startswith("r.jsonl:3: case '10' already stands in line 1")


def test_files_may_be_packed(tmp_path):
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"case_id": "a", "expected": []}\r\n'))
    suite = Suite.from_dict({"references_file": "r.jsonl.gz"}, tmp_path)
    assert suite.references.cases["case_id"].to_pylist() == ["a"]


def test_no_references_have_the_same_columns():
    some = read_references(['{"case_id": "a", "expected": [{"name": "f"}]}'])
    assert References.empty().expected.schema == some.expected.schema
    assert References.empty().cases.schema == some.cases.schema


def test_many_rows_go_through_several_chunks(monkeypatch):
    monkeypatch.setattr("tracelens.suite.references._CHUNK", 3)
    lines = [f'{{"case_id": "c{n:02}", "expected": [{{"name": "t{n}"}}]}}' for n in reversed(range(20))]
    references = read_references(lines)
    assert references.expected["name"].to_pylist() == [f"t{n}" for n in range(20)]
    assert references.expected["name"].num_chunks == 1


@given(
    st.dictionaries(st.text(max_size=5), JSON, max_size=4),
    st.sampled_from(['"c"', "7", "-0", "01", '"\\u0063"', '"$"', "1.5", "null"]),
    st.sampled_from(['"f"', '""', '"\\n"', '"é"', "3"]),
    st.sampled_from(["]}", "] }", "],}", "]", "]}x", ',{"name":"g"}]}', ',{"name":"g","arguments":{}}]}', ",]}"]),
)
def test_the_short_cut_reads_what_the_long_way_reads(arguments, case, name, tail):
    line = f'{{"case_id": {case}, "expected": [{{"name": {name}, "arguments": {json.dumps(arguments)}}}{tail}'
    short, long = _Rows(), _Rows()
    if _read_plain_line(line, 1, short, {}):
        _read_line(line, 1, long, {}, {})
    assert (short.expected, short.cases) == (long.expected, long.cases)


def test_the_short_cut_is_taken():
    line = (
        '{"case_id": "a", "expected": [{"name": "f", "arguments": {"x": "\\u00e9"}}, {"name": "g", "arguments": {}}]}'
    )
    assert _read_plain_line(line, 1, _Rows(), {})
    assert not _read_plain_line(line.replace('"x"', '"$x"'), 1, _Rows(), {})


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-6], lambda data: data[:12] + b"\xff\xff" + data[14:], lambda _: b"x"]
)
def test_a_damaged_archive_is_a_problem_of_the_suite(tmp_path, damage):
    whole = gzip.compress(b'{"case_id": "a", "expected": []}\n')
    (tmp_path / "r.jsonl.gz").write_bytes(damage(whole))
    with pytest.raises(SuiteProblemsError, match=r"damaged or cut off|cannot be read"):
        Suite.from_dict({"references_file": "r.jsonl.gz"}, tmp_path)
