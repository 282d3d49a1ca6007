"""Tools, and the forms in which definitions of tools are written down.

The same reader serves the tools file of a suite and the definitions recorded in traces: OpenAI (nested for chat,
flat for responses), Anthropic, MCP, and plain ``{name: schema}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tracelens.suite.problems import Problem

_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a suite.

    Attributes:
        name: Its canonical name.
        schema: JSON Schema of its arguments, as read by a JSON parser; None when there is none.
        aliases: Its other names.
        price: Price of one call; None when not given.
        known: Without a schema: whether calling it is no mistake.
        place: Where its schema, or else the tool, was defined, for messages.

    Example:
        >>> Tool("search", schema={"type": "object"}).has_schema
        True
    """

    name: str
    schema: dict[str, Any] | None = None
    aliases: tuple[str, ...] = ()
    price: float | None = None
    known: bool = True
    place: str = field(default="", compare=False)

    @property
    def has_schema(self) -> bool:
        """Whether arguments can be checked."""
        return self.schema is not None


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of a suite.

    Attributes:
        tools: Its own tools by canonical name; they come before the tools of all.
    """

    tools: Mapping[str, Tool]


def tool_definitions(data: Any, place: str = "") -> tuple[dict[str, Tool], list[Problem]]:
    """Tools from definitions in any of the known forms.

    Args:
        data: What a JSON parser made of the definitions: a list of them, a wrapper around such a list
            (``{"tools": […]}``, also below ``result`` as MCP answers), or ``{name: schema}``.
        place: Where it stands, for problems.

    Returns:
        The tools by name, in order, and what could not be read. A definition without a schema (a built-in or a
        free-text tool) gives a known tool without schema.

    Example:
        >>> tools, problems = tool_definitions([{"type": "function", "function": {"name": "f", "parameters": {}}}])
        >>> tools["f"].schema, problems
        ({}, [])
        >>> list(tool_definitions({"search": {"type": "object"}})[0])
        ['search']
    """
    tools: dict[str, Tool] = {}
    problems: list[Problem] = []
    if not isinstance(data, list | dict):
        return {}, [Problem(place, "tool definitions should be a list or an object")]
    for at, entry in _entries(data, place):
        name, schema, message = _one(entry)
        if message:
            problems.append(Problem(at, message))
        elif name in tools:
            problems.append(Problem(at, f"tool {name!r} is defined twice", f"the first is at {tools[name].place}"))
        else:
            tools[name] = Tool(name, schema, place=at)
    return tools, problems


def _entries(data: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Single definitions with their places, whatever they are wrapped in; ``{name: schema}`` as pairs."""
    if isinstance(data, list):
        for index, entry in enumerate(data):
            nested = isinstance(entry, dict) and any(isinstance(entry.get(key), list) for key in _LISTS)
            if nested and "name" not in entry:
                yield from _entries(entry, f"{place}[{index}]")
            else:
                yield f"{place}[{index}]", entry
        return
    inner = data.get("result")
    if isinstance(inner, dict) and isinstance(inner.get("tools"), list):
        data, place = inner, f"{place}.result"
    for key in _LISTS:
        if isinstance(data.get(key), list):
            yield from _entries(data[key], f"{place}.{key}")
            return
    wrapped = data.get("tools")
    if len(data) == 1 and isinstance(wrapped, dict) and all(isinstance(item, dict) for item in wrapped.values()):
        data, place = wrapped, f"{place}.tools"
    if isinstance(data.get("name"), str):
        yield place, data
        return
    for name, schema in data.items():
        yield f"{place}.{name}", (name, schema)


def _one(entry: Any) -> tuple[str, dict[str, Any] | None, str]:
    """Name, schema and complaint of one definition."""
    if isinstance(entry, tuple):
        name, body = entry
        named = isinstance(body, dict) and ("type" not in body or body["type"] == "function")
        schema = _schema_in(body) if named and any(isinstance(body.get(k), dict) for k in _SCHEMA_KEYS) else body
    elif isinstance(entry, dict):
        body = entry
        for key in ("function", "custom", "toolSpec"):
            if isinstance(entry.get(key), dict):
                body = entry[key]
        name, schema = body.get("name"), _schema_in(body)
        kind = entry.get("type")
        if name is None and isinstance(kind, str) and kind not in {"function", "custom"}:
            name = kind  # built-in tools of a provider have a type and no name
    else:
        return "", None, "a tool definition should be an object"
    if not isinstance(name, str) or not name:
        return "", None, "a tool definition without a name"
    if schema is not None and not isinstance(schema, dict):
        return name, None, f"the schema of tool {name!r} should be an object, not {schema!r}"
    return name, schema, ""


def _schema_in(body: dict[str, Any]) -> Any:
    for key in _SCHEMA_KEYS:
        if body.get(key) is not None:
            schema = body[key]
            return schema["json"] if isinstance(schema, dict) and set(schema) == {"json"} else schema
    return None
