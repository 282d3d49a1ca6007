"""Rung one: a call's arguments against the JSON Schema of its tool.

`truth` is the definition (the ``jsonschema`` library with the documented deviations), `compile` turns schemas into
arrays, `check` runs a kernel over them and asks `truth` only about what the arrays do not cover.
"""
