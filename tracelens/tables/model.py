"""What a table is: columns with dtype, unit, null meaning and description, and the three type systems they map to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Dtype = Literal["str", "bool", "i8", "i32", "i64", "u8", "u32", "u64", "f64", "date", "time", "texts"]
"""Names of the dtypes columns may have: ``time`` is an instant (microseconds, UTC), ``texts`` a list of strings."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        name: Its name, the same in Arrow, Polars, Parquet and SQL.
        dtype: One of `Dtype`.
        meaning: What it says, one sentence without a final stop.
        null: What null means; empty = the column is never null.
        unit: ``ms``, ``0..1``, ``tokens`` and the like; empty for names, texts and plain counts.
        few: Whether only few distinct values are expected, so that frames and files keep a dictionary of them.
    """

    name: str
    dtype: Dtype
    meaning: str
    null: str = ""
    unit: str = ""
    few: bool = False

    @property
    def nullable(self) -> bool:
        """Whether null is allowed."""
        return bool(self.null)

    @property
    def comment(self) -> str:
        """Meaning, unit and null meaning in one line, as SQL comments and documentation show it.

        Example:
            >>> Column("duration_ms", "f64", "time from first to last step", null="not captured", unit="ms").comment
            'time from first to last step (ms); null: not captured'
        """
        unit = f" ({self.unit})" if self.unit else ""
        null = f"; null: {self.null}" if self.null else ""
        return f"{self.meaning}{unit}{null}"


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is and its columns, in order.

    Attributes:
        name: The name of the table.
        grain: What one row is.
        key: The columns that identify a row, in sort order; empty where rows only have an order.
        columns: All columns, in order.
        stored: Whether a run folder has a Parquet file of it; the others live inside one batch only.
    """

    name: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    stored: bool = True
    by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the columns and refuse contradictions."""
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})
        if len(self.by_name) != len(self.columns) or not set(self.key) <= set(self.by_name):
            raise ValueError(f"table {self.name}: repeated column or unknown key")


@cache
def arrow_dtypes() -> dict[str, pa.DataType]:
    """The Arrow type of every `Dtype`."""
    import pyarrow as pa

    return {
        "str": pa.large_string(),
        "bool": pa.bool_(),
        "i8": pa.int8(),
        "i32": pa.int32(),
        "i64": pa.int64(),
        "u8": pa.uint8(),
        "u32": pa.uint32(),
        "u64": pa.uint64(),
        "f64": pa.float64(),
        "date": pa.date32(),
        "time": pa.timestamp("us", tz="UTC"),
        "texts": pa.large_list(pa.large_string()),
    }


@cache
def polars_dtypes() -> dict[str, pl.DataType]:
    """The Polars type of every `Dtype`."""
    import polars as pl

    return {
        "str": pl.String(),
        "bool": pl.Boolean(),
        "i8": pl.Int8(),
        "i32": pl.Int32(),
        "i64": pl.Int64(),
        "u8": pl.UInt8(),
        "u32": pl.UInt32(),
        "u64": pl.UInt64(),
        "f64": pl.Float64(),
        "date": pl.Date(),
        "time": pl.Datetime("us", "UTC"),
        "texts": pl.List(pl.String()),
    }


SQL_DTYPES: dict[str, str] = {
    "str": "VARCHAR",
    "bool": "BOOLEAN",
    "i8": "TINYINT",
    "i32": "INTEGER",
    "i64": "BIGINT",
    "u8": "UTINYINT",
    "u32": "UINTEGER",
    "u64": "UBIGINT",
    "f64": "DOUBLE",
    "date": "DATE",
    "time": "TIMESTAMP WITH TIME ZONE",
    "texts": "VARCHAR[]",
}
"""The DuckDB type of every `Dtype`."""
