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


def stages(out: Path) -> dict[str, float]:
    """Seconds by stage, as the run noted them; empty for contenders that note nothing."""
    for note in sorted(out.glob("runs/*/run.json")):
        seconds = json.loads(note.read_text(encoding="utf-8")).get("seconds", {})
        return {name: round(float(value), 4) for name, value in seconds.items()}
    return {}


def measure(key: str, workload: Workload) -> dict[str, object]:
    """Run a contender once.

    Args:
        key: Which one.
        workload: On what.

    Returns:
        Seconds of wall time, peak memory in MiB, rows or traces handled, and seconds by stage.
    """
    contender = by_key(key)
    with tempfile.TemporaryDirectory(dir=workload.folder) as folder:
        out = Path(folder) / "results"
        start = time.perf_counter()
        count = contender.call(workload, out)
        seconds, peak = time.perf_counter() - start, peak_mib()
        return {
            "seconds": round(seconds, 4),
            "peak_mib": round(peak, 1),
            "handled": count(),
            "stages": stages(out),
        }


def main(arguments: list[str]) -> None:
    """``KEY WORKLOAD FOLDER TRACES``: measure and print."""
    key, name, folder, traces = arguments
    print(json.dumps(measure(key, Workload(name, Path(folder), int(traces)))))


if __name__ == "__main__":
    main(sys.argv[1:])
