import io
import json

import duckdb
import polars as pl
import pytest

from tests.store.fake_run import fake_run, frame
from tracelens import __version__
from tracelens.cli import main, program
from tracelens.cli.query import table_lines
from tracelens.cli.score import profiled
from tracelens.errors import InputError, InternalError
from tracelens.results import page
from tracelens.run import score as engine_module
from tracelens.store import RunWriter
from tracelens.store.sqlfiles import sql_files
from tracelens.tables import QUERIED_TABLES, STORED_TABLES


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    fake_run(folder, "aa", 2)
    fake_run(folder, "bb", 3)
    return str(folder)


@pytest.fixture
def tl(capsys):
    """Run a command: its exit code, what it printed, and what it said on the side."""

    def call(*tokens):
        code = main([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(engine_module, "score_run", lambda *_, out, **__: fake_run(out, "cc"))


def test_version_and_help(tl):
    assert tl("--version")[:2] == (0, f"{__version__}\n")
    code, out, _ = tl("--help")
    assert code == 0
    assert all(
        f"│ {name} " in out for name in ("demo", "init", "lint", "score", "rescore", "explain", "sql", "gate", "queue")
    )


@pytest.mark.parametrize("name", [name for name, *_ in program._COMMANDS])
def test_every_command_explains_itself(tl, name):
    code, out, _ = tl(name, "--help")
    assert code == 0
    assert f"Usage: tracelens {name}" in out
    assert f"Example: tracelens {name} " in f"{' '.join(out.split())} "
    assert "[default: False]" not in out


def test_a_default_that_says_something_is_told(tl):
    assert "[default: auto]" in tl("score", "--help")[1]


@pytest.mark.parametrize("tokens", [["scor"], ["score"], ["explain", "only-one"], ["sql", "x", "--nonsense"]])
def test_usage_errors_are_code_2_and_go_to_standard_error(tl, tokens):
    code, out, error = tl(*tokens)
    assert (code, out) == (2, "")
    assert error


def test_score_prints_the_funnel_and_where_the_run_is(tl, engine, tmp_path):
    code, out, error = tl("score", "in.jsonl", "--out", tmp_path)
    assert code == 0
    assert "→ triage                             1  100.0%" in out
    assert "Top reasons for triage" in out
    assert f"tracelens explain {tmp_path} t0" in error


def test_score_as_json(tl, engine, tmp_path):
    code, out, _ = tl("score", "in.jsonl", "--out", tmp_path, "--json")
    found = json.loads(out)
    assert (code, found["n_traces"], found["funnel"]["triage"]) == (0, 1, 1)
    assert found["path"] == str(tmp_path / "runs" / "cc")
    _, out, error = tl("score", "in.jsonl", "--json")
    assert "path" not in json.loads(out)
    assert error == ""
    assert "Nothing is kept; --out DIR" in tl("score", "in.jsonl")[2]


def test_too_many_rejects_are_code_3(tl, engine, tmp_path):
    assert tl("score", "in.jsonl", "--out", tmp_path, "--max-rejects", 1)[0] == 0
    code, out, error = tl("score", "in.jsonl", "--out", tmp_path, "--max-rejects", 0)
    assert code == 3
    assert "traces in" in out
    assert "more than --max-rejects 0" in error


def test_an_unreadable_input_is_code_3_with_place_and_remedy(tl, monkeypatch):
    def fails(*_, **__):
        raise InputError("no trace at all", where="in.jsonl", hint="give --format")

    monkeypatch.setattr(engine_module, "score_run", fails)
    code, out, error = tl("score", "in.jsonl")
    assert (code, out) == (3, "")
    assert error == "error: no trace at all\n  where: in.jsonl\n  hint:  give --format\n"


def test_a_bad_suite_is_code_2_with_every_problem(tl, tmp_path):
    (tmp_path / "suite.toml").write_text("thresholdz = 1\n[match]\nparallel = 'x'\n")
    code, _, error = tl("score", "in.jsonl", "--suite", tmp_path / "suite.toml")
    assert code == 2
    assert "thresholdz" in error
    assert "parallel" in error


def test_broken_promises_are_code_4(tl, monkeypatch):
    def fails(error):
        def score_run(*_, **__):
            raise error

        return score_run

    monkeypatch.setattr(engine_module, "score_run", fails(InternalError("rows lost")))
    assert tl("score", "in.jsonl")[::2] == (4, "internal error: rows lost\n")
    monkeypatch.setattr(engine_module, "score_run", fails(ZeroDivisionError("oh")))
    code, _, error = tl("score", "in.jsonl")
    assert code == 4
    assert "ZeroDivisionError: oh" in error
    assert "this is a bug" in error


def test_an_interrupt_is_not_a_crash(tl, monkeypatch):
    def stops(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engine_module, "score_run", stops)
    assert tl("score", "in.jsonl") == (130, "", "interrupted\n")


def test_score_ends_with_the_notes_of_the_run(tl, tmp_path):
    rows = [{"trace_id": "a", "tool_calls": [{"name": "f", "turn": 2**40}, {"name": "f", "status": "odd"}]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, error = tl("score", tmp_path / "in.jsonl", "--out", tmp_path / "out", "--quiet")
    assert code == 0
    assert "note" not in out
    notes = [line for line in error.splitlines() if line.startswith("note: ")]
    assert [note.split(" is ")[0] for note in notes] == ["note: a call's status", "note: a call's turn"]
    assert notes[1].endswith("(1 time, first at in.jsonl:1, call 0)")
    again = tl("rescore", tmp_path / "out", "--suite", tmp_path / "suite.toml")
    assert again[0] == 2
    (tmp_path / "suite.toml").write_text('name = "other"\n')
    assert notes[1] in tl("rescore", tmp_path / "out", "--suite", tmp_path / "suite.toml")[2]


def test_rescore_adds_a_run_to_the_same_folder(tl, engine, tmp_path):
    fake_run(tmp_path, "aa")
    (tmp_path / "suite.toml").write_text('name = "other"\n')
    code, out, _ = tl("rescore", tmp_path, "--suite", tmp_path / "suite.toml")
    assert code == 0
    assert out.startswith("Run cc")


def test_explain(tl, results):
    code, out, _ = tl("explain", results, "t2")
    assert code == 0
    assert '≠ date                   "2026-11-03"  expected "2026-11-02"' in out
    assert tl("explain", results, "t2", "--run", "aa")[0] == 2
    assert "does it fit" not in out
    assert "Each call alone" in tl("explain", results, "t2", "--lesson")[1]


def test_explain_as_json(tl, results):
    found = json.loads(tl("explain", results, "t0", "--json")[1])
    assert found["trace"]["route"] == "triage"
    assert [pair["status"] for pair in found["pairs"]] == ["partial", "extra", "partial"]


def test_sql_answers_as_table_csv_or_json(tl, results):
    query = "SELECT run_id, step, n_traces FROM funnel WHERE step = 'triage' ORDER BY run_id"
    assert tl("sql", results, query)[1].splitlines() == [
        "run_id  step    n_traces",
        "──────  ──────  ────────",
        "aa      triage         2",
        "bb      triage         3",
    ]
    assert tl("sql", results, query, "--output", "csv")[1] == "run_id,step,n_traces\naa,triage,2\nbb,triage,3\n"
    assert json.loads(tl("sql", results, query, "--output", "json")[1])[1]["n_traces"] == 3


def test_sql_explains_what_is_there(tl, results):
    out = tl("sql", results, "--list")[1]
    assert all(
        f"\n{name}  " in f"\n{out}" for name in (*STORED_TABLES, "tool_scores", "funnel", "compare_cases(base, head)")
    )
    assert "tool_cost                DOUBLE                    cost of the calls at the suite's prices (currency" in out
    assert "\nfunnel  view\n  One row per run and step, in order" in out
    (funnel,) = json.loads(tl("sql", results, "--list", "fun*", "--output", "json")[1])
    assert funnel["columns"][0] == {"column": "run_id", "type": "VARCHAR", "meaning": "run the row belongs to"}
    code, _, error = tl("sql", results, "--list", "funnle", "--output", "csv")
    assert (code, "did you mean 'funnel'?" in error) == (2, True)


def test_sql_reads_statements_from_a_pipe(tl, results, monkeypatch):
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("SELECT count(*)\n AS n FROM runs;\n.list\nSELECT 'a;b' AS x; FROM nothing;\n")
    )
    code, out, error = tl("sql", results)
    assert code == 2
    assert out.startswith("n\n─\n2\n")
    assert "\nfunnel  " in out
    assert out.endswith("x\n───\na;b\n")
    assert "nothing does not exist" in error
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1 AS a;\n.quit\nSELECT 2"))
    assert tl("sql", results, "--output", "csv") == (0, "a\n1\n", "")


def test_sql_checks_that_the_runs_hold_together(tl, results, tmp_path):
    code, out, _ = tl("sql", results, "--check")
    assert code == 0
    assert len(out.splitlines()) == len(list(sql_files("checks"))) > 4
    with RunWriter(tmp_path) as run:
        bad = {"trace_id": "t", "route": "settled", "passed": False, "strict": 1.5}
        run.write("traces", frame("traces", bad, bad | {"trace_id": "t\x1b"}, bad))
        run.write("findings", frame("findings", {"trace_id": "u", "severity": "error"}))
        run.write("runs", frame("runs", {"n_traces": 2}))
        run.write("pairs", frame("pairs", {"trace_id": "t", "status": "exact"}))
        run.commit("dd", {})
    code, out, error = tl("sql", tmp_path, "--check")
    assert (code, out.count("✗")) == (3, len(list(sql_files("checks"))))
    assert '"n_rows":2' in out
    assert "\x1b" not in out
    assert "do not hold together: findings_have_traces, pairs_have_sides" in error
    found = json.loads(tl("sql", tmp_path, "--check", "--output", "json")[1].partition("]\n{")[0] + "]")
    assert [each["n_rows"] for each in found] == [1, 1, 3, 2, 3, 1]


def test_a_run_that_does_not_hold_together_is_a_bug(tl, monkeypatch, tmp_path):
    def broken(*_, out, **__):
        with RunWriter(out) as run:
            run.write("runs", frame("runs", {"n_traces": 2}))
            return run.commit("dd", {})

    monkeypatch.setattr(engine_module, "score_run", broken)
    code, _, error = tl("score", "in.jsonl", "--out", tmp_path)
    assert code == 4
    assert "rows_counted: The table of runs counts the rows that are there" in error


def test_days_of_a_zone(tl, results):
    query = "SELECT tl_day('2026-11-02T23:30:00Z'::TIMESTAMPTZ) AS day"
    assert tl("sql", results, query, "--output", "csv")[1] == "day\n2026-11-02\n"
    assert tl("sql", results, query, "--output", "csv", "--tz", "Europe/Berlin")[1] == "day\n2026-11-03\n"
    code, _, error = tl("sql", results, query, "--tz", "Europe/Belin")
    assert (code, "did you mean 'Europe/Berlin'?" in error) == (2, True)


def test_sql_shows_lists_in_every_form(tl, results):
    query = "SELECT reasons, NULL AS nothing FROM traces WHERE run_id = 'bb' LIMIT 1"
    assert '["book_flight: Additional' in tl("sql", results, query)[1]
    row = pl.read_csv(tl("sql", results, query, "--output", "csv")[1].encode()).row(0)
    assert (json.loads(row[0])[2], row[1]) == ("search_flights: 1 call too many", None)


def test_sql_cuts_long_answers_and_says_so(tl, results):
    _, out, error = tl("sql", results, "SELECT range AS n FROM range(1234)")
    assert len(out.splitlines()) == 42
    assert error == "1,194 more rows; --rows 0 shows all\n"
    assert len(tl("sql", results, "SELECT range AS n FROM range(1234)", "--rows", "0")[1].splitlines()) == 1236


def test_sql_errors_are_usage_errors(tl, results):
    code, _, error = tl("sql", results, "SELECT nonsense FROM traces")
    assert code == 2
    assert "nonsense" in error


def test_a_statement_without_an_answer(tl, results):
    assert tl("sql", results, "SET threads = 1")[0] == 0


def test_tables_strip_control_characters():
    frame = pl.DataFrame({"a": ["x\x1b[31m\n", None], "b": [1.5, 22.0]})
    assert page.plain(table_lines(frame)).splitlines() == [
        "a              b",
        "───────────  ───",
        "x\\x1b[31m\\n  1.5",
        "–             22",
    ]


def test_export(tl, results, tmp_path):
    code, out, _ = tl("export", results, "--duckdb", tmp_path / "x.duckdb", "--csv", tmp_path, "--table", "calls")
    assert code == 0
    assert out.splitlines() == [str(tmp_path / "x.duckdb"), str(tmp_path / "calls.csv")]
    with duckdb.connect(str(tmp_path / "x.duckdb"), read_only=True) as copy:
        assert copy.execute("SELECT count(*) FROM traces").fetchall() == [(5,)]
    assert tl("export", results)[0] == 2


def test_prune(tl, tmp_path):
    for name in ("a", "b", "c"):
        fake_run(tmp_path, name)
    assert tl("prune", tmp_path, "--keep", 1) == (0, "a\nb\n", "2 runs removed, 1 left\n")
    assert tl("prune", tmp_path)[0] == 2


def test_schema(tl):
    assert json.loads(tl("schema")[1])["title"] == "TraceLens suite"
    assert "| `accuracy_optimal` | DOUBLE | 0..1 |" in tl("schema", "--tables")[1]
    assert list(json.loads(tl("schema", "--tables", "--json")[1])) == [*QUERIED_TABLES, "dialects"]


def test_a_folder_without_runs_is_code_3(tl, tmp_path):
    for command in (["explain", tmp_path, "t"], ["sql", tmp_path, "SELECT 1"], ["prune", tmp_path, "--keep", "1"]):
        code, out, error = tl(*command)
        assert (code, out) == (3, "")
        assert "no run in this folder" in error


def test_lint_of_a_good_and_a_doubtful_suite(tl, tmp_path, root):
    assert tl("lint", root / "tracelens" / "demo" / "suite.toml") == (0, "0 errors, 0 warnings\n", "")
    suite = tmp_path / "suite.toml"
    suite.write_text("[thresholds]\nf1 = 0.5\n")
    code, out, _ = tl("lint", suite)
    assert (code, out.splitlines()[-1]) == (0, "0 errors, 1 warning")
    assert tl("lint", suite, "--strict")[0] == 2
    suite.write_text('[tools.book]\nschema = \'{"type": "strnig"}\'\n')
    code, out, _ = tl("lint", suite, "--json")
    assert (code, json.loads(out)[0]["severity"]) == (2, "error")


def test_lint_of_a_suite_that_does_not_load(tl, tmp_path):
    code, out, error = tl("lint", tmp_path / "none.toml")
    assert (code, out) == (2, "")
    assert "none.toml" in error


def test_init_writes_a_suite_that_lint_accepts(tl, root, tmp_path):
    traces, suite = root / "tracelens" / "demo" / "traces.jsonl", tmp_path / "flights.toml"
    code, out, error = tl("init", traces, "--out", suite)
    assert (code, out.splitlines()[0]) == (0, str(suite))
    assert "1 trace, 2 tools, 0 cases" in error
    assert 'name = "flights"' in suite.read_text()
    assert tl("lint", suite)[0] == 0
    code, out, error = tl("init", traces, "--out", suite)
    assert (code, out) == (2, "")
    assert "exists already" in error
    assert tl("init", traces, "--out", suite, "--force", "--name", "other")[0] == 0
    assert 'name = "other"' in suite.read_text()


def test_init_of_nothing_readable(tl, tmp_path):
    assert tl("init", tmp_path / "none.jsonl", "--out", tmp_path / "s.toml")[0] == 3


def test_a_profile_says_on_the_side_what_each_stage_took(tl, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"trace_id": "t", "tool_calls": []}\n')
    code, out, error = tl("score", tmp_path / "in.jsonl", "--json", "--profile", "--quiet")
    assert code == 0
    assert json.loads(out)["n_traces"] == 1
    rows = [line.split() for line in error[error.index("stage") :].splitlines()]
    assert rows[0][:3] == ["stage", "CPU", "s"]
    assert rows[-1][0] == "total"
    assert {"read", "parse", "write"} <= {row[0] for row in rows}
    assert sum(float(row[-1]) for row in rows[1:-1]) == pytest.approx(float(rows[-1][-1]), rel=0.01)


def test_a_profile_in_which_nothing_was_timed_is_empty():
    assert profiled({}, 0).splitlines()[1:] == ["total    0.00    0 %         0.0"]
