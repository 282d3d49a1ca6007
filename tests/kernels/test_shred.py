"""The shredder holds against two parsers: it accepts what orjson accepts, and has the values json.loads has."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens import columns
from tracelens.groups import offsets_of
from tracelens.kernels import scan
from tracelens.kernels.shred import MAX_DEPTH, Shredded, Tape, shred

REAL = (
    b'{"origin":"SFO","date":"2026-11-02","passengers":[{"name":"Zo\xc3\xab \\"Z\\" Li","age":31}],"max":1.50e2}',
    b'{"path":"C:\\\\tmp\\\\a.txt","tags":[],"opt":{},"ok":true,"no":false,"nil":null,"n":-0.0,"big":9007199254740993}',
    b' {"a":{"a":{"a":[1,[2,[3]]]}},"\\u0061":1,"a":"\\ud83d\\ude00 \xf0\x9f\x98\x80"}\n',
    b'["\\n\\t\\/",0,-1,1E+2,"",[{}]]',
)


def shredded(texts: list[bytes]) -> tuple[Any, Shredded]:
    packed = columns.texts([])
    lengths = np.array([len(text) for text in texts], np.int64)
    offsets = offsets_of(lengths)
    data = columns.padded(b"".join(texts))
    assert len(packed) == 0
    return data, shred(data, offsets[:-1], offsets[1:])


def value(data: Any, tape: Tape, entry: int) -> Any:
    """The Python value of a tape entry, and on the way that the links of the tape are right."""
    kind, raw = tape.kind[entry], data[tape.start[entry] : tape.end[entry]].tobytes()
    if kind == scan.STRING:
        return json.loads(b'"' + raw + b'"')
    if kind < scan.OBJECT:
        return json.loads(raw, parse_float=Decimal)
    members, child = [], entry + 1
    while child < tape.next[entry]:
        assert tape.parent[child] == entry
        if not tape.flags[child] & scan.DEAD:
            members.append(child)
        child = int(tape.next[child])
    assert len(members) == tape.size[entry]
    if kind == scan.ARRAY:
        assert [tape.index[child] for child in members] == list(range(len(members)))
        return [value(data, tape, child) for child in members]
    keys = [json.loads(b'"' + data[tape.key_start[c] : tape.key_end[c]].tobytes() + b'"') for c in members]
    return {key: value(data, tape, child) for key, child in zip(keys, members, strict=True)}


def beyond(text: bytes) -> bool:
    """Whether orjson may refuse a text for the range of a number or its depth alone."""
    return b"e" in text.lower() or len(text) > 300 or text.count(b"[") + text.count(b"{") > MAX_DEPTH


def check(texts: list[bytes]) -> int:
    data, found = shredded(texts)
    good = 0
    for i, text in enumerate(texts):
        try:
            orjson.loads(text)
            accepted = True
        except orjson.JSONDecodeError:
            accepted = False
        if not beyond(text):
            assert (found.error[i] == 0) == accepted, text
        first, stop = int(found.tape.first[i]), int(found.tape.first[i + 1])
        assert (stop > first) == (found.error[i] == 0)
        if found.error[i] == 0:
            good += 1
            assert value(data, found.tape, first) == json.loads(text, parse_float=Decimal), text
    return good


def mutated(rng: random.Random, text: bytes) -> bytes:
    """A text with a few bytes changed, lost or put in."""
    out = bytearray(text)
    alphabet = b'{}[]",:\\ud8Dc0123456789eE+-. tfnul\x00\x1f\xff\xc3\xa9\xe0\xed\xf0\x9f'
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(out) + 1)
        draw = rng.random()
        if draw < 0.4 and at < len(out):
            out[at] = rng.choice(alphabet)
        elif draw < 0.7 and at < len(out):
            del out[at]
        else:
            out.insert(at, rng.choice(alphabet))
    return bytes(out)


def test_mutations_of_real_arguments() -> None:
    rng = random.Random(7)
    texts = [mutated(rng, rng.choice(REAL)) for _ in range(20_000)]
    good = check(texts)
    assert 4_000 < good < 16_000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.lists(st.binary(max_size=24) | JSON.map(lambda v: json.dumps(v).encode("utf-8", "surrogatepass")), max_size=8)
)
@settings(max_examples=150, deadline=None)
def test_any_bytes(texts: list[bytes]) -> None:
    check(texts)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=80))
@settings(max_examples=80, deadline=None)
def test_the_last_of_equal_keys_counts(members: list[tuple[str, int]]) -> None:
    keys = {"a": '"a"', "b": '"\\u0062"', "c": '"c"'}
    text = "{" + ",".join(f"{keys[name]}:{number}" for name, number in members) + "}"
    data, found = shredded([text.encode()])
    assert value(data, found.tape, 0) == json.loads(text)
    assert found.duplicates[0] == (len(dict(members)) < len(members))


@pytest.mark.parametrize("opener", ["[", '{"a":'])
def test_depth_is_limited(opener: str) -> None:
    closer = "]" if opener == "[" else "}"
    fits = (opener * MAX_DEPTH + "1" + closer * MAX_DEPTH).encode()
    deeper = (opener * (MAX_DEPTH + 1) + "1" + closer * (MAX_DEPTH + 1)).encode()
    _, found = shredded([fits, deeper, opener.encode() * 100_000])
    assert found.error.tolist() == [0, scan.E_DEPTH, scan.E_DEPTH]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b'{"a":1', scan.E_END),
        (b'{"a":1}{"b":2}', scan.E_TRAILING),
        (b'{"a":NaN}', scan.E_NAN),
        (b'{"a":-Infinity}', scan.E_NAN),
        (b'"\\ud800"', scan.E_SURROGATE),
        (b'"\\udc00"', scan.E_SURROGATE),
        (b"{'a':1}", scan.E_CHAR),
        (b'{"a":1,}', scan.E_CHAR),
        (b'{"a":01}', scan.E_NUMBER),
        (b'"\xff"', scan.E_UTF8),
        (b'"a\nb"', scan.E_CONTROL),
        (b'"\\x"', scan.E_ESCAPE),
        (b"", scan.E_EMPTY),
        (b" \n", scan.E_EMPTY),
    ],
)
def test_errors_have_a_code(text: bytes, code: int) -> None:
    _, found = shredded([text, b"{}"])
    assert found.error.tolist() == [code, 0]


@pytest.mark.parametrize(
    "number",
    [
        "1e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "9" * 308,
        "9" * 309,
        "0.0000179769313486231580793728971405e313",
        "-1e309",
        "1e-400",
        str(2**1024 - 2**970),
        str(2**1024 - 2**970 - 1),
    ],
)
def test_numbers_beyond_a_double_are_flagged(number: str) -> None:
    _, found = shredded([number.encode()])
    infinite = float(number) in {float("inf"), float("-inf")}
    assert bool(found.tape.flags[0] & scan.OUT_OF_RANGE) == infinite


def test_many_members_with_equal_keys() -> None:
    text = "{" + ",".join(f'"k{i % 700}":{i}' for i in range(2_000)) + "}"
    data, found = shredded([text.encode()])
    assert value(data, found.tape, 0) == json.loads(text)
