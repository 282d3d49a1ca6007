"""Every form of tool definitions gives the same tools."""

import pytest

from tracelens.suite import Suite, tool_definitions

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
FORMS = {
    "chat": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}],
    "responses": [{"type": "function", "name": "f", "parameters": SCHEMA}],
    "anthropic": [{"name": "f", "description": "d", "input_schema": SCHEMA}],
    "mcp": [{"name": "f", "inputSchema": SCHEMA, "outputSchema": {"type": "string"}}],
    "mcp answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "f", "inputSchema": SCHEMA}]}},
    "wrapped": {"tools": [{"name": "f", "input_schema": SCHEMA}]},
    "functions": {"functions": [{"name": "f", "parameters": SCHEMA}]},
    "declarations": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": SCHEMA}]}],
    "tool spec": [{"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}}],
    "by name": {"f": SCHEMA},
    "by name, wrapped": {"tools": {"f": SCHEMA}},
    "definitions by name": {"f": {"description": "d", "input_schema": SCHEMA}},
    "one alone": {"name": "f", "parameters": SCHEMA},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    tools, problems = tool_definitions(FORMS[form])
    assert problems == []
    assert {name: tool.schema for name, tool in tools.items()} == {"f": SCHEMA}


def test_a_schema_may_describe_a_property_called_parameters_or_tools():
    schema = {"type": "object", "properties": {"parameters": {"type": "object"}}}
    tools, _ = tool_definitions({"tools": schema, "run": schema})
    assert tools["tools"].schema == tools["run"].schema == schema


def test_tools_without_a_schema_are_known():
    data = [{"type": "web_search_20250305", "name": "web"}, {"type": "code_interpreter"},
            {"type": "custom", "custom": {"name": "patch"}}, {"type": "function", "function": {"name": "now"}}]  # fmt: skip
    tools, problems = tool_definitions(data)
    assert problems == []
    assert list(tools) == ["web", "code_interpreter", "patch", "now"]
    assert all(tool.schema is None and tool.known for tool in tools.values())


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        ("text", "t", "a list or an object"),
        (["f"], "t[0]", "should be an object"),
        ([{"type": "function", "function": {"parameters": {}}}], "t[0]", "without a name"),
        ([{"name": "", "parameters": {}}], "t[0]", "without a name"),
        ([{"name": "f", "parameters": "{}"}], "t[0]", "should be an object, not '{}'"),
        ({"tools": [{"name": "f"}, {"name": "f"}]}, "t.tools[1]", "'f' is defined twice"),
        ({"f": 3}, "t.f", "should be an object, not 3"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(data, place, message):
    _, problems = tool_definitions(data, "t")
    assert len(problems) == 1
    assert problems[0].place == place
    assert message in problems[0].message


def test_the_suite_overrides_and_extends_the_file(tmp_path):
    (tmp_path / "t.json").write_text(
        '[{"name": "f", "input_schema": {"a": 1}}, {"name": "g", "input_schema": {"b": 1}}]'
    )
    suite = Suite.from_dict(
        {"tools_file": "t.json", "tools": {"f": {"price": 2}, "g": {"schema": {"c": 1}}, "h": {"known": True}}},
        tmp_path,
    )
    assert [(tool.name, tool.schema, tool.price) for tool in suite.tools.values()] == [
        ("f", {"a": 1}, 2.0), ("g", {"c": 1}, None), ("h", None, None),
    ]  # fmt: skip
    assert suite.tools["f"].place.endswith("t.json: [0]")
    assert suite.tools["g"].place == "tools.g"
