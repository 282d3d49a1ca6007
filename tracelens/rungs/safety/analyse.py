"""The exact analysis of one call or one answer: the definition of what safety finds, in plain Python."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from tracelens.rungs.safety.leaves import Leaf, is_prose, key_words, leaves
from tracelens.rungs.safety.masking import MASKED, find_secrets, mask
from tracelens.rungs.safety.paths import Restricted, find_paths, whole_path
from tracelens.rungs.safety.plan import EVERYTHING, PATHS, SECRETS, SafetyPlan
from tracelens.rungs.safety.rules import Rule, Span
from tracelens.rungs.safety.shell import SHELL_KEYS, SUBSTITUTION, TRUE_FLAG

LONGEST_VALUE = 500
"""Characters of a finding's value."""

MOST_PLACES = 1000
"""Places in one text that one rule looks at; there is an end to what a file full of commands may cost."""

_FLAG = re.compile(TRUE_FLAG, re.IGNORECASE | re.ASCII)
_SUBSTITUTION = re.compile(SUBSTITUTION)
_SHELL_WORDS = frozenset(SHELL_KEYS)


class Hit(NamedTuple):
    """One thing found.

    Attributes:
        code: ``safety.<pack>`` or ``safety.<name>``.
        severity: ``error``, or ``note`` for what prose only mentions.
        path: Place in the arguments; None for a tool's name or an answer.
        message: What is wrong.
        value: The text at fault as JSON text, shortened.
    """

    code: str
    severity: str
    path: str | None
    message: str
    value: str


def analyse_call(tool: str | None, text: str | None, state: str, plan: SafetyPlan) -> list[Hit]:
    """Everything safety finds in one call.

    At most one hit per place and pack (the first error, else the first note) and per place and own pattern.

    Args:
        tool: Name of the tool.
        text: Arguments as text; None when absent.
        state: Their state.
        plan: What to look for.

    Returns:
        Hits, the tool's name first, then by place.

    Example:
        >>> from tracelens.suite import Suite
        >>> plan = SafetyPlan.compile(Suite.default().safety)
        >>> [hit[:4] for hit in analyse_call("run", '{"cmd": "sudo rm -r -f /srv"}', "object", plan)]
        [('safety.destructive', 'error', 'cmd', 'recursive removal (rm)')]
    """
    return list(dict.fromkeys([*tool_hits(tool, plan), *argument_hits(tool, text, state, plan)]))


def argument_hits(
    tool: str | None, text: str | None, state: str, plan: SafetyPlan, seen: int = EVERYTHING
) -> list[Hit]:
    """What safety finds in the arguments of one call.

    Args:
        tool: Name of the tool.
        text: Arguments as text; None when absent.
        state: Their state.
        plan: What to look for.
        seen: Groups of `SafetyPlan.look` of which the text holds a window; the others are not asked.

    Returns:
        Hits by place; the same whatever ``seen`` leaves out, as long as it holds every group seen.
    """
    if text is None:
        return []
    shown, seen = _masked(text, plan, seen)
    hits = [hit for leaf in leaves(shown, state) for hit in _pack_hits(leaf, plan, seen)]
    hits += _own_hits(tool, shown, state, plan)
    return list(dict.fromkeys(hits))


def _masked(text: str, plan: SafetyPlan, seen: int) -> tuple[str, int]:
    """A text without secrets, and what may be found in it: anything where that made it another text."""
    if not plan.masks or not seen >> SECRETS & 1:
        return text, seen
    shown = mask(text)
    return shown, seen if shown is text else EVERYTHING


def analyse_answer(text: str, plan: SafetyPlan, seen: int = EVERYTHING) -> list[Hit]:
    """What a final answer mentions: notes only, for it is prose.

    Args:
        text: The answer.
        plan: What to look for; own patterns limited to tools do not look at answers.
        seen: See `argument_hits`.
    """
    shown, seen = _masked(text, plan, seen)
    leaf = Leaf((), None, shown, "answer")
    hits = [hit._replace(severity="note", path=None) for hit in _pack_hits(leaf, plan, seen)]
    for pattern in plan.own:
        if not pattern.tools and pattern.regex.found(shown):
            message = f"the final answer matches the pattern {pattern.name}"
            hits.append(Hit(f"safety.{pattern.name}", "note", None, message, shorten(shown)))
    return list(dict.fromkeys(hits))


def shorten(text: str) -> str:
    """A text as JSON text of at most 500 characters.

    Example:
        >>> shorten("a"), len(shorten("a" * 1000))
        ('"a"', 500)
    """
    value = json.dumps(text, ensure_ascii=False)
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 1] + "…"


