"""What a safety rule is, and how it is skipped in texts in which it cannot find anything.

A rule has a gate, a regular expression that must be found in a text before anything else is asked, an optional exact
check, and *windows*, small byte patterns (see `looks`) one of which is in every text in which the rule finds something.
Whole columns are held against the windows of all rules; a rule is asked only about texts with one of its own.

Gates and windows allow quotes, commas and brackets where a shell has spaces, so that ``["rm", "-rf"]`` is found like
``rm -rf``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

Span = tuple[int, int]
"""Start and end of a hit in a text, in characters."""

LONGEST_COMMAND = 500
"""Characters between the words of one command, at most."""

Check = Callable[[str, "re.Match[str]"], bool]
"""Whether a match of the gate is a hit; given the text and the match."""

SEP = r"""[\t\n\v\f\r "',\\\[\]()]"""
"""Regular expression: what stands between two words of a command, written in a shell, in JSON or in code."""

GAP = SEP + "+"
"""One separator or more."""

_NO_QUOTE = SEP.replace('"', "")
_GOES_ON = (_NO_QUOTE + r'*"[\t\n\r ]*,[\t\n\r ]*[\[{tfn]',)
_GOES_ON_LOOSE = (*_GOES_ON, _NO_QUOTE + '*"')
_BETWEEN = re.compile(f"{re.escape(SEP)}[+*](?=.)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing a pack looks for.

    Attributes:
        pack: Name of the pack.
        what: What was found, for messages.
        gate: Regular expression without regard to ASCII case; see the module.
        windows: One of them is in every text, or text with JSON escapes undone, in which the rule finds something;
            words of one command stand in one list or in a row (see `spread`).
        check: Further condition on a match of the gate; None where the gate is enough.
        keys: The rule only looks at values whose key is one of a shell.
    """

    pack: str
    what: str
    gate: str
    windows: tuple[str, ...]
    check: Check | None = None
    keys: bool = False

    def compiled(self) -> re.Pattern[str]:
        """The gate for Python, where a command has an end: backtracking over a whole file would take forever."""
        return _compiled(self.gate)


@cache
def _compiled(gate: str) -> re.Pattern[str]:
    return re.compile(gate.replace(".*?", f".{{0,{LONGEST_COMMAND}}}?"), re.IGNORECASE | re.ASCII | re.DOTALL)


def spread(windows: Iterable[str], *, loose: bool = False) -> list[str]:
    """Windows, and those that take their place where something stands between the words of a command.

    Strings of one list are read as one command, whatever else is in the list; in texts that are not valid JSON a string
    between two words is read as an empty one.

    Args:
        windows: Words with ``SEP*`` or ``SEP+`` between them.
        loose: Also for texts that are not valid JSON.

    Example:
        >>> len(spread(["rmtree", f"cmd{GAP}/c"])), len(spread([f"cmd{GAP}/c"], loose=True))
        (3, 3)
    """
    goes_on = _GOES_ON_LOOSE if loose else _GOES_ON
    out = []
    for window in windows:
        out.append(window)
        for between in _BETWEEN.finditer(window):
            out += [window[: between.start()] + end for end in goes_on]
    return list(dict.fromkeys(out))
