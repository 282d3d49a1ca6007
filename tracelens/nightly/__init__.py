"""The nightly job: take what is new, score it, report the day, raise alerts. It may be run again at any time.

What was taken stands in ``run.json`` of the run that took it, and a run appears by one rename: so there is no moment at
which a trace is scored and not noted, or noted and not scored. All else (reports, alerts, the list of files) is made from
the store, and is made again by the next start.
"""

from tracelens.nightly.config import Config
from tracelens.nightly.job import Outcome, nightly

__all__ = ["Config", "Outcome", "nightly"]
