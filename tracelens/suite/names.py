"""Names that a suite may use: scores, pairings, rules, safety packs, families of finding codes."""

from __future__ import annotations

import math
from typing import Literal

Pack = Literal["shell", "paths", "secrets", "destructive", "network"]
Pairing = Literal["positional", "best_unused", "optimal"]

SCORES = (
    "strict", "unordered", "subset", "superset", "subset_partial", "superset_partial",
    "exact_order", "in_order", "any_order", "precision", "recall", "f1", "lcs",
    "accuracy_positional", "accuracy_best_unused", "accuracy_optimal", "accuracy_graded", "golden_score",
)  # fmt: skip
"""Columns of ``traces`` that a threshold may name: where more is better and 1 (``golden_score``: 100) is perfect."""

PAIRS = tuple(f"n_exact_{pairing}" for pairing in ("positional", "best_unused", "optimal"))
"""Counts of pairs that a threshold may name: how many calls must be right."""

VERDICTS = ("milestones_ok", "invariants_ok", "safety_ok", "answer_ok", "state_ok", "checks_ok")
"""Verdicts of ``traces`` whose share a gate may name."""

PASS_RATE = "pass_rate"  # noqa: S105  no password
"""What a gate calls the share of scored traces that passed."""

PROMPT_FIELDS = ("questions", "trajectory", "final_answer", "expected", "trace_id", "case_id")
"""What may stand in braces in the prompt of the judge."""

PAIRINGS: tuple[Pairing, ...] = ("positional", "best_unused", "optimal")

PACKS: tuple[Pack, ...] = ("shell", "paths", "secrets", "destructive", "network")
"""Built-in safety packs; all of them are on unless the suite lists others."""

RESTRICTED_PATHS = (
    "/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/var/run/docker.sock",
    "~/.ssh", "~/.aws", "~/.gnupg", "~/.kube", "~/.netrc", "~/.git-credentials",
)  # fmt: skip
"""What the pack ``paths`` guards when the suite does not say."""

PLAIN_RULES = (
    "exact", "trim", "fold", "upper", "lower", "date", "datetime", "number",
    "unordered", "set", "ignore", "null_is_missing", "path", "url", "text",
)  # fmt: skip
"""Normalisation rules that stand alone."""

ARGUMENT_RULES = ("datetime", "number", "unit", "default")
"""Normalisation rules that take an argument."""

RULES = (*PLAIN_RULES, "unit", "default")

CODE_FAMILIES = (
    "tool", "schema", "field", "arguments", "answer", "invariant", "milestone", "safety", "state", "check", "threshold",
)  # fmt: skip
"""First words of finding codes."""


def best_value(score: str) -> float:
    """The largest value a score can have.

    Example:
        >>> best_value("golden_score"), best_value("f1")
        (100.0, 1.0)
    """
    if score in PAIRS:
        return math.inf
    return 100.0 if score.rpartition("__")[2] == "golden_score" else 1.0
