"""The canonical form of arguments under the rules of one tool.

Which rule holds at a path is worked out beforehand: the suite's paths and the tool's schema are walked together, and
each combination of places becomes one node of a graph (a recursive schema makes it go round). Everything else here
only follows that graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracelens.errors import SuiteError
from tracelens.kernels.reference.paths import WILD, Part, Wild, parse_path
from tracelens.kernels.reference.rules import (
    DEFAULT,
    EXACT,
    FORMATS,
    Leaf,
    Rule,
    canonical_leaf,
    compile_rule,
)
from tracelens.kernels.reference.schema_facts import Place, SchemaFacts
from tracelens.kernels.reference.values import Value, is_object, parse, quote

Canonical = tuple[str, Any]
"""A canonical form: a `Leaf`, ``("array", forms)`` or ``("object", (key, form) pairs by key)``. Hashable, orderable."""

# A schema that unfolds to more nodes than this keeps its formats and defaults only on the first of them.
_MOST_NODES = 20_000


@dataclass(slots=True)
class Node:
    """The rules from one place on.

    Attributes:
        rule: What holds here.
        members: Node number of each member that has rules at or below it; any other member has node 0.
        indices: Node number of single elements that differ from `each`.
        each: Node number of array elements.
    """

    rule: Rule = DEFAULT
    members: dict[str, int] = field(default_factory=dict)
    indices: dict[int, int] = field(default_factory=dict)
    each: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether a container here is one leaf in a list of differences."""
        return self.rule.is_whole or bool(self.indices)

    def below(self) -> Iterator[int]:
        """The numbers of all nodes one step down."""
        yield from self.members.values()
        yield from self.indices.values()
        yield self.each


@dataclass(frozen=True, slots=True)
class Rules:
    """The compiled rules of one tool.

    Attributes:
        nodes: The graph; node 0 has the rule of every path that nothing is said about, and leads to itself.
        root: Number of the node of the arguments as a whole.

    Example:
        >>> rules = Rules.compile({"search": {"day": "date", "tags": "set"}}, "search")
        >>> canonical_text(parse('{"tags": ["B", "a", "b"], "day": "2026-11-02T10:00"}'), rules)
        '{"day":"2026-11-02","tags":["a","b"]}'
    """

    nodes: tuple[Node, ...]
    root: int = 0

    @classmethod
    def compile(cls, normalize: Mapping[str, Mapping[str, Any]], tool: str, schema: Any = None) -> Rules:
        """The rules of a tool.

        The most specific path wins (more members and indices, fewer ``[*]``), then the tool over ``*``, then the
        format that the schema gives.

        Args:
            normalize: Rules by tool (``*`` for all) and path, as a suite writes them.
            tool: The tool's canonical name.
            schema: Its JSON Schema; None without one.

        Returns:
            The rules.

        Raises:
            SuiteError: A path or rule that cannot be used.
        """
        graph = _Graph(normalize, tool, SchemaFacts(schema))
        return cls(*_pruned(graph.nodes(), 1))

    @property
    def has_relation(self) -> bool:
        """Whether any path has a tolerance, so that equality is decided per pair and not by digests."""
        return any(node.rule.has_relation for node in self.nodes)

    def number_at(self, path: Sequence[str | int]) -> int:
        """The node number of a path."""
        number = self.root
        for part in path:
            number = self.child(number, part)
        return number

    def child(self, number: int, part: str | int) -> int:
        """The node number of a member or element of a node; elements of a multiset or set have no own places."""
        node = self.nodes[number]
        if isinstance(part, str):
            return node.members.get(part, 0)
        return node.each if node.rule.array != "ordered" else node.indices.get(part, node.each)

    def at(self, path: Sequence[str | int]) -> Rule:
        """The rule that holds at a path.

        Example:
            >>> Rules.compile({"*": {"a[*].b": "exact"}}, "t").at(["a", 3, "b"]) == EXACT
            True
        """
        return self.nodes[self.number_at(path)].rule


NO_RULES = Rules((Node(),))
"""The default rules everywhere: no suite, no schema."""

AS_SENT = Rules((Node(EXACT),))
"""JSON equality: strings as they are, numbers by value. Two values are equal *before* normalisation under these."""


