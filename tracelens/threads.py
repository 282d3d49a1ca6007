"""Many batches at once, results in order, never more in memory than a few."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def default_threads() -> int:
    """How many batches are scored at once: the processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ordered_map(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Apply a pure function to items on threads and yield the results in the order of the items.

    At most ``threads + 1`` items are in flight, so a slow consumer holds the producer back.

    Args:
        function: Called on worker threads.
        items: Read on the calling thread.
        threads: Number of workers; 1 calls the function here.

    Raises:
        BaseException: Whatever ``items`` or ``function`` raised, at the place in the order where it belongs.

    Example:
        >>> list(ordered_map(lambda x: x * x, range(4), threads=2))
        [0, 1, 4, 9]
    """
    if threads <= 1:
        yield from map(function, items)
        return

    def call(box: list[T]) -> R:
        return function(box.pop())  # so that the pool does not hold the item as long as the call takes

    with ThreadPoolExecutor(threads, thread_name_prefix="tracelens") as pool:
        flying: deque[Future[R]] = deque()
        try:
            for item in items:
                flying.append(pool.submit(call, [item]))
                del item
                if len(flying) > threads:
                    yield flying.popleft().result()
            while flying:
                yield flying.popleft().result()
        finally:
            for future in flying:
                future.cancel()
