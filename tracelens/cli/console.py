"""What goes to the terminal: data to standard output, everything else to standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracelens.errors import TraceLensError
from tracelens.results.page import Line, Style, plain, safe

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES: Mapping[Style, str] = {
    "": "",
    "title": "bold",
    "strong": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "name": "cyan",
}


def print_lines(lines: Iterable[Line], *, error: bool = False) -> None:
    """Print a page: with colours on a terminal (unless NO_COLOR is set), else as plain text.

    Args:
        lines: The page.
        error: Whether it goes to standard error.
    """
    stream = sys.stderr if error else sys.stdout
    if error:
        sys.stdout.flush()  # where both go to one file, they stay in order
    if not stream.isatty():
        stream.write(plain(lines) + "\n")
        return
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for line in lines:
        for part in _fitted(_text(line), console):
            console.print(part, soft_wrap=True)


def _fitted(text: Text, console: Console) -> Iterator[Text]:
    """The line, broken between words where it is wider than the terminal; what follows is set in a little more."""
    if text.cell_len <= console.width:
        yield text
        return
    inset = min(len(text.plain) - len(text.plain.lstrip()) + 4, console.width // 2)
    first, *rest = text.wrap(console, console.width - inset)
    yield first
    for part in rest:
        part.pad_left(inset)
        yield part


def _text(line: Line) -> Text:
    """A line as rich shows it."""
    from rich.text import Text

    return Text.assemble(*((text, _STYLES[style]) for text, style in line))


def print_json(value: Any) -> None:
    """Print a value as indented JSON; times as ISO 8601."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    sys.stdout.write(orjson.dumps(value, option=options, default=str).decode())


def say(text: str) -> None:
    """Some lines to standard error."""
    print_lines([[(safe(line), "dim")] for line in text.split("\n")], error=True)


def print_notes(notes: Sequence[str], most: int = 20) -> None:
    """What the reader of a run should know, to standard error.

    Args:
        notes: Sentences of the run.
        most: How many are printed; the rest is counted.
    """
    lines: list[Line] = [[("note: ", "warn"), (safe(note), "")] for note in notes[:most]]
    if len(notes) > most:
        lines.append([(f"and {len(notes) - most:,} more notes, in the column notes of the table runs", "dim")])
    if lines:
        print_lines([[], *lines], error=True)


def print_error(error: TraceLensError) -> None:
    """An error: what is wrong, where, and what to do."""
    kind = "internal error" if error.exit_code == 4 else "error"
    first, *rest = (safe(line) for line in error.message.split("\n"))
    lines: list[Line] = [[(f"{kind}: ", "bad"), (first, "strong")]]
    lines.extend([(line, "")] for line in rest)
    if error.where:
        lines.append([("  where: ", "dim"), (safe(error.where), "")])
    if error.hint:
        lines.append([("  hint:  ", "dim"), (safe(error.hint), "good")])
    print_lines(lines, error=True)


def print_json_error(error: BaseException, exit_code: int) -> None:
    """Print an error to standard output as a JSON object.

    Args:
        error: The error; where it is one of ours, place, remedy and the single problems of a suite are kept apart.
        exit_code: The exit code that goes with it.
    """
    found: dict[str, Any] = {"exit_code": exit_code, "message": str(error)}
    if isinstance(error, TraceLensError):
        found |= {"message": error.message, "where": error.where, "hint": error.hint}
    problems = getattr(error, "problems", ())
    if problems:
        found["problems"] = [{"place": each.place, "message": each.message, "hint": each.hint} for each in problems]
    print_json({"error": found})


def print_internal(error: BaseException) -> None:
    """An error nobody foresaw, with its traceback."""
    import traceback

    sys.stderr.write("".join(traceback.format_exception(error)))
    print_lines(
        [[("internal error: ", "bad"), ("this is a bug of TraceLens; please report the lines above", "")]], error=True
    )
