"""Which expected calls the schemas refuse: references that no longer fit, whoever made the calls or did not.

An expected call belongs to no agent, so where agents differ one schema that accepts it is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tracelens import columns
from tracelens.arguments import read_texts
from tracelens.columns import Batch, coded
from tracelens.kernels.reference.paths import render_path
from tracelens.run.expected import Expected
from tracelens.run.hold import hold
from tracelens.run.names import NameCodes, Names
from tracelens.run.pool import Pool
from tracelens.run.relations import with_matchers
from tracelens.run.rows import places_of
from tracelens.rungs.safety.masking import MASKED as MASK
from tracelens.rungs.schema.catalogue import EXEMPT, UNKNOWN, Catalogue
from tracelens.rungs.schema.check import S_INVALID, S_NOT_CAPTURED, S_UNKNOWN, S_VALID, STATES
from tracelens.rungs.schema.matchers import Plain, refused, without_matchers
from tracelens.rungs.schema.render import code_of
from tracelens.rungs.schema.truth import CannotCheckError, CompiledSchema

B1 = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]

TOLD = ("code", "path", "message")
"""What is kept of the first error of an expected call."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The expected calls of a batch, as questions.

    Attributes:
        row: int64[m], where their arguments stand in the pool.
        code: int32[m], name codes.
        names: Names by code.
        asked: int32[m], tool ids.
        matchers: bool[m], whose arguments hold a matcher.
        hidden: bool[m], of which a mask hides something.
        of_place: int64, the question of each row of the table `expected`, -1 for a reference without calls.
    """

    row: I64
    code: I32
    names: Sequence[str]
    asked: I32
    matchers: B1
    hidden: B1
    of_place: I64

    @property
    def plain(self) -> I64:
        """int64: those that can be asked as they stand."""
        return np.flatnonzero(~self.matchers)


def wanted_of(
    batch: Batch,
    expected: tuple[Expected, Names],
    pool: Pool,
    codes: NameCodes,
    definitions: tuple[I32 | None, Sequence[str]],
    catalogue: Catalogue,
) -> Wanted:
    """Ask about the expected calls: once each, and by trace only where traces record tools of their own.

    Args:
        batch: The batch.
        expected: Its references, and the names of their calls.
        pool: The arguments.
        codes: Names of the tools.
        definitions: The number of each trace's recorded definitions, None where there are none, and their texts.
        catalogue: The tools.
    """
    references, names = expected
    unit, _, of_place = places_of(references)
    of_trace, texts = definitions
    at, given = np.arange(names.code.size), None
    if of_trace is not None:
        told = np.flatnonzero(of_place >= 0)
        at, given = of_place[told], of_trace[references.trace[unit[told]]]
        of_place = np.full(of_place.size, -1)
        of_place[told] = np.arange(told.size)
    code, row = names.code[at], pool.expected.row[at]
    asked = catalogue.assign((code, codes.names), None, given, texts)
    form = columns.numbers(references.calls["arguments_form"])[at]
    asked[(form <= columns.NULL) & (asked != UNKNOWN)] = EXEMPT
    matchers = with_matchers(pool.arguments)[row]
    hidden = np.zeros(at.size, np.bool_)
    if batch.masked_answers is not None:
        hidden |= _masked(references.calls["arguments"])[at]
        hidden |= False if given is None else np.append(_masked(pa.array(texts, columns.TEXT)), False)[given]
    return Wanted(row, code, codes.names, asked, matchers, hidden, of_place)


def _masked(texts: pa.Array | pa.ChunkedArray) -> B1:
    """bool[n]: texts in which something is masked."""
    found = pl.Series(texts, dtype=pl.String).str.contains(MASK.pattern)
    return np.asarray(found.fill_null(value=False).to_numpy())


def refusals(wanted: Wanted, state: U8, found: pl.DataFrame, pool: Pool, catalogue: Catalogue) -> dict[str, pa.Array]:
    """The columns of `expected` that say what the schemas say.

    Args:
        wanted: The expected calls.
        state: uint8, the states of those without matchers.
        found: Findings about them; ``call`` counts in them.
        pool: The arguments.
        catalogue: The tools.
    """
    states, plain = np.empty(wanted.row.size, np.uint8), wanted.plain
    states[plain] = state
    errors = [_first(found, plain)]
    held = np.flatnonzero(wanted.matchers)
    if held.size:
        states[held], more = _with_matchers(wanted, held, wanted.asked[held], pool, catalogue)
        errors.append(_first(more, held))
    _accept(wanted, states, pool, catalogue)
    states[wanted.hidden] = S_NOT_CAPTURED
    first = pl.concat(errors)
    first = first.filter(pl.Series(_is_refused(states[first["call"].to_numpy()])))
    place = np.full(wanted.row.size + 1, -1)
    place[first["call"].to_numpy()] = np.arange(first.height)
    place = place[wanted.of_place]
    taken = pa.array(place, mask=place < 0)
    told = {f"schema_{name}": first[name].to_arrow().cast(columns.TEXT).take(taken) for name in TOLD}
    return {"schema_state": coded(np.append(states.astype(np.int32), -1)[wanted.of_place], STATES), **told}


def _is_refused(state: U8) -> B1:
    return np.asarray((state == S_INVALID) | (state == S_UNKNOWN))


def _first(found: pl.DataFrame, of: I64) -> pl.DataFrame:
    """The first error of each call; ``call`` counts in ``of`` and then as ``of`` says."""
    errors = found.filter(pl.col("severity") == "error").unique("call", keep="first", maintain_order=True)
    return errors.select(pl.Series("call", of[errors["call"].to_numpy()]), *TOLD)


def _accept(wanted: Wanted, states: U8, pool: Pool, catalogue: Catalogue) -> None:
    """Set the states of refused calls that some agent's own schema does not refuse."""
    names = [*wanted.names, ""]
    for turn in range(len(catalogue.own)):
        left = np.flatnonzero(_is_refused(states))
        ids = {code: catalogue.own_ids(names[code])[turn:] for code in np.unique(wanted.code[left]).tolist()}
        asked = np.array([next(iter(ids[code]), EXEMPT) for code in wanted.code[left].tolist()], np.int32)
        left, asked = left[asked != EXEMPT], asked[asked != EXEMPT]
        if not left.size:
            return
        told, matchers = np.empty(left.size, np.uint8), wanted.matchers[left]
        plain, held = np.flatnonzero(~matchers), np.flatnonzero(matchers)
        told[plain], _ = hold(pool.arguments, wanted.row[left[plain]], asked[plain], catalogue, pool.tools)
        told[held], _ = _with_matchers(wanted, left[held], asked[held], pool, catalogue)
        accepted = ~_is_refused(told)
        states[left[accepted]] = told[accepted]


