"""Checks on names in a suite that need more than one key to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from string import Formatter

from tracelens.dialects import DIALECTS
from tracelens.errors import did_you_mean
from tracelens.suite.dialects import requests_of
from tracelens.suite.model import SuiteFile
from tracelens.suite.names import PAIRS, PASS_RATE, PROMPT_FIELDS, SCORES, VERDICTS
from tracelens.suite.problems import Problems
from tracelens.suite.tools import Agent, Tool

Place = Callable[[Sequence[str | int]], str]
"""From a key path to what a message says."""


def check_names(
    model: SuiteFile, tools: Mapping[str, Tool], agents: Mapping[str, Agent], where: Place, problems: Problems
) -> None:
    """Notes names that collide, and names of things that do not exist.

    Args:
        model: The validated keys.
        tools: Tools of all agents.
        agents: Agents with their own tools.
        where: Makes places.
        problems: Where to note what is wrong.
    """
    _aliases(tools, agents, where, problems)
    _empty_names(model, where, problems)
    _thresholds(model, where, problems)
    _gate(model, where, problems)
    _prompt(model, where, problems)
    _unique(model, where, problems)


def _aliases(tools: Mapping[str, Tool], agents: Mapping[str, Agent], where: Place, problems: Problems) -> None:
    """An alias must lead to one tool, and no tool may be called so itself."""
    pools: list[tuple[list[str | int], Mapping[str, Tool]]] = [(["tools"], tools)]
    pools += [(["agents", name, "tools"], agent.tools) for name, agent in agents.items()]
    names = {name for _, pool in pools for name in pool}
    owner: dict[str, str] = {}
    for path, pool in pools:
        for tool in pool.values():
            for index, alias in enumerate(tool.aliases):
                place = where([*path, tool.name, "aliases", index])
                if not alias:
                    problems.add(place, "an alias should not be empty", "an empty name equals nothing")
                elif alias in names:
                    problems.add(place, f"alias {alias!r} is the name of a tool", "drop the alias, or the tool")
                elif owner.setdefault(alias, tool.name) != tool.name:
                    other = owner[alias]
                    problems.add(
                        place, f"alias {alias!r} of {tool.name!r} already belongs to {other!r}", "drop one of them"
                    )


def _empty_names(model: SuiteFile, where: Place, problems: Problems) -> None:
    lists: list[tuple[list[str | int], tuple[str, ...], str]] = [
        (["server_prefixes"], model.server_prefixes, "a prefix"),
        (["match", "output_tools"], model.match.output_tools, "a tool name"),
        (["match", "handoffs"], model.match.handoffs, "a pattern"),
        (["invariants", "forbidden_tools"], model.invariants.forbidden_tools, "a pattern"),
        (["invariants", "allowed_tools"], model.invariants.allowed_tools, "a pattern"),
        (["safety", "restricted_paths"], model.safety.restricted_paths, "a path"),
        (["judge", "questions"], model.judge.questions, "a question"),
    ]
    for path, values, what in lists:
        for index, value in enumerate(values):
            if not value.strip():
                problems.add(where([*path, index]), f"{what} should not be empty")


def _thresholds(model: SuiteFile, where: Place, problems: Problems) -> None:
    requests, wrong = requests_of(model.match.dialects)
    for index, problem, hint in wrong:
        problems.add(where(["match", "dialects", index]), problem, hint)
    known = {score for request in requests for score in request.scores}
    for score in model.thresholds or {}:
        dialect, mark, _ = score.partition("__")
        if score in SCORES or score in PAIRS or score in known:
            continue
        hint = did_you_mean(score, (*SCORES, *PAIRS, *known)) or f"scores are {', '.join(SCORES)}"
        if score.startswith("n_"):
            hint = f"a threshold is a least value, so of the counts only these can have one: {', '.join(PAIRS)}"
        if mark and dialect in DIALECTS and all(dialect != request.label for request in requests):
            hint = f"add {dialect!r} to match.dialects"
        problems.add(where(["thresholds", score]), f"unknown score {score!r}", hint)


def _gate(model: SuiteFile, where: Place, problems: Problems) -> None:
    """Metrics of a gate must be among those that runs have."""
    requests, _ = requests_of(model.match.dialects)
    known = (PASS_RATE, *SCORES, *VERDICTS, *(score for request in requests for score in request.scores))
    for table in ("min", "max_drop"):
        for metric in getattr(model.gate, table):
            if metric not in known:
                hint = did_you_mean(metric, known) or f"metrics are {', '.join(known)}"
                problems.add(where(["gate", table, metric]), f"unknown metric {metric!r}", hint)


def _prompt(model: SuiteFile, where: Place, problems: Problems) -> None:
    """Fields of the judge's prompt must be those that are filled in, and the trajectory must be among them."""
    if model.judge.prompt is None:
        return
    place = where(["judge", "prompt"])
    try:
        named = {name for _, name, _, _ in Formatter().parse(model.judge.prompt) if name is not None}
    except ValueError as error:
        problems.add(place, f"the prompt cannot be read: {error}", "braces that are text are written twice: {{ }}")
        return
    for name in sorted(named - set(PROMPT_FIELDS)):
        hint = did_you_mean(name, PROMPT_FIELDS) or "braces that are text are written twice: {{ }}"
        problems.add(place, f"unknown field {{{name}}}", hint)
    if "trajectory" not in named:
        problems.add(place, "a prompt without {trajectory}", "a judge must see what was done")


def _unique(model: SuiteFile, where: Place, problems: Problems) -> None:
    """Findings are told apart by these names."""
    groups: list[tuple[list[str | int], list[str]]] = [
        (["state"], [item.name for item in model.state]),
        (["check"], [item.name for item in model.check]),
        (["safety", "patterns"], [item.name for item in model.safety.patterns]),
    ]
    for path, names in groups:
        for name, count in Counter(names).items():
            if count > 1:
                last = len(names) - 1 - names[::-1].index(name)
                problems.add(where([*path, last, "name"]), f"name {name!r} is used {count} times", "give each its own")
