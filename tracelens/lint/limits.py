"""Lint of thresholds, restricted paths, state checks and waivers: what can never hold, fire or apply."""

from __future__ import annotations

import datetime as dt
import fnmatch
import importlib.util
import os
import re

from tracelens.lint.problem import Found
from tracelens.suite import Suite
from tracelens.suite.names import best_value

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def lint_thresholds(suite: Suite, found: Found) -> None:
    """Thresholds that no trace can reach, that every trace reaches, or that nothing can be held against.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    where, exact = suite.where, suite.match.credit.exact
    thresholds = {"accuracy_optimal": 1.0} if suite.thresholds is None else dict(suite.thresholds)
    for score, value in thresholds.items():
        place = where(["thresholds", score])
        best = exact if score.startswith("accuracy_") else best_value(score)
        if value > best:
            why = " with this credit for exact pairs" if best < best_value(score) else ""
            asked = "" if suite.thresholds else "the threshold that stands for none: "
            found.error(place, f"{asked}{score} is never above {best:g}{why}, so {value:g} cannot be met")
        elif value <= 0:
            found.warning(place, f"every trace meets {score} ≥ {value:g}")
    if suite.references.expected.num_rows or any(suite.references.cases["n_references"].is_valid().to_pylist()):
        return
    if suite.thresholds:
        message = "the suite has no references, so thresholds apply only to traces that bring their own"
        found.warning(where(["thresholds"]), message, "name a references_file")
    if suite.route.require_reference:
        message = "the suite has no references, so traces without their own count as not scored"
        found.warning(where(["route", "require_reference"]), message, "name a references_file")


def lint_paths(suite: Suite, found: Found) -> None:
    """Restricted paths that nothing looks at.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    if (
        suite.safety.restricted_paths
        and "paths" not in suite.safety.packs
        and "restricted_paths" in suite.safety.model_fields_set
    ):
        place = suite.where(["safety", "restricted_paths"])
        found.warning(place, "nothing looks at restricted paths", 'add "paths" to safety.packs')


def may_call(suite: Suite, name: str) -> bool:
    """Whether the invariants let a tool be called, by its recorded or canonical name."""
    names = {name, suite.canonical_name(name) or name}
    rules = suite.invariants
    forbidden = any(fnmatch.fnmatchcase(one, pattern) for one in names for pattern in rules.forbidden_tools)
    return not forbidden and any(fnmatch.fnmatchcase(one, pattern) for one in names for pattern in rules.allowed_tools)


def lint_state(suite: Suite, found: Found) -> None:
    """State checks that can never pass, and entry points that are not installed.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    cases = set(suite.references.cases["case_id"].to_pylist()) if suite.state or suite.waive else set()
    for index, check in enumerate(suite.state):
        place = suite.where(["state", index])
        if not check.expect:
            found.warning(place, f"state check {check.name!r} expects nothing, so it never passes", "give it expect")
        if check.expect == "case" and suite.references.cases["state"].null_count == len(suite.references):
            message = f"state check {check.name!r} expects the state of the case, and no case has one"
            found.error(place, message, 'add "state" objects to the references file')
        _lint_sql(place, check.sql.lower(), list(check.expect) if isinstance(check.expect, dict) else [], found)
        for name in _VARIABLE.findall(check.database):
            if name not in os.environ:
                found.warning(suite.where(["state", index, "database"]), f"the variable {name!r} is not set here")
        for case in check.cases or ():
            if cases and case not in cases:
                found.warning(place, f"the references have no case {case!r}")
    for index, own in enumerate(suite.check):
        module = (own.python or "").partition(":")[0].partition(".")[0]
        if module and importlib.util.find_spec(module) is None:
            message = f"module {module!r} is not installed here"
            found.warning(suite.where(["check", index, "python"]), message, "install it, or run from its folder")


def _lint_sql(place: str, sql: str, columns: list[str], found: Found) -> None:
    if "*" in sql.replace("(*)", ""):
        return
    if "trace_id" not in sql and "case_id" not in sql:
        found.error(place, "the query returns neither trace_id nor case_id, so no row belongs to a trace")
    for column in columns:
        if column.lower() not in sql:
            found.warning(place, f"the query does not seem to return the expected column {column!r}")


def lint_waivers(suite: Suite, today: dt.date, found: Found) -> None:
    """Waivers that have expired, or that name a case the references do not have.

    Args:
        suite: The suite.
        today: The day to compare with.
        found: Where to note problems.
    """
    cases = set(suite.references.cases["case_id"].to_pylist()) if suite.waive else set()
    for index, waiver in enumerate(suite.waive):
        place = suite.where(["waive", index])
        if waiver.until < today:
            message = f"the waiver of {waiver.code} for case {waiver.case_id!r} expired on {waiver.until}"
            found.warning(place, message, "fix the cause and drop the waiver")
        if cases and waiver.case_id not in cases:
            found.warning(place, f"the references have no case {waiver.case_id!r}")
