"""Dialects for all traces of a batch: the formulas of `tracelens.dialects` over arrays instead of lists.

`keys` says which arguments are equal, `lists` lays out what is compared, `view` answers what formulas ask, `evaluate`
asks them, or `tracelens.dialects` itself where a trace or a parameter is out of the ordinary, and `columns` puts the
answers into the table of traces.
"""

from __future__ import annotations

from tracelens.run.dialects.columns import dialect_values

__all__ = ["dialect_values"]
