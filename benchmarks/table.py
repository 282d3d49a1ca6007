"""The figures as a Markdown table, and its place in the README."""

from pathlib import Path
from typing import Any

START, END = "<!-- benchmark:start -->", "<!-- benchmark:end -->"

_HEAD = (
    "| workload | input | who | seconds | µs a trace | MB/s | peak MiB | against plain Python | against reading only |\n"
    "|---|---|---|---:|---:|---:|---:|---:|---:|"
)


def _times(slow: float | None, fast: float) -> str:
    return f"{slow / fast:.1f} ×" if slow is not None else "–"


def _seconds(rows: list[dict[str, Any]], row: dict[str, Any], key: str) -> float | None:
    for other in rows:
        if (other["workload"], other["traces"], other["contender"]) == (row["workload"], row["traces"], key):
            return float(other["seconds"])
    return None


def _line(rows: list[dict[str, Any]], row: dict[str, Any]) -> str:
    seconds = float(row["seconds"])
    cells = [
        f"{row['workload']}, {row['traces']:,} traces",
        f"{'JSON lines' if row['reads'] == 'lines' else 'Parquet'}, {row['input_mb']:,} MB",
        row["title"],
        f"{seconds:.2f}",
        f"{seconds / row['traces'] * 1e6:.1f}",
        f"{row['input_mb'] / seconds:,.0f}",
        f"{row['peak_mib']:,.0f}",
        _times(_seconds(rows, row, "peer"), seconds),
        _times(_seconds(rows, row, f"floor-{row['reads']}"), seconds),
    ]
    return f"| {' | '.join(cells)} |"


def _costs(stages: dict[str, dict[str, float]]) -> list[str]:
    """A sentence per workload: what a trace costs by stage, most first."""
    said = []
    for workload, times in stages.items():
        parts = [f"{name} {time:.1f}" for name, time in sorted(times.items(), key=lambda part: -part[1])]
        said.append(
            f"Of {sum(times.values()):.0f} µs of processor time that a trace of {workload} costs TraceLens from JSON lines"
            f" (profiled on one thread): {', '.join(parts)}."
        )
    return said


def render(figures: dict[str, Any]) -> str:
    """The table with a line about the machine.

    Args:
        figures: What the runner measured: ``machine``, ``rounds``, ``rows`` and ``stages``.

    Returns:
        Markdown. The last two columns say how many times faster a row is than the plain-Python loop, and than merely
        reading the same input; below 1 the row is the slower one.

    Example:
        >>> row = {"workload": "w", "traces": 10, "contender": "peer", "title": "p", "reads": "lines"}
        >>> row |= {"input_mb": 1.0, "seconds": 2.0, "peak_mib": 5.0}
        >>> machine = {"cores": 2, "python": "3.11", "processor": "P", "system": "Linux"}
        >>> print(render({"machine": machine, "rounds": 3, "rows": [row], "stages": {}}).splitlines()[-1])
        | w, 10 traces | JSON lines, 1.0 MB | p | 2.00 | 200000.0 | 0 | 5 | 1.0 × | – |
    """
    machine, rows = figures["machine"], figures["rows"]
    about = (
        f"Measured on {machine['cores']} cores ({machine['processor']}), {machine['system']}, Python {machine['python']}; "
        f"median of {figures['rounds']}, each in a process of its own, by turns, "
        "after a warm-up on a few traces."
    )
    lines = [about, "", _HEAD, *(_line(rows, row) for row in rows)]
    return "\n".join([*lines, *(f"\n{said}" for said in _costs(figures["stages"]))])


def insert(readme: Path, text: str) -> None:
    """Put the table between its two markers.

    Args:
        readme: A Markdown file that has both markers.
        text: The table.

    Raises:
        ValueError: A marker is missing.
    """
    page = readme.read_text(encoding="utf-8")
    if START not in page or END not in page:
        raise ValueError(f"{readme}: put {START} and {END} where the table belongs")
    head, rest = page.split(START, 1)
    tail = rest.split(END, 1)[1]
    readme.write_text(f"{head}{START}\n{text}\n{END}{tail}", encoding="utf-8")
