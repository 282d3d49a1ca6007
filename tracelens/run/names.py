"""Tool names of a batch: canonical names, and codes that both sides share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tracelens import columns
from tracelens.columns import coded
from tracelens.suite import Suite

I32 = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of some calls.

    Attributes:
        raw: str?[n], the names as written.
        code: int32[n], the same for equal canonical names; -1 for a name that equals nothing.
        output_tool: bool[n], declared output pseudo-tools.
        handoff: bool[n], declared hand-offs.
    """

    raw: pa.DictionaryArray
    code: I32
    output_tool: npt.NDArray[np.bool_]
    handoff: npt.NDArray[np.bool_]


class NameCodes:
    """Canonical names of one batch, numbered as they are met.

    Example:
        >>> codes = NameCodes(Suite.from_dict({"server_prefixes": ["air__"]}))
        >>> codes.resolve(pa.array(["air__book", None, "book"])).code.tolist(), codes.names
        ([0, -1, 0], ['book'])
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._codes: dict[str, int] = {}
        self.names: list[str] = []

    def resolve(self, values: pa.Array | pa.ChunkedArray) -> Names:
        """Codes and kinds of n raw names (nulls and empty names get -1)."""
        encoded = columns.one_chunk(values).dictionary_encode()
        raw = encoded.dictionary.to_pylist()
        which = columns.numbers(encoded.indices.cast(pa.int64()), default=len(raw))
        canonical = [self._suite.canonical_name(name) for name in raw]
        code = np.array([*(self._code(name) for name in canonical), -1], np.int32)
        output = np.array([*(self._suite.is_output_tool(name) for name in raw), False], np.bool_)
        handoff = np.array([*(self._suite.is_handoff(name) for name in raw), False], np.bool_)
        return Names(encoded, code[which], output[which], handoff[which])

    def _code(self, name: str | None) -> int:
        if name is None:
            return -1
        if name not in self._codes:
            self._codes[name] = len(self.names)
            self.names.append(name)
        return self._codes[name]

    def coded(self, code: I32) -> pa.DictionaryArray:
        """The canonical names of codes, null for -1."""
        return coded(code, self.names)
