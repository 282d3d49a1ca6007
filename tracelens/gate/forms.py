"""What a gate says in the forms of others: JUnit XML, Markdown for a pull request, annotations of GitHub."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from tracelens.gate.decide import Check, GateResult
from tracelens.shown import safe

_WORDS = {"passed": "passed", "failed": "**failed**", "inconclusive": "inconclusive"}


def junit(result: GateResult) -> str:
    """JUnit XML: a test case a check. What is inconclusive and does not fail the gate is skipped.

    Args:
        result: What the gate says.

    Example:
        >>> print(junit(GateResult("ab12", None, "flights", (Check("suite", "failed", "<other>"),))).splitlines()[2])
            <testcase classname="tracelens.gate.flights" name="suite">
    """
    failing = [check for check in result.checks if _fails(check, result)]
    skipped = [check for check in result.checks if check.status == "inconclusive" and not _fails(check, result)]
    suite = ET.Element("testsuite", name=safe(f"tracelens gate {result.suite}"), tests=str(len(result.checks)))
    suite.set("failures", str(len(failing)))
    suite.set("skipped", str(len(skipped)))
    suite.set("errors", "0")
    for check in result.checks:
        case = ET.SubElement(suite, "testcase", classname=safe(f"tracelens.gate.{result.suite}"), name=safe(check.name))
        if check in failing:
            ET.SubElement(case, "failure", message=safe(check.message), type=check.status).text = safe(check.message)
        elif check in skipped:
            ET.SubElement(case, "skipped", message=safe(check.message))
        else:
            ET.SubElement(case, "system-out").text = safe(check.message)
    if result.warnings:
        ET.SubElement(suite, "system-err").text = "\n".join(map(safe, result.warnings))
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _fails(check: Check, result: GateResult) -> bool:
    return check.status == "failed" or (check.status == "inconclusive" and not result.allow_inconclusive)


def markdown(result: GateResult) -> str:
    """Markdown: a headline, a table of checks, warnings.

    Args:
        result: What the gate says.

    Example:
        >>> markdown(GateResult("ab12", None, "flights", (Check("suite", "passed", "fine"),))).splitlines()[-1]
        '| suite | passed | fine |'
    """
    return "\n".join(_markdown(result)) + "\n"


def _markdown(result: GateResult) -> Iterator[str]:
    word = "passed" if result.passed else "failed" if result.status == "failed" else "inconclusive"
    yield f"### TraceLens gate {word}"
    yield ""
    against = f" against `{result.base_run_id[:12]}`" if result.base_run_id else ""
    yield f"Suite {_escaped(result.suite)}, run `{result.run_id[:12]}`{against}"
    yield ""
    for warning in result.warnings:
        yield from (f"> {_escaped(warning)}", "")
    yield "| check | result | found |"
    yield "|---|---|---|"
    for check in result.checks:
        yield f"| {_escaped(check.name)} | {_WORDS[check.status]} | {_escaped(check.message)} |"


def _escaped(text: str) -> str:
    """Text that neither ends a cell nor is taken for markup."""
    out = safe(text)
    for mark in "\\`*_[]<>|~#&@":
        out = out.replace(mark, f"\\{mark}")
    return out


def github_annotations(result: GateResult) -> str:
    """Workflow commands of GitHub: an error a check that fails the gate, a warning for the rest that is not green.

    Args:
        result: What the gate says.

    Example:
        >>> print(github_annotations(GateResult("ab12", None, "s", (Check("min f1", "failed", "is 50%"),))), end="")
        ::error title=TraceLens gate%3A min f1::is 50%25
    """
    lines = []
    for check in result.checks:
        if check.status != "passed":
            kind = "error" if _fails(check, result) else "warning"
            lines.append(f"::{kind} title={_property(f'TraceLens gate: {check.name}')}::{_data(check.message)}\n")
    lines += [f"::warning title=TraceLens gate::{_data(warning)}\n" for warning in result.warnings]
    return "".join(lines)


def _data(text: str) -> str:
    return safe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
