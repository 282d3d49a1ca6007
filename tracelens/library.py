"""Importing ``jsonschema`` without what it hardly ever needs.

Its format checkers import ``rfc3987_syntax``, which builds a grammar for seconds as soon as it is imported. Only the
formats ``iri`` and ``iri-reference`` use it, so it is imported when one of them is first checked.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
import types
from typing import Any

_SLOW = "rfc3987_syntax"
_LOCK = threading.Lock()


def load() -> Any:
    """The module ``jsonschema``.

    Example:
        >>> load().__name__
        'jsonschema'
    """
    with _LOCK:
        if {"jsonschema", _SLOW} & sys.modules.keys() or importlib.util.find_spec(_SLOW) is None:
            return importlib.import_module("jsonschema")
        stand_in = types.ModuleType(_SLOW)
        stand_in.is_valid_syntax = _is_valid_syntax  # type: ignore[attr-defined] # it stands in for the module's function
        sys.modules[_SLOW] = stand_in
        try:
            return importlib.import_module("jsonschema")
        finally:
            # Whoever else asks for the module gets the real one.
            del sys.modules[_SLOW]


def _is_valid_syntax(term: str, value: str) -> Any:
    """What the library calls for the formats that need the grammar."""
    return importlib.import_module(_SLOW).is_valid_syntax(term, value)
