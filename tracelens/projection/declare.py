"""What a JSON source declares: which places of a record make rows, and which values of each row it wants.

    LINE = Row("line", capture={"trace_id": "trace_id"}, rows=[
        Row("call", "tool_calls[*]", capture={"name": "function.name", "arguments": "function.arguments"}),
    ])

The declaration is compiled to a trie for `tracelens.kernels.project`. A path is members joined by dots, ``"quoted"``
where a member holds dots; it ends in ``[*]`` for the elements of an array and in ``.*`` for all members of an object
(their keys are then the column ``@key``). Every table has its row's own value as the column ``@``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tracelens.columns import padded
from tracelens.errors import InternalError
from tracelens.kernels.project import Trie

ELEMENT, MEMBER = "[*]", ".*"
BYTES_PER_ROW = 128
"""Bytes of input that are expected to give a row of each inner table, until a walk has shown how many do."""

STEP = re.compile(r'\[\*\]|\.?\*|\.?"((?:[^"\\]|\\.)*)"|\.?([^.\[\]*"]+)')


@dataclass(frozen=True, slots=True)
class Row:
    """One table of a projection.

    Attributes:
        name: Name of the table.
        at: Path or paths, below the enclosing row's value, where each value begins a row. Empty: that value itself.
        capture: Column name to path or paths below the row's value; of several that are there, the last one counts.
        rows: Tables nested in this one.
    """

    name: str
    at: str | Sequence[str] = ""
    capture: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    rows: Sequence[Row] = ()


def steps_of(path: str) -> tuple[str, ...]:
    """The steps of a path: member names (after ``.``), ``[*]`` and ``.*``.

    Example:
        >>> steps_of('a."b.c"[*].d')
        ('.a', '.b.c', '[*]', '.d')
    """
    steps, at = [], 0
    while at < len(path):
        found = STEP.match(path, at)
        if found is None:
            raise InternalError(f"path {path!r} cannot be read at {path[at:]!r}")
        text = found.group()
        if text == ELEMENT:
            steps.append(ELEMENT)
        elif found.group(1) is None and found.group(2) is None:
            steps.append(MEMBER)
        else:
            steps.append("." + (found.group(2) or re.sub(r"\\(.)", r"\1", found.group(1) or "")))
        at = found.end()
    return tuple(steps)


@dataclass(slots=True)
class Node:
    """A node of the trie while it is built; -1 means none."""

    children: dict[str, Node] = field(default_factory=dict)
    row: int = -1
    slot: int = -1
    owner: int = -1

    def child(self, step: str) -> Node:
        """The node one step down, made if it is not there."""
        return self.children.setdefault(step, Node())

    def reach(self, path: str) -> Node:
        """The node at a path."""
        node = self
        for step in steps_of(path):
            node = node.child(step)
        return node


@dataclass(frozen=True, slots=True)
class Table:
    """One compiled table.

    Attributes:
        name: Its name.
        parent: Number of the table around it, -1 for the records.
        first: Number of its first column.
        columns: Numbers of its columns.
        keyed: Whether its rows may be members of an object, of which a later one takes the place of an earlier one.
    """

    name: str
    parent: int
    first: int
    columns: dict[str, int]
    keyed: bool = False


class Projection:
    """A compiled declaration.

    Attributes:
        members: Members of a record that are wanted, by name.
        tables: The tables, each after the one that encloses it.
        trie: The wanted paths for the kernel.
        n_columns: Columns of all tables together.
        depth: Containers that a walk can have open at a time.
        density: float64[tables], rows that a byte of input is expected to give; walks bring it up to date.
    """

    def __init__(self, top: Row) -> None:
        self.tables: list[Table] = []
        root = Node()
        self._add(top, [root], -1)
        self.n_columns = self.tables[-1].first + len(self.tables[-1].columns)
        self.members = tuple(step[1:] for step in root.children if step not in {ELEMENT, MEMBER})
        self.depth = 0
        self.density = np.full(len(self.tables), 1 / BYTES_PER_ROW)
        self.trie = self._compile(root)

    def _add(self, row: Row, above: list[Node], parent: int) -> None:
        number = len(self.tables)
        first = self.tables[-1].first + len(self.tables[-1].columns) if self.tables else 0
        names = ["@", "@key", *row.capture]
        keyed = any(MEMBER in steps_of(path) for path in _paths(row.at))
        table = Table(row.name, parent, first, {name: first + k for k, name in enumerate(names)}, keyed)
        self.tables.append(table)
        nodes = [node.reach(path) for node in above for path in _paths(row.at)]
        for node in nodes:
            if node.row >= 0 or node.slot >= 0:
                raise InternalError(f"two tables of a projection begin at the same place: {row.name}")
            node.row = number
            for column, paths in row.capture.items():
                for path in _paths(paths):
                    target = node.reach(path)
                    target.slot, target.owner = table.columns[column], number
        for inner in row.rows:
            self._add(inner, nodes, number)

    def _compile(self, root: Node) -> Trie:
        order: list[Node] = []
        markers: list[int] = []
        last: list[int] = []
        self._number(root, -1, 0, order, markers, last)
        place = {id(node): k for k, node in enumerate(order)}
        edges = [
            (step[1:].encode(), place[id(child)])
            for node in order
            for step, child in node.children.items()
            if step not in {ELEMENT, MEMBER}
        ]
        counts = [sum(step not in {ELEMENT, MEMBER} for step in node.children) for node in order]
        names = [name for name, _ in edges]
        where = np.cumsum([0, *map(len, names)])
        words = [int.from_bytes(name[:8], "little", signed=len(name) >= 8) for name in names]
        return Trie(
            first=_narrow(np.cumsum([0, *counts])[:-1]),
            count=_narrow(counts),
            element=_narrow([place.get(id(node.children.get(ELEMENT)), -1) for node in order]),
            member=_narrow([place.get(id(node.children.get(MEMBER)), -1) for node in order]),
            table=_narrow([node.row for node in order]),
            slot=_narrow([node.slot if node.row < 0 else self.tables[node.row].first for node in order]),
            owner=_narrow([node.owner if node.row < 0 else node.row for node in order]),
            marker=_narrow(markers),
            last=_narrow(last),
            edge_word=np.array(words, np.int64),
            edge_size=np.array([len(name) for name in names], np.int64),
            edge_node=np.array([node for _, node in edges], np.int64),
            edge_name=np.asarray(where[:-1], np.int64),
            edge_plain=np.array(
                [json.dumps(name.decode(), ensure_ascii=False) == f'"{name.decode()}"' for name in names], np.uint8
            ),
            names=padded(b"".join(names)),
        )

    def _number(
        self, node: Node, marker: int, depth: int, order: list[Node], markers: list[int], last: list[int]
    ) -> None:
        """Number the nodes in pre-order, and note for each the row marker around it and the last node below it."""
        me = len(order)
        self.depth = max(self.depth, depth + 1)
        order.append(node)
        markers.append(marker)
        last.append(me)
        inner = me if node.row >= 0 else marker
        for child in node.children.values():
            self._number(child, inner, depth + 1, order, markers, last)
        last[me] = len(order) - 1


def _paths(at: str | Sequence[str]) -> Sequence[str]:
    return [at] if isinstance(at, str) else at


def _narrow(values: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    return np.asarray(values, np.int32)
