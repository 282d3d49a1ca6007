"""What chance explains, and what it does not: limits of a p-chart, an exact test, and the onset of a change."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

TAIL = 0.00135
"""Chance of lying more than three standard errors below the mean of a normal distribution."""

ONSET = 25.0
"""Twice the log-likelihood ratio from which a change is told: about one in ten thousand searches for it by chance."""


class Limits(NamedTuple):
    """What a p-chart expects of a day.

    Attributes:
        mean: Share in the days before.
        low: Lower limit for a day of this size; never below 0.
        chance: Chance of a share this low or lower, had nothing changed (Fisher's exact test, one-sided).
    """

    mean: float
    low: float
    chance: float


def limits(passed: int, n: int, passed_before: int, n_before: int, sigmas: float = 3.0) -> Limits:
    """Hold a day against the days before.

    The limit of a p-chart takes the mean of the days before for the truth and a share for normally distributed. With
    few traces or shares near 1 it then raises far more false alarms than it says, so the exact chance stands beside it.

    Args:
        passed: Passed on the day.
        n: Scored on the day, at least 1.
        passed_before: Passed in the days before.
        n_before: Scored in the days before, at least 1.
        sigmas: Standard errors between mean and limit.

    Example:
        >>> found = limits(80, 100, 950, 1000)
        >>> round(found.mean, 2), round(found.low, 4), found.chance < 1e-6
        (0.95, 0.8846, True)
    """
    mean = passed_before / n_before
    low = max(0.0, mean - sigmas * math.sqrt(mean * (1 - mean) / n))
    return Limits(mean, low, at_most(passed, n, passed + passed_before, n + n_before))


def at_most(passed: int, n: int, passed_all: int, n_all: int) -> float:
    """Chance that, of ``passed_all`` among ``n_all``, at most ``passed`` fall among ``n`` of them (hypergeometric).

    Example:
        >>> round(at_most(1, 3, 5, 10), 10)  # (C(5,0) C(5,3) + C(5,1) C(5,2)) / C(10,3) = 60 / 120
        0.5
    """
    failed_all = n_all - passed_all
    low = max(0, n - failed_all)
    log = _choose(passed_all, passed) + _choose(failed_all, n - passed) - _choose(n_all, n)
    term = total = math.exp(log)
    for k in range(passed, low, -1):  # from k to k - 1; terms shrink once k is below the mean
        term *= k * (failed_all - n + k) / ((passed_all - k + 1) * (n - k + 1))
        total += term
        if term < total * 1e-15 and k * n_all < passed_all * n:
            break
    return min(total, 1.0)


def _choose(n: int, k: int) -> float:
    """Logarithm of the binomial coefficient."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


class Onset(NamedTuple):
    """Where a share rose.

    Attributes:
        at: First interval of the time after.
        statistic: Twice the log-likelihood ratio of two shares against one.
        before: Share before.
        after: Share from then on.
    """

    at: int
    statistic: float
    before: float
    after: float


def onset(failed: I64, n: I64) -> Onset | None:
    """The interval from which on the share of failures is higher, by maximum likelihood.

    Args:
        failed: int64[intervals], failures in each.
        n: int64[intervals], trials in each.

    Returns:
        The likeliest place of a rise; None where no split has a higher share after it.

    Example:
        >>> onset(np.array([0, 1, 0, 6, 7]), np.array([10, 10, 10, 10, 10]))
        Onset(at=3, statistic=24.6..., before=0.033..., after=0.65)
    """
    k, m = np.cumsum(failed)[:-1].astype(np.float64), np.cumsum(n)[:-1].astype(np.float64)
    k_after, m_after = float(failed.sum()) - k, float(n.sum()) - m
    with np.errstate(invalid="ignore", divide="ignore"):
        rises = (m > 0) & (m_after > 0) & (k_after * m > k * m_after)
    if not rises.any():
        return None
    whole = _likelihood(np.array([float(failed.sum())]), np.array([float(n.sum())]))[0]
    ratio = np.where(rises, 2 * (_likelihood(k, m) + _likelihood(k_after, m_after) - whole), -1.0)
    at = int(np.argmax(ratio))
    return Onset(at + 1, float(ratio[at]), float(k[at] / m[at]), float(k_after[at] / m_after[at]))


def _likelihood(k: npt.NDArray[np.float64], n: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Log-likelihood of k failures in n at the share k / n."""
    with np.errstate(invalid="ignore", divide="ignore"):
        bad = np.where(k > 0, k * np.log(k / n), 0.0)
        good = np.where(n > k, (n - k) * np.log((n - k) / n), 0.0)
    return bad + good
