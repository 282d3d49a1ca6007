"""The projection against `json.loads` and a plain-Python walk; accept and reject against orjson."""

import json
import random
import re

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.columns import padded, texts
from tracelens.errors import InternalError
from tracelens.kernels.records import split_lines
from tracelens.projection import ANYTHING, NULL, OBJECT, STRING, Projection, Row, reason, run
from tracelens.projection.declare import steps_of

NESTED = Row(
    "line",
    capture={"id": "id", "deep": "a.b", "dotted": '"x.y"', "all": "calls", "long": "a_rather_long_key"},
    rows=[
        Row(
            "call",
            "calls[*]",
            capture={"name": "name", "args": "args", "inner": "args.k"},
            rows=[Row("part", "parts[*]", capture={"t": "t"})],
        ),
        Row("message", ("messages[*]", "[*]"), capture={"role": "role"}),
        Row("list", "lists[*]", rows=[Row("item", "[*]", capture={"n": "n"})]),
        Row("attribute", "attributes.*", capture={"v": "v"}),
    ],
)
PROJECTION = Projection(NESTED)


def project(records):
    data = b"\n".join(records)
    buffer = padded(data)
    starts, ends = np.empty(len(records) + 1, np.int64), np.empty(len(records) + 1, np.int64)
    n = split_lines(buffer, 0, len(data), starts, ends)
    return run(PROJECTION, buffer, starts[:n], ends[:n])


def walked(value, row, tables, parent, key=None):
    """The reference: rows of a declaration in a value that `json.loads` read."""
    number = len(tables[row.name])
    cells = {"@": value, "@key": key}
    tables[row.name].append((parent, cells))
    for column, path in row.capture.items():
        for _, found in reached(value, steps_of(path)):
            cells[column] = found
    for inner in row.rows:
        for path in [inner.at] if isinstance(inner.at, str) else inner.at:
            for name, found in reached(value, steps_of(path)):
                walked(found, inner, tables, number, name)
    return tables


def reached(value, steps, key=None):
    if not steps:
        yield key, value
    elif steps[0] == "[*]":
        for item in value if isinstance(value, list) else ():
            yield from reached(item, steps[1:])
    elif steps[0] == ".*":
        for name, item in value.items() if isinstance(value, dict) else ():
            yield from reached(item, steps[1:], name)
    elif isinstance(value, dict) and steps[0][1:] in value:
        yield from reached(value[steps[0][1:]], steps[1:])


def names_of(row):
    return [row.name, *(name for inner in row.rows for name in names_of(inner))]


def seen(projected):
    """The tables of a projection as the reference gives them, with values read back from their text."""
    out = {}
    for name, found in projected.tables.items():
        columns = {}
        for column in found.table.columns:
            text = found.text(column, *ANYTHING, NULL).to_pylist()
            strings = found.has(column, STRING)
            columns[column] = [
                Absent if t is None else (t if s else json.loads(t)) for t, s in zip(text, strings, strict=True)
            ]
        rows = []
        for number in range(found.n):
            cells = {column: values[number] for column, values in columns.items() if values[number] is not Absent}
            rows.append((int(found.parent[number]), {"@key": None, **cells}))
        out[name] = rows
    return out


class Absent:
    """Marks a cell that is not there."""


def check(records):
    """Good records give the same rows as the reference; returns the number of bad ones."""
    projected = project(records)
    expected = {name: [] for name in names_of(NESTED)}
    for number, record in enumerate(records):
        if projected.errors[number, 0] == 0:
            walked(json.loads(record), NESTED, expected, number)
    found = seen(projected)
    for tables in (found, expected):  # the order of an object's members means nothing
        tables["attribute"].sort(key=lambda row: (row[0], row[1]["@key"]))
    assert found == expected
    return int((projected.errors[:, 0] > 0).sum())


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
)
keys = st.sampled_from(["id", "a", "b", "calls", "name", "args", "k", "parts", "t", "messages", "role", "lists", "n"])
keys = keys | st.sampled_from(["attributes", "v", "x.y", "a_rather_long_key", "a_rather_long_kez", "é", "other"])


def objects(inner):
    """Objects written by hand, so that keys may repeat."""
    return st.lists(st.tuples(keys, inner), max_size=6).map(Pairs)


class Pairs(list):
    """An object with its members in order, repeats included."""


def written(value, escape):
    if isinstance(value, Pairs):
        members = ", ".join(f"{written(k, escape)}: {written(v, escape)}" for k, v in value)
        return "{" + members + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(v, escape) for v in value) + "]"
    text = json.dumps(value, ensure_ascii=escape)
    if isinstance(value, str) and escape and value:
        text = '"' + "".join(f"\\u{unit:04x}" for unit in units(value[0])) + text[1 + len(json.dumps(value[0])) - 2 :]
    return text


def units(character):
    raw = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(raw[k : k + 2], "big") for k in range(0, len(raw), 2)]


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | objects(inner), max_leaves=25)


@given(st.lists(st.tuples(values, st.booleans()), min_size=1, max_size=5))
def test_rows_and_values_equal_the_reference(items):
    records = [written(value, escape).encode("utf-8", "surrogatepass") for value, escape in items]
    assert check(records) == 0


