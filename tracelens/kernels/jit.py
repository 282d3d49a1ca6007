"""How kernels are compiled.

Numba makes of every function a library of its own: optimised with all that it calls, turned into machine code, wrapped
for Python and written to the cache, and then optimised again within each of its callers. Kernels are many small
functions that only other kernels call, so most of that is for nothing. Here a function that another kernel calls is a
*part*: no more than intermediate code. What Python calls is a *whole*: it takes its parts in, each once, and only the
whole is optimised, wrapped and cached. That takes a third of the time. Nothing is compiled, and no part of the
compiler loaded, before the first call.

Numba also counts references to every array a function touches, with atomic instructions and once per branch; around a
comparison of two calls that costs six times the comparison. A function that allocates nothing and returns no array
needs none of it: its caller keeps the arrays alive.

And it compiles a function once more for every argument that a caller gives as a constant, or has in a variable that
begins as one, and its inliner then finds the constant anyway. Here ``0`` is an ``int64`` like any other.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

_MAKING = threading.RLock()


class Kernel:
    """A function that is compiled when Python first calls it, and within every kernel that calls it.

    Attributes:
        py_func: The function itself.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        """What to compile, and Numba's options for it."""
        functools.update_wrapper(self, function)
        self.py_func, self._options = function, options
        self._made: dict[str, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """Run the compiled function."""
        try:
            return self._made["whole"](*args)
        except KeyError:
            return self._make("whole")(*args)

    def compile(self, types: tuple[Any, ...]) -> None:
        """Compile for arguments of some types, or find that in the cache."""
        (self._made.get("whole") or self._make("whole")).compile(types)

    def is_cached(self, types: tuple[Any, ...]) -> bool:
        """Whether the cache has it for arguments of some types; also where there can be no cache."""
        from tracelens.kernels import link

        return link.is_cached(self._made.get("whole") or self._make("whole"), types)

    @property
    def _numba_type_(self) -> Any:
        """What a kernel that names this one has to call."""
        return (self._made.get("part") or self._make("part"))._numba_type_

    def _make(self, role: str) -> Any:
        from tracelens.kernels import link

        with _MAKING:
            if role not in self._made:
                self._made[role] = getattr(link, role)(self.py_func, self._options)
            return self._made[role]


def _compiler(**options: Any) -> Callable[[Any], Any]:
    """A decorator that makes kernels."""

    def decorate(function: Any) -> Any:
        return Kernel(function, options)

    return decorate


kernel = _compiler(_nrt=True)
"""Decorator of functions that allocate arrays, or call one that does."""

lean = _compiler(_nrt=False)
"""Decorator of functions that neither allocate nor return arrays."""

inlined = _compiler(_nrt=False, forceinline=True)
"""`lean` for small steps, whose calls would cost more than their work."""
