"""The shape of JSON values: which types, members and elements were seen, and a schema that accepts them all."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from typing import Any

MOST_MEMBERS = 60
"""Objects with more different members than this are maps, whose keys are data and not names."""

_ORDER = ("object", "array", "string", "integer", "number", "boolean", "null")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass
class Shape:
    """What was seen at one place.

    Attributes:
        kinds: Names of the JSON types seen.
        objects: How many objects were seen.
        members: What was seen in their members, with how many objects had it.
        items: What was seen in the elements of arrays.
        dates: Whether every string was a calendar date.

    Example:
        >>> shape = Shape()
        >>> for value in ({"n": 1, "s": "a"}, {"n": 1.5}):
        ...     shape.add(value)
        >>> shape.schema()
        {'type': 'object', 'properties': {'n': {'type': 'number'}, 's': {'type': 'string'}}, 'required': ['n']}
    """

    kinds: set[str] = field(default_factory=set)
    objects: int = 0
    members: dict[str, tuple[Shape, int]] = field(default_factory=dict)
    items: Shape | None = None
    dates: bool = True

    def add(self, value: Any) -> None:
        """Takes one more value into account."""
        self.kinds.add(_kind(value))
        if isinstance(value, str):
            self.dates = self.dates and is_date(value)
        elif isinstance(value, dict):
            self.objects += 1
            for key, item in value.items():
                shape, count = self.members.get(key) or (Shape(), 0)
                shape.add(item)
                self.members[key] = (shape, count + 1)
        elif isinstance(value, list):
            self.items = self.items or Shape()
            for item in value:
                self.items.add(item)

    def schema(self) -> dict[str, Any]:
        """A JSON Schema that accepts every value seen: types, members, and which of them were always there."""
        kinds = self.kinds - ({"integer"} if "number" in self.kinds else set())
        types = [kind for kind in _ORDER if kind in kinds]
        out: dict[str, Any] = {"type": types[0] if len(types) == 1 else types} if types else {}
        if "object" in kinds and len(self.members) <= MOST_MEMBERS:
            out["properties"] = {key: shape.schema() for key, (shape, _) in self.members.items()}
            required = [key for key, (_, count) in self.members.items() if count == self.objects]
            if required:
                out["required"] = required
        if self.items is not None and self.items.kinds:
            out["items"] = self.items.schema()
        return out

    def date_members(self) -> list[str]:
        """Members of the top object that always held a calendar date."""
        return [key for key, (shape, _) in self.members.items() if shape.kinds == {"string"} and shape.dates]


def is_date(text: str) -> bool:
    """Whether a text is a calendar date.

    Example:
        >>> is_date("2026-02-28"), is_date("2026-02-30")
        (True, False)
    """
    if not _DATE.fullmatch(text):
        return False
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"
