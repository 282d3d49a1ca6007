"""Lint of schemas: whether they can be used, and what they say in vain."""

from __future__ import annotations

from collections.abc import Iterator

from tracelens.lint.problem import Found
from tracelens.suite import Suite, Tool


def all_tools(suite: Suite) -> Iterator[tuple[list[str | int], Tool]]:
    """Every tool with its key path: those of all, then those of single agents."""
    for name, tool in suite.tools.items():
        yield ["tools", name], tool
    for agent, entry in suite.agents.items():
        for name, tool in entry.tools.items():
            yield ["agents", agent, "tools", name], tool


def lint_schemas(suite: Suite, found: Found) -> None:
    """Schemas of tools and of the answer: errors for unusable ones, warnings for what is ignored.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    from tracelens.rungs.schema.truth import compile_schema
    from tracelens.rungs.schema.warn import schema_warnings

    schemas = [(tool.place, f"tool {tool.name!r}", tool.schema) for _, tool in all_tools(suite)]
    if suite.answer is not None:
        schemas.append((suite.where(["answer", "json_schema"]), "the answer", suite.answer.json_schema))
    for place, whose, schema in schemas:
        if schema is None:
            continue
        compiled = compile_schema(schema)
        if not compiled.usable:
            found.error(place, f"the schema of {whose} cannot be used: {compiled.reason}", "nothing is checked by it")
            continue
        for message in schema_warnings(schema):
            found.warning(place, f"schema of {whose}: {message}")


def lint_tools(suite: Suite, found: Found) -> None:
    """Tools that would count as unknown, and prefixes that cut words apart.

    Args:
        suite: The suite.
        found: Where to note problems.
    """
    for _, tool in all_tools(suite):
        if tool.schema is None and not tool.known:
            message = f"tool {tool.name!r} has no schema, so calls of it are unknown"
            found.warning(tool.place, message, "give it a schema, or known = true")
    for index, prefix in enumerate(suite.server_prefixes):
        if prefix[-1].isalnum():
            message = f"prefix {prefix!r} does not end with a separator, so it also cuts words"
            found.warning(suite.where(["server_prefixes", index]), message, f"for instance {prefix + '__'!r}")
