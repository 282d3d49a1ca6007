"""What the stages of a run cost."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """Seconds of processor time by stage, of the thread that uses it.

    Attributes:
        seconds: Seconds by stage, in the order in which stages came.

    Example:
        >>> watch = Stopwatch()
        >>> with watch.stage("read"):
        ...     total = sum(range(100))
        >>> watch.lap("score")
        >>> list(watch.seconds)
        ['read', 'score']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.thread_time()

    def lap(self, stage: str) -> None:
        """All since the last lap, or since the watch was made, belongs to a stage."""
        now = time.thread_time()
        self._add(stage, now - self._last)
        self._last = now

    @contextmanager
    def stage(self, stage: str) -> Iterator[None]:
        """What happens inside belongs to a stage."""
        start = time.thread_time()
        try:
            yield
        finally:
            self._last = time.thread_time()
            self._add(stage, self._last - start)

    def over(self, stage: str, items: Iterable[T]) -> Iterator[T]:
        """The items; what getting the next one takes belongs to a stage."""
        rest = iter(items)
        while True:
            with self.stage(stage):
                item = next(rest, None)
            if item is None:
                return
            yield item

    def add(self, seconds: dict[str, float]) -> None:
        """Take in what another watch measured."""
        for stage, each in seconds.items():
            self._add(stage, each)

    def all(self, *, since: float) -> dict[str, float]:
        """Seconds by stage, rounded, and as ``other`` what this process took besides.

        Args:
            since: `time.process_time` at the start.
        """
        other = time.process_time() - since - sum(self.seconds.values())
        return {stage: round(each, 4) for stage, each in [*self.seconds.items(), ("other", max(other, 0.0))]}

    def _add(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
