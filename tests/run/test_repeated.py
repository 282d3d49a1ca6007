"""Traces whose calls stood in others before are scored like those."""

from tests.run.scoring import call, grouped, score, trace

DIFFERENCES = ("call_index", "expected_index", "tool", "path", "status", "actual", "expected")
PAIRS = (
    (call("f", a=1, b=[1, {"c": "x"}]), call("f", a=2, b=[1, {"c": "y"}])),
    (call("f", a="A "), call("f", a="b", d=None)),
    (call("g", k={}), call("g", k={"l": [1, 2]})),
    ({"name": "f", "arguments": '{"a": 1'}, call("f", a=1)),
    (call("f", a=1), call("f", a={"$regex": "^z"})),
)


def test_many_alike_pairs_differ_as_one_does(tmp_path):
    alone = {}
    for number, (actual, expected) in enumerate(PAIRS):
        results = score(tmp_path / str(number), [trace("t", [actual], [expected])])
        alone[number] = grouped(results.argument_diffs, *DIFFERENCES)["t"]
    lines = [
        trace(f"{number}-{turn}", [actual], [expected])
        for turn in range(4)
        for number, (actual, expected) in enumerate(PAIRS)
    ]
    together = grouped(score(tmp_path / "all", lines).argument_diffs, *DIFFERENCES)
    assert together == {f"{number}-{turn}": alone[number] for turn in range(4) for number in alone}
