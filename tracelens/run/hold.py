"""Calls against schemas, by their distinct arguments."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from tracelens.arguments import Arguments
from tracelens.run.pool import of_calls, rounds
from tracelens.rungs.schema.catalogue import EXEMPT, Catalogue
from tracelens.rungs.schema.check import COLUMNS, check

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]


def hold(
    arguments: Arguments,
    row: I64,
    asked: I32,
    catalogue: Catalogue,
    tools: pl.Series | None,
    prescribed: U8 | None = None,
) -> tuple[U8, pl.DataFrame]:
    """Hold calls against the schemas of their tools.

    Args:
        arguments: Distinct arguments.
        row: int64[calls], where each call's arguments stand.
        asked: int32[calls], the tool id of each call.
        catalogue: The tools.
        tools: str?[arguments], names of the tools, for messages about unknown ones; None where there are none.
        prescribed: uint8[arguments], how often the format itself wraps them in a JSON string.

    Returns:
        uint8[calls], their states, and the findings by call.
    """
    state, parts = np.empty(row.size, np.uint8), [pl.DataFrame(schema=COLUMNS)]
    for told, each in rounds(row, asked, len(arguments), EXEMPT):
        found = check(arguments, each, catalogue, tools, prescribed)
        state[told] = found.state[row[told]]
        parts.append(of_calls(found.findings, told, row[told]))
    findings = pl.concat(parts)
    return state, findings.sort("call", maintain_order=True) if len(parts) > 2 else findings
