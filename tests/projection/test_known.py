"""A value that stood in the block before is taken on its bytes: nothing may come out otherwise because of that."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracelens.columns import texts
from tracelens.kernels.known import WINDOW
from tracelens.kernels.project import MAX_DEPTH
from tracelens.projection import Projection, Row
from tracelens.projection.rows import ANYTHING, run

WANTED = Projection(Row("line", capture={"top": "top"}, rows=[Row("call", "calls[*]", capture={"a": "a"})]))
VALUES = (
    '{"place": {"lat": 1.5, "lon": -2e3}, "hours": [1, 2, 3], "text": "a long word or two, café"}',
    '{"place": {"lat": 1.5, "lon": -2e3}, "hours": [1, 2, 3], "text": "a long word or two, tea"}',
    '["only", "a", "list", {"of": {"some": ["things", true, null]}}, 1, 2, 3, 4, 5, 6, 7, 8, 9]',
    "[]",
    "{}",
    '{"short": 1}',
)


def projected(lines):
    """Errors, and the texts of both columns, by record."""
    packed = texts(lines)
    found = run(WANTED, packed.data, packed.offsets[:-1].copy(), packed.offsets[1:].copy())
    calls, top = found["call"], found["line"]
    records = top.parent[calls.parent].tolist() if calls.n else []
    places = zip(found.errors.tolist(), packed.offsets.tolist(), strict=False)
    return (
        [(code, at - start if code > 0 else 0) for (code, at), start in places],
        list(zip(top.parent.tolist(), top.text("top", *ANYTHING).to_pylist(), strict=True)),
        list(zip(records, calls.text("a", *ANYTHING).to_pylist(), strict=True)),
    )


def one_by_one(lines):
    """The same, each record in a block of its own."""
    errors, tops, calls = [], [], []
    for number, line in enumerate(lines):
        error, top, call = projected([line])
        errors += error
        tops += [(number, text) for _, text in top]
        calls += [(number, text) for _, text in call]
    return errors, tops, calls


def line_of(value, tail):
    return f'{{"calls": [{{"a": {value}}}], "tail": "{"x" * tail}"}}'


lines = st.lists(
    st.tuples(st.sampled_from(VALUES), st.integers(0, 2 * WINDOW), st.none() | st.integers(0, 200)),
    min_size=2,
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(lines, st.sampled_from(list('x"{}[],:0\\')))
def test_records_together_say_what_each_says_alone(drawn, byte):
    given_lines = []
    for value, tail, spoilt in drawn:
        line = line_of(value, tail)
        given_lines.append(line if spoilt is None else line[:spoilt] + byte + line[spoilt + 1 :])
    assert projected(given_lines) == one_by_one(given_lines)


@pytest.mark.parametrize("nested", [MAX_DEPTH - 3, MAX_DEPTH - 2, MAX_DEPTH - 1])
def test_a_known_value_may_stand_too_deep_elsewhere(nested):
    deep = "[" * nested + "]" * nested
    tail = ' "tail": "' + "x" * WINDOW + '"}'
    both = [f'{{"top": {deep},{tail}', f'{{"calls": [{{"a": {deep}}}],{tail}']
    found = projected(both)
    assert found == one_by_one(both)
    assert [code for code, _ in found[0]] == [0, 0 if nested == MAX_DEPTH - 3 else 8]
