"""Rung one alone: many arguments against their schemas, in processor time, beside two libraries that look at one at a time.

    python -m benchmarks.rung_one                # 20,000 traces of mixed
    python -m benchmarks.rung_one --traces 200   # a look in seconds

The libraries have cached validators. TraceLens writes every message, as ``jsonschema`` does; ``jsonschema-rs``, which takes
part where it is installed, only gives verdicts. Reading text is strict.
"""

import argparse
import importlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks import workloads
from benchmarks.mixed import TOOLS
from benchmarks.peer import structure, validators
from tracelens import columns
from tracelens.arguments import read_arguments
from tracelens.kernels.shred import shred
from tracelens.rungs.schema.catalogue import Catalogue
from tracelens.rungs.schema.check import check
from tracelens.suite import Suite

Call = tuple[str, str]

FAILING: dict[str, dict[str, Any]] = {
    "required": {"required": ["legs", "date", "cabin"]},
    "type": {"properties": {"legs": {"type": "object"}, "date": {"format": "date"}}},
    "enum": {"properties": {"legs": {}, "date": {"enum": ["2020-01-01", "2020-01-02"]}}},
    "pattern": {"properties": {"legs": {}, "date": {"pattern": "^19"}}},
    "additionalProperties": {"properties": {"legs": {"type": "array"}}, "required": ["legs"]},
}
"""What is put in place of parts of `search_flights`, so that every call fails by that keyword."""


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        what: What was measured.
        figure: The number.
        unit: Its unit.
    """

    what: str
    figure: float
    unit: str


def calls_of(traces: int) -> list[Call]:
    """The actual calls of the mixed workload."""
    return [call for chunk in workloads.chunks("mixed", traces) for _, actual, _ in chunk for call in actual]


def bulk(calls: list[Call], tools: dict[str, dict[str, Any]], *, parsed: bool = False) -> Callable[[], int]:
    """What TraceLens does with calls: read their arguments, check them, write the findings.

    Args:
        calls: Names and arguments.
        tools: Schemas by name.
        parsed: Whether the arguments are read beforehand, as the libraries have them.

    Returns:
        A function that does it once and says how many findings there are.
    """
    catalogue = Catalogue.build(Suite.from_dict({"tools": {name: {"schema": each} for name, each in tools.items()}}))
    names = list(tools)
    number = {name: code for code, name in enumerate(names)}
    which = catalogue.assign((np.array([number[name] for name, _ in calls], np.int32), names))
    texts = pa.array([arguments for _, arguments in calls], columns.TEXT)
    forms = np.full(len(calls), columns.JSON_VALUE, np.uint8)
    if parsed:
        known = read_arguments(texts, forms)
        return lambda: check(known, which, catalogue).findings.height
    return lambda: check(read_arguments(texts, forms), which, catalogue).findings.height


def shredding(calls: list[Call]) -> tuple[Callable[[], int], int]:
    """The shred kernel alone: a function that runs it once, and how many bytes it reads."""
    packed = columns.texts([arguments for _, arguments in calls])
    begin, end = packed.offsets[:-1].copy(), packed.offsets[1:].copy()
    return lambda: int(shred(packed.data, begin, end).tape.kind.size), int(packed.offsets[-1])


def one_by_one(calls: list[Call], tools: dict[str, dict[str, Any]]) -> Callable[[], int]:
    """`jsonschema` with cached validators: every message of every call."""
    checks = validators(tools)
    parsed = [{"name": name, "arguments": json.loads(arguments)} for name, arguments in calls]
    return lambda: len(structure(parsed, checks))


def verdicts(calls: list[Call], tools: dict[str, dict[str, Any]], *, parsed: bool) -> Callable[[], int] | None:
    """`jsonschema-rs`: a verdict for every call and nothing else; None where it is not installed."""
    try:
        library = importlib.import_module("jsonschema_rs")
    except ImportError:
        return None
    checks = {name: library.Draft202012Validator(each, validate_formats=True).is_valid for name, each in tools.items()}
    if not parsed:
        texts = [(checks[name], arguments) for name, arguments in calls]
        return lambda: sum(not is_valid(json.loads(arguments)) for is_valid, arguments in texts)
    objects = [(checks[name], json.loads(arguments)) for name, arguments in calls]
    return lambda: sum(not is_valid(arguments) for is_valid, arguments in objects)


def seconds(work: Callable[[], int], rounds: int) -> float:
    """The least processor time of several rounds, after one that loads everything."""
    work()
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def compared(calls: list[Call], rounds: int) -> Iterator[Row]:
    """The same calls by TraceLens and by both libraries: arguments that were read before, and JSON text."""
    per_call = 1e9 / len(calls)
    ours = {parsed: seconds(bulk(calls, TOOLS, parsed=parsed), rounds) for parsed in (True, False)}
    slow = seconds(one_by_one(calls, TOOLS), 1)
    yield Row("TraceLens, arguments read before", ours[True] * per_call, "ns a call")
    yield Row("TraceLens, from text", ours[False] * per_call, "ns a call")
    yield Row("jsonschema, cached validators, parsed objects", slow * per_call, "ns a call")
    yield Row("jsonschema against TraceLens, both parsed", slow / ours[True], "times")
    yield Row("jsonschema, parsed, against TraceLens from text", slow / ours[False], "times")
    for parsed, named in ((True, "parsed objects"), (False, "from text")):
        work = verdicts(calls, TOOLS, parsed=parsed)
        if work is not None:
            quick = seconds(work, rounds)
            yield Row(f"jsonschema-rs is_valid, {named}", quick * per_call, "ns a call")
            yield Row(f"jsonschema-rs against TraceLens, {named}", quick / ours[parsed], "times")


def failing(calls: list[Call], rounds: int) -> Iterator[Row]:
    """A tool whose every call fails against the same calls when all pass, by the keyword they fail by."""
    flights = [
        call for call in calls if call[0] == "search_flights" and '"legs":[' in call[1] and '"date":"' in call[1]
    ]
    good = TOOLS["search_flights"]
    sound = bulk(flights, {"search_flights": {**good, "additionalProperties": True, "required": []}})
    least = seconds(sound, rounds)
    for keyword, change in FAILING.items():
        work = bulk(flights, {"search_flights": {**good, **change}})
        if work() < len(flights):
            raise ValueError(f"not every call fails by {keyword}")
        yield Row(f"every call fails by {keyword}, against none", seconds(work, rounds) / least, "times")


def measured(traces: int, rounds: int) -> list[Row]:
    """All rows.

    Args:
        traces: Traces of the mixed workload.
        rounds: How often everything but `jsonschema` is done; the quickest counts.
    """
    calls = calls_of(traces)
    kernel, size = shredding(calls)
    rows = [*compared(calls, rounds), *failing(calls, rounds)]
    return [*rows, Row("the shred kernel, strict", size / seconds(kernel, rounds) / 1e6, "MB/s")]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rung_one", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    rows = measured(chosen.traces, chosen.rounds)
    if not any(row.what.startswith("jsonschema-rs") for row in rows):
        print("jsonschema-rs is not installed, and is left out")
    print("\n".join(f"{row.what:62s} {row.figure:10,.1f} {row.unit}" for row in rows))


if __name__ == "__main__":
    main()
