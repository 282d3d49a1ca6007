"""A suite's normalisation rules in the form the digest kernels walk: one flat trie for all tools.

The plain-Python reference works out which rule holds at which path; this module only lays its graph out in arrays.
What a loop over bytes cannot do (dates, units, rule lists, single elements of an array) keeps its Python rules, and
they are applied to distinct values.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tracelens import columns
from tracelens.kernels.digest import (
    N_HAS_DEFAULT,
    N_NULL_IS_MISSING,
    N_PLAIN_DATE,
    R_DEFAULT,
    R_EXACT,
    R_IGNORE,
    R_SET,
    R_SLOW,
    R_UNORDERED,
    RuleTrie,
)
from tracelens.kernels.hash import hash_key
from tracelens.kernels.reference.normal import NO_RULES, Node, Rules, canonical, text_of
from tracelens.kernels.reference.rules import FORMATS, Leaf, Rule, Step
from tracelens.kernels.reference.values import Value, parse
from tracelens.kernels.shred import shred
from tracelens.normalise.canonical import TIME_TAG
from tracelens.normalise.canonical import canonical as digests
from tracelens.normalise.times import canonical_dates, canonical_instants

# Answers kept per rule list; a path with more distinct values than this gains nothing from keeping them.
_KEPT = 100_000
# Fewer new values than this are not worth a frame.
_MANY = 64

SlowRules = tuple[Rules, int]
"""A rule list that needs Python: the rules of a tool and the number of the node that has the list."""


@dataclass(frozen=True, slots=True)
class RuleProgram:
    """The rules of all tools.

    Attributes:
        trie: The rules by node, as the kernels take them.
        roots: int32[tools + 1], root node by tool number, -1 where only default rules hold; the last is for every
            other tool.
        rules: The plain-Python rules by tool number, and last those for every other tool.
        has_relation: bool[tools + 1], where a tolerance makes equality a matter of pairs, not of digests.
        slow: The rule lists that the trie refers to.
        places: Rules and node number behind each node of the trie.
    """

    trie: RuleTrie
    roots: npt.NDArray[np.int32]
    rules: tuple[Rules, ...]
    has_relation: npt.NDArray[np.bool_]
    slow: tuple[SlowRules, ...]
    places: tuple[SlowRules, ...]
    _answers: tuple[dict[str, str], ...] = field(repr=False, compare=False)
    _shown: tuple[dict[str, str], ...] = field(repr=False, compare=False)

    @classmethod
    def compile(cls, normalize: Mapping[str, Mapping[str, Any]], tools: Sequence[tuple[str, Any]] = ()) -> RuleProgram:
        """Lay out the rules of a suite.

        Args:
            normalize: Rules by tool (``*`` for all) and path, as the suite writes them.
            tools: Canonical name and JSON Schema (None without one) of each tool, by tool number. A name may occur
                more than once, with different schemas.

        Returns:
            The program.

        Raises:
            SuiteError: A path, rule, unit or zone that cannot be used.

        Example:
            >>> program = RuleProgram.compile({"search": {"day": "date"}}, [("search", None), ("book", None)])
            >>> program.roots.tolist()
            [0, -1, -1]
            >>> program.apply_slow(0, ['"2026-11-02T10:00"', '" Soon"', "1.50"])
            ['"2026-11-02"', '"soon"', '1.5']
        """
        others = Rules.compile(normalize, "*")
        shared = _Shared(normalize, others)
        rules = (*(shared.rules_of(name, schema) for name, schema in tools), others)
        layout = _Layout()
        roots = np.array([layout.add(each) for each in rules], np.int32)
        has_relation = np.array([each.has_relation for each in rules], np.bool_)
        slow, places = tuple(layout.slow), tuple(layout.places)
        program = cls(layout.trie(), roots, rules, has_relation, slow, places, _memory(slow), _memory(places))
        _fill_defaults(program, layout.defaults)
        return program

    def apply_slow(self, rules: int, texts: Sequence[str]) -> list[str]:
        """Canonical texts of JSON texts under a rule list.

        Args:
            rules: Number of the rule list in `slow`; -1 is the default rules.
            texts: JSON texts, one value each.

        Returns:
            Canonical JSON texts; an instant or a quantity is its text behind `TIME_TAG`, so that no string equals it.
        """
        compiled, number = (NO_RULES, 0) if rules < 0 else self.slow[rules]
        answers = self._answers[rules]
        if len(answers) > _KEPT:
            answers.clear()
        out = [answers.get(text) for text in texts]
        left = [i for i, answer in enumerate(out) if answer is None]
        if len(left) >= _MANY:
            for i, answer in zip(left, _in_bulk([texts[i] for i in left], compiled.nodes[number]), strict=True):
                out[i] = answer
        for i in left:
            answer = out[i]
            if answer is None:
                answer = out[i] = _canonical_text(texts[i], compiled, number)
            answers[texts[i]] = answer
        return [answer for answer in out if answer is not None]

    def texts_at(self, node: int, texts: Sequence[str]) -> list[str]:
        """Canonical JSON texts of JSON texts that stand at a node of the trie (-1: one without rules)."""
        compiled, number = (NO_RULES, 0) if node < 0 else self.places[node]
        answers = self._shown[node]
        if len(answers) > _KEPT:
            answers.clear()
        for text in texts:
            if text not in answers:
                answers[text] = text_of(canonical(_value(text), compiled, number))
        return [answers[text] for text in texts]


def _memory(numbered: tuple[SlowRules, ...]) -> tuple[dict[str, str], ...]:
    """A memory for each rule list, and one for number -1."""
    return tuple({} for _ in range(len(numbered) + 1))


def _value(text: str) -> Value:
    """The value of one JSON text; most are strings without escapes, which need no parser."""
    return text[1:-1] if text.startswith('"') and "\\" not in text else parse(text)


def _canonical_text(text: str, rules: Rules, number: int) -> str:
    form = canonical(_value(text), rules, number)
    if isinstance(form, Leaf) and form.kind in {"instant", "quantity"}:
        return TIME_TAG + form.text
    return text_of(form)


def _in_bulk(texts: Sequence[str], node: Node) -> Sequence[str | None]:
    """Canonical texts that need no loop in Python; None for the others."""
    if node.rule.steps == (Step("datetime"),):
        return canonical_instants(texts, TIME_TAG)
    if node.rule.steps == (Step("date"),):
        return canonical_dates(texts)
    return [None] * len(texts)


class _Shared:
    """The rules of many tools, of which most have none of their own and a schema that says nothing about values."""

    def __init__(self, normalize: Mapping[str, Mapping[str, Any]], others: Rules) -> None:
        self._normalize = normalize
        self._others = others
        # These rules ask the schema: for a default, or whether a value is always a string.
        text = json.dumps(normalize.get("*", {}), default=str)
        self._asks = any(f'"{name}"' in text for name in ("default", "number"))

    def rules_of(self, tool: str, schema: Any) -> Rules:
        """The rules of a tool; those of every other tool where they are the same."""
        if tool in self._normalize or (schema is not None and (self._asks or _has_format(schema))):
            return Rules.compile(self._normalize, tool, schema)
        return self._others


def _has_format(schema: Any) -> bool:
    """Whether anything in a schema has a format that says how its strings are compared."""
    queue, seen = [schema], set[int]()
    while queue:
        part = queue.pop()
        if id(part) in seen:
            continue
        if isinstance(part, Mapping):
            name = part.get("format")
            if isinstance(name, str) and name in FORMATS:
                return True
            seen.add(id(part))
            queue += part.values()
        elif isinstance(part, list | tuple):
            seen.add(id(part))
            queue += part
    return False


class _Layout:
    """Collects the nodes of all tools."""

    def __init__(self) -> None:
        self.slow: list[SlowRules] = []
        self.places: list[SlowRules] = []
        self.defaults: list[tuple[int, str]] = []
        self._slow_numbers: dict[object, int] = {}
        self._roots: dict[int, int] = {}
        self._nodes: list[tuple[Node, int, int]] = []

    def add(self, rules: Rules) -> int:
        """Add the nodes of one tool and return its root; the reference's node 0 has no rules and becomes -1."""
        if id(rules) in self._roots:
            return self._roots[id(rules)]
        base = len(self._nodes) - 1
        for number, node in enumerate(rules.nodes[1:], 1):
            code = _code(node, is_root=number == rules.root)
            slow = self._slow(rules, number) if code == R_SLOW else -1
            self._nodes.append((node, base, (slow + 1) * 8 + code))
            self.places.append((rules, number))
            if node.rule.default is not None:
                self.defaults.append((base + number, node.rule.default))
        root = self._roots[id(rules)] = base + rules.root if rules.root else -1
        return root

    def _slow(self, rules: Rules, number: int) -> int:
        """The number of a rule list; lists that say the same, with nothing below them, are one."""
        node = rules.nodes[number]
        alone = not any(node.below())
        key: object = (node.rule, number == rules.root) if alone else (id(rules), number)
        if key not in self._slow_numbers:
            self._slow_numbers[key] = len(self.slow)
            self.slow.append((rules, number))
        return self._slow_numbers[key]

    def trie(self) -> RuleTrie:
        """The arrays; digests of defaults are still to be filled in."""
        n = len(self._nodes)
        children = [_children(node, base) for node, base, _ in self._nodes]
        flat = [child for some in children for child in some]
        codes = np.array([code for _, _, code in self._nodes], np.int32)
        return RuleTrie(
            np.cumsum([0, *map(len, children)]).astype(np.int32),
            np.array([key for key, _ in flat], np.uint64),
            np.array([node for _, node in flat], np.int32),
            np.array([node.each + base if node.each else -1 for node, base, _ in self._nodes], np.int32),
            (codes % 8).astype(np.uint8),
            np.array([_flags(node.rule) for node, _, _ in self._nodes], np.uint8),
            (codes // 8 - 1).astype(np.int32),
            np.zeros(n, np.uint64),
            np.zeros(n, np.uint64),
        )


def _children(node: Node, base: int) -> list[tuple[np.uint64, int]]:
    """Key hash and node of each member with rules."""
    return [
        (hash_key(name.encode("utf-8", "surrogatepass")), below + base) for name, below in sorted(node.members.items())
    ]


def _code(node: Node, *, is_root: bool) -> int:
    """How the kernels treat a node."""
    rule = node.rule
    if rule.ignore:
        # Nothing above the root could leave it out; its Python rules give every value the same form.
        return R_SLOW if is_root else R_IGNORE
    if rule.array != "ordered":
        if rule.steps is not None:
            return R_SLOW
        return R_SET if rule.array == "set" else R_UNORDERED
    if rule.steps or node.indices:
        return R_SLOW
    return R_DEFAULT if rule.steps is None else R_EXACT


def _flags(rule: Rule) -> int:
    is_date = rule.steps == (Step("date"),) and rule.array == "ordered" and not rule.ignore
    flags = (
        (N_NULL_IS_MISSING, rule.null_is_missing),
        (N_HAS_DEFAULT, rule.default is not None),
        (N_PLAIN_DATE, is_date),
    )
    return sum(flag for flag, holds in flags if holds)


def _fill_defaults(program: RuleProgram, defaults: Sequence[tuple[int, str]]) -> None:
    """Digest the default values under the rules of their own nodes, until defaults inside defaults are settled."""
    if not defaults:
        return
    trie = program.trie
    nodes = np.array([node for node, _ in defaults], np.int32)
    packed = columns.texts([text for _, text in defaults])
    tape = shred(packed.data, packed.offsets[:-1], packed.offsets[1:]).tape
    at = dataclasses.replace(program, roots=nodes)
    for _ in range(len(defaults) + 1):
        found = digests(packed.data, tape, np.arange(nodes.size), at)
        settled = np.array_equal(trie.default_hi[nodes], found.root_hi)
        trie.default_hi[nodes], trie.default_lo[nodes] = found.root_hi, found.root_lo
        if settled:
            return
