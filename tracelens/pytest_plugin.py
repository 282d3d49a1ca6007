"""The pytest plugin: fixture and marker `tracelens`, and `assert_trace`. It does and loads nothing unless a test asks.

Example:
    A test of an agent::

        @pytest.mark.tracelens(suite="suite.toml", recall=1.0)
        def test_booking(tracelens):
            calls = my_agent("Book UA-512.")
            tracelens.assert_trace(calls, [("book_flight", {"flight_id": "UA-512"})])
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tracelens.results import Results
    from tracelens.suite import Suite

_TRACE = "actual"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting ``tracelens_suite``."""
    parser.addini("tracelens_suite", "suite file of the fixture tracelens, relative to the root folder", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "tracelens(suite=None, **least): suite (relative to the test's file) and lowest scores of the fixture",
    )


class Traces:
    """What a test holds traces against.

    Attributes:
        suite: The suite: a path, what a suite file holds, or None for one without rules.
        least: Lowest value by score, beyond what the suite asks for.
    """

    def __init__(self, suite: Any = None, least: Mapping[str, float] | None = None) -> None:
        self.suite = suite
        self.least = dict(least or {})

    def score(self, actual: Any, expected: Any = None) -> Results:
        """Score one trace; see `assert_trace` for the arguments."""
        return _score(actual, expected, self.suite)

    def assert_trace(self, actual: Any, expected: Any = None, **least: float) -> None:
        """Fail unless a trace passes; see `assert_trace`."""
        __tracebackhide__ = True
        assert_trace(actual, expected, suite=self.suite, **{**self.least, **least})


@pytest.fixture
def tracelens(request: pytest.FixtureRequest) -> Traces:
    """Holds traces against the suite of the marker, or of the setting ``tracelens_suite``."""
    suite: Any = None
    setting = str(request.config.getini("tracelens_suite"))
    if setting:
        suite = request.config.rootpath / setting
    least: dict[str, float] = {}
    for marker in reversed(list(request.node.iter_markers("tracelens"))):  # the nearest one counts
        given = dict(marker.kwargs)
        named = given.pop("suite", marker.args[0] if marker.args else None)
        suite = request.path.parent / named if isinstance(named, str | Path) else named or suite
        least |= given
    return Traces(suite, least)


def assert_trace(
    actual: Any, expected: Any = None, *, suite: Suite | str | Path | Mapping[str, Any] | None = None, **least: float
) -> None:
    """Fail unless what an agent did passes every rung.

    Args:
        actual: Its calls: names, pairs of name and arguments, or objects with ``name`` and ``arguments`` (also inside
            ``function``, as chat messages have them); or a whole native trace with ``tool_calls``.
        expected: The calls that were expected, in the same forms; a name alone accepts any arguments. None: what the suite
            has for the trace's case, or none.
        suite: As for `tracelens.score`.
        least: Lowest value by score, beyond what the suite asks for: ``recall=1.0``.

    Raises:
        AssertionError: It does not pass; the message says why, and shows the calls side by side.

    Example:
        >>> assert_trace([("book", {"id": 1})], [("book", {"id": 1})])
        >>> assert_trace(["search"], ["search", "book"])
        Traceback (most recent call last):
        ...
        AssertionError: the trace does not pass: triage
          • expected call 1: book was not made
        ...
    """
    __tracebackhide__ = True
    results = _score(actual, expected, suite)
    row = results.traces.row(0, named=True)
    low = list(_too_low(row, least))
    if row["passed"] and not low:
        return
    page = results.explain(row["trace_id"])
    head = "the trace does not pass: " + (row["route"] if not row["passed"] else "scores too low")
    why = [f"  • {reason}" for reason in [*row["reasons"], *low]]
    why += [f"  • {row['unscored_reason']}"] if row["unscored_reason"] else []
    raise AssertionError("\n".join([head, *why, "", *_sides(str(page))]))


def _too_low(row: Mapping[str, Any], least: Mapping[str, Any]) -> Iterator[str]:
    """Scores that are below what was asked for."""
    from tracelens.errors import UsageError, did_you_mean

    for name, value in least.items():
        if not isinstance(value, int | float) or math.isnan(value):
            raise UsageError(f"the least {name} is given as {value!r}", hint="give a number, such as 1.0")
        if name not in row:
            raise UsageError(f"there is no score {name!r}", hint=did_you_mean(name, row))
        if row[name] is None:
            yield f"{name} is null ({row['null_reason'] or 'not evaluated'}), at least {value:g} was asked for"
        elif row[name] < value:
            yield f"{name} is {row[name]:.4g}, at least {value:g} was asked for"


def _sides(page: str) -> list[str]:
    """The part of a page that shows what was found in calls, and calls beside the expected ones."""
    lines = page.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Rung 1"))
    end = next(at for at, line in enumerate(lines) if line.startswith("Rung 3"))
    return lines[start:end]


def _score(actual: Any, expected: Any, suite: Any) -> Results:
    import json
    import tempfile

    from tracelens.errors import UsageError
    from tracelens.results import score

    trace: dict[str, Any] = {"trace_id": _TRACE}
    if isinstance(actual, Mapping) and "tool_calls" in actual:
        trace |= actual
    else:
        trace["tool_calls"] = [_call(each, {}) for each in _list(actual)]
    if expected is not None:
        trace["expected"] = [_call(each, None) for each in _list(expected)]
    try:
        line = json.dumps(trace, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the trace is no JSON: {error}", hint="give values that JSON has") from error
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.jsonl"
        file.write_text(line + "\n", encoding="utf-8")
        return score(file, suite, format="native", progress=False)


def _list(calls: Any) -> Iterable[Any]:
    from tracelens.errors import UsageError, shown_type

    if not isinstance(calls, Iterable) or isinstance(calls, str | bytes | Mapping):
        raise UsageError(f"the calls are given as {shown_type(calls)}", hint="give a list of calls")
    return calls


def _call(call: Any, without: Any) -> dict[str, Any]:
    """A call as native traces have it.

    Args:
        call: In one of the forms.
        without: Arguments of a name alone; None: any.
    """
    from tracelens.errors import UsageError, shown_type

    if isinstance(call, str):
        return {"name": call} if without is None else {"name": call, "arguments": without}
    if isinstance(call, Mapping):
        inner = call.get("function")
        return {**call, **inner} if isinstance(inner, Mapping) else dict(call)
    if isinstance(call, Sequence) and len(call) == 2:
        return {"name": call[0], "arguments": call[1]}
    raise UsageError(f"a call is given as {shown_type(call)}", hint='give a name, ("name", {arguments}) or an object')
