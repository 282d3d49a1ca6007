"""The numbers of a report: computed once, and every page and file is made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Numbers:
    """Everything that a report says.

    Attributes:
        facts: What the report is about: ``title``, ``against``, ``suite``, ``run_id``, ``runs``, ``timezone``, ``by``,
            ``version``, ``questions``.
        tables: Rows by table. Counts are whole numbers, shares 0 to 1, money in the suite's currency (``cost`` of
            traces: of the source).
        left_out: Rows beyond the limit, by table.
    """

    facts: Row
    tables: Mapping[str, list[Row]]
    left_out: Mapping[str, int] = field(default_factory=dict)

    def total(self, part: str = "head") -> Row:
        """The totals of a part; empty where it has no trace."""
        return next((row for row in self.tables["totals"] if row["part"] == part), {})

    def rate(self, part: str = "head") -> Row:
        """The pass rate of a part; empty where it has no trace."""
        rows = self.tables["rates"]
        return next((row for row in rows if row["part"] == part and row["dimension"] == "all"), {})

    def to_dict(self) -> Row:
        """The same as JSON values."""
        return {**self.facts, "left_out": dict(self.left_out), "tables": dict(self.tables)}
