"""One trace as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracelens.results.page import Line, html, plain
from tracelens.results.rows import TraceRows, gather
from tracelens.results.trace_page import trace_page

if TYPE_CHECKING:
    from tracelens.store import Run


class Explanation(TraceRows):
    """Everything a run says about one trace. Printed it is plain text; a notebook shows it with colours."""

    def lines(self, *, lesson: bool = False) -> list[Line]:
        """The page, line by line; with ``lesson`` each rung says what it looks at."""
        return list(trace_page(self, lesson=lesson))

    def __str__(self) -> str:
        """Plain text."""
        return plain(self.lines())

    def __repr__(self) -> str:
        """The page, which is what one wants to see at a prompt."""
        return str(self)

    def _repr_html_(self) -> str:
        return html(self.lines())


def explain(run: Run, trace_id: str) -> Explanation:
    """What a run says about one trace.

    Args:
        run: The run.
        trace_id: The trace.

    Raises:
        UsageError: The run has no such trace.
    """
    return Explanation(**gather(run, trace_id))
