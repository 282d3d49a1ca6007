"""Reports as files: HTML, Markdown, JSON and Parquet of the same numbers."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from tracelens.errors import StoreError
from tracelens.report.html import html_page
from tracelens.report.markdown import markdown_page
from tracelens.report.sections import page_of

if TYPE_CHECKING:
    from tracelens.report.numbers import Numbers


def write_reports(
    numbers: Numbers,
    *,
    html: Path | None = None,
    markdown: Path | None = None,
    json: Path | None = None,
    parquet: Path | None = None,
) -> list[Path]:
    """Write what is asked for; each file appears complete or not at all.

    Args:
        numbers: The numbers of a report.
        html: One self-contained page.
        markdown: The same page as Markdown.
        json: The numbers.
        parquet: A folder for one Parquet file per table of numbers.

    Returns:
        The files written.

    Raises:
        StoreError: A file cannot be written.
    """
    page = page_of(numbers)
    made: list[Path] = []
    if html is not None:
        made.append(put(html, html_page(page).encode()))
    if markdown is not None:
        made.append(put(markdown, markdown_page(page).encode()))
    if json is not None:
        made.append(put(json, json_bytes(numbers)))
    if parquet is not None:
        made += _parquet(numbers, parquet)
    return made


def json_bytes(numbers: Numbers) -> bytes:
    """The numbers as JSON."""
    return orjson.dumps(numbers.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def put(path: Path, content: bytes) -> Path:
    """Write a file by one rename, so that nobody reads half of it, and a killed program leaves the old one.

    Raises:
        StoreError: It cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")  # always the same, so that what a killed program left goes
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        os.replace(partial, path)  # noqa: PTH105  replaces on every system
    except OSError as error:
        with suppress(OSError):  # where nothing can be written, nothing can be removed
            partial.unlink()
        raise StoreError(f"cannot write here ({error.strerror})", where=str(path), hint="give another path") from error
    return path


def _parquet(numbers: Numbers, folder: Path) -> list[Path]:
    """One file per table that has rows."""
    import io

    import polars as pl

    made = []
    for name, rows in numbers.tables.items():
        if rows:
            buffer = io.BytesIO()
            pl.DataFrame(rows, infer_schema_length=None).write_parquet(buffer)
            made.append(put(folder / f"{name}.parquet", buffer.getvalue()))
    return made
