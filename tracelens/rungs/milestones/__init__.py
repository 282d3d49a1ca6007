"""Milestones: calls that must appear in a trace, the order of their first appearances, and a step maximum.

They come from the suite, for every trace, and from the references file, for the traces of a case; a trace has to
reach all of both. A call counts wherever it stands, at any depth, hand-offs included, requested or executed as the
suite counts; steps are the calls that enter the scores. Arguments of a milestone are held against those arguments
only: a call may have others.
"""

from tracelens.rungs.milestones.judge import Reached, check_milestones
from tracelens.rungs.milestones.plan import MilestonePlan

__all__ = ["MilestonePlan", "Reached", "check_milestones"]
