"""Lint: what a suite asks for that cannot work, or that may not mean what it says.

`Suite.load` refuses what is wrong in itself; this looks at what the parts of a suite say about each other. May import
the rungs and everything below, and no face.
"""

from __future__ import annotations

import datetime as dt

from tracelens.lint.clash import lint_clashes
from tracelens.lint.limits import lint_paths, lint_state, lint_thresholds, lint_waivers
from tracelens.lint.names import lint_names
from tracelens.lint.problem import Found, LintProblem
from tracelens.lint.references import lint_references
from tracelens.lint.schemas import lint_schemas, lint_tools
from tracelens.suite import Suite

__all__ = ["LintProblem", "lint"]


def lint(suite: Suite, today: dt.date | None = None) -> list[LintProblem]:
    """The doubtful things in a suite.

    Args:
        suite: A suite that loads.
        today: The day by which waivers expire; the current one (UTC) when None.

    Returns:
        Errors first, each with its place; empty for a suite without fault.

    Example:
        >>> suite = Suite.from_dict({"tools": {"book": {"schema": {"type": "strnig"}}}, "thresholds": {"f1": 2}})
        >>> for problem in lint(suite):
        ...     print(problem.severity, problem.place)
        error tools.book
        error thresholds.f1
        warning thresholds
    """
    found = Found()
    lint_schemas(suite, found)
    lint_tools(suite, found)
    lint_names(suite, found)
    lint_references(suite, found)
    lint_thresholds(suite, found)
    lint_clashes(suite, found)
    lint_paths(suite, found)
    lint_state(suite, found)
    lint_waivers(suite, today or dt.datetime.now(dt.UTC).date(), found)
    return found.all()
