"""Whether a drop may be chance: an exact McNemar test, a paired permutation test, and the smallest drop one could see.

All tests are one-sided: they ask how likely a drop at least as large is where nothing has changed.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

ROUNDS = 10_000
"""Permutations that are drawn, where there are more than can be gone through."""
POWER = 0.8
"""Chance with which the smallest detectable drop is detected, for a normal distribution; of simulated ones 73% were (500
each, 300 cases by pass rate and 80 by a mean), since exact tests are cautious. Of unchanged agents 4% and 5% failed."""
_FINE, _COARSE, _MANY = 9, 4, 5_000


def mcnemar(better: int, worse: int) -> float:
    """Exact McNemar test: the chance of at least so many worse ones among those that changed.

    Args:
        better: Pairs that got better.
        worse: Pairs that got worse.

    Returns:
        P(X >= worse) for X binomial of better + worse and 1/2; 1 where nothing changed.

    Example:
        >>> mcnemar(0, 5), mcnemar(3, 3)
        (0.03125, 0.65625)
    """
    n = better + worse
    return min(1.0, math.fsum(_binomial(n, k) for k in range(worse, n + 1))) if worse else 1.0


def _binomial(n: int, k: int) -> float:
    if n <= 1_000:
        return float(math.comb(n, k) / 2**n)
    return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2))


def permutation(differences: F64, seed: int = 1, rounds: int = ROUNDS) -> float:
    """Paired permutation test of a mean: the chance of a sum at least as low when every sign is a coin's.

    Args:
        differences: float64[n], head minus base by pair.
        seed: Seed of the signs.
        rounds: Permutations drawn, where 2^n are more than these.

    Returns:
        The share of permutations that fall at least as low; drawn ones count the observed one among them, so it is
        never 0. Differences of equal size are drawn together, as a binomial number of signs.

    Example:
        >>> permutation(np.array([-0.5, -0.25, -0.125]))
        0.125
        >>> 0.45 < permutation(np.tile([0.5, -0.5], 50)) < 0.6
        True
    """
    changed = differences[np.abs(differences) > 10**-_FINE]
    if not changed.size:
        return 1.0
    size, count = np.unique(np.abs(changed).round(_FINE), return_counts=True)
    if size.size > _MANY:
        size, count = np.unique(np.abs(changed).round(_COARSE), return_counts=True)
    limit = float(changed.sum()) + 1e-9 * float(np.abs(changed).sum())
    if 2**changed.size <= rounds:
        signs = 1 - 2 * ((np.arange(2**changed.size)[:, None] >> np.arange(changed.size)) & 1)
        return float(np.mean(signs @ np.abs(changed) <= limit))
    generator = np.random.default_rng(seed)
    sums = np.zeros(rounds)
    for each, number in zip(size, count, strict=True):
        sums += each * (2 * generator.binomial(number, 0.5, rounds) - number)
    return (int(np.count_nonzero(sums <= limit)) + 1) / (rounds + 1)


def smallest_drop(differences: F64, confidence: float, power: float = POWER) -> float:
    """The smallest drop that such a test of so many pairs detects with a given chance.

    Args:
        differences: float64[n], head minus base by pair; how they spread is what counts.
        confidence: That of the test.
        power: The chance.

    Returns:
        (z(confidence) + z(power)) · standard deviation / sqrt(n), but at least what comes of so many changed pairs as an
        exact test needs to be significant at all, each changed by as much as those that did change (by 1 where none
        did); infinite without a pair.

    Example:
        >>> round(smallest_drop(np.tile([1.0, -1.0, 0.0, 0.0], 100), 0.95), 3)
        0.088
        >>> smallest_drop(np.zeros(100), 0.95)
        0.05
    """
    n = differences.size
    if not n:
        return math.inf
    fewest = math.ceil(math.log2(1 / (1 - confidence)))
    changed = np.abs(differences[np.abs(differences) > 10**-_FINE])
    least = fewest / n * (float(changed.mean()) if changed.size else 1.0)
    spread = float(differences.std(ddof=1)) if n > 1 else 0.0
    normal = NormalDist()
    return max((normal.inv_cdf(confidence) + normal.inv_cdf(power)) * spread / math.sqrt(n), least)
