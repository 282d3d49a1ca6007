"""The abstract trace of `backend_writers` as the tables that backends export, built from the formats' descriptions."""

from __future__ import annotations

import json

import pyarrow as pa

from tests.sources.backend_writers import langfuse_rows, langsmith, mlflow, phoenix_rows

US = pa.timestamp("us", tz="UTC")


def as_texts(rows, names):
    """Rows with some values as JSON text."""
    return [
        {k: json.dumps(v, ensure_ascii=False) if k in names and v is not None else v for k, v in row.items()}
        for row in rows
    ]


def langsmith_table(trace, seed=1):
    """Inputs, outputs and extra are JSON text."""
    nested = {"inputs", "outputs", "extra", "feedback_stats"}
    rows = [{"outputs": None, "tags": None, "feedback_stats": None, **run} for run in langsmith(trace, seed)]
    return pa.Table.from_pylist(as_texts(rows, nested))


def langfuse_table(trace, seed=1):
    """Times are timestamps, details of usage maps, tool calls lists of JSON texts."""
    rows = langfuse_rows(trace, seed)
    table = pa.Table.from_pylist([{**row, "usage_details": None, "tool_definitions": None} for row in rows])
    details = pa.array(
        [row["usage_details"] and list(row["usage_details"].items()) for row in rows], pa.map_(pa.string(), pa.int64())
    )
    table = table.set_column(table.schema.get_field_index("usage_details"), "usage_details", details)
    for name in ("start_time", "end_time"):
        values = pa.array([f"{row[name]}+00:00".replace(" ", "T") for row in rows]).cast(US)
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


def mlflow_table(trace, seed=1):
    """A column holds the whole trace as JSON text."""
    record = mlflow(trace, seed)
    row = {"trace_id": trace["id"], "trace": json.dumps(record), "state": "OK", "execution_duration": 20}
    return pa.Table.from_pylist([row])


def phoenix_table(trace, seed=1):
    """Messages are lists of structs, every row has all columns, and token counts of other spans are NaN."""
    rows = phoenix_rows(trace, seed)
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    for name in ("attributes.llm.token_count.prompt", "attributes.llm.token_count.completion"):
        values = pa.array([float(row.get(name, "nan")) for row in rows])
        table = table.set_column(table.schema.get_field_index(name), name, values)
    return table


FRAMES = {
    "langsmith-parquet": langsmith_table,
    "langfuse-parquet": langfuse_table,
    "mlflow-parquet": mlflow_table,
    "phoenix-parquet": phoenix_table,
}
"""Tables by format."""
