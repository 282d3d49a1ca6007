"""Names of tools: aliases, prefixes, agents, hand-offs; and the names the suite shares with the tables."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracelens import tables
from tracelens.suite import Suite
from tracelens.suite.names import ARGUMENT_RULES, PLAIN_RULES, SCORES
from tracelens.suite.values import RULE_SCHEMA

SUITE = Suite.from_dict({
    "server_prefixes": ["mcp__air__", "mcp__", "desk/"],
    "tools": {
        "book": {"aliases": ["reserve", "Book It"], "schema": {"type": "object"}},
        "mcp__raw": {"known": True},
    },
    "agents": {
        "research": {"tools": {"search": {"schema": {"required": ["q"]}}}},
        "finance": {"tools": {"search": {"schema": {"required": ["ticker"]}}, "pay": {"schema": {}, "aliases": ["send"]}}},
    },
    "match": {"output_tools": ["final_result"], "handoffs": ["transfer_to_*", "ask?"]},
})  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "canonical"),
    [
        ("book", "book"), ("reserve", "book"), ("Book It", "book"), ("book it", "book it"), ("mcp__air__book", "book"),
        ("mcp__air__reserve", "book"), ("desk/reserve", "book"), ("mcp__other", "other"), ("mcp__raw", "mcp__raw"),
        ("mcp__air__", "air__"), ("desk/", "desk/"), ("desk/desk/x", "desk/x"), ("send", "pay"), (" book", " book"),
        ("", None), (None, None),
    ],
)  # fmt: skip
def test_canonical_names(raw, canonical):
    assert SUITE.canonical_name(raw) == canonical


def test_an_agent_sees_its_own_tools_first():
    assert SUITE.schema_of("research", "search") == {"required": ["q"]}
    assert SUITE.schema_of("finance", "search") == {"required": ["ticker"]}
    assert SUITE.schema_of(None, "search") is None
    assert SUITE.tool_for("research", "pay") is None
    assert SUITE.agents_knowing("pay") == ("finance",)
    assert SUITE.agents_knowing("azure_ai_search") == ()
    assert SUITE.tool_for("research", "mcp__air__reserve").name == "book"
    assert SUITE.tool_for("nobody", "book").name == "book"


def test_handoffs_and_output_tools_are_known_by_any_of_their_names():
    assert SUITE.is_handoff("transfer_to_billing")
    assert SUITE.is_handoff("mcp__air__transfer_to_x")
    assert SUITE.is_handoff("ask1")
    assert not SUITE.is_handoff("Transfer_to_x")
    assert not SUITE.is_handoff("")
    assert SUITE.is_output_tool("final_result")
    assert SUITE.is_output_tool("desk/final_result")
    assert not SUITE.is_output_tool("final")
    assert not SUITE.is_output_tool("")
    assert not SUITE.is_output_tool(None)


@given(st.text(max_size=12))
def test_canonical_names_are_stable_once_declared(raw):
    canonical = SUITE.canonical_name(raw)
    assert (canonical is None) == (raw == "")
    if canonical in {"book", "mcp__raw", "search", "pay"}:
        assert SUITE.canonical_name(canonical) == canonical


@given(st.text("ab_*?", max_size=6))
def test_handoff_patterns_are_shell_patterns(name):
    suite = Suite.from_dict({"match": {"handoffs": ["a*_b?"]}})
    assert suite.is_handoff(name) == (bool(name) and fnmatch.fnmatchcase(name, "a*_b?"))


def test_thresholds_may_name_every_score_of_the_traces_table_where_more_is_better():
    assert set(SCORES) == set(tables.SCORES) - {"first_divergence"}


def test_the_editor_knows_every_rule():
    names, with_argument, _ = RULE_SCHEMA["anyOf"]
    assert set(names["enum"]) == set(PLAIN_RULES)
    assert set(with_argument["properties"]) == set(ARGUMENT_RULES)
