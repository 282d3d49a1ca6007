"""Scoring some of the traces: which, how many are left out, and that it is another run."""

from __future__ import annotations

import json

import pytest

import tracelens as tl
from tests.run.scoring import call, score, table_bytes, trace, write
from tracelens.cli import main
from tracelens.errors import InputError

DAY = "2026-11-{:02}T12:00:00Z"


def lines(n=200):
    return [
        trace(
            f"t{i}",
            [call("find", p=i)],
            session_id=f"s{i % 3}" if i % 4 else None,
            tags={"version": ["1.1", 1.2][i % 2], "run": {"k.v": i % 5}, "labels": ["a", f"l{i % 10}"], "none": None},
            **({} if i % 7 == 0 else {"started_at": DAY.format(1 + i % 20)}),
        )
        for i in range(n)
    ]


def ids(results):
    return results.traces["trace_id"].to_list()


def test_a_sample_is_the_same_in_every_input_and_part_of_every_larger_one(tmp_path):
    rows = lines()
    tenth = score(tmp_path, rows, sample="10%")
    assert 8 <= len(ids(tenth)) <= 32
    assert ids(score(tmp_path, rows[::-1], sample=0.1)) == ids(tenth)[::-1]
    assert set(ids(tenth)) < set(ids(score(tmp_path, rows, sample="30%"))) < {row["trace_id"] for row in rows}
    # pinned: the same on every machine and in every version
    assert ids(tenth)[:5] == PINNED
    assert tenth.runs.select("selection", "n_left_out", "n_records").row(0) == (
        '{"sample": "10%"}',
        200 - len(ids(tenth)),
        200,
    )


PINNED = ["t0", "t14", "t30", "t34", "t52"]


def test_times_are_from_the_first_to_before_the_last(tmp_path):
    found = score(tmp_path, lines(), since="2026-11-02", until=DAY.format(4))
    days = {row["started_at"] for row in lines() if row["trace_id"] in ids(found)}
    assert days == {DAY.format(2), DAY.format(3)}
    note = next(note for note in found.runs["notes"][0] if "left out" in note)
    untimed = sum("started_at" not in row for row in lines())
    assert note == (
        f"{200 - len(ids(found))} traces left out as not selected: {untimed} without a start time, "
        f"{200 - untimed - len(ids(found))} by time"
    )


@pytest.mark.parametrize(
    ("where", "good"),
    [
        ("version=1.2", lambda tags: tags["version"] == 1.2),
        ({"version": "1.1"}, lambda tags: tags["version"] == "1.1"),
        ({"version": ["1.1", "1.2"], "labels": "l3"}, lambda tags: "l3" in tags["labels"]),
        (["labels=l3", "labels=l4"], lambda tags: {"l3", "l4"} & set(tags["labels"])),
        ({"none": None, "labels": "l1"}, lambda tags: "l1" in tags["labels"]),
    ],
)
def test_tags(tmp_path, where, good):
    found = ids(score(tmp_path, lines(40), where=where))
    assert found == [row["trace_id"] for row in lines(40) if good(row["tags"])]


def test_a_tag_is_a_path_or_a_name_with_dots(tmp_path):
    rows = [trace(f"t{i}", [], tags=tags) for i, tags in enumerate([{"a.b": 1}, {"a": {"b": 1}}, {"a": {"b": 2}}, {}])]
    rows.append(trace("t4", []))
    assert ids(score(tmp_path, rows, where="a.b=1")) == ["t0", "t1"]
    for odd in ('a"b', "a[*]", ".", "a..b", "*", '"'):
        assert ids(score(tmp_path, [*rows, trace("odd", [], tags={odd: "x"})], where={odd: "x"})) == ["odd"]


def test_nothing_selected_is_an_error_that_counts(tmp_path):
    with pytest.raises(InputError, match=r"no trace is selected: 5 traces left out as not selected: 5 by tag version"):
        score(tmp_path, lines(5), where="version=9")


def test_a_selection_is_another_run_that_can_be_scored_again(tmp_path):
    suite = {"references_file": "golden.jsonl", "safety": {"packs": []}}
    cases = [{"case_id": f"c{i}", "expected": []} for i in range(12)]
    write(tmp_path, cases, "golden.jsonl")
    rows = [row | {"case_id": f"c{i % 10}"} for i, row in enumerate(lines(40))]
    rows += ["", rows[0], "{"]
    whole = score(tmp_path, rows, suite)
    some = score(tmp_path, rows, suite, where="version=1.2")
    assert some.run_id != whole.run_id
    assert some.runs["input_digest"][0] == whole.runs["input_digest"][0]
    # cases whose traces were left out are not missing
    assert some.runs["missing_cases"][0].to_list() == ["c10", "c11"]
    run = some.runs.row(0, named=True)
    counts = [run[f"n_{name}"] for name in ("traces", "merged", "left_out", "blank", "rejects")]
    assert counts == [20, 0, 21, 1, 1]
    assert sum(counts) == run["n_records"] == len(rows)
    assert json.loads((some.path / "run.json").read_text())["selection"] == {"where": {"version": ["1.2"]}}
    again = some.rescore(tl.Suite.from_dict({"name": "s", **suite}, tmp_path))
    assert again.run_id == some.run_id
    assert table_bytes(again) == table_bytes(some)


def test_sessions_roll_up(tmp_path):
    results = score(tmp_path, lines(12), {"invariants": {"max_calls": 5}})
    found = results.sql("FROM sessions").to_dicts()
    assert [(row["session_id"], row["n_traces"], row["n_settled"], row["passed"]) for row in found] == [
        ("s0", 3, 3, True),
        ("s1", 3, 3, True),
        ("s2", 3, 3, True),
    ]
    assert found[1]["started_at"].day == 2
    assert (found[0]["n_calls"], found[0]["cost"], found[0]["agents"], found[0]["example_trace_id"]) == (
        3,
        None,
        None,
        "t3",
    )


def test_the_command(tmp_path, capsys):
    path = str(write(tmp_path, lines(40)))
    command = ["score", path, "--json", "--where", "version=1.2", "--where", "labels=l3", "--since", "2026-11-01"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["n_traces"] == 4
    assert "note: 36 traces left out as not selected: 6 without a start time, 30 by tag labels" in err
    assert main([*command, "--sample", "10"]) == 2
    assert main([*command, "--until", "2026-10-01"]) == 2
    assert main([*command, "--where", "none=9"]) == 3
