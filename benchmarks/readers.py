"""How fast each format is read, beside the fastest library that merely parses the same file.

    python -m benchmarks.readers                # 50 MB a format, the fastest of five rounds, into the README
    python -m benchmarks.readers --mb 5 --print # a look in seconds

A file is the bundled sample of a format, copied until it is long enough, every copy a trace of its own. A reader gives
whole traces: calls merged and ordered, spans, remarks; a floor gives nothing but parsed values. A new reader is a row of
`READERS`.
"""

import argparse
import contextlib
import importlib.util
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "tracelens" / "sources" / "samples"
README = ROOT / "README.md"
START, END = "<!-- readers:start -->", "<!-- readers:end -->"
BEHIND = "<!-- benchmark:end -->\n"
INTRODUCTION = """
Reading alone, beside the fastest library that merely parses the same file (`python -m benchmarks.readers`; copies of the
bundled samples). TraceLens, on all processors, gives merged calls and spans; a parser gives parsed values.
"""


@dataclass(frozen=True)
class Reader:
    """A format to measure.

    Attributes:
        format: Its name.
        ids: Texts in its sample that must differ in every copy.
        sample: The sample's file, if it is not the bundled one.
    """

    format: str
    ids: tuple[str, ...]
    sample: str = ""


BOTH = ("0af7651916cd43dd8448eb211c80319c", "5b8efff798038103d269b633813fc60c")
"""Ids of the traces in several samples."""

READERS = (
    Reader("native", ("native-1", "native-2")),
    Reader("chat", ("chat-1",)),
    Reader("responses", ("resp_shelf1", "shelf-2")),
    Reader("anthropic", ("shelf-1", "msg_shelf2")),
    Reader("google", ("shelf-1",)),
    Reader("langchain", ("shelf-1", "shelf-2", "shelf-3")),
    Reader("pydantic-ai", ("shelf-1",)),
    Reader("azure-evaluation", ("shelf-1",)),
    Reader("claude-code", ("shelf-session",)),
    Reader("otlp", ("0af7651916cd43dd8448eb211c80319c",)),
    Reader("langsmith", ("00000001-0000-4000-8000-000000000001", "00000002-0000-4000-8000-000000000001")),
    Reader("langfuse", ("0af7651916cd43dd8448eb211c80319c",)),
    Reader("openai-agents", BOTH),
    Reader("mlflow", ("0af7651916cd43dd8448eb211c80319c",)),
    Reader("deepeval", ("0af7651916cd43dd8448eb211c80319c",)),
    Reader("phoenix", BOTH),
    Reader("weave", BOTH),
    Reader("tau2", ("sim-1",)),
    Reader("bfcl", ("simple_0", "parallel_0")),
    Reader("adk-eval", ("library",)),
    Reader("inspect", ("u-1",)),
    Reader("atif", ("t-1",)),
    Reader("swe-agent", ()),
    Reader("openhands", ()),
)
"""What is measured; samples that are documents become lines."""


def write_copies(reader: Reader, path: Path, size: int) -> int:
    """Write copies of a sample, each with ids of its own.

    Args:
        reader: Which format.
        path: The file to write.
        size: Bytes that it should have at least.

    Returns:
        How many bytes it has.
    """
    found = sorted(SAMPLES.glob(f"{reader.format}.*"))
    text = as_lines(Path(reader.sample or found[0]).read_text(encoding="utf-8"))
    written = copy = 0
    with path.open("wb") as file:
        while written < size:
            one = text
            for name in reader.ids:
                one = one.replace(name, f"{copy:0{len(name)}x}")
            written += file.write(one.encode())
            copy += 1
    return written


def as_lines(text: str) -> str:
    """A sample as JSON lines: one that is a single document becomes one line."""
    with contextlib.suppress(ValueError):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return text.rstrip("\n") + "\n"


def read(path: Path, format: str) -> int:
    """Read a file with TraceLens, on all processors; returns the number of calls."""
    from tracelens.sources.detect import open_input
    from tracelens.threads import default_threads, ordered_map

    blocks = open_input(path, format).blocks()
    return sum(batch.calls.num_rows for batch in ordered_map(lambda item: item[0](item[1]), blocks, default_threads()))


