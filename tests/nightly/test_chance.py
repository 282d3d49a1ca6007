"""What chance explains raises no alert: exact values, and simulated days on which nothing changed."""

import math

import numpy as np
import pytest

from tracelens.nightly.chance import ONSET, TAIL, at_most, limits, onset


def test_the_exact_test_counts_all_ways():
    for n, passed_all, n_all in ((3, 5, 10), (7, 18, 20), (30, 290, 300)):
        ways = [
            math.comb(passed_all, k) * math.comb(n_all - passed_all, n - k) if 0 <= n - k <= n_all - passed_all else 0
            for k in range(n + 1)
        ]
        for passed in range(max(0, n - (n_all - passed_all)), min(n, passed_all) + 1):
            assert at_most(passed, n, passed_all, n_all) == pytest.approx(sum(ways[: passed + 1]) / sum(ways))


def alarms(seed, days, n, share, share_then=None, n_before=2000):
    """Share of simulated days that raise an alert."""
    chance = np.random.default_rng(seed)
    raised = 0
    for _ in range(days):
        before = chance.binomial(n_before, share)
        passed = chance.binomial(n, share if share_then is None else share_then)
        found = limits(int(passed), n, int(before), n_before)
        raised += passed / n < found.low and found.chance <= TAIL
    return raised / days


def test_days_without_a_change_raise_hardly_an_alarm():
    for n, share in ((30, 0.99), (30, 0.9), (100, 0.97), (400, 0.8), (400, 0.5)):
        assert alarms(1, 2000, n, share) <= 2.5 * TAIL
    assert alarms(2, 2000, 30, 0.99, n_before=30) <= 2.5 * TAIL


def test_the_limits_alone_would_cry_wolf():
    chance = np.random.default_rng(3)
    days = chance.binomial(30, 0.99, 2000) / 30
    assert np.mean(days < limits(30, 30, 1980, 2000).low) > 0.02


def test_drops_are_seen():
    assert alarms(4, 500, 200, 0.95, 0.80) > 0.99
    assert alarms(5, 500, 50, 0.95, 0.60) > 0.99


def test_an_onset_is_found_where_it_is():
    chance = np.random.default_rng(6)
    n = chance.integers(0, 5, 2000)
    failed = chance.binomial(n, np.where(np.arange(2000) < 1900, 0.01, 0.4))
    found = onset(failed, n)
    assert abs(found.at - 1900) <= 8
    assert found.statistic > ONSET
    assert found.before < 0.03
    assert found.after > 0.3


def test_series_without_a_change_have_no_onset():
    chance = np.random.default_rng(7)
    found = []
    for _ in range(1000):
        n = chance.integers(0, 5, 600)
        found.append(onset(chance.binomial(n, 0.03), n))
    assert sum(each is not None and each.statistic > ONSET for each in found) <= 2


def test_no_rise_no_onset():
    assert onset(np.array([5, 5, 0]), np.array([5, 5, 5])) is None
    assert onset(np.array([1]), np.array([5])) is None
