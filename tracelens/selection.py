"""Which traces of an input are scored: a sample by hash of the id, a stretch of time, values of tags."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from tracelens.errors import UsageError, shown_type

ALL = Decimal(1)
_EXAMPLE = "write a share such as '10%' or 0.1"


@dataclass(frozen=True, slots=True)
class Selection:
    """What a trace must be to be scored; a trace has to meet all of it.

    Attributes:
        sample: Share of the traces, above 0 and at most 1, chosen by hash of ``trace_id``.
        since: Earliest start; None: any. A trace without a start is left out if there is a bound.
        until: Start before which it must lie; None: any.
        where: Texts that a tag may have, by path of the tag, both in order of their text.

    Example:
        >>> Selection.of(sample="10%", where=["version=1.2"]).text
        '{"sample": "10%", "where": {"version": ["1.2"]}}'
        >>> Selection.of().text is None
        True
    """

    sample: Decimal = ALL
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @classmethod
    def of(
        cls,
        sample: str | float | None = None,
        since: str | date | None = None,
        until: str | date | None = None,
        where: Mapping[str, Any] | str | Iterable[str] | None = None,
    ) -> Selection:
        """What is asked for by a user.

        Args:
            sample: ``"10%"`` or ``0.1``.
            since: ISO 8601 text, date or time; no zone: UTC.
            until: The same; a trace that starts then is left out.
            where: Values by tag (a list: any of them), or texts ``tag=value`` (a tag named again: any of its values).

        Raises:
            UsageError: One of them cannot be used.
        """
        made = cls(
            ALL if sample is None else _share(sample),
            None if since is None else _instant(since, "since"),
            None if until is None else _instant(until, "until"),
            _tags(where),
        )
        if made.since and made.until and made.since >= made.until:
            raise UsageError(
                f"nothing starts at or after {_written(made.since)} and before {_written(made.until)}",
                hint="since must be before until",
            )
        return made

    @property
    def text(self) -> str | None:
        """What is selected as JSON text, the same for all ways to say the same; None where it is everything."""
        return json.dumps(self.to_dict(), ensure_ascii=False) if self != EVERYTHING else None

    def to_dict(self) -> dict[str, Any]:
        """What is selected as JSON values."""
        out: dict[str, Any] = {}
        if self.sample != ALL:
            out["sample"] = f"{(self.sample * 100).normalize():f}%"
        for name, bound in (("since", self.since), ("until", self.until)):
            if bound is not None:
                out[name] = _written(bound)
        if self.where:
            out["where"] = {path: list(values) for path, values in self.where}
        return out


EVERYTHING = Selection()


def _share(sample: str | float) -> Decimal:
    """A share of all traces."""
    if isinstance(sample, bool) or not isinstance(sample, str | int | float | Decimal):
        raise UsageError(f"the sample is given as {shown_type(sample)}", hint=_EXAMPLE)
    text = str(sample).strip()
    try:
        share = Decimal(text.removesuffix("%").rstrip()) / (100 if text.endswith("%") else 1)
    except InvalidOperation:
        share = Decimal("nan")
    if not (share.is_finite() and 0 < share <= 1):
        raise UsageError(f"a sample of {text!r} is no share above 0% and up to 100%", hint=_EXAMPLE)
    return share


def _instant(bound: str | date, name: str) -> datetime:
    """A moment in UTC."""
    hint = "write a day or a time, such as 2026-11-01 or 2026-11-01T08:00:00Z"
    if isinstance(bound, str):
        try:
            bound = datetime.fromisoformat(bound.strip())
        except ValueError as error:
            raise UsageError(f"{name} is {bound!r}, which is no ISO 8601 time", hint=hint) from error
    if not isinstance(bound, date):
        raise UsageError(f"{name} is given as {shown_type(bound)}", hint=hint)
    moment = bound if isinstance(bound, datetime) else datetime.combine(bound, time())
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise UsageError(f"{name} is {bound}, which is out of range in UTC", hint=hint) from error


def _written(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _tags(where: Mapping[str, Any] | str | Iterable[str] | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Values by tag, in order."""
    wanted: dict[str, set[str]] = {}
    for path, value in _pairs(where):
        if not path.strip():
            raise UsageError("a condition names no tag", hint="write it as tag=value, such as version=1.2")
        wanted.setdefault(path.strip(), set()).add(value)
    return tuple((path, tuple(sorted(values))) for path, values in sorted(wanted.items()))


def _pairs(where: Mapping[str, Any] | str | Iterable[str] | None) -> Iterable[tuple[str, str]]:
    if where is None:
        return
    if isinstance(where, Mapping):
        for path, values in where.items():
            for value in values if isinstance(values, list | tuple | set) else [values]:
                yield str(path), _tag_text(value)
        return
    for text in [where] if isinstance(where, str) else where:
        path, equals, value = str(text).partition("=")
        if not equals:
            raise UsageError(f"the condition {text!r} has no value", hint="write it as tag=value, such as version=1.2")
        yield path, value.strip()


def _tag_text(value: Any) -> str:
    """A value as tags are compared: a string's contents, anything else as JSON text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
