"""The peer: the loop a careful engineer writes in plain Python, complete and without waste.

Per trace: ``json.loads``; schema errors with messages from cached validators; positional exact rows after
``strip().upper()`` on top-level strings; the four set and order modes; accuracy over ``max(n, m, 1)``; the golden-trace
percentage. The definitions are those of the article the worked example comes from, so its numbers are the dialect
``article``: they differ from TraceLens where nothing is expected and nothing called.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

Calls = list[dict[str, Any]]


def validators(tools: dict[str, dict[str, Any]]) -> dict[str, Draft202012Validator]:
    """One validator per tool, built once.

    Args:
        tools: JSON Schemas by tool name.

    Returns:
        Validators that check formats too.
    """
    return {
        name: Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        for name, schema in tools.items()
    }


def structure(calls: Calls, checks: dict[str, Draft202012Validator]) -> list[str]:
    """Rung one: one message per error.

    Example:
        >>> structure([{"name": "f", "arguments": {}}], {})
        ['f: unknown tool']
    """
    messages = []
    for call in calls:
        check = checks.get(call["name"])
        if check is None:
            messages.append(f"{call['name']}: unknown tool")
            continue
        for error in check.iter_errors(call["arguments"]):
            messages.append(f"{call['name']}: {error.message}")  # noqa: PERF401 - an inner comprehension is no faster
    return messages


def _normal(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: value.strip().upper() if isinstance(value, str) else value for key, value in arguments.items()}


def rows(actual: Calls, expected: Calls) -> list[bool | str]:
    """Rung two: the i-th call against the i-th: equal or not, then what is missing or extra.

    Example:
        >>> rows([{"name": "f", "arguments": {"a": " x"}}], [{"name": "f", "arguments": {"a": "X"}}])
        [True]
    """
    out: list[bool | str] = [
        call["name"] == other["name"] and _normal(call["arguments"]) == _normal(other["arguments"])
        for call, other in zip(actual, expected, strict=False)
    ]
    out += ["missing"] * (len(expected) - len(actual))
    out += ["extra"] * (len(actual) - len(expected))
    return out


def trajectory(names: list[str], wanted: list[str]) -> dict[str, float]:
    """Rung three: common prefix over the longer list, overlap of the two sets, and the two inclusions.

    Example:
        >>> trajectory(["a", "b"], ["a"])["subset"]
        1.0
    """
    prefix = 0
    for name, other in zip(names, wanted, strict=False):
        if name != other:
            break
        prefix += 1
    called, asked = set(names), set(wanted)
    union = called | asked
    return {
        "strict": prefix / max(len(names), len(wanted), 1),
        "unordered": len(called & asked) / len(union) if union else 0.0,
        "subset": 1.0 if asked <= called else 0.0,
        "superset": 1.0 if called <= asked else 0.0,
    }


def accuracy(actual: Calls, expected: Calls, exact: list[bool | str]) -> float:
    """Rung four: 1 for an equal pair, a half for an equal name, over the longer list.

    Args:
        actual: The calls made.
        expected: The calls wanted.
        exact: What :func:`rows` said of them.
    """
    credit = 0.0
    for same, call, other in zip(exact, actual, expected, strict=False):
        if same is True:
            credit += 1.0
        elif call["name"] == other["name"]:
            credit += 0.5
    return credit / max(len(actual), len(expected), 1)


def golden(names: list[str], wanted: list[str]) -> float:
    """The comparator's percentage: calls whose tool is wanted, over the wanted steps (it can pass 100)."""
    asked = set(wanted)
    return 100.0 * sum(name in asked for name in names) / len(wanted) if wanted else 0.0


def score(record: dict[str, Any], checks: dict[str, Draft202012Validator]) -> dict[str, Any]:
    """Every number of one trace.

    Args:
        record: One native line, parsed.
        checks: Validators by tool name.
    """
    actual, expected = record["tool_calls"], record["expected"]
    names = [call["name"] for call in actual]
    wanted = [call["name"] for call in expected]
    exact = rows(actual, expected)
    return {
        "errors": structure(actual, checks),
        "rows": exact,
        **trajectory(names, wanted),
        "accuracy": accuracy(actual, expected, exact),
        "golden": golden(names, wanted),
    }


def score_file(path: Path, tools: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The whole loop over a file of JSON lines.

    Args:
        path: Native JSON lines.
        tools: JSON Schemas by tool name.

    Yields:
        One dictionary of numbers per trace.
    """
    checks = validators(tools)
    with path.open("rb") as lines:
        for line in lines:
            yield score(json.loads(line), checks)