def test_the_last_duplicate_counts_and_takes_rows_of_earlier_ones_back():
    line = (
        b'{"calls":[{"name":"x","parts":[{"t":1}]},{"name":"y"}],"a":{"b":1},"id":1,"calls":[{"name":"z","name":"w"}],'
        b'"a":{"c":2},"id":2,"attributes":{"p":{"v":1},"q":{"v":2},"p":{"v":3}},"calls\\u0020":[],"lists":[[1]],"lists":null}'
    )
    assert check([line, b'{"calls":[{"name":"n","args":{"k":1},"args":5}],"calls":[]}', line]) == 0
    found = project([line])
    assert found["call"].text("name").to_pylist() == ["w"]
    assert found["part"].n == 0
    assert found["line"].integer("deep").to_pylist() == [None]
    assert found["line"].integer("id").to_pylist() == [2]
    assert sorted(found["attribute"].text("@key").to_pylist()) == ["p", "q"]


def test_a_bad_record_leaves_no_row_and_the_good_ones_go_on():
    good = b'{"id":1,"calls":[{"name":"a"},{"name":"b"}]}'
    found = project([good, good[:-1], b"  ", good + b"x", good])
    assert found.errors[:, 0].tolist()[0::2] == [0, -1, 0]
    assert reason(int(found.errors[1, 0])).startswith("unterminated")
    assert reason(int(found.errors[3, 0])).startswith("trailing data")
    assert found["line"].parent.tolist() == [0, 4]
    assert found["call"].parent.tolist() == [0, 0, 1, 1]
    assert found.errors[3, 1] == len(good) * 3 + 4


def test_room_grows_without_changing_rows():
    few = [b'{"id":1}'] * 50
    many = b'{"calls":[' + b",".join([b'{"name":"a","parts":[{"t":1},{"t":2}]}'] * 3000) + b"]}"
    assert check([*few, many, *few, many]) == 0


def test_depth_is_limited():
    deep = b"[" * 1200 + b"]" * 1200
    found = project([b'{"id":' + deep + b"}", b'{"id":' + b"[" * 900 + b"]" * 900 + b"}"])
    assert [reason(int(code)) if code else "" for code in found.errors[:, 0]] == ["nested too deeply", ""]


def test_keeping_renumbers_parents():
    found = project(
        [b'{"calls":[{"name":"a"}]}', b'{"calls":[{"name":"b"},{"name":"c"}]}', b'{"calls":[{"name":"d"}]}']
    )
    kept = found.keeping(np.array([True, False, True]))
    assert kept["call"].text("name").to_pylist() == ["a", "d"]
    assert kept["call"].parent.tolist() == [0, 1]
    assert kept["line"].parent.tolist() == [0, 2]


SEED = [
    b'{"id":"a\\u00e9\\n","calls":[{"name":"x","args":{"k":[1,2.5e3,-0.1,true,null]},"parts":[{"t":"\xc3\xa9"}]}],"n":1e5}',
    b'{"messages":[{"role":"user"},{"role":"\\ud83d\\ude00"}],"attributes":{"a":{"v":1},"b.c":{"v":[]}}, "x.y" : 12}',
    b'[{"role":"assistant"}, {"role":null}, 5, "t", [], {}]',
]
LARGE = re.compile(rb"[eE]\+?\d{3}|\d{300}")
ALPHABET = b'{}[]",:\\u0123456789abcdefntrNI+-.eE \t\xc3\xa9\xed\xa0\x80\xf0\x00\x1f/'


def mutated(random_, record):
    out = bytearray(record)
    for _ in range(random_.randint(1, 3)):
        at = random_.randrange(len(out) + 1)
        how = random_.random()
        if how < 0.4:
            out[at:at] = bytes([random_.choice(ALPHABET)])
        elif how < 0.7 and at < len(out):
            out[at] = random_.choice(ALPHABET)
        elif how < 0.9:
            del out[at : at + random_.randint(1, 4)]
        else:
            out = out[:at]
        if not out:
            break
    return bytes(out).replace(b"\n", b"")


def test_accepts_and_rejects_as_orjson_does():
    random_ = random.Random(7)
    records = [mutated(random_, random_.choice(SEED)) for _ in range(6000)]
    records = [record for record in records if record.strip(b" \t\r")]
    errors = project(records).errors[:, 0]
    accepted = 0
    for record, code in zip(records, errors, strict=True):
        try:
            orjson.loads(record)
            good = True
        except orjson.JSONDecodeError:
            good = False
        if LARGE.search(record) and code == 0:
            continue
        assert good == (code == 0), (record, code)
        accepted += good
    assert 200 < accepted < len(records) - 1000
    check([record for record, code in zip(records, errors, strict=True) if code == 0 and len(record) < 400])


@given(st.binary(max_size=60))
@settings(max_examples=200)
def test_survives_any_bytes(data):
    found = project([data.replace(b"\n", b"")])
    assert found.errors.shape[0] <= 1


