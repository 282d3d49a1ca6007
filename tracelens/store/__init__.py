"""Run folders and the DuckDB connection over them.

May import `tracelens.columns`, `tracelens.tables` and errors; knows nothing of how scores come about.

Example:
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as results:
    ...     with RunWriter(results) as writer:
    ...         folder = writer.commit("ab12", {})
    ...     open_run(results).run_id
    'ab12'
"""

from tracelens.store.checks import Checked, must_hold, run_checks
from tracelens.store.connection import connect
from tracelens.store.copy import copy_run
from tracelens.store.documents import Described, describe_all
from tracelens.store.export import Form, export
from tracelens.store.folder import RunWriter
from tracelens.store.prune import prune
from tracelens.store.query import ask
from tracelens.store.reader import Run, list_runs, open_run
from tracelens.store.replay import before, replay
from tracelens.tables import STORED_TABLES

__all__ = [
    "STORED_TABLES",
    "Checked",
    "Described",
    "Form",
    "Run",
    "RunWriter",
    "ask",
    "before",
    "connect",
    "copy_run",
    "describe_all",
    "export",
    "list_runs",
    "must_hold",
    "open_run",
    "prune",
    "replay",
    "run_checks",
]
