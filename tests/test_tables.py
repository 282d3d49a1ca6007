import polars as pl
import pyarrow as pa
import pytest

from tracelens import tables
from tracelens.errors import InternalError


@pytest.fixture
def reject() -> pl.DataFrame:
    row = {"run_id": "r", "source": "a.jsonl", "line": 3, "offset": 120, "reason": "cut", "text": "{"}
    return pl.DataFrame([row], schema=tables.polars_schema("rejects"))


def test_every_column_is_documented():
    for name, table in tables.TABLES.items():
        for column in table.columns:
            assert column.meaning, (name, column.name)
            assert not column.meaning.endswith("."), (name, column.name)
            assert column.name == column.name.lower()


def test_the_tables_a_reader_knows_are_there():
    wanted = [
        "traces",
        "calls",
        "expected",
        "pairs",
        "argument_diffs",
        "steps",
        "findings",
        "state_results",
        "rejects",
        "runs",
        "spans",
    ]
    assert list(tables.STORED_TABLES) == wanted


def test_every_stored_table_starts_with_its_run():
    assert {tables.table(name).columns[0].name for name in tables.STORED_TABLES} == {"run_id"}


def test_arrow_and_polars_agree():
    for name in tables.TABLES:
        arrow = tables.schema(name)
        assert pl.from_arrow(arrow.empty_table()).schema == tables.polars_schema(name)
        assert arrow.names == list(tables.polars_schema(name))


def test_counts_of_all_pairings_are_on_traces():
    names = set(tables.schema("traces").names)
    for pairing in tables.PAIRINGS:
        for kind in ("exact", "partial", "name_only", "missing", "extra"):
            assert f"n_{kind}_{pairing}" in names
    assert "n_wrong_name_positional" in names


def test_scores_are_columns_that_may_be_null():
    for score in tables.SCORES:
        column = tables.column("traces", score)
        assert (column.dtype, column.nullable) == ("f64", True)
    assert "first_divergence" not in tables.SCORES


def test_a_good_frame_passes_in_any_column_order_and_form(reject):
    tables.check("rejects", reject.select(reversed(reject.columns)))
    tables.check("rejects", reject.to_arrow())
    tables.check("rejects", reject.to_arrow().to_batches()[0])
    tables.check("rejects", reject.drop("run_id"), without=("run_id",))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop("reason"), "column 'reason' is absent"),
        (lambda f: f.rename({"reason": "reasons"}), "column 'reason' is absent"),
        (lambda f: f.with_columns(linee=1), "unknown column 'linee'"),
        (lambda f: f.with_columns(pl.col("line").cast(pl.Int32)), "column 'line' is int32, not int64"),
        (lambda f: f.with_columns(line=pl.lit(None, pl.Int64)), "column 'line' has 1 nulls"),
    ],
)
def test_a_broken_frame_is_refused_by_name(reject, change, words):
    with pytest.raises(InternalError, match="table rejects") as caught:
        tables.check("rejects", change(reject))
    assert words in str(caught.value)


def test_nan_is_refused():
    frame = tables.empty("pairs").to_arrow().to_pylist()
    row = dict.fromkeys(tables.schema("pairs").names)
    row |= {"run_id": "r", "trace_id": "t", "pairing": "optimal", "status": "exact", "agreement": float("nan")}
    with pytest.raises(InternalError, match="'agreement' holds NaN"):
        tables.check("pairs", pa.Table.from_pylist([*frame, row], schema=tables.schema("pairs")))


def test_conform_gives_contract_order_types_and_nullability(reject):
    mixed = reject.with_columns(pl.col("source").cast(pl.Categorical)).select(reversed(reject.columns))
    assert tables.conform("rejects", mixed).schema == tables.schema("rejects")


def test_dialect_columns_are_welcome_on_traces_only():
    traces = tables.empty("traces").with_columns(pl.lit(None, pl.Float64).alias("article__strict"))
    assert tables.conform("traces", traces, extra=["article__strict"]).column_names[-1] == "article__strict"
    with pytest.raises(InternalError, match="unknown column"):
        tables.check("pairs", tables.empty("pairs").with_columns(pl.lit(None, pl.Float64).alias("article__strict")))


def test_documents_name_every_column():
    for name, table in tables.TABLES.items():
        text = tables.markdown(name)
        assert all(f"| `{column.name}` |" in text for column in table.columns)
        assert len(tables.sql_comments(name)) == len(table.columns) + 1
        assert len(tables.describe(name)) == len(table.columns)


def test_an_unknown_table_gets_a_hint():
    with pytest.raises(InternalError, match="did you mean 'traces'"):
        tables.table("trace")
