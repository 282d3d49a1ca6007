"""The prompt of `tracelens sql`: statements one after the other, from a terminal or from a pipe."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tracelens.cli.console import print_error, say
from tracelens.errors import TraceLensError

if TYPE_CHECKING:
    from tracelens.store.connection import Connection

_GREETING = (
    "Statements end with a semicolon; .list shows what there is, .list NAME its columns, .quit ends (or Ctrl-D)."
)
_HISTORY = 1000
_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY ALL", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "USING", "WITH",
    "AS", "AND", "OR", "NOT", "IS NULL", "IN", "LIKE", "BETWEEN", "DISTINCT", "CASE WHEN", "THEN", "ELSE", "END",
    "UNION ALL", "DESCRIBE", "SUMMARIZE", "count(*)", "FILTER", "QUALIFY", "OVER", "DESC",
)  # fmt: skip


def statements(lines: Iterable[str]) -> Iterator[str]:
    r"""Statements from lines, each as soon as it is complete.

    Args:
        lines: Lines of SQL; a line that starts with a dot, where no statement has begun, is one of its own.

    Yields:
        Statements without the semicolon behind them; the last one may lack it.

    Example:
        >>> list(statements(["SELECT 1;", ".list", "SELECT ';'", "  , 2; SELECT 3; --", "FROM runs"]))
        ['SELECT 1', '.list', "SELECT ';'\n  , 2", 'SELECT 3', '--\nFROM runs']
    """
    text = ""
    for line in lines:
        if not text and line.lstrip().startswith("."):
            yield line.strip()
            continue
        text = f"{text}\n{line}" if text else line
        while (found := _first(text)) is not None:
            statement, text = found
            if statement:
                yield statement
    if text.strip():
        yield text.strip()


def _first(text: str) -> tuple[str, str] | None:
    """The first complete statement and the rest of the text; None where there is none."""
    for place in (found.start() for found in re.finditer(";", text)):
        if sqlite3.complete_statement(text[: place + 1]):
            return text[:place].strip(), text[place + 1 :].lstrip()
    return None


def run_prompt(connection: Connection, ask: Callable[[str], None], describe: Callable[[str | None], None]) -> int:
    """Answer statements until there are no more.

    On a terminal there are a prompt, history and completion, and an error ends nothing. From a pipe statements are
    read as they come, and the first error ends it.

    Args:
        connection: What is asked, for the names to complete.
        ask: Answers one statement and prints the answer.
        describe: Prints what there is, or what one name means.

    Returns:
        The exit code.

    Raises:
        TraceLensError: A statement of a pipe failed.
    """
    interactive = sys.stdin.isatty()
    lines = _typed(connection) if interactive else (line.rstrip("\n") for line in sys.stdin)
    for statement in statements(lines):
        command, _, name = statement.partition(" ")
        try:
            if command in {".quit", ".exit"}:
                break
            if command == ".list":
                describe(name.strip() or None)
            elif command.startswith("."):
                say(_GREETING)
            else:
                ask(statement)
        except TraceLensError as error:
            if not interactive:
                raise
            print_error(error)
    return 0


def _typed(connection: Connection) -> Iterator[str]:
    """Lines as they are typed; Ctrl-C drops what was begun, Ctrl-D ends."""
    say(_GREETING)
    history = _prepare(connection)
    prompt = "tracelens> "
    try:
        while True:
            try:
                line = input(prompt)
            except EOFError:
                sys.stdout.write("\n")
                return
            except KeyboardInterrupt:
                sys.stdout.write("\n")
                line = ";"  # ends the statement that was begun, which then fails or is empty
            prompt = "tracelens> " if line.rstrip().endswith(";") or line.startswith(".") else "      ...> "
            yield line
    finally:
        if history is not None:
            _keep(history)


def history_file() -> Path:
    """Where statements are kept from one prompt to the next."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "tracelens" / "sql_history"


def _prepare(connection: Connection) -> Path | None:
    """Switch on history and completion, where the system has GNU readline or the like."""
    try:
        import readline
    except ImportError:  # Windows
        return None
    file = history_file()
    with suppress(OSError):
        readline.read_history_file(file)
    known = Names.of(connection)
    readline.set_completer_delims(" \t\n,()=<>;+-*/'")
    readline.set_completer(lambda text, state: known.nth(text, readline.get_line_buffer(), state))
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    return file


def _keep(file: Path) -> None:
    import readline

    readline.set_history_length(_HISTORY)
    with suppress(OSError):  # a home that cannot be written to is no reason to fail
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(file)


class Names:
    """What the names of a database are, for completion.

    Args:
        columns: Columns by table or view.
        macros: Names of macros.
    """

    def __init__(self, columns: dict[str, list[str]], macros: list[str]) -> None:
        self.columns = columns
        self.macros = macros

    @classmethod
    def of(cls, connection: Connection) -> Names:
        """The names of a connection."""
        columns: dict[str, list[str]] = {}
        query = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main'"
        for table, column in connection.execute(query).fetchall():
            columns.setdefault(table, []).append(column)
        macros = connection.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE NOT internal")
        return cls(columns, [name for (name,) in macros.fetchall()])

    def complete(self, text: str, line: str) -> list[str]:
        """What a word may become.

        Args:
            text: The word so far.
            line: The line so far: columns of the tables that it names come first.

        Example:
            >>> names = Names({"runs": ["run_id", "notes"], "calls": ["tool"]}, ["reason_kind"])
            >>> names.complete("no", "SELECT no")
            ['NOT', 'notes']
            >>> names.complete("runs.", "SELECT runs."), names.complete("t", "FROM calls SELECT t")
            (['runs.run_id', 'runs.notes'], ['tool', 'THEN'])
        """
        table, dot, _ = text.rpartition(".")
        if dot:
            return [f"{table}.{name}" for name in self.columns.get(table, ()) if f"{table}.{name}".startswith(text)]
        named = [name for table in re.findall(r"\w+", line) for name in self.columns.get(table, ())]
        others = sorted(name for names in self.columns.values() for name in names)
        every = [*named, *sorted(self.columns), *(f"{name}(" for name in sorted(self.macros))]
        if not named:
            every += others
        first = [name for name in every if name.lower().startswith(text.lower())]
        words = [word for word in _WORDS if word.lower().startswith(text.lower())]
        return list(dict.fromkeys([*words, *first] if not named else [*first, *words]))

    def nth(self, text: str, line: str, state: int) -> str | None:
        """The n-th of them, as readline asks for it."""
        found = self.complete(text, line)
        return found[state] if state < len(found) else None
