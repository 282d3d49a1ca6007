"""Opening an input: which files it names, which format they are in, and the blocks to parse."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracelens.columns import Batch, Before
from tracelens.errors import UsageError, did_you_mean, shown_type
from tracelens.sources.backends.deepeval import DeepEval
from tracelens.sources.backends.langfuse import Langfuse
from tracelens.sources.backends.langfuse_chat import LangfuseChat
from tracelens.sources.backends.langsmith import LangSmith
from tracelens.sources.backends.mlflow import MLflow
from tracelens.sources.backends.openai_agents import OpenAIAgents
from tracelens.sources.backends.phoenix import Phoenix
from tracelens.sources.backends.weave import Weave
from tracelens.sources.base import Head, Options, Sniff, Source
from tracelens.sources.chats.anthropic import Anthropic
from tracelens.sources.chats.azure import AzureEvaluation
from tracelens.sources.chats.chat import Chat
from tracelens.sources.chats.google import Google
from tracelens.sources.chats.langchain import LangChain
from tracelens.sources.chats.pydantic_ai import PydanticAI
from tracelens.sources.chats.responses import Responses
from tracelens.sources.evaluations.adk import AdkEval, AdkLegacyEval, AdkSession
from tracelens.sources.evaluations.atif import Atif
from tracelens.sources.evaluations.bfcl import BfclAnswers, BfclQuestions
from tracelens.sources.evaluations.bfcl_results import BfclResults
from tracelens.sources.evaluations.inspect_ai import Inspect
from tracelens.sources.evaluations.openhands import OpenHands
from tracelens.sources.evaluations.swe_agent import MiniSweAgent, SweAgent
from tracelens.sources.evaluations.tau2 import Tau2Results, Tau2Tasks
from tracelens.sources.evaluations.taubench import TauBench
from tracelens.sources.frames import FRAMES, FrameSource, column_names, frame_named
from tracelens.sources.heads import heads_of
from tracelens.sources.logs.anthropic_stream import AnthropicStream
from tracelens.sources.logs.claude_code import ClaudeCode
from tracelens.sources.logs.codex import Codex
from tracelens.sources.logs.codex_exec import CodexExec
from tracelens.sources.logs.gemini_cli import GeminiCLI
from tracelens.sources.logs.openclaw import OpenClaw
from tracelens.sources.logs.pi import Pi
from tracelens.sources.native import Native
from tracelens.sources.otlp import Otlp
from tracelens.sources.reading.files import File, find_files
from tracelens.sources.reading.io import BLOCK, Layout
from tracelens.sources.tables.table import CallTable
from tracelens.sources.unrecognised import unrecognised

SOURCES: tuple[Source, ...] = (
    Native(),
    Chat(),
    Responses(),
    Anthropic(),
    AnthropicStream(),
    Google(),
    LangChain(),
    PydanticAI(),
    AzureEvaluation(),
    Otlp(),
    LangSmith(),
    Langfuse(),
    LangfuseChat(),
    OpenAIAgents(),
    MLflow(),
    DeepEval(),
    Phoenix(),
    Weave(),
    ClaudeCode(),
    Codex(),
    CodexExec(),
    Pi(),
    GeminiCLI(),
    OpenClaw(),
    TauBench(),
    Tau2Results(),
    Tau2Tasks(),
    BfclResults(),
    BfclQuestions(),
    BfclAnswers(),
    AdkEval(),
    AdkLegacyEval(),
    AdkSession(),
    Inspect(),
    Atif(),
    SweAgent(),
    MiniSweAgent(),
    OpenHands(),
    *FRAMES,
    CallTable(),
)
"""All formats, in the order in which lists show them."""

SAMPLE = "sample:"
"""What stands before the name of a format for its bundled sample."""

SAMPLES = Path(__file__).resolve().parent / "samples"
"""Where the samples are."""

LEAST = 50
"""The least score with which a format is chosen by itself."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An input that is ready to be read.

    Attributes:
        format_name: The format, or several joined by ``+`` where files differ.
        explanation: One sentence about how it was chosen.
        names: The files' names, in order; empty for a table in memory.
        blocks: Iterates over ``(parse, block)`` in order; ``parse(block)`` gives the batch, in any thread.
        before: What is known of the input from an earlier reading, where its records come out of a stored run.
        aside: Asked when all blocks were read: what was left aside of the input, as a digest (empty: nothing), which
            gives another run, and what else ``run.json`` is to say, as JSON values.
    """

    format_name: str
    explanation: str
    names: tuple[str, ...]
    blocks: Callable[[], Iterator[tuple[Callable[[Any], Batch], Any]]]
    before: Before | None = None
    aside: Callable[[], tuple[str, Mapping[str, Any]]] | None = None


def source_named(name: str) -> Source:
    """The source of that name.

    Raises:
        UsageError: There is none.

    Example:
        >>> source_named("native").title
        'TraceLens JSON lines: one trace a line, with tool_calls'
    """
    for source in SOURCES:
        if source.name == name:
            return source
    if not isinstance(name, str):
        raise UsageError(f"the format is given as {shown_type(name)}", hint="give its name, or 'auto'")
    known = [source.name for source in SOURCES]
    hint = did_you_mean(name, known) or f"known formats: auto, {', '.join(known)}"
    raise UsageError(f"unknown format {name!r}", hint=hint)


def open_input(
    source: Any,
    format: str = "auto",
    *,
    input_root: str | Path | None = None,
    block_size: int = BLOCK,
) -> Opened:
    """Find an input's files and their format.

    Args:
        source: A path, glob, folder or list of them, or a table in memory (Arrow, Polars, pandas, DuckDB);
            ``sample:NAME`` is the bundled sample of a format.
        format: Name of a format, or ``auto``.
        input_root: Names of files are relative to it.
        block_size: Bytes of a block.

    Raises:
        InputError: Nothing is there, or a file's format is not known.
        UsageError: No such format.

    Example:
        >>> import pyarrow as pa
        >>> opened = open_input(pa.table({"trace_id": ["t", "t"], "name": ["find", "book"]}))
        >>> [parse(block).calls["name"].to_pylist() for parse, block in opened.blocks()]
        [['find', 'book']]
    """
    if not _is_path(source):
        table, how = _table_source(source, format)
        options = Options(block_size)
        return Opened(
            table.name,
            how,
            (),
            lambda: ((table.parse, block) for block in table.memory_blocks(source, options)),
        )
    return open_files(find_files(_with_samples(source), input_root), format, block_size=block_size)


def open_files(files: Sequence[File], format: str = "auto", *, block_size: int = BLOCK) -> Opened:
    """The same for files that were found already.

    Args:
        files: The files.
        format: Name of a format, or ``auto``.
        block_size: Bytes of a block.

    Raises:
        InputError: A file's format is not known.
        UsageError: No such format.
    """
    if format != "auto":
        chosen = [source_named(format)] * len(files)
        heads = [next(heads_of(file)) for file in files]
        why = f"the format {format} was asked for"
    else:
        found = [recognise(file) for file in files]
        heads = [head for head, _, _ in found]
        chosen = [source for _, source, _ in found]
        why = _explain(files, [(source, sniff) for _, source, sniff in found])
    layouts = {head.file.name: layout_of(head, one) for head, one in zip(heads, chosen, strict=True)}
    options = Options(block_size, layouts, alone=len(files) == 1)
    return Opened(
        "+".join(dict.fromkeys(source.name for source in chosen)),
        why,
        tuple(file.name for file in files),
        lambda: _blocks(files, chosen, options),
    )


def _table_source(source: Any, format: str) -> tuple[CallTable | FrameSource, str]:
    """The format of a table in memory, and why: a backend's frame by its columns or as asked for, else call rows."""
    named = next((one for one in FRAMES if one.name == format), None)
    frame = named or (frame_named(column_names(source)) if format == "auto" else None)
    if frame is None:
        return CallTable(), "a table in memory is read as call rows"
    why = "as was asked for" if named else "it has that format's columns"
    return frame, f"a table in memory is read as {frame.name}: {why}"


