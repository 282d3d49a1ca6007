"""Regular expressions of ECMA-262, as JSON Schema asks for them in ``pattern`` and ``patternProperties``.

`compile_pattern` gives a matcher; `automaton.build` gives, where it can, a table that a kernel runs over bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tracelens.kernels.reference.patterns import Pattern, PatternFault
from tracelens.rungs.schema.ecma.bounded import to_tree
from tracelens.rungs.schema.ecma.emit import emit
from tracelens.rungs.schema.ecma.parse import parse
from tracelens.rungs.schema.ecma.syntax import (
    Char,
    CharSet,
    Choice,
    Edge,
    Group,
    Node,
    PatternError,
    Repeat,
    Sequence,
)

__all__ = ["PatternError", "compile_pattern"]


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Callable[[str], bool]:
    r"""A function that says whether a pattern is found in a text.

    Args:
        pattern: A regular expression of ECMA-262, read in unicode mode: texts are code points, ``\d``, ``\w`` and
            ``\b`` are ASCII, ``$`` is the very end.

    Returns:
        ``found(text) -> bool``.

    Raises:
        PatternError: The pattern is none of ECMA-262, or a search could take forever.

    Example:
        >>> compile_pattern("^[A-Z]{3}$")("SFO"), compile_pattern("^abc$")("abc\n")
        (True, False)
    """
    try:
        node = parse(pattern)
        search = _Search(node)
        if _may_fail(node):
            search.compiled()
        return Pattern(to_tree(node), search).found
    except (PatternError, PatternFault) as error:
        raise error if isinstance(error, PatternError) else PatternError(f"the pattern {error}") from None


class _Search:
    """Where the ``regex`` library finds a pattern; it compiles slowly, so it does when it is first asked."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._compiled: Any = None

    def compiled(self) -> Any:
        """The compiled pattern.

        Raises:
            PatternError: The library refuses it.
        """
        if self._compiled is None:
            import regex

            try:
                self._compiled = regex.compile(emit(self._node), regex.VERSION0)
            except (regex.error, OverflowError, RecursionError) as error:
                raise PatternError(f"the pattern cannot be compiled: {error}") from None
        return self._compiled

    def __call__(self, text: str) -> tuple[int, int] | None:
        found = self.compiled().search(text)
        return None if found is None else found.span()


def _may_fail(node: Node) -> bool:
    """Whether the library may refuse what the parser let pass: sets, choices and repetitions it always takes."""
    match node:
        case Char() | Edge():
            return False
        case CharSet():
            return bool(node.properties)
        case Sequence(parts):
            return any(map(_may_fail, parts))
        case Choice(options):
            return any(map(_may_fail, options))
        case Repeat(part) | Group(part):
            return _may_fail(part)
        case _:
            return True
