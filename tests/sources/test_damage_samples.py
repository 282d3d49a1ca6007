"""Five kinds of damage to every sample, ours and the shared ones: nothing crashes, and every record is accounted for."""

import random
from pathlib import Path

from tests.sources.reading import read
from tracelens.errors import InputError
from tracelens.sources import detect
from tracelens.sources.base import JsonSource
from tracelens.sources.logs.sessions import SessionSource
from tracelens.sources.nested import NestedSource

OURS = Path(detect.__file__).parent / "samples"
SHARED = Path(__file__).parents[3] / "shared" / "samples"
BINARY = {".eval", ".parquet"}


def truncated(data, _other, random_):
    return data[: random_.randrange(len(data))]


def flipped(data, _other, random_):
    out = bytearray(data)
    for _ in range(3):
        out[random_.randrange(len(out))] ^= 1 << random_.randrange(8)
    return bytes(out)


def lines_of(data):
    return data.rstrip(b"\n").split(b"\n")


def duplicated(data, _other, random_):
    lines = lines_of(data)
    return b"\n".join([*lines, *random_.choices(lines, k=2)]) + b"\n"


def reordered(data, _other, random_):
    lines = lines_of(data)
    random_.shuffle(lines)
    return b"\n".join(lines) + b"\n"


def interleaved(data, other, random_):
    lines, more = lines_of(data), lines_of(other)
    takes = [0] * len(lines) + [1] * len(more)
    random_.shuffle(takes)
    both = iter(lines), iter(more)
    return b"\n".join(next(both[take]) for take in takes) + b"\n"


DAMAGES = (truncated, flipped, duplicated, reordered, interleaved)


def by_trace(got):
    """The digest of each trace, and its rows."""
    out = {}
    for row in got["traces"]:
        of = {
            name: [{**one, "trace": 0} for one in got[name] if one["trace"] == row["trace"]]
            for name in ("calls", "spans", "expected")
        }
        out[row["trace_id"]] = ((row["record_hi"], row["record_lo"]), of, row["final_answer"], row["tags"])
    return out


def check(paths, before, format, damage):
    """Read damaged copies; returns how many traces were not touched.

    A session says in the order of its lines what was said: another order is another session. Records with ids are told
    apart by these alone, so their digest does not say what a flipped bit did to the rest of them.
    """
    source = detect.source_named(format)
    try:
        got = read(paths, format)
    except InputError:  # a zip or a table that is no longer one
        assert paths[0].suffix in BINARY
        return 0
    used = got["n_records"] - got["n_blank"] - len(got["rejects"]) - got["n_merged"]
    alone = isinstance(source, JsonSource | NestedSource)
    assert used == len(got["traces"]) if alone else used >= len(got["traces"])
    if damage is reordered and isinstance(source, SessionSource):
        return 0
    if damage in {truncated, flipped} and getattr(source, "identified", False):
        return 0
    same = 0
    for name, rows in by_trace(got).items():
        if name in before and rows[0] == before[name][0]:
            same += 1
            assert rows == before[name]
    return same


def by_format(files):
    """Files that are read together, by the format that they are in; a zip or a table stands alone."""
    out = {}
    for path in files:
        try:
            format = detect.open_input(path).format_name
        except InputError:
            continue  # no file of ours, see the tables of samples
        out.setdefault((format, path.name if path.suffix in BINARY else ""), []).append(path)
    return out


def damage_all(files, folder):
    """Every damage to every one of those files; returns how many traces were not touched."""
    same = 0
    for number, ((format, _), paths) in enumerate(by_format(files).items()):
        place = folder / str(number)
        place.mkdir()
        copies = {place / f"{k}-{path.name}": path.read_bytes() for k, path in enumerate(paths)}
        other = (OURS / detect.source_named(format).sample).read_bytes()
        for copy, data in copies.items():
            copy.write_bytes(data)
        before = by_trace(read(list(copies), format))
        for damage in DAMAGES:
            for copy, data in copies.items():
                copy.write_bytes(damage(data, other, random.Random(f"{damage.__name__} {copy.name}")))
            same += check(list(copies), before, format, damage)
    return same


def test_every_sample(tmp_path):
    """Those of the package, and the shared ones where they are there."""
    files = sorted(path for path in (*OURS.iterdir(), *SHARED.rglob("*")) if path.is_file())
    assert damage_all(files, tmp_path) > 40
