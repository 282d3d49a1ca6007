"""A suite compiled once for all batches of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tracelens.kernels.reference.normal import Rules
from tracelens.normalise.rules import RuleProgram
from tracelens.run.expected import CaseIndex
from tracelens.rungs.milestones import MilestonePlan
from tracelens.rungs.routing import Routing
from tracelens.rungs.safety.plan import SafetyPlan
from tracelens.rungs.schema.catalogue import Catalogue
from tracelens.rungs.state import StateChecks

if TYPE_CHECKING:
    from tracelens.suite import Suite


@dataclass(frozen=True, slots=True)
class Plan:
    """What every batch is scored with; shared by threads, never changed.

    Attributes:
        suite: The suite.
        cases: Its references, by case.
        catalogue: Its schemas, compiled.
        program: Its normalisation rules.
        rule_names: Canonical names in the order of the program's tool numbers.
        safety: Its safety patterns.
        milestones: Its milestones.
        state: Its state checks, already queried.
        routing: Its thresholds and route.
        prices: Price of one call by tool.
    """

    suite: Suite
    cases: CaseIndex
    catalogue: Catalogue
    program: RuleProgram
    rule_names: dict[str, int]
    safety: SafetyPlan
    milestones: MilestonePlan
    state: StateChecks
    routing: Routing
    prices: dict[str, float]

    @classmethod
    def compile(cls, suite: Suite) -> Plan:
        """Compile a suite; queries the databases of its state checks.

        Raises:
            SuiteError: Something in the suite cannot be used.
            StateError: A database cannot be reached.
        """
        tools = rule_tools(suite)
        program = RuleProgram.compile(suite.normalize, tools)
        names = {name: number for number, (name, _) in enumerate(tools)}

        def rules_of(tool: str) -> Rules:
            return program.rules[names.get(tool, len(tools))]

        every = [suite.tools, *(agent.tools for agent in suite.agents.values())]
        return cls(
            suite,
            CaseIndex(suite.references),
            Catalogue.build(suite),
            program,
            names,
            SafetyPlan.compile(suite.safety),
            MilestonePlan.of(suite, rules_of),
            StateChecks.load(suite),
            Routing(
                suite.thresholds,
                require_reference=suite.route.require_reference,
                state_decides=suite.route.state_decides,
                has_questions=bool(suite.judge.questions),
            ),
            {tool.name: tool.price for pool in every for tool in pool.values() if tool.price is not None},
        )

    @classmethod
    def take(cls, suite: Suite) -> Plan:
        """The plan of a suite, for this caller alone: the one put away last where that is of this very suite.

        Raises:
            SuiteError: Something in the suite cannot be used.
            StateError: A database cannot be reached.
        """
        try:
            away = _AWAY.pop()
        except IndexError:
            return cls.compile(suite)
        return away if away.suite is suite else cls.compile(suite)

    def put_away(self) -> None:
        """Keep the plan for the next run, if nothing in it has come from this one."""
        if not self.suite.state and not self.catalogue.has_recorded:
            _AWAY[:] = [self]

    def rule_numbers(self, names: list[str], code: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """The program's tool number of each call, from its name code.

        Args:
            names: Canonical name by code.
            code: int32[n], codes; -1 takes the rules of every other tool.
        """
        others = len(self.rule_names)
        numbers = np.array([*(self.rule_names.get(name, others) for name in names), others], np.int64)
        return numbers[code]


_AWAY: list[Plan] = []  # at most one: whoever scores trace by trace gives one suite each time


def rule_tools(suite: Suite) -> list[tuple[str, object]]:
    """The tools that have rules of their own: name and schema, each name once.

    Rules go by name on both sides. A name that only agents have takes the schema of the first of them, in order of
    their names.
    """
    found = {name: tool.schema for name, tool in suite.tools.items()}
    for agent in sorted(suite.agents):
        for name, tool in suite.agents[agent].tools.items():
            found.setdefault(name, tool.schema)
    for name in suite.normalize:
        if name != "*":
            found.setdefault(name, None)
    return list(found.items())
