import json
import shutil

import polars as pl
import pytest

from tests.store.fake_run import fake_run, frame
from tracelens import tables
from tracelens.errors import StoreError
from tracelens.store import RunWriter, connect, objects


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fake_run(folder, "aa", 2)
    fake_run(folder, "bb", 3)
    return folder


@pytest.fixture(scope="module")
def sql(results):
    with connect(results) as duck:
        yield lambda query: duck.execute(query).fetchall()


def test_every_table_is_a_view_over_all_runs(sql):
    for table in tables.STORED_TABLES:
        columns = [row[0] for row in sql(f"SELECT column_name FROM (DESCRIBE {table})")]
        assert columns[: len(tables.table(table).columns)] == list(tables.schema(table).names)
    assert sql("SELECT run_id, count(*) FROM traces GROUP BY ALL ORDER BY ALL") == [("aa", 2), ("bb", 3)]


def test_sql_types_are_those_of_the_contract(sql):
    for table in tables.STORED_TABLES:
        found = dict(sql(f"SELECT column_name, column_type FROM (DESCRIBE {table})"))
        assert {c["column"]: c["dtype"] for c in tables.describe(table)}.items() <= found.items()


def test_one_run_alone(results):
    with connect(results / "runs" / "aa") as duck:
        assert duck.execute("SELECT DISTINCT run_id FROM traces").fetchall() == [("aa",)]


def test_everything_is_documented(sql):
    views = sql("SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' AND comment IS NULL")
    columns = sql(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name = 'main' AND comment IS NULL"
    )
    assert (views, columns) == ([], [])


def test_argument_text_can_be_queried_as_json(sql):
    assert sql("SELECT count(*) FROM calls WHERE arguments->>'seat' = '12A'") == [(5,)]


def test_covers_expected_and_only_expected(sql):
    assert sql("SELECT DISTINCT covers_expected, only_expected, subset FROM traces") == [(1.0, 1.0, 1.0)]


def test_tool_scores(sql):
    rows = sql(
        "SELECT tool, n_calls, n_valid, n_invalid, valid_share, n_exact, n_partial, n_extra, exact_share "
        "FROM tool_scores WHERE run_id = 'aa' ORDER BY tool"
    )
    assert rows == [
        ("book_flight", 2, 0, 2, 0.0, 0, 2, 0, 0.0),
        ("search_flights", 4, 4, 0, 1.0, 0, 2, 2, 0.0),
    ]


def test_funnel(sql):
    rows = sql("SELECT step, n_traces, share FROM funnel WHERE run_id = 'bb' ORDER BY step_index")
    assert rows[:3] == [("traces", 3, 1.0), ("scored", 3, 1.0), ("passed_rung_1", 0, 0.0)]
    assert rows[-2:] == [("triage", 3, 1.0), ("unscored", 0, 0.0)]


def test_argument_drift(sql):
    rows = sql(
        "SELECT tool, path, n_pairs, n_drifted, share, n_differs, n_unexpected, example_trace_id "
        "FROM argument_drift WHERE run_id = 'bb'"
    )
    assert rows == [("book_flight", "seat", 3, 3, 1.0, 0, 3, "t0"), ("search_flights", "date", 3, 3, 1.0, 3, 0, "t0")]


def test_missing_cases_and_top_reasons(sql):
    assert sql("SELECT * FROM missing_cases ORDER BY ALL") == [("aa", "flights-9"), ("bb", "flights-9")]
    assert sql("SELECT n_traces, reason FROM top_reasons WHERE run_id = 'aa' LIMIT 1")[0] == (
        2,
        "book_flight: Additional properties are not allowed ('seat' was unexpected)",
    )


def test_runs_of_an_older_version_have_null_for_what_it_did_not_keep(results, tmp_path):
    for run in ("aa", "bb"):
        shutil.copytree(results / "runs" / run, tmp_path / "runs" / run)
    with connect(tmp_path) as duck:
        columns = [row[0] for row in duck.execute("DESCRIBE runs").fetchall()]
    for run in ("aa", "bb"):
        folder = tmp_path / "runs" / run
        pl.read_parquet(folder / "runs.parquet").drop("tool_prices").write_parquet(folder / "runs.parquet")
        info = json.loads((folder / "run.json").read_text())
        del info["rows"]["spans"]
        (folder / "run.json").write_text(json.dumps(info))
        (folder / "spans.parquet").unlink()
    with connect(tmp_path) as duck:
        assert [row[0] for row in duck.execute("DESCRIBE runs").fetchall()] == columns
        assert duck.execute("SELECT DISTINCT tool_prices FROM runs").fetchall() == [(None,)]
        assert duck.execute("SELECT count(*) FROM spans").fetchall() == [(0,)]


