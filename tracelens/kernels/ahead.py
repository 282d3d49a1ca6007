"""Compiling the kernels of a first use ahead, in as many processes as there are processors.

Numba compiles one function at a time in a process, so a first use would wait for one processor. The processes leave
what they compile in Numba's cache, where this one finds it; what they could not do, it compiles itself when it needs it.
Nothing here decides a result.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import IO, Any, cast

import numpy as np
from numba import from_dtype, types

from tracelens.kernels.first import FIRST, TUPLES
from tracelens.threads import default_threads

PACKAGE = "tracelens.kernels"
_PROGRAM = f"import sys; sys.path[:] = {{path!r}}; from {PACKAGE}.ahead import serve; serve()"
_SCALARS = {"int": types.int64, "uint": types.uint64}


def type_of(word: str) -> Any:
    """The Numba type that a word of `first` means.

    Example:
        >>> type_of("i64"), type_of("int")
        (Array(int64, 1, 'C', False, aligned=True), int64)
    """
    if word in _SCALARS:
        return _SCALARS[word]
    if "." in word:
        module, name = word.split(".")
        members = [type_of(each) for each in TUPLES[word].split()]
        return types.NamedTuple(members, getattr(import_module(f"{PACKAGE}.{module}"), name))
    kind, _, dimensions = word.rstrip("!").partition(":")
    size = int(kind[1:]) // 8 or 1
    return types.Array(from_dtype(np.dtype(f"{kind[0]}{size}")), int(dimensions or 1), "C", readonly=word.endswith("!"))


def kernel_of(name: str) -> Any:
    """The kernel of a name in `first`."""
    module, function = name.split(".")
    return getattr(import_module(f"{PACKAGE}.{module}"), function)


def types_of(name: str) -> tuple[Any, ...]:
    """The types of a kernel's arguments on its first use."""
    return tuple(type_of(word) for word in FIRST[name].split())


def missing() -> list[str]:
    """The kernels of a first use that are not compiled yet, those that take longest first."""
    return [name for name in FIRST if not kernel_of(name).is_cached(types_of(name))]


def serve() -> None:
    """Compile the kernels whose names come in, a line each, and say of each that it is done."""
    for line in sys.stdin:
        name = line.strip()
        kernel_of(name).compile(types_of(name))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()


def compile_ahead(names: Iterable[str], done: Callable[[int], None]) -> None:
    """Compile kernels in processes of their own.

    Args:
        names: Their names in `first`.
        done: Told, on this thread, how many are compiled.
    """
    left: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in names:
        left.put(name)
    told: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    workers = [threading.Thread(target=_work, args=(left, told), daemon=True) for _ in range(default_threads())]
    for worker in workers:
        worker.start()
    ready = 0
    for _ in workers:
        while told.get() is not None:
            ready += 1
            done(ready)


def _work(left: queue.SimpleQueue[str], told: queue.SimpleQueue[str | None]) -> None:
    """Keep a process busy until nothing is left, or it fails."""
    program = _PROGRAM.format(path=sys.path)
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    try:
        with subprocess.Popen(  # noqa: S603 - our own program, in this very Python
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        ) as process:
            asked, answered = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
            for name in _each(left):
                asked.write(f"{name}\n")
                asked.flush()
                if not answered.readline():
                    break
                told.put(name)
    except OSError:
        pass  # no process can be started here, or it is gone: the kernels are compiled when they are needed
    finally:
        told.put(None)


def _each(left: queue.SimpleQueue[str]) -> Iterator[str]:
    """What is left, taken by whoever comes first."""
    while True:
        try:
            yield left.get_nowait()
        except queue.Empty:
            return