def _orjson(path: Path) -> None:
    import orjson

    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def _msgspec(path: Path) -> None:
    import msgspec  # type: ignore[import-not-found]

    decode = msgspec.json.Decoder().decode
    with path.open("rb") as file:
        for line in file:
            decode(line)


def _pyarrow(path: Path) -> None:
    import pyarrow.json

    pyarrow.json.read_json(path, pyarrow.json.ReadOptions(block_size=16 << 20))


def _duckdb(path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.sql("from read_json($1, format = 'newline_delimited')", params=[str(path)]).to_arrow_table()


FLOORS: dict[str, Callable[[Path], None]] = {
    "orjson": _orjson,
    "msgspec": _msgspec,
    "pyarrow": _pyarrow,
    "duckdb": _duckdb,
}
"""Libraries that parse JSON lines, as far as they are installed."""


def measured(reader: Reader, folder: Path, size: int, rounds: int) -> dict[str, float]:
    """MB/s of TraceLens and of every floor that can read the file at all, the fastest of some rounds, taking turns."""
    path = folder / f"{reader.format}.jsonl"
    megabytes = write_copies(reader, path, size) / 1e6
    turns: dict[str, Callable[[Path], object]] = {"tracelens": lambda path: read(path, reader.format)}
    turns |= {name: floor for name, floor in FLOORS.items() if importlib.util.find_spec(name)}
    best: dict[str, float] = {}
    for number in range(rounds + 1):
        for name, turn in list(turns.items()):
            start = time.perf_counter()
            try:
                turn(path)
            except Exception as error:  # noqa: BLE001  what a library cannot read has no speed
                print(f"{name} cannot read {reader.format}: {str(error)[:100]}")
                del turns[name]
                continue
            speed = megabytes / (time.perf_counter() - start)
            best[name] = max(best.get(name, 0.0), speed if number else 0.0)
    path.unlink()
    return {name: speed for name, speed in best.items() if speed}


def table(figures: dict[str, dict[str, float]]) -> Iterator[str]:
    r"""The figures as lines of Markdown.

    Example:
        >>> print(*table({"otlp": {"tracelens": 300.0, "orjson": 200.0, "duckdb": 50.0}}), sep="\\n")
        | format | TraceLens reads, MB/s | fastest plain parser, MB/s | against it |
        |---|---:|---|---:|
        | `otlp` | 300 | orjson 200 | 1.50 × |
    """
    yield "| format | TraceLens reads, MB/s | fastest plain parser, MB/s | against it |"
    yield "|---|---:|---|---:|"
    for name, speeds in figures.items():
        floor = max((key for key in speeds if key != "tracelens"), key=speeds.__getitem__)
        ratio = speeds["tracelens"] / speeds[floor]
        yield f"| `{name}` | {speeds['tracelens']:,.0f} | {floor} {speeds[floor]:,.0f} | {ratio:.2f} × |"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formats", nargs="*", help="only these")
    parser.add_argument("--mb", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", help="a file in place of the bundled sample; with one format")
    parser.add_argument("--id", action="append", default=[], help="an id in that file")
    parser.add_argument("--print", action="store_true", help="leave the README alone")
    given = parser.parse_args()
    chosen = [reader for reader in READERS if not given.formats or reader.format in given.formats]
    if given.sample:
        chosen = [Reader(given.formats[0], tuple(given.id), given.sample)]
    with tempfile.TemporaryDirectory() as folder:
        figures = {one.format: measured(one, Path(folder), int(given.mb * 1e6), given.rounds) for one in chosen}
    lines = [
        *table(figures),
        "",
        f"{platform.machine()}, Python {platform.python_version()}, {given.mb:g} MB a format.",
    ]
    print("\n".join(lines))
    if not given.print:
        page = README.read_text(encoding="utf-8")
        if START not in page:
            page = page.replace(BEHIND, f"{BEHIND}{INTRODUCTION}\n{START}\n{END}\n")
        before, _, rest = page.partition(START)
        _, _, after = rest.partition(END)
        README.write_text("".join([before, START, "\n", "\n".join(lines), "\n", END, after]), encoding="utf-8")
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
