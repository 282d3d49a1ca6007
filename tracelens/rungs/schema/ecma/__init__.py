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
from tracelens.rungs.schema.ecma.syntax import PatternError

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
    import regex

    try:
        node = parse(pattern)
        search = regex.compile(emit(node), regex.VERSION0).search
        return Pattern(to_tree(node), lambda text: _span(search(text))).found
    except (regex.error, OverflowError, RecursionError) as error:
        raise PatternError(f"the pattern cannot be compiled: {error}") from None
    except PatternFault as error:
        raise PatternError(f"the pattern {error}") from None


def _span(found: Any) -> tuple[int, int] | None:
    return None if found is None else found.span()
