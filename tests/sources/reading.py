"""Helpers of the source tests: read bytes or a path, whatever the blocks."""

from __future__ import annotations

import pyarrow as pa

from tracelens.columns import CALLS, EXPECTED, REJECTS, SPANS, TRACES
from tracelens.sources.detect import open_input

SCHEMAS = {"traces": TRACES, "calls": CALLS, "expected": EXPECTED, "rejects": REJECTS, "spans": SPANS}


def batches(source, format="auto", **options):
    opened = open_input(source, format, **options)
    return [parse(block) for parse, block in opened.blocks()]


def read(source, format="auto", **options):
    """All tables as lists of rows, with `trace` counted over the whole input; and the counts."""
    found = batches(source, format, **options)
    out = {name: [] for name in SCHEMAS}
    n = 0
    for batch in found:
        for name in SCHEMAS:
            rows = getattr(batch, name).to_pylist()
            for row in rows:
                if "trace" in row:
                    row["trace"] += n
            out[name] += rows
        n += batch.traces.num_rows
    out["n_records"] = sum(batch.n_records for batch in found)
    out["n_merged"] = sum(batch.n_merged for batch in found)
    out["n_blank"] = sum(batch.n_blank for batch in found)
    out["notes"] = sorted({note for batch in found for note in batch.notes})
    out["remarks"] = added_up(each for batch in found for each in batch.remarks)
    out["records"] = b"".join(batch.records.tobytes() for batch in found)
    return out


def added_up(remarks):
    """Number and first place of remarks by text."""
    out = {}
    for text, count, place in remarks:
        before = out.get(text, (0, place))
        out[text] = (before[0] + count, before[1])
    return out


def write(folder, lines, name="traces.jsonl"):
    """A file of those lines (text or bytes)."""
    path = folder / name
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines) + b"\n")
    return path


def merged(found, name):
    return pa.concat_tables(getattr(batch, name) for batch in found)