def test_no_extension_is_ever_fetched(sql):
    settings = dict(sql("SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"))
    assert set(settings.values()) == {"false"}


def test_views_that_need_each_other_are_refused(monkeypatch):
    monkeypatch.setattr(objects, "sql_files", lambda _: iter([("a", "FROM b"), ("b", "FROM a")]))
    with pytest.raises(Exception, match="need each other: a, b"):
        list(objects.view_statements())


def test_a_folder_without_runs_says_what_to_do(tmp_path, results):
    with pytest.raises(StoreError, match="tracelens score"):
        connect(tmp_path)
    with pytest.raises(StoreError, match=f"did you mean '{results.name}'"):
        connect(results.with_name(results.name + "x"))


def test_elements_of_an_array_drift_together(tmp_path):
    of = {"trace_id": "t", "pairing": "optimal", "tool": "f"}
    diffs = [
        of | {"path": f"rows[{i}].x", "status": status} for i, status in enumerate(["differs", "missing", "equal"])
    ]
    more = [of | {"call_index": 1, "path": "rows[0].x", "status": "differs"}]
    with RunWriter(tmp_path) as run:
        run.write("argument_diffs", frame("argument_diffs", *diffs, *more))
        run.write("pairs", frame("pairs", *[of | {"status": status} for status in ("partial", "partial", "exact")]))
        run.commit("ab", {})
    with connect(tmp_path) as duck:
        query = "SELECT path, n_pairs, n_drifted, n_differs, n_missing, n_unexpected FROM argument_drift"
        assert duck.execute(query).fetchall() == [("rows[*].x", 3, 2, 2, 1, 0)]


def test_tool_scores_take_the_pairing_that_was_kept(tmp_path):
    rows = [
        {"trace_id": "t", "pairing": pairing, "tool": "f", "status": status}
        for pairing, status in (("positional", "missing"), ("best_unused", "exact"))
    ]
    with RunWriter(tmp_path) as run:
        run.write("pairs", frame("pairs", *rows))
        run.commit("ab", {})
    with connect(tmp_path) as duck:
        query = "SELECT tool, n_calls, valid_share, n_exact, n_missing, exact_share FROM tool_scores"
        assert duck.execute(query).fetchall() == [("f", 0, None, 1, 0, 1.0)]


def test_reasons_are_counted_by_kind(tmp_path):
    reasons = {
        "a": ["f.rows[0].x: 'q' does not match '^[A-Z]$'", "f.rows[1].x: 'w' does not match '^[A-Z]$'"],
        "b": [
            "f.rows[7].x: 'it is' does not match '^[A-Z]$'",
            "strict is 0.3333, below 1",
            "f: 'day' is a required property",
        ],
        "c": [
            "strict is 0, below 1",
            "too many steps below",
            "f: 'time' is a required property",
            "f.n: {\"a\": [1]} is not of type 'number'",
        ],
    }
    with RunWriter(tmp_path) as run:
        rows = [{"trace_id": trace, "route": "triage", "reasons": texts} for trace, texts in reasons.items()]
        run.write("traces", frame("traces", *rows, {"trace_id": "d", "route": "settled", "reasons": ["x"]}))
        run.commit("ab", {})
    with connect(tmp_path) as duck:
        assert duck.execute("SELECT n_traces, reason, example_trace_id FROM top_reasons").fetchall() == [
            (2, "f.rows[*].x: … does not match '^[A-Z]$'", "a"),
            (2, "strict below 1", "b"),
            (1, "f.n: … is not of type 'number'", "c"),
            (1, "f: 'day' is a required property", "b"),
            (1, "f: 'time' is a required property", "c"),
            (1, "too many steps below", "c"),
        ]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ('call 3: f.a[2].b is "x", expected "y"', "f.a[2].b is not as expected"),
        ('call 3: f.a is missing, expected "y"', "f.a is missing"),
        ('call 12: f.a = "x" was not expected', "f.a was not expected"),
        ("call 1: f repeats call 0 and was not expected", "f repeats an earlier call"),
        ("call 1: f was not expected", "f was not expected"),
        ("expected call 1: f was not made", "f was not made"),
        ("call 1: malformed entry", "malformed entry"),
        ("accuracy_optimal is 0.3333, below 1", "accuracy_optimal below 1"),
        ("f: -1.5e3 is less than the minimum of 0", "f: … is less than the minimum of 0"),
        ("f.a: [1, 2] is too long", "f.a: … is too long"),
        ("more than 3 steps", "more than 3 steps"),
        (None, None),
    ],
)
def test_the_kind_of_a_reason(sql, reason, kind):
    literal = "NULL" if reason is None else objects.quoted(reason)
    assert sql(f"SELECT reason_kind({literal})") == [(kind,)]