@dataclass(slots=True)
class _Pattern:
    """A node of the tree of rule paths of ``*`` or of one tool."""

    rank: tuple[int, ...]
    rule: Rule | None = None
    children: dict[Part, _Pattern] = field(default_factory=dict)


class _Graph:
    """Walks rule paths and schema together, breadth first."""

    def __init__(self, normalize: Mapping[str, Mapping[str, Any]], tool: str, facts: SchemaFacts) -> None:
        self._facts = facts
        self._patterns: list[_Pattern] = []
        roots = [self._tree(normalize.get(name, {}), name, level) for level, name in enumerate(("*", tool))]
        start = (tuple(sorted(roots)), facts.root)
        self._keys: list[tuple[tuple[int, ...], Place | None]] = [((), None), start]
        self._seen = {key: number for number, key in enumerate(self._keys)}

    def _tree(self, rules: Mapping[str, Any], tool: str, level: int) -> int:
        """Add the paths of one tool to the patterns and return the number of their root."""
        root = self._add(_Pattern((0, level)))
        for text, given in rules.items():
            where = f"normalize.{tool}.{text}"
            try:
                parts = parse_path(text)
            except ValueError as error:
                raise SuiteError(str(error), where=where) from None
            at = self._patterns[root]
            for depth, part in enumerate(parts, 1):
                if part not in at.children:
                    literal = [int(not isinstance(p, Wild)) for p in parts[:depth]]
                    at.children[part] = self._patterns[self._add(_Pattern((sum(literal), *literal, level)))]
                at = at.children[part]
            at.rule = compile_rule(given, where)
        return root

    def _add(self, pattern: _Pattern) -> int:
        self._patterns.append(pattern)
        return len(self._patterns) - 1

    def nodes(self) -> list[Node]:
        """All nodes: number 0 is where nothing is said, number 1 the root."""
        numbers = {id(pattern): number for number, pattern in enumerate(self._patterns)}
        nodes: list[Node] = []
        while len(nodes) < len(self._keys):
            patterns, place = self._keys[len(nodes)]
            here = [self._patterns[number] for number in patterns]
            node = Node(self._rule(here, place))
            nodes.append(node)
            if place is not None and self._facts.ends_at(place) and not any(pattern.children for pattern in here):
                continue
            for name in self._names(here, place):
                below = None if place is None else self._facts.member(place, name)
                node.members[name] = self._go(here, [name], below, numbers)
            below = None if place is None else self._facts.element(place, None)
            node.each = self._go(here, [WILD], below, numbers)
            for index in self._indices(here, place):
                below = None if place is None else self._facts.element(place, index)
                node.indices[index] = self._go(here, [index, WILD], below, numbers)
        return nodes

    def _go(self, here: list[_Pattern], parts: list[Part], place: Place | None, numbers: dict[int, int]) -> int:
        found = {numbers[id(p.children[part])] for p in here for part in parts if part in p.children}
        if len(self._keys) > _MOST_NODES:
            place = None
        key = (tuple(sorted(found)), place)
        if key not in self._seen:
            self._seen[key] = len(self._keys)
            self._keys.append(key)
        return self._seen[key]

    def _names(self, here: list[_Pattern], place: Place | None) -> list[str]:
        names = {part for pattern in here for part in pattern.children if isinstance(part, str)}
        return sorted(names | (set() if place is None else self._facts.members(place)))

    def _indices(self, here: list[_Pattern], place: Place | None) -> list[int]:
        found = {part for pattern in here for part in pattern.children if isinstance(part, int)}
        return sorted(found | set(range(0 if place is None else self._facts.listed(place))))

    def _rule(self, here: list[_Pattern], place: Place | None) -> Rule:
        """The rule that wins, completed by what the schema says."""
        from_format = FORMATS.get(self._facts.format(place) or "", DEFAULT)
        ruled = [pattern for pattern in here if pattern.rule is not None]
        if not ruled:
            return from_format
        rule = max(ruled, key=lambda pattern: pattern.rank).rule or DEFAULT
        if rule.steps is None:
            rule = dataclasses.replace(rule, steps=from_format.steps)
        if rule.schema_default:
            default = rule.default if rule.default is not None else self._facts.default(place)
            rule = dataclasses.replace(rule, default=default, schema_default=False)
        if rule.steps and self._facts.only_strings(place):
            steps = tuple(step._replace(name="plain_number") if step.name == "number" else step for step in rule.steps)
            rule = dataclasses.replace(rule, steps=steps)
        return rule


