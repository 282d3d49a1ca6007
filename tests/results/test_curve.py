"""The pass rate against a threshold is what scoring with that threshold gives."""

import polars as pl
import pytest

import tracelens as tl
from tracelens.errors import UsageError

CALLS = ["a", "b", "c", "d"]
EXPECTED = [{"name": name} for name in CALLS]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Traces that make 0 to 4 of the expected calls; one of them with an error finding, one without a reference."""
    import orjson

    rows = [
        {
            "trace_id": f"t{n}",
            "tool_calls": [{"name": name} for name in CALLS[:n]],
            "expected": EXPECTED,
            "final_answer": "ok",
        }
        for n in range(5)
    ]
    rows += [
        rows[4] | {"trace_id": "bad", "final_answer": "no"},
        {"trace_id": "free", "tool_calls": [], "final_answer": "ok"},
    ]
    path = tmp_path_factory.mktemp("curve") / "in.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def suite(**thresholds):
    return {"answer": {"not_contains": ["no"]}, "thresholds": {"subset_partial": 0.25} | thresholds}


def test_the_curve_is_what_scoring_with_each_threshold_gives(source):
    results = tl.score(source, suite(recall=0.5), progress=False)
    curve = results.threshold_curve("recall")
    assert (curve.threshold, curve.n_with_score, curve.n_scored) == (0.5, 6, 7)
    assert curve.points["threshold"].to_list() == [0, 0.25, 0.5, 0.75, 1]
    for row in curve.points.filter(pl.col("threshold").is_in([0.25, 1.0])).iter_rows(named=True):
        again = results.rescore(suite(recall=row["threshold"])).summary()
        assert row["n_passed"] == again.n_passed
        assert row["pass_rate"] == pytest.approx(again.pass_rate)
    assert curve.points["n_reached"].to_list() == [6, 5, 4, 3, 2]
    assert "6 of 7 scored traces have it, threshold 0.5" in repr(curve)


def test_a_notebook_shows_it_as_a_chart(source):
    bundle, *_ = tl.score(source, suite(), progress=False).threshold_curve("recall")._repr_mimebundle_()
    assert bundle


def test_no_such_score(source):
    results = tl.score(source, progress=False)
    with pytest.raises(UsageError, match="no score 'recal'") as error:
        results.threshold_curve("recal")
    assert "recall" in str(error.value.hint)
