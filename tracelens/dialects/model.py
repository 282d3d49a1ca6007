"""What a dialect is: how its library reads calls, and a formula a metric, with all that must be known to trust it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from tracelens.dialects.reading import Reading
from tracelens.dialects.single import SingleView
from tracelens.dialects.view import RefusedError, View
from tracelens.errors import UsageError, did_you_mean

Shape = Literal["truth", "share", "score", "count", "verdicts"]
"""What a value is: true or false, 0 to 1, 0 to 100 or more, a whole number, or a list of verdicts."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a library.

    Attributes:
        name: Its name here: the attribute of the dialect and the second part of the column's name.
        formula: Computes it from a `View` and parameters.
        meaning: What it says, in set notation.
        shape: What a value is.
        also: Further names: what the library calls it.
        choices: The values that a parameter may take.
        names_only: Whether arguments do not matter to it, whatever the parameters are.
        column: Whether it is a column where the suite names the dialect without parameters.
        said: What the library says for true and false.
    """

    name: str
    formula: Callable[..., Any]
    meaning: str
    shape: Shape = "truth"
    also: tuple[str, ...] = ()
    choices: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    names_only: bool = False
    column: bool = True
    said: tuple[Any, Any] | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters and their defaults."""
        given = list(inspect.signature(self.formula).parameters.values())[1:]
        return {each.name: each.default for each in given}

    def problem(self, params: Mapping[str, Any]) -> tuple[str, str] | None:
        """What is wrong with parameters, and a hint; None where nothing is."""
        known = self.parameters
        for name, value in params.items():
            if name not in known:
                hint = did_you_mean(name, known) or (f"known are {', '.join(known)}" if known else "it has none")
                return f"unknown parameter {name!r} of {self.name}", hint
            if name in self.choices and value not in self.choices[name]:
                return f"{name} cannot be {value!r}", f"it is one of {', '.join(map(repr, self.choices[name]))}"
        missing = [name for name, default in known.items() if default is inspect.Parameter.empty and name not in params]
        return (f"{self.name} needs {missing[0]}", f"pass {missing[0]}=…") if missing else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a library says of one pair of lists.

    Attributes:
        value: Its value; None where it has none.
        reason: Why it refuses; None where it does not.
    """

    value: Any
    reason: str | None = None


@dataclass(frozen=True)
class Dialect:
    """Another library's numbers.

    The metrics are attributes: ``dialect.metric(actual, expected, **params)`` for one pair of lists of calls.

    Attributes:
        name: Its name.
        library: The library.
        version: The version that the numbers were compared with.
        source: Where the definitions stand.
        reading: How it reads arguments.
        metrics: Its numbers.
        equality: When it takes two calls to be equal.
        empties: What it says where a side is empty.
        duplicates: What repeated calls do.
        bugs: What is odd, and reproduced.
        skips_failed: Whether calls that failed do not count.
        turns: Whether lists of lists are conversations of several turns, whose values are averaged.
    """

    name: str
    library: str
    version: str
    source: str
    reading: Reading
    metrics: tuple[Metric, ...]
    equality: str
    empties: str
    duplicates: str
    bugs: str
    skips_failed: bool = False
    turns: bool = False

    def metric(self, name: str) -> Metric:
        """The metric of that name.

        Raises:
            UsageError: There is none.
        """
        for each in self.metrics:
            if name == each.name or name in each.also:
                return each
        known = [each.name for each in self.metrics]
        raise UsageError(
            f"{self.name} has no metric {name!r}", hint=did_you_mean(name, known) or f"known are {', '.join(known)}"
        )

    def verdict(self, metric: str, actual: Sequence[Any], expected: Sequence[Any], **params: Any) -> Verdict:
        """What the library says of one pair of lists.

        Args:
            metric: Name of a metric.
            actual: Calls made: mappings with ``name`` and ``arguments`` (a value, or text as it was sent), or names.
            expected: Calls of the reference, likewise.
            **params: Parameters of the metric.

        Raises:
            UsageError: There is no such metric or parameter.
        """
        chosen = self.metric(metric)
        if problem := chosen.problem(params):
            raise UsageError(problem[0], hint=problem[1])
        try:
            if self.turns and params.get("turns") == 0:
                return Verdict(None)
            if self.turns and actual and all(isinstance(each, list | tuple) for each in actual):
                return Verdict(self._mean(chosen, actual, expected, params))
            return Verdict(self.evaluate(chosen, SingleView(actual, expected, self.reading), params))
        except RefusedError as refusal:
            return Verdict(None, str(refusal))

    def _mean(self, chosen: Metric, actual: Sequence[Any], expected: Sequence[Any], params: Mapping[str, Any]) -> float:
        """The mean over the turns of a conversation."""
        if len(actual) != len(expected):
            raise RefusedError(f"ValueError: {len(actual)} actual and {len(expected)} expected invocations")
        turns = zip(actual, expected, strict=True)
        return sum(float(self.evaluate(chosen, SingleView(a, e, self.reading), params)) for a, e in turns) / len(actual)

    def evaluate(self, chosen: Metric, view: View, params: Mapping[str, Any]) -> Any:
        """The formula's value over a view, as the library says it."""
        value = chosen.formula(view, **params)
        if chosen.said is not None and isinstance(value, bool):
            return chosen.said[0] if value else chosen.said[1]
        return value

    def __getattr__(self, name: str) -> BoundMetric:
        """A metric as a function of two lists of calls."""
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return BoundMetric(self, self.metric(name))
        except UsageError as error:
            raise AttributeError(f"{error.message}. {error.hint}") from None

    def __dir__(self) -> Iterator[str]:
        """Attributes and metrics."""
        return iter([*object.__dir__(self), *(each.name for each in self.metrics)])


class BoundMetric:
    """A metric of a dialect as a function of two lists of calls.

    Example:
        >>> from tracelens.dialects import strands
        >>> strands.exact_match_scorer(["a"], ["a", "b"]), strands.exact_match_scorer(["a"], [])
        (0.5, None)
        >>> strands.exact_match_scorer.reason(["a"], [])
        'ZeroDivisionError: division by zero'
    """

    def __init__(self, dialect: Dialect, metric: Metric) -> None:
        self.dialect, self.metric = dialect, metric
        self.verdict: Callable[..., Verdict] = partial(dialect.verdict, metric.name)
        self.__name__ = metric.name
        self.__doc__ = metric.meaning

    def __call__(self, actual: Sequence[Any], expected: Sequence[Any], **params: Any) -> Any:
        """The library's value; None where it refuses (see `reason`).

        Args:
            actual: Calls made: mappings with ``name`` and ``arguments`` (a value, or text as it was sent), or names.
            expected: Calls of the reference, likewise.
            **params: Parameters of the metric.
        """
        return self.verdict(actual, expected, **params).value

    def reason(self, actual: Sequence[Any], expected: Sequence[Any], **params: Any) -> str | None:
        """Why the library refuses these lists; None where it does not."""
        return self.verdict(actual, expected, **params).reason
