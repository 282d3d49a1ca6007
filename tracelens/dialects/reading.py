"""How a library reads the arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Text = Literal["refuses", "parses", "keeps"]
"""What a library does with arguments that are JSON text where an object is meant."""

Missing = Literal["none", "null", "apart", "fails"]
"""What a library takes a call without arguments for: one with none; one with null; one that equals only its like; or one
whose arguments match nothing."""


class Apart:
    """Arguments that equal no others."""


NOT_GIVEN: Final = Apart()
"""In place of the arguments of a call that has none, where these equal only their like."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a library reads the arguments of a call.

    Attributes:
        text: What it does with text.
        complaint: What it says where it refuses arguments that are no object.
        broken_complaint: What it says where it refuses text that is no JSON; what Python says, where this is empty.
        broken: What it makes of text that is no JSON: ``refuses``, ``keeps`` it as a string, or ``fails`` the call.
        missing: What it takes a call without arguments for. Where a library's own type of call cannot be without,
            they are taken for none.
        null: What it makes of null for arguments: ``refuses`` with its complaint, ``keeps`` it as a value that equals
            no object, or takes it for ``none``.
        others: What it makes of arguments that are JSON but no object: ``keeps`` them, takes them for ``none``,
            ``refuses``, or keeps them but takes ``0``, ``""``, ``[]``, ``false`` and ``null`` for none (``empties``).
        named_by: Keys that lead to the tool's name within the arguments of a call made, where they have it; none
            where only the call has a name.
        whole_entries: Whether, where only names are compared, a call within OpenAI's ``function`` goes by the text of
            the whole entry.
    """

    text: Text
    complaint: str = ""
    broken: Literal["refuses", "keeps", "fails"] = "refuses"
    broken_complaint: str = ""
    missing: Missing = "none"
    null: Literal["refuses", "keeps", "none"] = "keeps"
    others: Literal["keeps", "none", "refuses", "empties"] = "keeps"
    named_by: tuple[str, ...] = ()
    whole_entries: bool = False
