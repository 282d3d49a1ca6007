"""Arrays by address, for kernels that call each other a lot and need dozens of arrays.

Passing an array costs seven words and a reference count each time, passing an address costs a register. Whoever
takes an address keeps the array alive until the kernel has returned; nothing here checks a bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from tracelens.kernels.jit import kernel

# Under `_load` and `_store`: how a value lies in memory, and what it becomes.
_BYTE = (ir.IntType(8), types.int64)
_HALF = (ir.IntType(32), types.int64)
_WORD = (ir.IntType(64), types.int64)
_UNSIGNED = (ir.IntType(64), types.uint64)
_DOUBLE = (ir.DoubleType(), types.float64)


def _place(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    """The pointer to element ``index`` of an array of ``kind``."""
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [index])


def _load(kind: Any, result: Any, *, signed: bool = False) -> Any:
    """The signature and code of a load."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        value = builder.load(_place(builder, args[0], args[1], kind), typ=kind)
        if isinstance(kind, ir.IntType) and kind.width < 64:
            extend = builder.sext if signed else builder.zext
            return extend(value, ir.IntType(64))
        return value

    return result(types.int64, types.int64), codegen


@intrinsic
def load_u8(typing: Any, address: Any, index: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """Element ``index`` of a ``uint8`` array, as ``int64``."""
    return _load(*_BYTE)


@intrinsic
def load_i32(typing: Any, address: Any, index: Any) -> Any:  # noqa: ARG001 - as above
    """Element ``index`` of an ``int32`` array, as ``int64``."""
    return _load(*_HALF, signed=True)


@intrinsic
def load_i64(typing: Any, address: Any, index: Any) -> Any:  # noqa: ARG001 - as above
    """Element ``index`` of an ``int64`` array."""
    return _load(*_WORD)


@intrinsic
def load_u64(typing: Any, address: Any, index: Any) -> Any:  # noqa: ARG001 - as above
    """Element ``index`` of a ``uint64`` array."""
    return _load(*_UNSIGNED)


@intrinsic
def load_word(typing: Any, address: Any) -> Any:  # noqa: ARG001 - as above
    """The eight bytes at an address as a little-endian ``uint64``, at any alignment."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        return builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()), align=1, typ=ir.IntType(64))

    return types.uint64(types.int64), codegen


@intrinsic
def load_f64(typing: Any, address: Any, index: Any) -> Any:  # noqa: ARG001 - as above
    """Element ``index`` of a ``float64`` array."""
    return _load(*_DOUBLE)


def _store(kind: Any, value: Any) -> Any:
    """The signature and code of a store."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        number = args[2]
        if isinstance(kind, ir.IntType) and kind.width < 64:
            number = builder.trunc(number, kind)
        builder.store(number, _place(builder, args[0], args[1], kind))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, value), codegen


@intrinsic
def store_u8(typing: Any, address: Any, index: Any, value: Any) -> Any:  # noqa: ARG001 - as above
    """Set element ``index`` of a ``uint8`` array."""
    return _store(*_BYTE)


@intrinsic
def store_i64(typing: Any, address: Any, index: Any, value: Any) -> Any:  # noqa: ARG001 - as above
    """Set element ``index`` of an ``int64`` array."""
    return _store(*_WORD)


@intrinsic
def store_u64(typing: Any, address: Any, index: Any, value: Any) -> Any:  # noqa: ARG001 - as above
    """Set element ``index`` of a ``uint64`` array."""
    return _store(*_UNSIGNED)


@intrinsic
def byte_pointer(typing: Any, address: Any) -> Any:  # noqa: ARG001 - as above
    """An address as a pointer to bytes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001 - fixed by Numba
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.CPointer(types.uint8)(types.int64), codegen


@kernel
def bytes_at(address: int, size: int) -> np.ndarray:
    """The ``uint8`` array of ``size`` bytes at an address, for functions that take arrays."""
    return carray(byte_pointer(address), size)


def address_of(array: np.ndarray) -> int:
    """The address of an array's first element; the array must be contiguous and stay alive."""
    if not array.flags.c_contiguous:
        raise ValueError("only a contiguous array has one address")
    return int(array.ctypes.data)
