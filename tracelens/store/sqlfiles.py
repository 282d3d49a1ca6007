"""Where the SQL files are: inside an installed wheel, or at the top of a checkout."""

from collections.abc import Iterator
from pathlib import Path

from tracelens.errors import InternalError

_PACKAGE = Path(__file__).resolve().parent.parent


def sql_root() -> Path:
    """The folder that holds ``views/``, ``macros/`` and ``checks/``.

    A wheel carries it as ``tracelens/sql``; an editable install reads ``sql/`` beside the package, so that an edited
    file counts at once.

    Returns:
        An existing folder.

    Raises:
        InternalError: Neither place exists: the installation is broken.

    Example:
        >>> sql_root().name
        'sql'
    """
    for folder in (_PACKAGE / "sql", _PACKAGE.parent / "sql"):
        if folder.is_dir():
            return folder
    raise InternalError("the SQL files are missing", where=str(_PACKAGE), hint="install the package again")


def sql_files(kind: str) -> Iterator[tuple[str, str]]:
    """The SQL files of one kind, sorted by name.

    Args:
        kind: ``"views"``, ``"macros"`` or ``"checks"``.

    Yields:
        Pairs of object name (the file's name without its ending) and SQL text.

    Example:
        >>> all(text.strip() for _, text in sql_files("views"))
        True
    """
    for path in sorted((sql_root() / kind).glob("*.sql")):
        yield path.stem, path.read_text(encoding="utf-8")
