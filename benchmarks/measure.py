"""Measures one contender once, in this process, and prints a line of JSON. The runner starts it as a child process."""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.contenders import by_key
from benchmarks.workload import Workload


def peak_mib() -> float:
    """The largest resident size this process ever had.

    Linux carries ``ru_maxrss`` over from the parent when a program is started, so the kernel's own mark is preferred.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def measure(key: str, workload: Workload, warm_up: Workload | None = None) -> dict[str, object]:
    """Run a contender once.

    Args:
        key: Which one.
        workload: On what.
        warm_up: What it handles before, so that imports and the loading of compiled code are not measured.

    Returns:
        Seconds of wall time, peak memory in MiB, and rows or traces handled.
    """
    contender = by_key(key)
    with tempfile.TemporaryDirectory(dir=workload.folder) as folder:
        out = Path(folder) / "results"
        if warm_up is not None:
            contender.call(warm_up, Path(folder) / "before")()
        start = time.perf_counter()
        count = contender.call(workload, out)
        seconds, peak = time.perf_counter() - start, peak_mib()
        return {
            "seconds": round(seconds, 4),
            "peak_mib": round(peak, 1),
            "handled": count(),
        }


def main(arguments: list[str]) -> None:
    """``KEY WORKLOAD FOLDER TRACES FOLDER TRACES``: measure the first, after the second, and print."""
    key, name, folder, traces, before, few = arguments
    print(json.dumps(measure(key, Workload(name, Path(folder), int(traces)), Workload(name, Path(before), int(few)))))


if __name__ == "__main__":
    main(sys.argv[1:])