def _pruned(nodes: list[Node], root: int) -> tuple[tuple[Node, ...], int]:
    """The graph without nodes from which no rule can be reached (all of them are node 0), and its root's number."""
    above: dict[int, set[int]] = {}
    for number, node in enumerate(nodes):
        for below in node.below():
            above.setdefault(below, set()).add(number)
    useful = {number for number, node in enumerate(nodes) if node.rule != DEFAULT}
    fresh = list(useful)
    while fresh:
        more = above.get(fresh.pop(), set()) - useful
        useful |= more
        fresh += more
    number_of = {0: 0} | {old: new for new, old in enumerate(sorted(useful), 1)}
    kept = [Node()]
    for old in sorted(useful):
        node = nodes[old]
        each = number_of.get(node.each, 0)
        members = {name: number_of[below] for name, below in node.members.items() if below in useful}
        indices = {index: number_of.get(below, 0) for index, below in node.indices.items()}
        kept.append(Node(node.rule, members, {i: below for i, below in indices.items() if below != each}, each))
    return tuple(kept), number_of.get(root, 0)


def canonical(value: Value, rules: Rules = NO_RULES, number: int | None = None) -> Canonical:
    """The canonical form of a value: equal forms mean equal under the rules (tolerances and matchers aside).

    Args:
        value: A JSON value, as `parse` gives it (or plain Python, where floats stand for their shortest decimals).
        rules: The rules of its tool.
        number: Node of the value; the root by default.

    Returns:
        The form.

    Raises:
        ValueError: NaN or an infinity.

    Example:
        >>> canonical({"a": 1.0}) == canonical({"a": 1}), canonical(True) == canonical(1)
        (True, False)
    """
    number = rules.root if number is None else number
    node = rules.nodes[number]
    if node.rule.ignore and number == rules.root:
        return Leaf("null", "null")
    leaf = canonical_leaf(value, node.rule)
    if leaf is not None:
        return leaf
    if is_object(value):
        members = ((key, _taking_part(value[key], rules, rules.child(number, key))) for key in sorted(value))
        return "object", tuple((key, form) for key, form in members if form is not None)
    found = (_taking_part(item, rules, rules.child(number, i)) for i, item in enumerate(value))
    forms: Iterable[Canonical] = [form for form in found if form is not None]
    if node.rule.array == "set":
        forms = sorted(set(forms))
    return "array", tuple(sorted(forms) if node.rule.array == "unordered" else forms)


def _taking_part(value: Value, rules: Rules, number: int) -> Canonical | None:
    """The form of a child; None where it is ignored, or equals missing."""
    rule = rules.nodes[number].rule
    if rule.ignore or (value is None and rule.null_is_missing):
        return None
    form = canonical(value, rules, number)
    return None if rule.default is not None and form == default_form(rules, number) else form


def default_form(rules: Rules, number: int) -> Canonical | None:
    """The canonical form of a node's default; None where it has none."""
    default = rules.nodes[number].rule.default
    return None if default is None else canonical(parse(default), rules, number)


def is_missing(value: Value, rules: Rules, number: int) -> bool:
    """Whether a value counts as if it were not there: ignored, null where null is missing, or at its default."""
    return _taking_part(value, rules, number) is None


def text_of(form: Canonical) -> str:
    """A canonical form as JSON text: keys sorted, no white space; instants and quantities are strings.

    Example:
        >>> text_of(canonical(parse('{"b": 1.50, "a": [" X "]}')))
        '{"a":["x"],"b":1.5}'
    """
    if isinstance(form, Leaf):
        return form.json
    kind, parts = form
    if kind == "object":
        return "{" + ",".join(f"{quote(key)}:{text_of(below)}" for key, below in parts) + "}"
    return "[" + ",".join(text_of(below) for below in parts) + "]"


def canonical_text(value: Value, rules: Rules = NO_RULES, number: int | None = None) -> str:
    """The canonical form of a value as JSON text, see `canonical` and `text_of`.

    Example:
        >>> canonical_text({"Q": "  Ärger "})
        '{"Q":"ärger"}'
    """
    return text_of(canonical(value, rules, number))
