"""Where the files of a workload are. Kept light, so that a contender's memory is its own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import flights, hostile, mixed

TOOLS: dict[str, dict[str, Any]] = {"flights": flights.TOOLS, "mixed": mixed.TOOLS, "hostile": hostile.TOOLS}
"""JSON Schemas by workload and tool."""


@dataclass(frozen=True)
class Workload:
    """The files of one workload.

    Attributes:
        name: ``flights``, ``mixed`` or ``hostile``.
        folder: Where the files are.
        traces: How many traces they hold.
    """

    name: str
    folder: Path
    traces: int

    @property
    def lines(self) -> Path:
        """Native JSON lines."""
        return self.folder / "traces.jsonl"

    @property
    def table(self) -> Path:
        """The same calls as a Parquet table of call rows."""
        return self.folder / "calls.parquet"

    @property
    def suite(self) -> Path:
        """The suite file."""
        return self.folder / "suite.toml"

    @property
    def tools(self) -> dict[str, dict[str, Any]]:
        """JSON Schemas by tool name."""
        return TOOLS[self.name]
