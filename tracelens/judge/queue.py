"""Writing the queue: plain JSON lines, or request files for the batch interfaces of providers, within their limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import orjson

from tracelens.errors import StoreError, UsageError, counted
from tracelens.judge.items import Item, items
from tracelens.judge.prompt import Prompts
from tracelens.store.verdicts import read_verdicts

if TYPE_CHECKING:
    from tracelens.store import Run

Form = Literal["lines", "openai", "anthropic"]


@dataclass(frozen=True)
class Layout:
    """How a provider wants its requests.

    Attributes:
        request: One request as JSON values, from an item, its prompt and the prompts.
        head: What stands before all requests of a file.
        between: What stands between two.
        tail: What stands after all.
        most: Requests of a file at most.
        bytes: Bytes of a file at most.
    """

    request: Callable[[Item, str, Prompts], dict[str, Any]]
    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"
    most: int | None = None
    bytes: int | None = None


def _plain(item: Item, prompt: str, prompts: Prompts) -> dict[str, Any]:
    return {**item.to_dict(), "system": prompts.system, "prompt": prompt}


def _openai(item: Item, prompt: str, prompts: Prompts) -> dict[str, Any]:
    messages = [{"role": "system", "content": prompts.system}, {"role": "user", "content": prompt}]
    body = {
        "model": prompts.model,
        "messages": messages,
        "max_completion_tokens": prompts.max_tokens,
        "response_format": {"type": "json_object"},
    }
    return {"custom_id": item.custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def _anthropic(item: Item, prompt: str, prompts: Prompts) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    params = {
        "model": prompts.model,
        "max_tokens": prompts.max_tokens,
        "system": prompts.system,
        "messages": messages,
    }
    return {"custom_id": item.custom_id, "params": params}


FORMS: dict[Form, Layout] = {
    "lines": Layout(_plain),
    "openai": Layout(_openai, most=50_000, bytes=200_000_000),
    "anthropic": Layout(_anthropic, b'{"requests": [\n', b",\n", b"\n]}\n", most=100_000, bytes=256_000_000),
}
"""Layouts by name, with the limits that the providers state for a batch."""


@dataclass(frozen=True)
class Queued:
    """What was written.

    Attributes:
        files: The files.
        n_traces: Traces in them.
        n_answered: Traces left out because they have an answer.
        n_bytes: Bytes of the prompts.
        too_large: Ids of traces that no file of the provider can hold.
    """

    files: tuple[Path, ...]
    n_traces: int
    n_answered: int
    n_bytes: int
    too_large: tuple[str, ...]


def write_queue(
    run: Run,
    to: Path,
    *,
    form: Form = "lines",
    prompts: Prompts | None = None,
    again: bool = False,
    overwrite: bool = False,
    layout: Layout | None = None,
) -> Queued:
    """Write what a judge must look at.

    Args:
        run: The run.
        to: The file; where a provider's limits ask for several, its name gets a number for each.
        form: ``lines``: an object a line with everything about a trace, and the prompt. ``openai``: the JSON lines that
            are uploaded for a batch of chat completions. ``anthropic``: the bodies that create message batches.
        prompts: How the judge is asked.
        again: Whether traces that have a usable answer are asked about again.
        overwrite: Whether files that exist may be replaced.
        layout: Other limits than the provider's.

    Raises:
        UsageError: The provider needs a model, and none is named.
        StoreError: A file is there already, or cannot be written.
    """
    prompts = prompts or Prompts()
    if form != "lines" and not prompts.model:
        raise UsageError(
            f"requests to {form} name a model", hint='give --model, or write it in the suite: [judge] model = "…"'
        )
    answered = frozenset() if again else _answered(run)
    files = _Files(to, layout or FORMS[form], overwrite=overwrite)
    try:
        for item in items(run, answered):
            text = prompts.text(item)
            files.add(item, text, prompts)
        return Queued(files.close(), files.n, len(answered), files.n_bytes, tuple(files.too_large))
    except OSError as error:
        raise StoreError(f"cannot write here ({error.strerror})", where=str(to)) from error
    finally:
        files.abandon()


def _answered(run: Run) -> frozenset[str]:
    """Traces that have a usable answer."""
    said = read_verdicts(run)
    return frozenset(said.filter(said["verdict"].is_not_null())["trace_id"].to_list())


class _Files:
    """Requests on their way into files; nothing appears under its name before all is written."""

    def __init__(self, to: Path, layout: Layout, *, overwrite: bool) -> None:
        self._to, self._layout, self._overwrite = to, layout, overwrite
        self._parts: list[Path] = []
        self._open: Any = None
        self._n_here = self._bytes_here = 0
        self.n = self.n_bytes = 0
        self.too_large: list[str] = []
        if to.is_dir():
            raise StoreError("is a folder", where=str(to), hint="name a file in it")
        _refuse([to], overwrite=overwrite)

    def add(self, item: Item, prompt: str, prompts: Prompts) -> None:
        layout = self._layout
        line = orjson.dumps(layout.request(item, prompt, prompts))
        frame = len(layout.head) + len(layout.tail)
        if layout.bytes is not None and len(line) + frame > layout.bytes:
            self.too_large.append(item.trace["trace_id"])
            return
        room = (
            layout.bytes is None
            or self._bytes_here + len(layout.between) + len(line) + len(layout.tail) <= layout.bytes
        )
        if self._open is None or not room or self._n_here == layout.most:
            self._next()
        else:
            self._open.write(layout.between)
            self._bytes_here += len(layout.between)
        self._open.write(line)
        self._bytes_here += len(line)
        self._n_here += 1
        self.n += 1
        self.n_bytes += len(prompt.encode()) + len(prompts.system.encode())

    def _next(self) -> None:
        self._finish()
        self._to.parent.mkdir(parents=True, exist_ok=True)
        part = self._to.with_name(f".{self._to.name}.{len(self._parts)}.part")
        self._parts.append(part)
        self._open = part.open("wb")
        self._open.write(self._layout.head)
        self._n_here, self._bytes_here = 0, len(self._layout.head)

    def _finish(self) -> None:
        if self._open is not None:
            self._open.write(self._layout.tail)
            self._open.close()
            self._open = None

    def close(self) -> tuple[Path, ...]:
        """Let the files appear."""
        self._finish()
        names = list(_names(self._to, len(self._parts)))
        _refuse(names, overwrite=self._overwrite)
        for part, name in zip(self._parts, names, strict=True):
            part.replace(name)
        self._parts = []
        return tuple(names)

    def abandon(self) -> None:
        """Remove what did not appear."""
        if self._open is not None:
            self._open.close()
        for part in self._parts:
            part.unlink(missing_ok=True)


def _names(to: Path, n: int) -> Iterator[Path]:
    """The file itself, or one with a number for each of several."""
    if n <= 1:
        yield from [to] * n
        return
    width = len(str(n))
    for number in range(1, n + 1):
        yield to.with_name(f"{to.stem}-{number:0{width}}{to.suffix}")


def _refuse(files: Iterable[Path], *, overwrite: bool) -> None:
    there = [] if overwrite else [file for file in files if file.exists()]
    if there:
        more = f", and {counted(len(there) - 1, 'more file')}" if there[1:] else ""
        raise StoreError(f"the file exists already{more}", where=str(there[0]), hint="give another name, or --force")