@pytest.mark.parametrize(
    "number", ["0", "-0", "1.0", "12", "1e3", "1.5", "1E2", "9223372036854775807", "1e30", "-7.000"]
)
def test_integers_are_whole_numbers(number):
    got = project([f'{{"id":{number}}}'.encode()])["line"].integer("id").to_pylist()[0]
    value = float(number)
    exact = int(number) if number.lstrip("-").isdigit() else int(value)
    assert got == (exact if value.is_integer() and -(2**63) <= exact < 2**63 else None)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**80), 2**80), min_size=1))
def test_floats_are_the_nearest_double(numbers):
    found = project([json.dumps({"id": number}).encode() for number in numbers])
    got = found["line"].float("id").to_pylist()
    assert [np.float64(x).tobytes() for x in got] == [np.float64(float(n)).tobytes() for n in numbers]


def test_infinite_numbers_are_null():
    assert project([b'{"id":1e400}'])["line"].float("id").to_pylist() == [None]


@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_times_are_read_as_datetime_reads_them(moment):
    from datetime import UTC

    if moment.tzinfo is not None and moment.utcoffset().total_seconds() % 60:
        return
    expected = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    texts = [moment.isoformat(), moment.isoformat(" "), moment.isoformat().replace("+00:00", "Z")]
    found = project([json.dumps({"id": text}).encode() for text in texts])["line"].time("id")
    micro = [value.value for value in found]
    delta = expected - __import__("datetime").datetime(1970, 1, 1, tzinfo=UTC)
    whole = (delta.days * 86_400 + delta.seconds) * 10**6 + delta.microseconds
    assert micro == [whole] * 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-11-02T25:00:00Z",
        "2026-11-02x10:00:00Z",
        "2026-11-02T10:00:00+1",
        "x" * 30,
    ],
)
def test_what_is_no_time_is_null(text):
    assert project([json.dumps({"id": text}).encode()])["line"].time("id").to_pylist() == [None]


def test_a_date_is_its_midnight():
    found = project([b'{"id":"2026-11-02"}', b'{"id":"2026-11-02T00:00Z"}'])["line"].time("id")
    assert found[0].value == found[1].value


def test_paths_that_cannot_be_read_are_refused():
    with pytest.raises(InternalError, match="cannot be read"):
        steps_of("a[0]")
    with pytest.raises(InternalError, match="same place"):
        Projection(Row("a", rows=[Row("b", "x[*]"), Row("c", "x[*]")]))


def test_kinds_tell_objects_from_strings():
    found = project([b'{"id":{}}', b'{"id":"{}"}', b'{"id":null}', b"{}"])["line"]
    assert found.has("id", OBJECT).tolist() == [True, False, False, False]
    assert found.has("id", STRING, NULL).tolist() == [False, True, True, False]


VALUES = Projection(Row("line", capture={"v": "v"}))
WHOLE = {
    "5": 5,
    '"1793613600001000000"': 1793613600001000000,
    '"007"': 7,
    '"-5"': -5,
    "-5": -5,
    '"9223372036854775807"': 9223372036854775807,
    '"9223372036854775808"': None,
    '"99999999999999999999"': None,
    '"5.0"': None,
    '"\\u0035"': 5,
    '""': None,
    '"five"': None,
    '"12345678"': 12345678,
    '"123456789"': 123456789,
    '"1234567x"': None,
    '"12/456789"': None,
    '":0000000"': None,
    '"1234567890123456"': 1234567890123456,
    "true": None,
}


def column_of(values):
    lines = texts([f'{{"v": {value}}}' for value in values])
    return run(VALUES, lines.data, lines.offsets[:-1].copy(), lines.offsets[1:].copy())["line"]


def test_whole_numbers_are_read_from_numbers_and_from_strings_of_digits():
    out, known = column_of(WHOLE).whole("v")
    assert [int(value) if there else None for value, there in zip(out, known, strict=True)] == list(WHOLE.values())


@pytest.mark.parametrize("values", [['"a"', '"b"', "1", '"a"', '""'], ['"a"', '"\\u0061"', '"b"'], ["1"], []])
def test_strings_are_numbered_in_the_order_in_which_they_come(values):
    found = column_of(values)
    names, code = found.strings("v")
    assert names == list(dict.fromkeys(text for text in found.text("v").to_pylist() if text is not None))
    assert [names[k] if k >= 0 else None for k in code.tolist()] == found.text("v").to_pylist()


def test_text_of_some_rows_is_the_text_that_they_have_and_null_below_zero():
    found = column_of(['"a\\n"', "1", '"c"', "null"])
    whole = found.text("v", *ANYTHING).to_pylist()
    rows = np.array([2, -1, 0, 0, 3, 1])
    assert found.text("v", *ANYTHING, rows=rows).to_pylist() == [None if k < 0 else whole[k] for k in rows.tolist()]
    some = found.taken(rows[rows >= 0])
    assert some.text("v", *ANYTHING).to_pylist() == [whole[k] for k in rows.tolist() if k >= 0]
    assert found.text("v", rows=np.zeros(0, np.int64)).to_pylist() == []
