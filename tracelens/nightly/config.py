"""The configuration of a nightly job: a TOML file, all problems told at once."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from tracelens.errors import UsageError, did_you_mean, shown_type
from tracelens.report import zone_of
from tracelens.selection import Selection
from tracelens.sources.detect import source_named
from tracelens.sources.reading.remote import is_remote

_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Alerts:
    """When to raise an alert.

    Attributes:
        days: Days before the day that limits come from.
        least: Traces (calls for a tool) that the day and the days before must have each.
        sigmas: Standard errors below the mean at which the lower limit lies.
        by: Dimensions: ``tool``, ``agent``, ``tag:NAME``.
        version: Tag that holds the version of the agent.
        webhook: Address to which alerts are posted as JSON; ``${NAME}`` stands for a variable of the environment.
    """

    days: int = 28
    least: int = 30
    sigmas: float = 3.0
    by: tuple[str, ...] = ("tool", "agent", "tag:version")
    version: str = "version"
    webhook: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """What a nightly job does.

    Attributes:
        input: Folder, glob or address of a bucket (``s3://…``) with the traces.
        out: Results folder, to which runs are added.
        suite: Suite file; None: diagnostics and safety checks only.
        reports: Folder for the reports of the days; ``reports`` in the results folder by default.
        format: Name of the input format, or ``auto``.
        sample: Share of the traces to score, such as ``"10%"``; None: all.
        timezone: In which days begin.
        quiet_minutes: A file changed less long ago is still being written, and left for the next time.
        hold_minutes: A trace is held until no file with a part of it has changed for this long.
        alerts: When to raise an alert.
    """

    input: str
    out: Path
    suite: Path | None = None
    reports: Path | None = None
    format: str = "auto"
    sample: str | None = None
    timezone: str = "UTC"
    quiet_minutes: float = 10.0
    hold_minutes: float = 0.0
    alerts: Alerts = field(default_factory=Alerts)

    @property
    def state(self) -> Path:
        """Folder of what the job remembers; all of it can be made again from the store."""
        return self.out / "nightly"

    @property
    def pages(self) -> Path:
        """Folder for the reports of the days."""
        return self.reports or self.out / "reports"

    @property
    def written(self) -> tuple[Path, ...]:
        """Folders of what the job itself writes: they may lie in its input."""
        return (self.state, self.pages, self.out / "runs", self.out / "verdicts")

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Read the file; relative paths are relative to it.

        Raises:
            UsageError: It cannot be read, or says what cannot be; all problems at once.
        """
        path = Path(path)
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(
                f"cannot be read ({error.strerror})", where=str(path), hint="name the file of the nightly job"
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"is no TOML: {error}", where=str(path), hint="see `tracelens nightly --help`") from error
        return cls.of(values, base=path.parent, where=str(path))

    @classmethod
    def of(cls, values: Mapping[str, Any], *, base: Path = Path(), where: str = "") -> Config:
        """A configuration from what its file holds.

        Args:
            values: The keys and values.
            base: Folder to which relative paths are relative.
            where: Name of the file, for messages.

        Raises:
            UsageError: As for `load`.

        Example:
            >>> Config.of({"input": "traces", "out": "results"}, base=Path("jobs")).input
            'jobs/traces'
        """
        problems: list[str] = []
        alerts = values.get("alerts", {})
        if not isinstance(alerts, Mapping):
            problems.append(f"alerts: should be a table, not {shown_type(alerts)}")
            alerts = {}
        top = _checked(cls, {name: value for name, value in values.items() if name != "alerts"}, "", problems)
        inner = _checked(Alerts, alerts, "alerts.", problems)
        problems += [f"{name}: is missing" for name in ("input", "out") if name not in values]
        problems += _limits(top | {f"alerts.{name}": value for name, value in inner.items()})
        if problems:
            hint = f"keys are {_named(cls)}; in [alerts] {_named(Alerts)}"
            raise UsageError("; ".join(problems), where=where, hint=hint)
        paths: dict[str, Any] = {
            name: base / _expanded(top[name], where) for name in ("out", "suite", "reports") if name in top
        }
        source = _expanded(top["input"], where)
        top["input"] = source if is_remote(source) else str(base / source)
        return cls(**(top | paths), alerts=Alerts(**inner))


def _named(kind: Any) -> str:
    """The keys of a table."""
    return ", ".join(each.name for each in fields(kind) if each.name != "alerts")


def _checked(kind: Any, values: Mapping[str, Any], prefix: str, problems: list[str]) -> dict[str, Any]:
    """The values whose keys and types are right."""
    known = {each.name: each for each in fields(kind) if each.name != "alerts"}
    good: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            hint = _elsewhere(name, prefix) or did_you_mean(name, known)
            problems.append(f"{prefix}{name}: unknown key{f', {hint}' if hint else ''}")
            continue
        default = known[name].default
        wanted = type(default) if default not in {None, MISSING} else str
        if wanted is tuple and isinstance(value, list) and all(isinstance(each, str) for each in value):
            good[name] = tuple(value)
        elif wanted is float and isinstance(value, int | float) and not isinstance(value, bool):
            good[name] = float(value)
        elif isinstance(value, wanted) and not isinstance(value, bool):
            good[name] = value
        else:
            words = {tuple: "a list of texts", float: "a number", int: "a whole number", str: "a text"}
            problems.append(f"{prefix}{name}: should be {words[wanted]}, not {shown_type(value)}")
    return good


def _elsewhere(name: str, prefix: str) -> str:
    """Where a key of the other table belongs."""
    other, place = (Config, "above [alerts]") if prefix else (Alerts, "under [alerts]")
    return f"it belongs {place}" if name in {each.name for each in fields(other)} else ""


_BETWEEN = {
    "quiet_minutes": (0, 1_000_000),
    "hold_minutes": (0, 1_000_000),
    "alerts.days": (1, 3_660),
    "alerts.least": (2, 1_000_000_000),
    "alerts.sigmas": (1, 100),
}
"""Least and greatest value of numbers."""


def _limits(values: Mapping[str, Any]) -> list[str]:
    """Numbers that make no sense, and dimensions and time zones that do not exist."""
    wrong = [
        f"{name}: should be between {low} and {high:,}"
        for name, (low, high) in _BETWEEN.items()
        if name in values and not low <= values[name] <= high
    ]
    wrong += [f"{name}: is empty" for name in ("input", "out", "suite", "reports") if values.get(name) == ""]
    strange = [
        name
        for name in values.get("alerts.by", ())
        if name not in {"tool", "agent"} and not (name.startswith("tag:") and len(name) > 4)
    ]
    wrong += [f"alerts.by: {name!r} is neither tool, agent nor tag:NAME" for name in strange]
    checks: dict[str, Callable[[Any], Any]] = {"timezone": zone_of, "sample": Selection.of, "format": _format}
    for name in checks.keys() & values.keys():
        try:
            checks[name](values[name])
        except UsageError as error:
            wrong.append(f"{name}: {error.message}{f', {error.hint}' if error.hint.startswith('did you') else ''}")
    return sorted(wrong)


def _format(name: str) -> None:
    """Refuse a name that no format has."""
    if name != "auto":
        source_named(name)


def _expanded(text: str, where: str) -> str:
    """The text with variables of the environment put in.

    Raises:
        UsageError: One is not set; its name is told, never a value.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise UsageError(
                f"the environment has no variable {found[1]}", where=where, hint="set it, or write the value"
            )
        return os.environ[found[1]]

    return _VARIABLE.sub(value, text)


def webhook_of(config: Config) -> str | None:
    """The address of the webhook, variables put in.

    Raises:
        UsageError: A variable is not set, or it is no web address.
    """
    if config.alerts.webhook is None:
        return None
    address = _expanded(config.alerts.webhook, "alerts.webhook")
    if not address.startswith(("https://", "http://")):
        raise UsageError("alerts.webhook: is no web address", hint="write https://…, or a variable that holds it")
    return address
