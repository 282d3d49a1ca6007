"""Every reference-based score of one pair of lists, in plain Python: the definitions, and the oracle of the kernels."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tracelens.kernels.reference import trajectory
from tracelens.kernels.reference.pairing import PAIRINGS, STATUSES, UNIT, Match, pairs

Credit = tuple[float, float]
ARTICLE_CREDIT: Credit = (1.0, 0.5)

BY_ORDER = ("strict", "exact_order", "in_order", "lcs", "first_divergence", "golden_score")
BY_CONTENT = (
    "unordered",
    "subset",
    "superset",
    "subset_partial",
    "superset_partial",
    "any_order",
    "precision",
    "recall",
    "f1",
)


def counts(match: Match, pairing: str, credit: Credit = ARTICLE_CREDIT) -> dict[str, int]:
    """How many rows of each status a pairing has."""
    found = Counter(row.status for row in pairs(match, pairing, credit))
    return {status: found[status] for status in STATUSES}


def arguments_unknown(match: Match) -> bool:
    """Whether an actual call whose name is expected has arguments nobody recorded.

    Nothing is then known about exactness, so accuracies and the counts of exact and partial pairs are ``None``.
    """
    expected = {e.name for e in match.expected if e.name}
    return any(not a.captured and not a.malformed and a.name in expected for a in match.actual)


def accuracy(match: Match, pairing: str, credit: Credit = ARTICLE_CREDIT) -> float | None:
    """The credit of all pairs over the longer length; 1 where both lists are empty.

    Args:
        match: Both lists.
        pairing: One of ``positional``, ``best_unused``, ``optimal``.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        A number from 0 to 1, or ``None`` where arguments that matter were not recorded.
    """
    if arguments_unknown(match):
        return None
    found = counts(match, pairing, credit)
    return _over_longer(match, credit[0] * found["exact"] + credit[1] * found["partial"])


def accuracy_graded(match: Match, credit: Credit = ARTICLE_CREDIT) -> float | None:
    """Accuracy under the optimal pairing, where a partial pair also earns its agreement.

    A partial pair earns the name-only credit plus the share of its agreement in what an exact pair earns beyond it.
    """
    if arguments_unknown(match):
        return None
    rows = pairs(match, "optimal", credit)
    found = Counter(row.status for row in rows)
    agreed = sum(row.agreement or 0 for row in rows if row.status == "partial")
    earned = credit[0] * found["exact"] + credit[1] * found["partial"]
    return _over_longer(match, earned + (credit[0] - credit[1]) * (agreed / UNIT))


def accuracy_in_closed_form(match: Match, credit: Credit = ARTICLE_CREDIT) -> float | None:
    """The optimal accuracy without pairing anything; holds where arguments are compared by value.

    Per name: the name credit for each of ``min(count in A, count in E)`` pairs, and the rest of the exact credit for
    each element of the multiset intersection of canonical arguments.
    """
    if arguments_unknown(match):
        return None
    mine = [a for a in match.actual if a.name and not a.malformed]
    named = (Counter(a.name for a in mine) & Counter(e.name for e in match.expected)).total()
    usable = Counter((a.name, a.arguments) for a in mine if a.usable and a.captured)
    equal = (usable & Counter((e.name, e.arguments) for e in match.expected)).total()
    return _over_longer(match, credit[0] * equal + credit[1] * (named - equal))


def all_scores(match: Match, credit: Credit = ARTICLE_CREDIT) -> dict[str, Any]:
    """Every score and count of one pair of lists, under the names the tables use.

    Args:
        match: Both lists.
        credit: What an exact pair and a name-only pair earn.

    Returns:
        Scores from names, accuracies, ``golden_score`` and ``n_<status>_<pairing>``.
    """
    actual = [None if a.malformed else a.name for a in match.actual]
    expected = [e.name for e in match.expected]
    turns = [a.turn for a in match.actual] if match.parallel else None
    scores: dict[str, Any] = {name: getattr(trajectory, name)(actual, expected, turns) for name in BY_ORDER}
    scores |= {name: getattr(trajectory, name)(actual, expected) for name in BY_CONTENT}
    unknown = arguments_unknown(match)
    for pairing in PAIRINGS:
        scores[f"accuracy_{pairing}"] = accuracy(match, pairing, credit)
        for status, count in counts(match, pairing, credit).items():
            hidden = unknown and status in {"exact", "partial"}
            scores[f"n_{status}_{pairing}"] = None if hidden else count
    scores["accuracy_graded"] = accuracy_graded(match, credit)
    return scores


def _over_longer(match: Match, earned: float) -> float:
    longer = max(len(match.actual), len(match.expected))
    return earned / longer if longer else 1.0
