import json

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.rungs.safety.examples import AWS, GITHUB, JWT, PEM, SECRETS
from tracelens.rungs.safety import SafetyPlan, analyse_call, mask, mask_leaves, mask_series
from tracelens.rungs.safety.masking import MASKED, find_secrets
from tracelens.suite import Suite

DEFAULT = SafetyPlan.compile(Suite.default().safety)
TOKENS = [AWS, GITHUB, JWT, PEM, "Bearer q1", "password=hunter2", "postgresql://a:hunter2@h/x", '"password": 12345678']
PIECES = st.sampled_from(
    [*TOKENS, '"', "\\", "\n", " ", "n", "\\n", "é", "x", "{", ":", ",", "/", "[secret:aws:0123456789ab]"]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(), st.booleans(), st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["password", "a", "api_key"]), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(("key", "text"), SECRETS)
def test_nothing_of_a_secret_is_left(key, text):
    for level in range(3):
        arguments = json.dumps({key: text})
        for _ in range(level):
            arguments = json.dumps({"inner": arguments})
        masked = mask(arguments)
        assert MASKED.search(masked)
        for word in ("hunter2", AWS, GITHUB, JWT, "MIIE", "q1", "letmein", "Szs", "abcdefghij", "YW5u"):
            assert word not in masked
        json.loads(masked)


@given(VALUES)
def test_json_stays_json_and_masking_twice_changes_nothing(value):
    for text in (json.dumps(value), json.dumps({"x": json.dumps(value)}), json.dumps(value, ensure_ascii=False)):
        once = mask(text)
        json.loads(once)
        assert mask(once) == once


@given(TEXTS)
@example(f"{AWS}\\{AWS}")
def test_any_text_is_masked_once(text):
    once = mask(text)
    assert mask(once) == once
    assert all(MASKED.fullmatch(once[secret.start : secret.end]) for secret in find_secrets(once))


@given(VALUES)
def test_masked_arguments_give_the_same_hits(value):
    text = json.dumps({"command": value})
    assert analyse_call("t", mask(text), "object", DEFAULT) == analyse_call("t", text, "object", DEFAULT)


@given(
    st.lists(st.one_of(st.none(), TEXTS, VALUES.map(json.dumps), VALUES.map(json.dumps).map(json.dumps)), max_size=6)
)
def test_a_column_is_masked_as_each_text_is(texts):
    series = pl.Series("x", texts, dtype=pl.String)
    assert mask_series(series).to_list() == [None if text is None else mask(text) for text in texts]


def test_columns_without_secrets_come_back_as_they_are():
    series = pl.Series(["nothing", "here", None])
    assert mask_series(series) is series


def test_equal_secrets_have_equal_masks_whatever_stands_around_them():
    digests = {find_secrets(text)[0].digest for text in (PEM, json.dumps(PEM), json.dumps({"k": json.dumps(PEM)}))}
    assert len(digests) == 1


def test_values_are_masked_by_their_path():
    paths = pl.Series(["a.password", 'a."api-key"', "password[0]", "user", None, "token"])
    values = pl.Series(['"hunter2"', '"s3cret"', "12345", '"ann"', '"x"', '"Bearer q1"'])
    out = mask_leaves(paths, values).to_list()
    assert [bool(MASKED.search(value)) for value in out] == [True, True, True, False, False, True]
    assert all(json.loads(value) for value in out)


def test_a_mask_without_the_pack_is_left_out():
    assert not SafetyPlan.compile(Suite.from_dict({"name": "x", "safety": {"packs": ["shell"]}}).safety).masks
