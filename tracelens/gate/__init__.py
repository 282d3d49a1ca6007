"""The gate: whether a run may pass, alone and beside a base run. Reads the store, scores nothing.

May import the store, the suite and what lies below; knows nothing of how results are shown.
"""

from tracelens.gate.decide import Check, GateResult, decide
from tracelens.gate.forms import github_annotations, junit, markdown
from tracelens.gate.rules import GateRules, limits

__all__ = ["Check", "GateResult", "GateRules", "decide", "github_annotations", "junit", "limits", "markdown"]
