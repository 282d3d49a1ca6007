"""Regular expressions of ECMA-262, as JSON Schema asks for them in ``pattern`` and ``patternProperties``.

`compile_pattern` gives a matcher; `automaton.build` gives, where it can, a table that a kernel runs over bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

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
        PatternError: The pattern is none of ECMA-262.

    Example:
        >>> compile_pattern("^[A-Z]{3}$")("SFO"), compile_pattern("^abc$")("abc\n")
        (True, False)
    """
    import regex

    try:
        search = regex.compile(emit(parse(pattern)), regex.VERSION0).search
    except (regex.error, OverflowError, RecursionError) as error:
        raise PatternError(f"the pattern cannot be compiled: {error}") from None
    return lambda text: search(text) is not None
