"""Machine words from Numba: unaligned eight-byte loads and the bit tricks that find bytes in them.

Buffers are ``uint8`` arrays with at least `PADDING` readable bytes after the last byte of content, so that a load
never leaves the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tracelens.kernels import jit

PADDING = 16

lean, inlined = jit.lean, jit.inlined

LOW_BITS = np.uint64(0x0101010101010101)
HIGH_BITS = np.uint64(0x8080808080808080)


def base_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The address of the first element of an array, or the pointer itself."""
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, builder, value).data
    return value


@intrinsic
def pointer(typing: Any, array: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The address of a contiguous array's first element, to be indexed like the array.

    Helpers that take pointers cost nothing to call: an array brings reference counts and wrap-around along, which
    made scanning four times slower. The array must outlive the pointer.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return base_of(context, builder, signature.args[0], args[0])

    return types.CPointer(array.dtype)(array), codegen


@intrinsic
def load8(typing: Any, buf: Any, at: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The eight bytes at ``buf[at:at + 8]`` as a little-endian ``uint64``, at any alignment."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        place = builder.gep(
            base_of(context, builder, signature.args[0], args[0]), [args[1]], source_etype=ir.IntType(8)
        )
        return builder.load(builder.bitcast(place, word.as_pointer()), align=1, typ=word)

    return types.uint64(buf, types.int64), codegen


@intrinsic
def byte_at(typing: Any, buf: Any, at: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """``buf[at]`` for an index that is never negative, without Numba's check for one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = base_of(context, builder, signature.args[0], args[0])
        return builder.load(builder.gep(base, [args[1]], source_etype=ir.IntType(8)), typ=ir.IntType(8))

    return types.uint8(buf, types.int64), codegen


@intrinsic
def store8(typing: Any, buf: Any, at: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """Write a ``uint64`` as eight little-endian bytes to ``buf[at:at + 8]``, at any alignment."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.gep(
            base_of(context, builder, signature.args[0], args[0]), [args[1]], source_etype=ir.IntType(8)
        )
        builder.store(args[2], builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(buf, types.int64, types.uint64), codegen


@intrinsic
def copy_exactly(typing: Any, source: Any, start: Any, target: Any, at: Any, size: Any) -> Any:  # noqa: ARG001
    """Copy ``source[start:start + size]`` to ``target[at:]``, and touch no other byte."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        step = ir.IntType(8)
        begin = builder.gep(base_of(context, builder, signature.args[0], args[0]), [args[1]], source_etype=step)
        place = builder.gep(base_of(context, builder, signature.args[2], args[2]), [args[3]], source_etype=step)
        cgutils.raw_memcpy(builder, place, begin, args[4], 1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64, types.int64), codegen


@intrinsic
def trailing_zeros(typing: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The number of zero bits below the lowest set bit of a ``uint64`` (64 for zero), as ``int64``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typing: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The number of zero bits above the highest set bit of a ``uint64`` (64 for zero), as ``int64``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        return builder.ctlz(args[0], ir.IntType(1)(0))

    return types.int64(types.uint64), codegen


@intrinsic
def ones(typing: Any, word: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The number of set bits of a ``uint64``, as ``int64``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@inlined
def byte_mask(word: np.uint64, pattern: np.uint64) -> np.uint64:
    """The high bit of each byte of ``word`` that equals the byte repeated in ``pattern``.

    Bits above the lowest hit may be wrong (borrows run upwards); the lowest is always right.
    """
    x = word ^ pattern
    return (x - LOW_BITS) & ~x & HIGH_BITS


@inlined
def equal_bytes(a: Any, i: int, b: Any, j: int, size: int) -> bool:
    """Whether ``size`` bytes at ``a[i]`` and ``b[j]`` are equal; nothing outside them is read."""
    if size < 8:
        for k in range(size):
            if byte_at(a, i + k) != byte_at(b, j + k):
                return False
        return True
    k = 0
    while k < size - 8:
        if load8(a, i + k) != load8(b, j + k):
            return False
        k += 8
    return bool(load8(a, i + size - 8) == load8(b, j + size - 8))
