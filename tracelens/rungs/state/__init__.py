"""State checks: what the world looked like after the traces ran.

May import `tracelens.errors`, `tracelens.suite` and what lies below; DuckDB and the database drivers when they are used.
"""

from tracelens.rungs.state.evaluate import STATE_RESULTS, StateChecks, state_findings

__all__ = ["STATE_RESULTS", "StateChecks", "state_findings"]
