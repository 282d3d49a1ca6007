"""Spans as OTLP/JSON: one source, a dialect for each span.

`dialects` declares which attributes carry what; `attributes` finds them; `spans` reads ids, kinds, times and the tree;
`messages` the calls that models asked for; `executed` the calls that tool spans are; `merge` makes one row of a call
however often it is told; `source` puts the tables together.
"""

from tracelens.sources.otlp.source import Otlp

__all__ = ["Otlp"]
