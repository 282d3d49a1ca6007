"""Opens the database of a state check, runs its one query, and never tells a credential."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from tracelens.errors import StateError, SuiteError
from tracelens.rungs.state.statements import check_duckdb, check_sqlite

if TYPE_CHECKING:
    import pyarrow as pa

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SECRET_KEY = re.compile(r"(?i)pass|pwd|secret|token|key")
_PAIR = re.compile(r"(?P<key>\w+)\s*=\s*(?P<value>(?:'(?:[^'\\]|\\.)*'?|\"[^\"]*\"?|[^\s;&])*)")
_TOLD = ("host", "hostaddr", "port", "dbname", "server", "database", "service")
_DRIVER = "install this package with its extra 'state', which brings the database drivers"
_FORMS = "write postgresql://… (or host=… dbname=…), sqlite:///file, or the name of a .parquet or .duckdb file"


def fetch(database: str, sql: str, *, base: Path, check: str) -> pa.Table:
    """Run one query and bring its whole result.

    The database is opened for reading only (PostgreSQL: in a transaction that is never committed).

    Args:
        database: ``postgresql://…`` (or ``host=… dbname=…`` of the same database), ``sqlite:///file``,
            ``file.parquet`` (a view named after the file; a pattern such as ``bookings/*.parquet`` gives a view named
            after the folder), or ``file.duckdb``. ``${NAME}`` is taken from the environment.
        sql: The query, one select.
        base: The folder relative paths start from.
        check: Name of the check, for messages.

    Returns:
        The result as an Arrow table.

    Raises:
        StateError: The database cannot be reached or refuses the query. No credential is in the message.
        SuiteError: The address is of no known form, or the SQL is not one query.
    """
    where = f"state check {check!r}"
    address = expand(database, where)
    try:
        return _reader(address, where)(address, sql, base, where)
    except ImportError as error:
        raise StateError(f"the driver for {shown(address)} is missing", where=where, hint=_DRIVER) from error
    except (StateError, SuiteError):
        raise
    except Exception as error:  # noqa: BLE001 - every driver has its own tree of exceptions
        text = redact(" ".join(str(error).split()), address)
    # Raised out here so that the driver's exception, which may quote the address, is not chained to this one.
    raise StateError(f"{shown(address)}: {text}", where=where, hint="check the address, the credentials and the query")


def expand(database: str, where: str) -> str:
    """Put environment variables in place of ``${NAME}``.

    Args:
        database: The address as written in the suite.
        where: The check, for the message.

    Raises:
        StateError: A variable is not set.

    Example:
        >>> os.environ["TL_DOC"] = "x"
        >>> expand("sqlite:///${TL_DOC}.db", "")
        'sqlite:///x.db'
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            raise StateError(f"the environment variable {name} is not set", where=where, hint=f"export {name} first")
        return os.environ[name]

    return _VARIABLE.sub(value, database)


def shown(address: str) -> str:
    """The address without user, password and options.

    Example:
        >>> shown("postgresql://ada:s3cret@db.example:5432/app?sslmode=require")
        'postgresql://db.example:5432/app'
        >>> shown("host=db.example user=ada password='s3 cret' dbname=app")
        'host=db.example dbname=app'
    """
    scheme, mark, rest = address.partition("://")
    if mark:
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    if "=" not in address:
        return address.rpartition("@")[2]
    pairs = (pair for pair in _PAIR.finditer(address) if pair["key"].lower() in _TOLD)
    return " ".join(f"{pair['key']}={pair['value']}" for pair in pairs) or "the database"


def secrets(address: str) -> Iterator[str]:
    r"""Everything in an address that must not be told: passwords, as written, decoded and in pieces.

    A password with an unescaped ``@``, ``/``, ``:`` or space makes drivers quote pieces of it, hence the pieces.

    Example:
        >>> sorted(set(secrets("postgresql://ada:a%40bcd@db/app?password=pw1")))
        ['a%40bcd', 'a@bcd', 'bcd', 'pw1']
        >>> sorted(set(secrets(r"host=db password='my\'pw' user=ada")))
        ["'my\\'pw'", "my'pw", "my\\'pw"]
    """
    found = [*_of_url(address)] if "://" in address else [*_of_pairs(address)]
    for text in found:
        for form in {text, unquote(text), _bare(text), re.sub(r"\\(.)", r"\1", _bare(text))} - {""}:
            yield form
            yield from (piece for piece in re.split(r"[@/:?#&=\s]", form) if len(piece) > 2)


def _of_url(address: str) -> Iterator[str]:
    """The password and the secret options of a URL."""
    rest = address.partition("://")[2]
    password = rest.rpartition("@")[0].partition(":")[2]
    if password:
        yield password
    for option in rest.partition("?")[2].split("&"):
        key, _, value = option.partition("=")
        if value and _SECRET_KEY.search(key):
            yield value


def _of_pairs(address: str) -> Iterator[str]:
    """The values of secret keys, and what stands behind them without a key: a value with a space, not quoted."""
    credentials = address.rpartition("@")[0].partition(":")[2]
    if credentials and "=" not in address:
        yield credentials
    pairs = list(_PAIR.finditer(address))
    ends = [*(pair.start() for pair in pairs), len(address)][1:]
    for pair, end in zip(pairs, ends, strict=True):
        if _SECRET_KEY.search(pair["key"]):
            yield pair["value"]
            yield address[pair.start("value") : end].strip()


def _bare(text: str) -> str:
    """A value without the quotes around it."""
    quote = text[:1]
    return text[1:].removesuffix(quote) if quote in {"'", '"'} else text


def redact(message: str, address: str) -> str:
    """A driver's message without the address and without any secret of it.

    Example:
        >>> redact("bad password s3cret for ada", "postgresql://ada:s3cret@db/app")
        'bad password *** for ada'
    """
    message = message.replace(address, shown(address))
    hidden = sorted(set(secrets(address)), key=len, reverse=True)
    if any(len(secret) <= 2 and secret in message for secret in hidden):
        return "the driver's message is withheld, as it may quote a credential"
    for secret in hidden:
        message = message.replace(secret, "***")
    return message


def _reader(address: str, where: str) -> Any:
    if re.match(r"postgres(ql)?://", address) or re.match(
        r"\s*(host|hostaddr|dbname|user|service|port|password)\s*=", address
    ):
        return _postgresql
    if address.startswith("sqlite:///"):
        return _sqlite
    if address.endswith(".parquet"):
        return _parquet
    if address.endswith(".duckdb"):
        return _duckdb
    raise SuiteError(f"unknown database {shown(address)!r}", where=where, hint=_FORMS)


def _postgresql(address: str, sql: str, _base: Path, _where: str) -> pa.Table:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute(sql.rstrip("; \t\r\n"))  # the driver puts the query inside another statement
        return cursor.fetch_arrow_table()


def _sqlite(address: str, sql: str, base: Path, where: str) -> pa.Table:
    check_sqlite(sql, where)
    import adbc_driver_sqlite.dbapi as driver

    path = base / unquote(address.removeprefix("sqlite:///"))
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    uri = f"file:{quote(str(path))}?mode=ro"
    with driver.connect(uri) as connection, connection.cursor() as cursor:
        # Types are inferred from the first rows only, by default; a column must not change its type after them.
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(1 << 30)})
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def _parquet(address: str, sql: str, base: Path, where: str) -> pa.Table:
    import duckdb

    path = base / address
    name = path.parent.name if "*" in path.name else path.stem
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
        source = str(path).replace("'", "''")
        label = name.replace('"', '""')
        connection.execute(f"create view \"{label}\" as select * from read_parquet('{source}')")  # noqa: S608
        check_duckdb(connection, sql, where)
        return connection.sql(sql).to_arrow_table()


def _duckdb(address: str, sql: str, base: Path, where: str) -> pa.Table:
    import duckdb

    path = base / address.removeprefix("duckdb:///")
    with duckdb.connect(path, read_only=True, config={"autoinstall_known_extensions": False}) as connection:
        check_duckdb(connection, sql, where)
        return connection.sql(sql).to_arrow_table()
