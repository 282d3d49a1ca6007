"""Thrift's compact protocol, as far as the headers and the footer of a Parquet file need it: writing structures.

A structure is made of `Field` values in the order of their numbers; its bytes go into another one as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_TRUE, _FALSE, _BYTE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 3, 5, 6, 8, 9, 12

Field = tuple[int, int, bytes]
"""Number, type and content of a field."""


_SMALL = [bytes([value]) for value in range(128)]


def varint(value: int) -> bytes:
    """An unsigned number, seven bits a byte, low bits first.

    Example:
        >>> varint(300).hex()
        'ac02'
    """
    if value < 128:
        return _SMALL[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def i32(number: int, value: int) -> Field:
    r"""A field with a signed number of 32 bits.

    Example:
        >>> i32(1, -1)
        (1, 5, b'\x01')
    """
    return number, _I32, _zigzag(value)


def i64(number: int, value: int) -> Field:
    """A field with a signed number of 64 bits."""
    return number, _I64, _zigzag(value)


def text(number: int, value: str | bytes) -> Field:
    """A field with a text or bytes."""
    return number, _BINARY, _text(value)


def truth(number: int, *, value: bool) -> Field:
    """A field with a truth value, which its type says."""
    return number, _TRUE if value else _FALSE, b""


def byte(number: int, value: int) -> Field:
    """A field with a number of one byte."""
    return number, _BYTE, bytes([value & 255])


def inside(number: int, value: bytes) -> Field:
    """A field with a structure."""
    return number, _STRUCT, value


def many(number: int, values: Sequence[bytes]) -> Field:
    """A field with a list of structures."""
    return number, _LIST, _list(_STRUCT, values)


def texts(number: int, values: Sequence[str]) -> Field:
    """A field with a list of texts."""
    return number, _LIST, _list(_BINARY, [_text(each) for each in values])


def i32s(number: int, values: Sequence[int]) -> Field:
    """A field with a list of signed numbers of 32 bits."""
    return number, _LIST, _list(_I32, [_zigzag(each) for each in values])


def struct(fields: Iterable[Field]) -> bytes:
    """A structure.

    Args:
        fields: In ascending order of their numbers; a number is at most 15 above the one before.

    Example:
        >>> struct([i32(1, 3), text(4, "ab")]).hex()
        '15063802616200'
    """
    out, before = [], 0
    for number, kind, content in fields:
        out += [bytes([number - before << 4 | kind]), content]
        before = number
    return b"".join([*out, b"\0"])


def _zigzag(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(len(data)) + data


def _list(kind: int, values: Sequence[bytes]) -> bytes:
    n = len(values)
    head = bytes([n << 4 | kind]) if n < 15 else bytes([0xF0 | kind]) + varint(n)
    return head + b"".join(values)
