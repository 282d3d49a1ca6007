"""Safety: what no call may do, whether or not it was refused or put right later.

May import: kernels, columns, tables, and the findings frame beside it. `analyse` is the definition of what is found;
`scan` applies it to a batch after `prefilter` has put aside what cannot hold anything.
"""

from tracelens.rungs.safety.analyse import Hit, analyse_answer, analyse_call
from tracelens.rungs.safety.masking import mask
from tracelens.rungs.safety.plan import SafetyPlan
from tracelens.rungs.safety.scan import mask_leaves, mask_series, scan

__all__ = ["Hit", "SafetyPlan", "analyse_answer", "analyse_call", "mask", "mask_leaves", "mask_series", "scan"]
