"""A large results folder as production makes them: agents, versions, days, trials, times and errors around `mixed`.

python -m benchmarks.stores FOLDER --traces 1000000

Two runs of it, one after the other, hold the same cases; in the second the agents fail at other places.
"""

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from benchmarks import mixed
from benchmarks.workloads import CHUNK

TRIALS = 4
"""Traces of one case."""

DAYS = 28
FIRST_DAY = datetime(2026, 10, 5, tzinfo=UTC)
AGENTS = ("booker", "clerk", "scout")

SUITE = """\
name = "production"
tools_file = "tools.json"

[tools.transfer_funds]
price = 0.02
[tools.get_forecast]
price = 0.001

[thresholds]
recall = 0.75

[invariants]
max_calls = 12

[judge]
questions = ["Is the answer grounded in the tool results?"]
price_per_1k_tokens = 0.003
"""


def lines(traces: int, seed: int = 1) -> Iterator[str]:
    """Native lines, `TRIALS` of each case in a row.

    Args:
        traces: How many.
        seed: Another seed lets the agents fail at other places.

    Yields:
        One line a trace.

    Example:
        >>> first = json.loads(next(lines(1)))
        >>> first["case_id"], first["agent"]
        ('case-0000000', 'booker')
    """
    for index in range(traces):
        if index % CHUNK == 0:
            rng = Random(f"production-{seed}-{index}")
        yield _line(rng, index)


def _line(rng: Random, index: int) -> str:
    actual, expected = mixed.trace(rng)
    day = rng.randrange(DAYS)
    start = FIRST_DAY + timedelta(days=day, seconds=rng.randrange(86_400))
    calls = ",".join([_call(rng, tool, arguments) for tool, arguments in actual])
    wanted = ",".join([f'{{"name":"{tool}","arguments":{arguments}}}' for tool, arguments in expected])
    time = f'"started_at":"{start.isoformat()}",' if rng.random() < 0.99 else ""
    return (
        f'{{"trace_id":"run-{index:07d}","case_id":"case-{index // TRIALS:07d}","session_id":"s-{index // 3:07d}",'
        f'"agent":"{AGENTS[index % 3]}",{time}"tags":{{"version":"1.{day // 7}"}},"complete":true,'
        f'"usage":{{"llm_calls":{len(actual) + 1},"input_tokens":{rng.randrange(900, 4000)},"output_tokens":'
        f'{rng.randrange(90, 400)},"cost":0.01}},"final_answer":"Done.","tool_calls":[{calls}],"expected":[{wanted}]}}\n'
    )


def _call(rng: Random, tool: str, arguments: str) -> str:
    fails = rng.random() < 0.03
    status = '"status":"error","error":"timed out"' if fails else '"status":"ok","result":{"found":1}'
    return f'{{"name":"{tool}","arguments":{arguments},{status},"duration_ms":{rng.randrange(5, 900)}}}'


def write(folder: Path, traces: int, seed: int = 1) -> tuple[Path, Path]:
    """Write the traces and their suite.

    Args:
        folder: Where to.
        traces: How many.
        seed: As for `lines`.

    Returns:
        The file of traces and the suite file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file, suite = folder / f"production-{traces}-{seed}.jsonl", folder / "suite.toml"
    (folder / "tools.json").write_text(json.dumps(mixed.TOOLS, indent=1), encoding="utf-8")
    suite.write_text(SUITE, encoding="utf-8")
    if not file.is_file():
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines(traces, seed))
        part.replace(file)
    return file, suite


def main(arguments: list[str] | None = None) -> None:
    """Score two runs into a results folder each: FOLDER/base and FOLDER/head.

    Args:
        arguments: The command line; None takes the process's own.
    """
    from tracelens.results import score

    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores", description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--traces", type=int, default=1_000_000)
    chosen = parser.parse_args(arguments)
    for name, seed in (("head", 1), ("base", 2)):
        file, suite = write(chosen.folder / "input", chosen.traces, seed)
        results = score(file, suite, out=chosen.folder / name, progress=False)
        print(name, results.run_id)
        file.unlink()


if __name__ == "__main__":
    main()
