import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tracelens.errors import SuiteError
from tracelens.rungs.checks import CHECK_FINDINGS, run_checks
from tracelens.suite import Suite

TRACES = pl.DataFrame({"trace_id": ["t1", "t2"], "case_id": ["c1", "c2"], "n_calls": [2, 1]})
CALLS = pl.DataFrame(
    {"trace_id": ["t1", "t1", "t2"], "call_index": [0, 1, 0], "tool": ["premium_search", "book", "search"]}
)
TABLES = {"traces": TRACES, "calls": CALLS}


def run(*checks, base=None, sources=TABLES):
    items = [{"name": f"c{i}"} | check for i, check in enumerate(checks)]
    out = run_checks(Suite.from_dict({"name": "s", "check": items}, base), sources)
    assert out.schema == CHECK_FINDINGS
    return out


def stored(tmp_path):
    paths = {}
    for name, frame in TABLES.items():
        paths[name] = tmp_path / f"{name}.parquet"
        pq.write_table(frame.to_arrow(), paths[name])
    return paths


def test_rows_of_a_query_become_findings(tmp_path):
    sql = (
        "select trace_id, call_index, 'premium tool first' as message, tool from calls "
        "where call_index = 0 and tool = 'premium_search'"
    )
    for sources in (TABLES, {name: frame.to_arrow() for name, frame in TABLES.items()}, stored(tmp_path)):
        assert run({"sql": sql}, sources=sources).rows(named=True) == [
            {
                "trace_id": "t1",
                "call_index": 0,
                "rung": 1,
                "severity": "error",
                "code": "check.c0",
                "tool": "premium_search",
                "path": None,
                "message": "premium tool first",
                "value": None,
                "effect": None,
            }
        ]


def test_no_checks_and_no_rows_give_an_empty_frame():
    assert run().is_empty()
    assert run({"sql": "select trace_id from traces where false"}).is_empty()


def test_rows_are_sorted_and_what_is_left_out_has_a_default():
    out = run(
        {"sql": "select trace_id, case when trace_id = 't1' then 'note' end as severity from traces order by 1 desc"}
    )
    assert out["trace_id"].to_list() == ["t1", "t2"]
    assert out["severity"].to_list() == ["note", "error"]
    assert out["message"].to_list() == ["check 'c0' found this"] * 2


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/hostname')",
        "select * from '/etc/hostname'",
        "copy traces to 'stolen.csv'",
        "attach 'x.db'",
        "install httpfs",
        "set enable_external_access = true",
        "select * from glob('/etc/*')",
    ],
)
def test_a_query_reaches_nothing_but_the_tables(sql, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SuiteError, match="check 'c0': the query fails"):
        run({"sql": sql}, sources=stored(tmp_path))
    assert not list(tmp_path.glob("*.csv"))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select nonsense from calls", "the query fails: .*nonsense.*Hint: the tables are traces, calls"),
        ("-- nothing", "the statement returns no rows.*write a select"),
        ("select 1 +", "the query fails"),
        ("select tool from calls", "unknown column|no trace_id"),
        ("select call_index from calls", "it returns no trace_id"),
        ("select trace_id, 'x' as mesage from calls", "unknown column 'mesage'.*did you mean 'message'"),
        ("select trace_id, 'fatal' as severity from calls", "unknown severity 'fatal'.*'error' or 'note'"),
        ("select 'nobody' as trace_id", "trace_id 'nobody', which is no trace of the run"),
        ("select null::varchar as trace_id", "trace_id None"),
        ("select trace_id, 'x' as call_index from calls", "the column call_index cannot be Int32"),
        ("create table t as select 1 as trace_id", "returns no rows|no trace|unknown column"),
    ],
)
def test_a_bad_query_is_a_suite_error_that_names_the_check(sql, message):
    with pytest.raises(SuiteError, match=f"check 'c0': .*({message})"):
        run({"sql": sql})


