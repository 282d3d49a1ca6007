"""Wholes and parts for Numba's compiler: see `jit`.

Numba reads this module, and so do programs that compile; those that only run what is compiled need it too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.core import typed_passes, untyped_passes
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager

_NEEDLESS = frozenset(
    {
        untyped_passes.InlineClosureLikes,
        untyped_passes.DeadBranchPrune,
        typed_passes.InlineOverloads,
        typed_passes.NopythonRewrites,
    }
)
"""Passes for closures, branches on None and expressions of whole arrays: kernels have none of these.

The one called legalization is needed: it ends the lives of variables, and with them of the arrays that they hold.
"""


class _Whole(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """A function with all its parts."""

    def add_linking_library(self, library: Any) -> None:
        """Take in another function, and all that it calls, each once."""
        for each in (library, *getattr(library, "parts", ())):
            if each not in self._linking_libraries:
                super().add_linking_library(each)


class _Part(_Whole):
    """The intermediate code of a function, and the names of the functions that it calls."""

    @property
    def parts(self) -> list[Any]:
        """The functions that it calls, and those that these call."""
        return self._linking_libraries

    @property
    def codegen(self) -> Any:
        """The code generator; a part runs nowhere, so it has no environment."""
        return _Nowhere(self._codegen)

    def finalize(self) -> None:
        """Leave everything to the whole."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No address: there is no machine code."""
        del name
        return 0


class _Nowhere:
    """A code generator that keeps no environments."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to do."""


def _pipeline(library: type[JITCodeLibrary]) -> type[Compiler]:
    """Numba's compiler, with another kind of library."""

    class Linked(Compiler):  # type: ignore[misc]  # Numba has no types
        def define_pipelines(self) -> Any:
            state = self.state
            if state.library is None:
                state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
                state.library.enable_object_caching()
            return [_without_needless(manager) for manager in super().define_pipelines()]

    return Linked


def _without_needless(manager: PassManager) -> PassManager:
    """The passes that kernels need."""
    slim = PassManager(manager.pipeline_name)
    for each, description in manager.passes:
        if each not in _NEEDLESS:
            slim.add_pass(each, description)
    slim.finalize()
    return slim


_WHOLE, _PART = _pipeline(_Whole), _pipeline(_Part)


def whole(function: Any, options: dict[str, Any]) -> Any:
    """What Python calls: compiled with all its parts, and cached where that is possible."""
    made = _plain(njit(nogil=True, pipeline_class=_WHOLE, no_cfunc_wrapper=True, **options)(function))
    with contextlib.suppress(RuntimeError):  # neither the folder of the module nor the user's can be written
        made.enable_caching()
        made._cache._cache_file._source_stamp = _sources()  # noqa: SLF001 - Numba has no other way to say it
    return made


@functools.cache
def _sources() -> str:
    """What the cache compares to know whether its code is still that of the sources.

    Numba would look at the file of the function alone; a whole is made of functions of many files.
    """
    files = [file.stat() for file in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(repr([(file.st_mtime_ns, file.st_size) for file in files]).encode()).hexdigest()


def is_cached(dispatcher: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether the cache of a whole has it for some types; also where it has no cache, or there is none."""
    cache = dispatcher._cache  # noqa: SLF001 - Numba has no other way to ask
    if isinstance(cache, NullCache):
        return True
    dispatcher.targetctx.refresh()
    key = cache._index_key(kinds, dispatcher.targetctx.codegen())  # noqa: SLF001
    return key in cache._cache_file._load_index()  # noqa: SLF001


def part(function: Any, options: dict[str, Any]) -> Any:
    """What other kernels call."""
    bare = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}
    return _plain(njit(nogil=True, pipeline_class=_PART, **bare, **options)(function))


def _plain(dispatcher: Any) -> Any:
    """A dispatcher that takes constants for what they are."""
    resolve = dispatcher.get_call_template

    def plainly(args: Any, kws: Any) -> Any:
        return resolve(tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()})

    dispatcher.get_call_template = plainly
    return dispatcher
