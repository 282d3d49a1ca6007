"""Results of scoring: the Python face. May import the store, the engine and what lies below, never another face."""

from tracelens.results.compare import Comparison
from tracelens.results.core import Results, open_results, score
from tracelens.results.explain import Explanation
from tracelens.results.summary import Summary

__all__ = ["Comparison", "Explanation", "Results", "Summary", "open_results", "score"]
