"""Text of a suite file: readable TOML with comments."""

from __future__ import annotations

import json
import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def text(value: str) -> str:
    r"""A string in TOML.

    Example:
        >>> print(text('say "hi"'), text(chr(127)))
        "say \"hi\"" "\u007f"
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: str) -> str:
    """A key in TOML, in quotes where it needs them.

    Example:
        >>> key("book_flight"), key("a b")
        ('book_flight', '"a b"')
    """
    return name if _BARE.fullmatch(name) else text(name)


def schema(value: dict[str, Any]) -> str:
    """A JSON Schema as a TOML string: JSON over several lines where that is easier to read.

    Example:
        >>> print(schema({"type": "object"}))
        '{"type": "object"}'
    """
    short = json.dumps(value, ensure_ascii=False)
    long = _pretty(value)
    if "'''" in long or "\x7f" in long:
        return text(short)
    if len(short) <= _WIDTH and "'" not in short:
        return f"'{short}'"
    return f"'''\n{long}'''"


def _pretty(value: Any, indent: str = "") -> str:
    """JSON with an object a line, and a line for what is short."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(short) <= _WIDTH or not isinstance(value, dict) or not value:
        return short
    inner = indent + "  "
    lines = [f"{inner}{json.dumps(name, ensure_ascii=False)}: {_pretty(item, inner)}" for name, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
