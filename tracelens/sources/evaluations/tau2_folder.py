"""tau2-bench results as a folder: ``results.json`` with the tasks, and a file a simulation in ``simulations``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from tracelens.columns import padded
from tracelens.sources.reading.files import File
from tracelens.sources.reading.io import Block

ONE_LINE = bytes.maketrans(b"\r\n", b"  ")
"""Valid JSON has line ends only between values."""

ALONE = b'{"tasks": []}'
"""What stands around a simulation whose results are not part of the input."""


def is_simulation(record: Any) -> bool:
    """Whether a record is one simulation.

    Example:
        >>> is_simulation({"id": "s", "task_id": "1", "messages": [], "termination_reason": "user_stop"})
        True
    """
    return isinstance(record, dict) and {"task_id", "messages", "termination_reason"} <= record.keys()


def is_results(record: Any) -> bool:
    """Whether a record is the results of a folder, which hold no simulations themselves.

    Example:
        >>> is_results({"timestamp": "…", "info": {}, "tasks": [], "simulations": []})
        True
    """
    return isinstance(record, dict) and {"info", "tasks"} <= record.keys() and not record.get("simulations")


def results_of(inputs: Sequence[File]) -> dict[str, File]:
    """The results around each file of simulations, by the name of that file.

    Args:
        inputs: The files; those in a folder ``simulations`` beside a ``results.json`` are simulations.
    """
    known = {file.name: file for file in inputs}
    out = {}
    for name in known:
        path = PurePosixPath(name)
        around = str(path.parent.parent / "results.json")
        if path.parent.name == "simulations" and around in known:
            out[name] = known[around]
    return out


def as_document(file: File, header: bytes, *, alone: bool) -> Block:
    """A simulation as a document of results with this one alone.

    Args:
        file: The file of the simulation.
        header: The results around it.
        alone: Whether the input is a single file.
    """
    head = header.translate(ONE_LINE).rstrip().removesuffix(b"}").rstrip()
    comma = b"" if head.endswith(b"{") else b","
    text = head + comma + b'"simulations":[\n' + file.path.read_bytes().translate(ONE_LINE) + b"]}"
    marks = np.array([[0], [len(text)], [0]], np.int64)
    return Block(file.name, padded(text), len(text), 0, 0, 0, "document", alone=alone, marks=marks)


def headers(files: Mapping[str, File]) -> Iterator[tuple[str, bytes]]:
    """The names of results that hold no simulation themselves, and their bytes."""
    for file in {file.name: file for file in files.values()}.values():
        text = file.path.read_bytes()
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if is_results(whole):
            yield file.name, text