def _with_samples(source: Any) -> Any:
    """The input with ``sample:NAME`` replaced by the path of that format's bundled sample."""
    if not isinstance(source, str):
        return [_with_samples(part) for part in source] if isinstance(source, list | tuple | set) else source
    if not source.startswith(SAMPLE) or Path(source).exists():
        return source
    return str(SAMPLES / source_named(source.removeprefix(SAMPLE)).sample)


def _is_path(source: Any) -> bool:
    if isinstance(source, str | os.PathLike):
        return True
    return isinstance(source, list | tuple | set) and all(isinstance(part, str | os.PathLike) for part in source)


def _blocks(
    files: Sequence[File], chosen: Sequence[Source], options: Options
) -> Iterator[tuple[Callable[[Any], Batch], Any]]:
    """Blocks of runs of files with one format; a format that gathers traces gets all of its files at the first one."""
    at, done = 0, set[str]()
    while at < len(files):
        end = at
        while end < len(files) and chosen[end] is chosen[at]:
            end += 1
        source = chosen[at]
        some = list(files[at:end])
        if getattr(source, "gathers", False):
            some = [file for file, one in zip(files, chosen, strict=True) if one is source]
        if source.name not in done:
            for block in source.blocks(some, options):
                yield source.parse, block
        if getattr(source, "gathers", False):
            done.add(source.name)
        at = end


def _explain(files: Sequence[File], found: Iterable[tuple[Source, Sniff]]) -> str:
    """One sentence: which format for which files, and why."""
    groups: dict[tuple[str, str], list[str]] = {}
    for file, (source, sniff) in zip(files, found, strict=True):
        groups.setdefault((source.name, sniff.why), []).append(file.name)
    parts = []
    for (name, why), names in groups.items():
        which = names[0] if len(names) == 1 else f"{len(names)} files ({names[0]}, …)"
        verb = "is" if len(names) == 1 else "are"
        parts.append(f"{which} {verb} read as {name}: {why}")
    return "; ".join(parts)


def recognise(file: File) -> tuple[Head, Source, Sniff]:
    """The beginning of a file, and the source that is surest about it.

    Raises:
        InputError: None is sure enough; the message names the formats it looked like and why it was not them.
    """
    for head in heads_of(file):
        sniffs = sorted(((source.sniff(head), source) for source in SOURCES), key=lambda item: -item[0].score)
        best, source = sniffs[0]
        if best.score >= LEAST:
            return head, source, best
    if not head.start.strip():
        return head, source_named("native"), Sniff(0, "the file is empty")
    raise unrecognised(head, sniffs)


def layout_of(head: Head, source: Source) -> Layout:
    """How a file holds the records of a format: an array whose elements are messages is itself one record."""
    is_record = getattr(source, "is_record", None)
    if head.layout == "array" and is_record is not None and is_record(list(head.records)):
        return "document"
    return head.layout
