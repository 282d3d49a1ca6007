"""What a trace costs by stage: the cumulated processor time of the functions that are the stages, on one thread."""

import cProfile
import pstats
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.workload import Workload

STAGES = {
    "read": [("sources/reading/io.py", "read_blocks")],
    "parse lines": [("sources/base.py", "parse")],
    "shred arguments": [("run/pool.py", "pool_arguments")],
    "digest": [("run/matching.py", "digest_pool")],
    "rung 1": [("run/schemas.py", "check_schemas")],
    "rungs 2 to 4": [("run/matching.py", "match")],
    "differences": [("run/rows.py", "difference_table")],
    "other checks": [("run/judging.py", "judge")],
    "routes": [("run/batch.py", "_routed")],
    "masks": [("run/masks.py", "masked_tables")],
    "write": [("store/folder.py", "write"), ("store/folder.py", "complete")],
}
"""The functions of each stage, by file and name; none of them calls another."""


def costs(workload: Workload) -> dict[str, float]:
    """Microseconds of processor time per trace by stage.

    Args:
        workload: Scored from JSON lines, twice: the first time loads everything.

    Raises:
        LookupError: A stage's function is not there any more.
    """
    from tracelens.run.score import score_run
    from tracelens.suite import Suite

    suite, profile = Suite.load(workload.suite), cProfile.Profile(time.process_time)
    folder = Path(tempfile.mkdtemp(dir=workload.folder))
    try:
        score_run(workload.lines, suite, out=folder / "first", threads=1)
        profile.enable()
        score_run(workload.lines, suite, out=folder / "second", threads=1)
        profile.disable()
    finally:
        shutil.rmtree(folder)
    times = {(file, name): row[3] for (file, _, name), row in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]  # not in the stubs
    return {
        stage: sum(_time(times, *each) for each in each_of) * 1e6 / workload.traces for stage, each_of in STAGES.items()
    }


def _time(times: dict[tuple[str, str], float], file: str, name: str) -> float:
    found = [
        seconds
        for (path, function), seconds in times.items()
        if function == name and path.endswith(f"tracelens/{file}")
    ]
    if not found:
        raise LookupError(f"{file} has no {name} that a run calls")
    return sum(found)
