"""Tables in databases, by URL: `duckdb:///file.db?table=scores`, `postgresql://...?table=scores`.

Both drivers support Arrow, so that columns arrive with their types and in batches. The driver for
PostgreSQL is ADBC's, which needs no other packages and reads several times faster than drivers that
create Python objects for every row.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import polars as pl
import pyarrow as pa

from quantshift.credentials import public_url, without_credentials
from quantshift.errors import DataError, UserError
from quantshift.tables.chunks import Chunk, OpenTable, check_names, polars_frame
from quantshift.tables.formats.typed import plain

SCHEMES = {"duckdb": "duckdb", "postgresql": "postgres", "postgres": "postgres"}
"""The schemes of the URLs, and their databases."""

BATCH_ROWS = 65_536


def is_database(source: Any) -> bool:
    """Whether a source is the URL of a table in a database."""
    return isinstance(source, str) and source.partition("://")[0] in SCHEMES and "://" in source


def shown(url: str) -> str:
    """A URL for messages, without user and password.

    >>> shown("postgresql://ann:secret@host/sales?table=scores&password=secret")
    'postgresql://host/sales?table=scores'
    >>> shown("duckdb:///scores.db?table=scores")
    'duckdb:///scores.db?table=scores'
    """
    return public_url(url)


def table_of(url: str) -> tuple[str, str]:
    """The database ("duckdb" or "postgres") and the quoted name of the table of a URL."""
    parts = _parts(url)
    table_name = dict(parse_qsl(parts.query)).get("table", "")
    if not table_name:
        raise UserError(f"{shown(url)}: name the table by adding ?table=NAME to the URL")
    quoted = ".".join('"' + name.replace('"', '""') + '"' for name in table_name.split("."))
    return SCHEMES[parts.scheme], quoted


def database_table(url: str) -> OpenTable:
    """The table of a URL, to be read in chunks."""
    _, table = table_of(url)
    name = shown(url)
    with _batches(url, f"SELECT * FROM {table} LIMIT 0") as reader:
        schema = reader.schema
    check_names(name, schema.names)
    empty = [polars_frame(pa.table([[]], schema=pa.schema([field]))) for field in schema]
    types = {column.columns[0]: plain(column).dtypes[0] for column in empty}
    nested = frozenset(field.name for field in schema if pa.types.is_nested(field.type))

    def read(wanted: Sequence[str]) -> Generator[Chunk]:
        columns = ", ".join('"' + column.replace('"', '""') + '"' for column in wanted)
        first = 1
        with _batches(url, f"SELECT {columns} FROM {table}") as reader:
            for batch in reader:
                if len(batch):
                    yield Chunk(first, plain(polars_frame(batch)).select(wanted))
                    first += len(batch)

    return OpenTable(name, tuple(schema.names), types, read, nested)


def query_database(url: str, query: str) -> pl.DataFrame:
    """The result of a query as it is: an empty text is not a missing value."""
    with _batches(url, query) as reader:
        return polars_frame(reader.read_all())


def column_types(url: str) -> dict[str, pl.DataType]:
    """The columns of a table with the types they have in the database."""
    _, table = table_of(url)
    with _batches(url, f"SELECT * FROM {table} LIMIT 0") as reader:
        schema = reader.schema
    check_names(shown(url), schema.names)
    # PostgreSQL's numbers of any precision, for instance, arrive as text.
    types = [
        field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
        for field in schema
    ]
    empty = pa.table([pa.array([], kind) for kind in types], names=schema.names)
    return dict(polars_frame(empty).schema)


def _parts(url: str) -> SplitResult:
    """The parts of a URL, refused if it would be misread."""
    try:
        parts = urlsplit(url)
        _ = parts.port
        if any(map(str.isspace, url.rpartition("@")[0])):
            raise ValueError("a blank")
    except ValueError:
        # The library's message may show the password.
        raise UserError(
            f"{shown(url)}: not a valid URL; after the scheme write USER:PASSWORD@HOST:PORT, with "
            "/ ? # @ and blanks in the password as %2F %3F %23 %40 and %20, and IPv6 hosts in "
            "square brackets"
        ) from None
    return parts


@contextmanager
def _batches(url: str, query: str) -> Iterator[pa.RecordBatchReader]:
    """The batches of a query's result; database errors become errors of one line."""
    with _explained(url), closing(_connection(url)) as connection:
        if SCHEMES[_parts(url).scheme] == "duckdb":
            yield connection.sql(query).to_arrow_reader(BATCH_ROWS)
            return
        with closing(connection.cursor()) as cursor:
            cursor.execute(query)
            yield cursor.fetch_record_batch()


def _connection(url: str) -> Any:
    parts = _parts(url)
    if SCHEMES[parts.scheme] == "duckdb":
        # A URL has three slashes before a relative path, four before an absolute one.
        path = Path(unquote(parts.path.removeprefix("/")))
        if parts.netloc:
            raise UserError(
                f"{shown(url)}: write three slashes before the path, "
                f"{shown(url).replace('://', ':///', 1)}"
            )
        if not path.is_file():
            raise DataError(f"{shown(url)}: there is no file {str(path)!r}")
        if not _is_duckdb(path):
            raise DataError(f"{shown(url)}: {str(path)!r} is not a DuckDB database")
        return _driver("duckdb", url).connect(str(path), read_only=True)
    driver = _driver("adbc_driver_postgresql.dbapi", url)
    other_parameters = [(key, value) for key, value in parse_qsl(parts.query) if key != "table"]
    return driver.connect(urlunsplit(parts._replace(query=urlencode(other_parameters))))


def _is_duckdb(path: Path) -> bool:
    """Whether a file begins as databases of DuckDB do; it opens files of other formats, too."""
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def _driver(module: str, url: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(
            f"{shown(url)}: reading from a database needs its driver; install it with: pip "
            "install 'quantshift[warehouse]'"
        ) from error


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn errors of the database into a `DataError`."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        # The drivers' errors have no common base class, so they are recognised by their module;
        # Arrow raises an OSError if a query fails while its result is read.
        module = type(error).__module__.split(".")[0]
        is_driver = module in ("duckdb", "_duckdb", "adbc_driver_manager")
        if not is_driver and not isinstance(error, OSError):
            raise
        # PostgreSQL's driver repeats the query, which may be long.
        told = str(error).partition("\nQuery was:")[0].partition("\nQuery: ")[0]
        message = " ".join(told.split())[:300]
        # Without its cause, which may show the password.
        raise DataError(f"{shown(url)}: {without_credentials(message, [url])}") from None
