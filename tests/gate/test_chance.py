"""The tests behind a gate: against definitions, and against simulated runs whose truth is known."""

from math import comb

import numpy as np
import polars as pl
import pytest

from tracelens.gate.chance import mcnemar, permutation, smallest_drop
from tracelens.gate.decide import _drop
from tracelens.gate.rules import GateRules


def test_mcnemar_is_the_tail_of_a_fair_coin():
    for n in range(1, 12):
        for worse in range(1, n + 1):
            tail = sum(comb(n, k) for k in range(worse, n + 1)) / 2**n
            assert mcnemar(n - worse, worse) == pytest.approx(tail, rel=1e-12)
    assert mcnemar(0, 0) == mcnemar(7, 0) == 1
    assert mcnemar(5_000, 5_200) == pytest.approx(0.0244, abs=1e-4)


def test_few_pairs_are_gone_through_and_many_are_drawn():
    few = np.array([-0.5, 0.25, -0.125, 0, 0])
    assert permutation(few) == 3 / 8
    many = np.concatenate([few] * 4)
    exact, drawn = permutation(many, rounds=2**12), permutation(many, rounds=2**12 - 1)
    assert drawn == pytest.approx(exact, abs=0.03)
    assert drawn == permutation(many, seed=1, rounds=2**12 - 1) != permutation(many, seed=2, rounds=2**12 - 1)
    assert permutation(np.zeros(9)) == 1
    assert permutation(-np.linspace(0.1, 1, 50)) == pytest.approx(1 / 10_001)


def test_what_a_number_of_pairs_can_show():
    assert smallest_drop(np.zeros(0), 0.95) == np.inf
    assert smallest_drop(np.array([0.0]), 0.95) == 5
    assert smallest_drop(np.array([0.5] + [0.0] * 99), 0.95) == pytest.approx(0.5 * 5 / 100)
    assert smallest_drop(np.zeros(1000), 0.99) == 7 / 1000


def simulated(generator, n, drop, metric):
    """Cases of two runs; each run fails by chance, and the second one is worse by `drop` on average."""
    case = generator.uniform(0.5, 0.95, n)
    if metric == "pass_rate":
        sides = [generator.random(n) < case, generator.random(n) < case - drop]
        base, head = (side.astype(float) for side in sides)
    else:
        base, head = ((case + generator.normal(-d, 0.1, n)).round(1) for d in (0, drop))
    return pl.DataFrame({"case": range(n), "value": base, "value_head": head})


@pytest.mark.parametrize(("metric", "n", "rounds"), [("pass_rate", 300, 200), ("accuracy_optimal", 80, 80)])
def test_false_alarms_and_detections(metric, n, rounds):
    """At 95% at most one unchanged agent in twenty is stopped; of drops as large as promised three in four are found."""
    generator, rules = np.random.default_rng(5), GateRules(confidence=0.95)
    facts = {"metric": metric, "limit": 0.0}
    promised = np.median([
        _drop("", simulated(generator, n, 0, metric), rules, 1, facts).facts["detectable_drop"] for _ in range(10)
    ])  # fmt: skip
    stopped = {}
    for drop in (0.0, promised):
        found = [_drop("", simulated(generator, n, drop, metric), rules, 1, facts).status for _ in range(rounds)]
        assert "passed" not in found or drop == 0
        stopped[drop] = found.count("failed") / rounds
    assert stopped[0.0] <= 0.08  # 0.05, and what so few rounds may be off by
    assert 0.65 <= stopped[promised] <= 0.95
