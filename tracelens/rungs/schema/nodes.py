"""Nodes of a program by the schemas they stand for."""

from __future__ import annotations

from typing import Any

from tracelens.rungs.schema.program import ALWAYS, NEVER, NEVER_ABOVE, Builder, Node
from tracelens.rungs.schema.templates import Template
from tracelens.rungs.schema.walk import Place, place_key, subplace

SILENT = Template("", "", "")
"""The template of an operation that never reports an error itself."""


class Nodes:
    """Numbers of nodes; a schema that is reached twice has one node, so recursion is an edge like any other.

    Attributes:
        builder: The program so far.
        draft: Validator class of the schema being compiled.
        formats: Whether ``format`` is checked.
        queue: Places whose nodes are still empty.
    """

    def __init__(self) -> None:
        self.builder = Builder()
        self.draft: Any = None
        self.formats = True
        self.queue: list[tuple[Place, Node]] = []
        self._numbers: dict[tuple[int, str, int], int] = {}

    def node(self, place: Place, never: int) -> int:
        """The node of a place; ``never`` stands for the schema ``false``."""
        if place.schema is True:
            return ALWAYS
        if place.schema is False:
            return never
        key = place_key(place)
        if key not in self._numbers:
            self._numbers[key] = len(self.builder.nodes)
            self.queue.append((place, self.builder.node()))
        return self._numbers[key]

    def same(self, place: Place, schema: Any) -> int:
        """The node of a schema for the same value."""
        return self.node(subplace(place, schema, ""), NEVER)

    def part(self, place: Place, schema: Any) -> int:
        """The node of a schema for a member or element; -1 where it says nothing."""
        if schema is True or schema == {}:
            return -1
        return self.node(subplace(place, schema, ""), NEVER_ABOVE)