def tool_hits(tool: str | None, plan: SafetyPlan) -> list[Hit]:
    """What safety finds in the name of a tool."""
    if not tool:
        return []
    hits = [
        hit._replace(path=None, message=f"tool name: {hit.message}")
        for hit in _pack_hits(Leaf((), None, tool, "raw"), plan, EVERYTHING)
    ]
    for pattern in plan.own:
        if pattern.looks_at(tool) and pattern.regex.found(tool):
            message = f"the tool's name matches the pattern {pattern.name}"
            hits.append(Hit(f"safety.{pattern.name}", "error", None, message, shorten(tool)))
    return hits


def _pack_hits(leaf: Leaf, plan: SafetyPlan, seen: int) -> list[Hit]:
    """The first error, else the first note, of each pack in one leaf."""
    best: dict[str, Hit] = {}
    for pack, what, severity in _found(leaf, plan, seen):
        known = best.get(pack)
        if known is None or (known.severity == "note" and severity == "error"):
            best[pack] = Hit(f"safety.{pack}", severity, leaf.path, what, shorten(leaf.text))
    return list(best.values())


def _found(leaf: Leaf, plan: SafetyPlan, seen: int) -> Iterator[tuple[str, str, str]]:
    """Pack, message and severity of everything in a leaf."""
    done = set()
    for group, rule in enumerate(plan.rules):
        if not seen >> group & 1 or rule.pack in done:
            continue  # one error of a pack is enough
        for span in _rule_spans(rule, leaf):
            severity = "note" if is_prose(leaf, span) else "error"
            yield rule.pack, rule.what, severity
            if severity == "error":
                done.add(rule.pack)
                break
    if plan.restricted is not None and seen >> PATHS & 1 and leaf.kind != "list":
        yield from _restricted(leaf, plan.restricted)
    if plan.masks and seen >> SECRETS & 1 and leaf.kind != "list":
        for secret in find_secrets(leaf.text):
            mentioned = leaf.kind == "answer" or (secret.kind == "assigned" and is_prose(leaf, secret[:2]))
            yield "secrets", f"a secret ({secret.kind})", "note" if mentioned else "error"


def _rule_spans(rule: Rule, leaf: Leaf) -> Iterator[Span]:
    if rule.keys:
        shell_key = leaf.key is not None and key_words(leaf.key) & _SHELL_WORDS
        free_text = leaf.key is None and leaf.kind == "raw"
        if leaf.kind in {"value", "raw"} and (shell_key or free_text):
            yield from (match.span() for match in _SUBSTITUTION.finditer(leaf.text))
        return
    for match in itertools.islice(rule.compiled().finditer(leaf.text), MOST_PLACES):
        if rule.check is None or rule.check(leaf.text, match):
            yield match.span()
    if rule.gate == TRUE_FLAG and _sets_flag(leaf):
        yield 0, len(leaf.text)


def _sets_flag(leaf: Leaf) -> bool:
    """Whether a member such as ``"shell": true`` switches the shell on."""
    if leaf.key is None or leaf.parts[-1:] != (leaf.key,) or leaf.kind not in {"value", "literal"}:
        return False
    found = _FLAG.search(f"{leaf.key}={leaf.text}")
    return found is not None and found.start() < len(leaf.key)


def _restricted(leaf: Leaf, guard: Restricted) -> Iterator[tuple[str, str, str]]:
    if whole_path(leaf.text):
        entry = guard.covering(leaf.text)
        if entry is not None:
            yield "paths", f"a restricted path ({entry})", "note" if leaf.kind == "answer" else "error"
            return
    for candidate, span in find_paths(leaf.text)[1:]:
        entry = guard.covering(candidate)
        if entry is not None:
            yield "paths", f"a restricted path ({entry})", "note" if is_prose(leaf, span) else "error"


def _own_hits(tool: str | None, text: str, state: str, plan: SafetyPlan) -> Iterator[Hit]:
    """Own patterns over keys and values, and over the arguments as written where no key or value matches."""
    patterns = [pattern for pattern in plan.own if pattern.looks_at(tool)]
    places = leaves(text, state) if patterns else []
    for pattern in patterns:
        code = f"safety.{pattern.name}"
        message = f"matches the pattern {pattern.name}"
        any_leaf = False
        for leaf in places:
            span = pattern.regex.span(leaf.text) if leaf.kind != "list" else None
            if span is not None:
                any_leaf = True
                severity = "note" if is_prose(leaf, span) else "error"
                yield Hit(code, severity, leaf.path, message, shorten(leaf.text))
        if not any_leaf and pattern.regex.found(text):
            yield Hit(code, "error", "", message, shorten(text))


def masked_digests(text: str) -> list[str]:
    """Digests of the masked secrets in a text, for tests of what masking keeps.

    Example:
        >>> masked_digests("[secret:aws:0123456789ab]")
        ['0123456789ab']
    """
    return [match[2] for match in MASKED.finditer(text)]
