"""A nightly job as an Airflow DAG: a run per day, which may be cleared and run again at any time.

Put it into the folder of DAGs; the variable of the environment TRACELENS_JOB names the TOML file. Airflow has an
environment of its own, so it calls the program. Alerts end the task with exit code 1, and so with a failure.
"""

import os
from datetime import datetime, timezone

from airflow.sdk import dag, task

JOB = os.environ.get("TRACELENS_JOB", "/srv/tracelens/nightly.toml")
PROGRAM = os.environ.get("TRACELENS", "/srv/tracelens/.venv/bin/tracelens")


@dag(
    schedule="10 2 * * *",
    start_date=datetime(2026, 11, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    tags=["traces"],
)
def tracelens_nightly() -> None:
    """Take new traces, report yesterday, raise alerts."""

    @task.bash(retries=0, append_env=True)
    def night() -> str:
        return f"{PROGRAM} nightly {JOB} --day {{{{ macros.ds_add(ds, -1) }}}} --json"

    night()


tracelens_nightly()