ENTRY = """
import pyarrow as pa
import polars as pl

def first(tables):
    assert set(tables) == {"traces", "calls"} and len(tables) == 2
    calls = tables["calls"]
    return calls.filter(pa.compute.equal(calls["tool"], "book")).select(["trace_id", "call_index"])

def frame(tables):
    return pl.DataFrame({"trace_id": ["t2"], "value": ["1"]})

def broken(tables):
    return tables["nothing"]

def text(tables):
    return "no table"

number = 5
"""


def test_a_function_takes_and_returns_arrow_tables(tmp_path):
    (tmp_path / "my_checks.py").write_text("import pyarrow.compute\n" + ENTRY)
    for sources in (TABLES, stored(tmp_path)):
        out = run({"python": "my_checks:first"}, {"python": "my_checks:frame"}, base=tmp_path, sources=sources)
        assert out.select("trace_id", "call_index", "code", "value").rows() == [
            ("t1", 1, "check.c0", None),
            ("t2", None, "check.c1", "1"),
        ]


def found_by_import(tables):
    """An entry point in an importable module."""
    return pa.table({"trace_id": tables["traces"]["trace_id"]})


def test_a_function_may_come_from_an_importable_module():
    assert run({"python": "tests.rungs.test_checks:found_by_import"})["trace_id"].to_list() == ["t1", "t2"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("my_checks:broken", "my_checks:broken raised KeyError"),
        ("my_checks:text", "returned str, not an Arrow table"),
        ("my_checks:absent", "cannot load my_checks:absent.*absent"),
        ("my_checks:number", "my_checks:number is no function"),
        ("no_such_module_anywhere:f", "cannot load no_such_module_anywhere:f.*put no_such_module_anywhere.py beside"),
    ],
)
def test_a_bad_function_is_a_suite_error_that_names_the_check(entry, message, tmp_path):
    (tmp_path / "my_checks.py").write_text("import pyarrow.compute\n" + ENTRY)
    with pytest.raises(SuiteError, match=f"check 'c0': .*{message}"):
        run({"python": entry}, base=tmp_path)


@pytest.mark.parametrize("sources", ["memory", "files"])
def test_a_call_that_is_not_there_is_an_error(tmp_path, sources):
    tables = stored(tmp_path) if sources == "files" else TABLES
    for index in (2, 99, -1):
        with pytest.raises(
            SuiteError, match=f"check 'c0': it returns call_index {index} of trace 't1', which has no such"
        ):
            run({"sql": f"select trace_id, {index} as call_index from traces where trace_id = 't1'"}, sources=tables)
    assert run({"sql": "select trace_id, null as call_index from traces"}, sources=tables).height == 2


def test_types_of_a_query_are_text_or_a_clear_error():
    out = run({"sql": "select trace_id, interval 1 month as value, date 'infinity' as message from traces limit 1"})
    assert out.select("value", "message").rows() == [("1 month", "infinity")]
    for sql in (
        "select trace_id, interval 1 month as call_index from traces",
        "select trace_id, 'x' as call_index from traces",
        "select trace_id, 1 as tool, 2 as TOOL from traces",
        "select trace_id, interval 1 month as odd from traces",
    ):
        with pytest.raises(SuiteError, match="check 'c0'"):
            run({"sql": sql})


@pytest.mark.parametrize("names", ["tool, tool", "tool, tool as TOOL"])
def test_a_name_that_stands_for_two_columns_is_refused(tmp_path, names):
    with pytest.raises(SuiteError, match=r"check 'c0': it returns the column 'tool' more than once.*`as`"):
        run({"sql": f"select trace_id, {names} from calls"})
    (tmp_path / "own.py").write_text(
        "import pyarrow as pa\n"
        "def find(tables):\n"
        "    return pa.Table.from_arrays([pa.array(['t1'])] * 3, names=['trace_id', 'message', 'Message'])\n"
    )
    with pytest.raises(SuiteError, match="'message' more than once"):
        run({"python": "own:find"}, base=tmp_path)
