"""How kernels are compiled.

Numba counts references to every array a function touches, with atomic instructions and once per branch; around a
comparison of two calls that costs six times the comparison. A function that allocates nothing and returns no array
needs none of it: its caller keeps the arrays alive.

Numba also compiles a function once more for every argument that a caller gives as a constant, or has in a variable
that begins as one, and its inliner then finds the constant anyway. Here ``0`` is an ``int64`` like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types


def _compiler(**options: Any) -> Callable[[Any], Any]:
    """A decorator like `numba.njit`, whose functions take constants for what they are."""

    def decorate(function: Any) -> Any:
        dispatcher = njit(nogil=True, cache=True, **options)(function)
        resolve = dispatcher.get_call_template

        def plainly(args: Any, kws: Any) -> Any:
            return resolve(
                tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
            )

        dispatcher.get_call_template = plainly
        return dispatcher

    return decorate


kernel = _compiler(_nrt=True)
"""Decorator of functions that allocate arrays, or call one that does."""

lean = _compiler(_nrt=False)
"""Decorator of functions that neither allocate nor return arrays."""

inlined = _compiler(_nrt=False, forceinline=True)
"""`lean` for small steps, whose calls would cost more than their work."""