def _with_matchers(wanted: Wanted, calls: I64, asked: I32, pool: Pool, catalogue: Catalogue) -> tuple[U8, pl.DataFrame]:
    """States and findings of calls with matchers: in bulk without the matchers, and one by one what is refused then."""
    rows, which = np.unique(wanted.row[calls], return_inverse=True)
    texts = [pool.arguments.text(int(row)).decode() for row in rows]
    plain = [without_matchers(text) for text in texts]
    forms = np.full(rows.size, columns.JSON_VALUE, np.uint8)
    arguments = read_texts(columns.texts(pa.array([each.text for each in plain], columns.TEXT)), forms)
    state, found = hold(arguments, which, asked, catalogue, pool.tools.gather(rows))
    found = found.filter(pl.col("severity") == "error")
    kept, answers = list[tuple[int, str, str, str, str]](), dict[tuple[int, int], list[tuple[str, str, str]]]()
    for (call,), errors in found.group_by("call", maintain_order=True):
        at, told = int(call), list(errors.select(*TOLD).iter_rows())
        if all(code.startswith("schema.") for code, _, _ in told):
            key = (int(which[at]), int(asked[at]))
            if key not in answers:
                answers[key] = _refused(catalogue.schemas[key[1]], texts[key[0]], plain[key[0]], told)
            told = answers[key]
            state[at] = S_INVALID if told else S_VALID
        kept.extend((at, "error", *each) for each in told)
    names = {"call": pl.Int64, "severity": pl.String, **dict.fromkeys(TOLD, pl.String)}
    return state, pl.DataFrame(kept, schema=names, orient="row")


def _refused(
    schema: CompiledSchema | None, text: str, plain: Plain, told: list[tuple[str, str, str]]
) -> list[tuple[str, str, str]]:
    """What stands against a text with matchers, of what was said against it without them."""
    if schema is None or all(plain.leaves_open(path, code.removeprefix("schema.")) for code, path, _ in told):
        return []
    try:
        errors = refused(schema, text)
    except CannotCheckError:
        return []
    return sorted((code_of(error.keyword), render_path(error.path), error.message) for error in errors)
