"""Which numbers of which dialects a suite asks for, and the columns they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracelens.dialects.model import Dialect, Metric

MARK = "__"
"""Between the two parts of a column's name."""

REFUSED = "refused"
"""The second part of the column that says why there is no value."""


@dataclass(frozen=True, slots=True)
class Request:
    """A dialect with parameters.

    Attributes:
        label: The first part of its columns' names.
        dialect: The dialect.
        metrics: Its metrics that are asked for.
        params: Parameters, the same for all of them.
    """

    label: str
    dialect: Dialect
    metrics: tuple[Metric, ...]
    params: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, dialect: Dialect, label: str = "", params: Mapping[str, Any] | None = None, metrics: Sequence[str] = ()
    ) -> Request:
        """What is asked for where only some of it is said.

        Without parameters and metrics that is every metric that is a column; with parameters every metric that has
        all of them.

        Example:
            >>> from tracelens.dialects import strands
            >>> [metric.name for metric in Request.of(strands, params={"tool_name": "search"}).metrics]
            ['tool_called']
        """
        given = params or {}
        if metrics:
            chosen = tuple(map(dialect.metric, metrics))
        elif given:
            fitting = [each for each in dialect.metrics if given.keys() <= each.parameters.keys()]
            chosen = tuple(each for each in fitting if each.column) or tuple(fitting)
        else:
            chosen = tuple(each for each in dialect.metrics if each.column)
        return cls(label or dialect.name, dialect, chosen, given)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""
        return (*(f"{self.label}{MARK}{each.name}" for each in self.metrics), f"{self.label}{MARK}{REFUSED}")

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of those columns that are numbers."""
        return tuple(f"{self.label}{MARK}{each.name}" for each in self.metrics if each.shape != "verdicts")
