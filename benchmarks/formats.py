"""Makes the notebook about formats from what the sources say of themselves.

``python -m benchmarks.notebooks`` makes and runs it.
"""

import nbformat
from nbformat import NotebookNode

from tracelens.sources.guide import Entry, entries

INTRO = """# Formats of traces

Every format that TraceLens reads, how it reads it, and the calls of a small bundled sample. This notebook is made from
the sources' own declarations, as is `tracelens formats`. `tracelens score sample:NAME` scores a sample, and so does
`tl.score("sample:NAME")`; files of several formats may lie in one folder, and `auto` finds out which is which."""

SETUP = r'''import polars as pl

from tracelens.sources.detect import open_input

pl.Config.set_tbl_rows(12).set_fmt_str_lengths(60).set_tbl_hide_dataframe_shape(True)


def look(name: str) -> None:
    """The calls in the sample of a format, or the references where it holds no run."""
    opened = open_input(f"sample:{name}")
    batches = [parse(block) for parse, block in opened.blocks()]
    calls = pl.concat([pl.DataFrame(batch.calls.select(["trace", "name", "arguments", "status"])) for batch in batches])
    expected = pl.concat([pl.DataFrame(batch.expected.select(["trace", "name", "arguments"])) for batch in batches])
    shown = calls if calls.height else expected
    one_line = pl.col("arguments").str.replace_all(r"\s+", " ")
    tools = [text for batch in batches for text in batch.traces["tools"].to_pylist() if text]
    print(f"{opened.explanation}\n{shown.with_columns(one_line) if shown.height else ' '.join(tools)[:100] + '…'}")'''


def notebook() -> NotebookNode:
    """The notebook, not yet run."""
    cells = [nbformat.v4.new_markdown_cell(INTRO), nbformat.v4.new_code_cell(SETUP)]
    for entry in entries():
        cells.append(nbformat.v4.new_markdown_cell(words(entry)))
        cells.append(nbformat.v4.new_code_cell(f'look("{entry.name}")'))
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells)
    return made


def words(entry: Entry) -> str:
    """What stands above the calls of a format."""
    seen = "" if entry.seen else "\n\n*Not seen on real data: built from the format's description.*"
    return f"## {entry.name}\n\n{entry.title}.{seen}\n\n{entry.about}\n\n`{entry.command}`"
