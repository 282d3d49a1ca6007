"""A nightly job as a Dagster asset: a partition per day, which may be materialised again at any time.

    dagster dev -f dagster_job.py

The variable of the environment TRACELENS_JOB names the TOML file. Alerts fail the run; they stand in its metadata.
"""

import json
import os
import subprocess

from dagster import (
    AssetExecutionContext,
    DailyPartitionsDefinition,
    Definitions,
    Failure,
    MaterializeResult,
    asset,
    build_schedule_from_partitioned_job,
    define_asset_job,
)

JOB = os.environ.get("TRACELENS_JOB", "/srv/tracelens/nightly.toml")
PROGRAM = os.environ.get("TRACELENS", "/srv/tracelens/.venv/bin/tracelens")


@asset(partitions_def=DailyPartitionsDefinition(start_date="2026-10-01"))
def trace_report(context: AssetExecutionContext) -> MaterializeResult:
    """The report of a day, after taking whatever is new."""
    command = [PROGRAM, "nightly", JOB, "--day", context.partition_key, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    context.log.info(done.stderr)
    if done.returncode > 1:
        raise Failure(f"tracelens ended with {done.returncode}", metadata={"output": done.stderr or done.stdout})
    told = json.loads(done.stdout)
    metadata = {"files": told["files"], "taken": told["taken"], "alerts": told["alerts"]}
    if told["alerts"]:
        raise Failure("; ".join(alert["message"] for alert in told["alerts"]), metadata=metadata)
    return MaterializeResult(metadata=metadata)


job = define_asset_job("nightly_traces", selection=[trace_report])
definitions = Definitions(
    assets=[trace_report],
    jobs=[job],
    schedules=[build_schedule_from_partitioned_job(job, hour_of_day=2, minute_of_hour=10)],
)
