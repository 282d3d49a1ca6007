"""Building the arrays that the checking kernel runs over: operations, property tables, constants, automata."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens.kernels import check_codes as k
from tracelens.kernels.check_number import NO_INTEGER
from tracelens.kernels.check_text import ASK, AUTOMATON
from tracelens.kernels.hash import hash_key
from tracelens.kernels.shred import Tape, shred
from tracelens.rungs.schema.ecma import compile_pattern
from tracelens.rungs.schema.ecma.automaton import build
from tracelens.rungs.schema.templates import Template

N_KINDS = 7
ALL_KINDS = tuple(range(N_KINDS))
NEVER, NEVER_ABOVE, ALWAYS = 0, 1, 2
"""Nodes that every program has: ``false``, ``false`` whose error is reported at the parent, ``true``."""

Op = tuple[int, int, int, int, int, int]


def op(code: int, *numbers: int) -> Op:
    """An operation's row, filled up with zeros.

    Example:
        >>> op(2, 5)
        (2, 5, 0, 0, 0, 0)
    """
    a, b, c, d, e = (*numbers, *(0,) * (5 - len(numbers)))
    return code, a, b, c, d, e


@dataclass
class Node:
    """The operations of a node, each with the kinds of value it is for and the message it gives."""

    ops: list[tuple[Sequence[int], Op, Template]] = field(default_factory=list)

    def add(self, kinds: Sequence[int], row: Op, template: Template) -> None:
        """Add an operation for some kinds of value."""
        self.ops.append((kinds, row, template))

    def by_kind(self) -> dict[tuple[int, ...], list[int]]:
        """The kinds that have operations, by the places of those in ``ops``."""
        places: dict[int, list[int]] = {}
        for place, (kinds, _, _) in enumerate(self.ops):
            for kind in kinds:
                places.setdefault(kind, []).append(place)
        alike: dict[tuple[int, ...], list[int]] = {}
        for kind, some in places.items():
            alike.setdefault(tuple(some), []).append(kind)
        return alike


@dataclass(frozen=True)
class Compiled:
    """A finished program.

    Attributes:
        program: Arrays for the kernel.
        constant_bytes: uint8, JSON texts of the containers in ``enum`` and ``const``.
        constants: Their tape.
        templates: Per operation, what its error says.
        checks: Per string check, the function that decides on a text.
        n_seen: The largest number of properties that one object operation tells apart.
    """

    program: k.Program
    constant_bytes: npt.NDArray[np.uint8]
    constants: Tape
    templates: tuple[Template, ...]
    checks: tuple[Callable[[str], bool], ...]
    n_seen: int


class Builder:
    """Collects nodes; `finish` turns them into arrays."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.lists: list[int] = []
        self.numbers: list[float] = []
        self.tables: list[int] = []
        self.texts: dict[bytes, int] = {}
        self.checks: list[Callable[[str], bool]] = []
        self.check_numbers: dict[tuple[str, str], tuple[int, int, int]] = {}
        self.steps: list[npt.NDArray[np.int32]] = []
        self.marks: list[npt.NDArray[np.uint8]] = []
        self.constants: list[bytes] = []
        self.constant_lists: list[int] = []
        self.n_states = 0
        self.n_seen = 1
        for template in (
            Template(None, "False schema does not allow ", ""),
            Template(None, "False schema does not allow ", "", up=True),
        ):
            self.node().add(ALL_KINDS, op(k.FAIL), template)
        self.node()

    def node(self) -> Node:
        """A new node; its number is its place in ``nodes``."""
        self.nodes.append(Node())
        return self.nodes[-1]

    def text(self, text: str) -> int:
        """The number of a text among property names and enum strings."""
        return self.texts.setdefault(text.encode("utf-8", "surrogatepass"), len(self.texts))

    def listed(self, numbers: Sequence[int], *, count: int | None = None) -> int:
        """Where a list begins that holds its length and then the numbers."""
        self.lists.extend([len(numbers) if count is None else count, *numbers])
        return len(self.lists) - 1 - len(numbers)

    def table(self, texts: Sequence[str], *, local: bool) -> tuple[int, int]:
        """A hash table of texts: where it begins and its mask.

        Args:
            texts: Distinct texts.
            local: Whether it holds places in ``texts`` instead of numbers of texts.
        """
        size = 2
        while size < 2 * len(texts):
            size *= 2
        slots = [0] * size
        for place, text in enumerate(texts):
            number = self.text(text)
            slot = int(hash_key(text.encode("utf-8", "surrogatepass"))) & (size - 1)
            while slots[slot]:
                slot = (slot + 1) & (size - 1)
            slots[slot] = (place if local else number) + 1
        self.tables.extend(slots)
        return len(self.tables) - size, size - 1

    def pattern(self, pattern: str) -> tuple[int, int, int]:
        """The check of a pattern: its number, how to answer it at a glance, its automaton's first state."""
        known = self.check_numbers.get(("pattern", pattern))
        if known is None:
            automaton = build(pattern)
            way, state = ASK, 0
            if automaton is not None:
                way, state = AUTOMATON, self.n_states
                self.n_states += len(automaton.marks)
                self.steps.append(automaton.steps + state)
                self.marks.append(automaton.marks)
            known = self.check_numbers["pattern", pattern] = (len(self.checks), way, state)
            self.checks.append(compile_pattern(pattern))
        return known

    def string_check(self, family: str, name: str, decide: Callable[[str], bool], way: int) -> tuple[int, int, int]:
        """The check of a format, likewise."""
        known = self.check_numbers.get((family, name))
        if known is None:
            known = self.check_numbers[family, name] = (len(self.checks), way, 0)
            self.checks.append(decide)
        return known

    def constant_list(self, values: Sequence[Any]) -> int | None:
        """The list of containers that an enum allows; None where one cannot be written as JSON."""
        try:
            texts = [json.dumps(value, allow_nan=False).encode() for value in values]
        except (TypeError, ValueError):
            return None
        numbers = range(len(self.constants), len(self.constants) + len(texts))
        self.constants.extend(texts)
        self.constant_lists.append(self.listed(list(numbers)))
        return self.constant_lists[-1]

    def finish(self) -> Compiled:
        """The arrays."""
        heads, rows, templates = self._operations()
        data, constants, lists = self._constants()
        arena, begins, ends = _packed(list(self.texts))
        program = k.Program(
            heads,
            np.array(rows, np.int64),
            np.array([*lists, 0], np.int64),
            np.array([*map(float, self.numbers), 0.0], np.float64),
            np.array([*map(_integer, self.numbers), 0], np.int64),
            np.array([*self.tables, 0], np.int64),
            np.array([*map(hash_key, self.texts), np.uint64(0)], np.uint64),
            begins,
            ends,
            arena,
            np.concatenate([*self.steps, np.zeros((1, 128), np.int32)]).astype(np.int32),
            np.concatenate([*self.marks, np.zeros(1, np.uint8)]),
        )
        return Compiled(program, data, constants, tuple(templates), tuple(self.checks), self.n_seen)

    def _operations(self) -> tuple[npt.NDArray[np.int64], list[Op], list[Template]]:
        """Where the operations of each node and kind begin, and those; kinds that have the same share them."""
        end, nothing = op(k.END), Template("", "", "")
        heads = np.zeros((len(self.nodes), N_KINDS), np.int64)
        rows, templates = [end], [nothing]
        for number, node in enumerate(self.nodes):
            for places, kinds in node.by_kind().items():
                heads[number, kinds] = len(rows)
                rows += [node.ops[place][1] for place in places]
                templates += [node.ops[place][2] for place in places]
                rows.append(end)
                templates.append(nothing)
        return heads, rows, templates

    def _constants(self) -> tuple[npt.NDArray[np.uint8], Tape, list[int]]:
        """The constants' bytes and tape, and the lists with every list of constants pointing at its entries."""
        arena, begins, ends = _packed(self.constants)
        # The arrays hold one empty text too many, which is what a program without constants has.
        tape = shred(arena, begins[:-1], ends[:-1], max_depth=10_000).tape
        lists = list(self.lists)
        for first in self.constant_lists:
            for place in range(first + 1, first + 1 + lists[first]):
                lists[place] = int(tape.first[lists[place]])
        return arena, tape, lists


def _packed(texts: list[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Texts back to back with padding, and where each begins and ends (and one empty text more)."""
    lengths = np.array([len(text) for text in texts] + [0], np.int64)
    ends = np.cumsum(lengths)
    arena = np.frombuffer(b"".join(texts) + bytes(64), np.uint8).copy()
    return arena, ends - lengths, ends


def _integer(number: float) -> int:
    """The number as an integer, where it is one of at most 18 digits."""
    return int(number) if abs(number) < 10**18 and number == int(number) else NO_INTEGER
