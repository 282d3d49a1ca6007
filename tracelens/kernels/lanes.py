"""Sixteen bytes at a time: which bytes of a vector are of some class, as bits of a mask.

Bit k of a mask is the byte at ``at + k``. Buffers are padded (`kernels.words`), so that a load at the index behind the
last byte of content stays inside.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tracelens.kernels.words import base_of

LANES = 16
BYTES = ir.VectorType(ir.IntType(8), LANES)


def _splat(byte: int) -> ir.Constant:
    return ir.Constant(BYTES, [byte] * LANES)


def _loaded(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The sixteen bytes that the first two arguments (buffer, index) say."""
    base = base_of(context, builder, signature.args[0], args[0])
    place = builder.gep(base, [args[1]], source_etype=ir.IntType(8))
    return builder.load(builder.bitcast(place, BYTES.as_pointer()), align=1, typ=BYTES)


def _mask(builder: Any, hits: Any) -> Any:
    return builder.zext(builder.bitcast(hits, ir.IntType(LANES)), ir.IntType(64))


@intrinsic
def ends_of_plain(typing: Any, buf: Any, at: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The bytes that end a run of plain characters in a JSON string: quote, backslash, control, not ASCII."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        text = _loaded(context, builder, signature, args)
        marks = [builder.icmp_signed("==", text, _splat(byte)) for byte in (0x22, 0x5C)]
        odd = builder.icmp_signed("<", text, _splat(0x20))  # as signed numbers, bytes above 0x7F are negative
        return _mask(builder, builder.or_(builder.or_(*marks), odd))

    return types.uint64(buf, types.int64), codegen


@intrinsic
def not_digits(typing: Any, buf: Any, at: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The bytes that are no decimal digits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        digit = builder.sub(_loaded(context, builder, signature, args), _splat(0x30))
        return _mask(builder, builder.icmp_unsigned(">", digit, _splat(9)))

    return types.uint64(buf, types.int64), codegen


@intrinsic
def before_values(typing: Any, buf: Any, at: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The commas and opening brackets."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        text = _loaded(context, builder, signature, args)
        bracket = builder.icmp_signed("==", builder.or_(text, _splat(0x20)), _splat(0x7B))
        return _mask(builder, builder.or_(bracket, builder.icmp_signed("==", text, _splat(0x2C))))

    return types.uint64(buf, types.int64), codegen


@intrinsic
def equal_to(typing: Any, buf: Any, at: Any, byte: Any) -> Any:  # noqa: ARG001 - Numba passes the typing context
    """The bytes that equal ``byte``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nothing = ir.Constant(BYTES, ir.Undefined)
        one = builder.insert_element(nothing, args[2], ir.Constant(ir.IntType(32), 0))
        every = builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
        return _mask(builder, builder.icmp_signed("==", _loaded(context, builder, signature, args), every))

    return types.uint64(buf, types.int64, types.uint8), codegen


@intrinsic
def copy_lanes(typing: Any, source: Any, start: Any, target: Any, at: Any) -> Any:  # noqa: ARG001 - as above
    """Copy the sixteen bytes at ``source[start]`` to ``target[at:]``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = base_of(context, builder, signature.args[2], args[2])
        place = builder.gep(base, [args[3]], source_etype=ir.IntType(8))
        builder.store(_loaded(context, builder, signature, args), builder.bitcast(place, BYTES.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), codegen
