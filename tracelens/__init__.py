"""TraceLens scores traces of tool-using agents.

The public verbs live here; everything else is reached through them. Importing this package stays cheap: what is heavy
(engine, charts, terminal output, databases) is imported when it is used.

Example:
    >>> import tracelens as tl
    >>> tl.Suite.from_dict({"name": "flights"}).name
    'flights'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracelens.version import __version__

if TYPE_CHECKING:
    from tracelens import dialects, errors, expr, metrics
    from tracelens.results import Results, open_results, score
    from tracelens.store import connect
    from tracelens.suite import Suite

__all__ = [
    "Results",
    "Suite",
    "__version__",
    "connect",
    "dialects",
    "errors",
    "expr",
    "metrics",
    "open_results",
    "score",
]

_HOMES = {
    "Results": "tracelens.results",
    "Suite": "tracelens.suite",
    "connect": "tracelens.store",
    "open_results": "tracelens.results",
    "score": "tracelens.results",
}
_MODULES = ("dialects", "errors", "expr", "metrics")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"tracelens.{name}")
    else:
        raise AttributeError(f"module 'tracelens' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
