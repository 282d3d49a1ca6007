"""How a library reads the arguments of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Text = Literal["refuses", "parses", "keeps"]
"""What a library does with arguments that are JSON text where an object is meant."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a library reads the arguments of a call.

    Attributes:
        text: What it does with text.
        complaint: What it says where it refuses arguments that are no object.
        broken_complaint: What it says where it refuses text that is no JSON; what Python says, where this is empty.
        broken: What it makes of text that is no JSON: ``refuses``, ``keeps`` it as a string, or ``fails`` the call.
        absent: Whether a call without arguments is another thing than one with none.
        others: What it makes of arguments that are JSON but no object: ``keeps`` them, takes them for ``none``,
            ``refuses``, or keeps them but takes ``0``, ``""``, ``[]``, ``false`` and ``null`` for none (``empties``).
    """

    text: Text
    complaint: str = ""
    broken: Literal["refuses", "keeps", "fails"] = "refuses"
    broken_complaint: str = ""
    absent: bool = False
    others: Literal["keeps", "none", "refuses", "empties"] = "keeps"
