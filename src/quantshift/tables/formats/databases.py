"""Tables in databases, by URL: `duckdb:///file.db?table=scores`, `postgresql://...?table=scores`.

Both drivers support Arrow, so that columns arrive with their types and in batches. The driver for
PostgreSQL is ADBC's, which needs no other packages and reads several times faster than drivers that
create Python objects for every row.

A column of a type that Arrow has no counterpart for, or hands over as the bytes that the database
stores (PostgreSQL's interval, uuid or inet), is read as the text that the database shows.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from quantshift.credentials import public_url, without_credentials
from quantshift.errors import DataError, UserError
from quantshift.tables.files.chunks import Chunk, OpenTable, check_names
from quantshift.tables.formats.table_format import Database

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 65_536

Batches: TypeAlias = Callable[[str, str], AbstractContextManager[Any]]
"""Takes a URL and a query, and gives the batches of the result."""


def table_of(url: str) -> str:
    """The quoted name of the table of a URL."""
    table_name = dict(parse_qsl(_parts(url).query)).get("table", "")
    if not table_name:
        raise UserError(f"{public_url(url)}: name the table by adding ?table=NAME to the URL")
    return ".".join(map(_quoted, table_name.split(".")))


def _open(batches: Batches, url: str) -> OpenTable:
    """The table of a URL, to be read in chunks."""
    name, table = public_url(url), table_of(url)
    schema, selected = _columns(batches, url)
    frames = _frames()
    types, nested = frames.arrow_types(schema)

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        first = 1
        query = f"SELECT {', '.join(selected[column] for column in requested)} FROM {table}"
        with batches(url, query) as reader:
            for batch in reader:
                if len(batch):
                    frame = frames.plain_frame(frames.polars_frame(batch)).select(requested)
                    yield Chunk(first, frame)
                    first += len(batch)

    return OpenTable(name, tuple(schema.names), types, read, nested)


def _frames() -> Any:
    """The module that makes frames of the batches."""
    # Imported late, with polars, because most tables are in files.
    from quantshift.tables.formats import frames

    return frames


def _types(batches: Batches, url: str) -> "dict[str, pl.DataType]":
    import pyarrow as pa

    schema, _ = _columns(batches, url)
    # PostgreSQL's numbers of any precision, for instance, arrive as text.
    types = [
        field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
        for field in schema
    ]
    empty = pa.table([pa.array([], kind) for kind in types], names=schema.names)
    return dict(_frames().polars_frame(empty).schema)


def _query(batches: Batches, url: str, query: str) -> "pl.DataFrame":
    """The result of a query as it is: an empty text is not a missing value."""
    with batches(url, query) as reader:
        frame: pl.DataFrame = _frames().polars_frame(reader.read_all())
    return frame


def _columns(batches: Batches, url: str) -> tuple[Any, dict[str, str]]:
    """The schema of a table as it is read, and how each of its columns is selected."""
    table = table_of(url)
    with batches(url, f"SELECT * FROM {table} LIMIT 0") as reader:
        schema = reader.schema
    check_names(public_url(url), schema.names)
    selected = {field.name: _selected(field) for field in schema}
    if any(expression != _quoted(name) for name, expression in selected.items()):
        with batches(url, f"SELECT {', '.join(selected.values())} FROM {table} LIMIT 0") as reader:
            schema = reader.schema
    return schema, selected


def _selected(field: Any) -> str:
    """A column in a query, as text where Arrow cannot take it."""
    name = _quoted(field.name)
    if (field.metadata or {}).get(b"POSTGRESQL:type") == b"money":
        # Arrives as a number of cents.
        return f"CAST({name} AS numeric) AS {name}"
    return name if _is_taken(field.type) else f"CAST({name} AS varchar) AS {name}"


def _is_taken(kind: Any) -> bool:
    """Whether cells of an Arrow type are those of the database."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return bool(pa.types.is_string(kind.storage_type))
    if pa.types.is_interval(kind) or pa.types.is_union(kind):
        return False
    return all(_is_taken(kind.field(i).type) for i in range(kind.num_fields))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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
            f"{public_url(url)}: not a valid URL; after the scheme write USER:PASSWORD@HOST:PORT, "
            "with / ? # @ and blanks in the password as %2F %3F %23 %40 and %20, and IPv6 hosts "
            "in square brackets"
        ) from None
    return parts


@contextmanager
def _duckdb_batches(url: str, query: str) -> Iterator[Any]:
    with _explained(url):
        parts = _parts(url)
        # A URL has three slashes before a relative path, four before an absolute one.
        path = Path(unquote(parts.path.removeprefix("/")))
        if parts.netloc:
            raise UserError(
                f"{public_url(url)}: write three slashes before the path, "
                f"{public_url(url).replace('://', ':///', 1)}"
            )
        if not path.is_file():
            raise DataError(f"{public_url(url)}: there is no file {str(path)!r}")
        if not _is_duckdb(path):
            raise DataError(f"{public_url(url)}: {str(path)!r} is not a DuckDB database")
        with closing(_driver("duckdb", url).connect(str(path), read_only=True)) as connection:
            yield connection.sql(query).to_arrow_reader(BATCH_ROWS)


@contextmanager
def _postgresql_batches(url: str, query: str) -> Iterator[Any]:
    with _explained(url):
        parts = _parts(url)
        driver = _driver("adbc_driver_postgresql.dbapi", url)
        other_parameters = [(key, value) for key, value in parse_qsl(parts.query) if key != "table"]
        address = urlunsplit(parts._replace(query=urlencode(other_parameters)))
        with (
            closing(driver.connect(address)) as connection,
            closing(connection.cursor()) as cursor,
        ):
            cursor.execute(query)
            yield cursor.fetch_record_batch()


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
            f"{public_url(url)}: reading from a database needs its driver; install it with: pip "
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
        reported = str(error).partition("\nQuery was:")[0].partition("\nQuery: ")[0]
        message = " ".join(reported.split())[:300]
        # Without its cause, which may show the password.
        raise DataError(f"{public_url(url)}: {without_credentials(message, [url])}") from None


def _database(schemes: tuple[str, ...], example: str, dialect: str, batches: Batches) -> Database:
    return Database(
        schemes=schemes,
        example=example,
        dialect=dialect,
        open=partial(_open, batches),
        types=partial(_types, batches),
        query=partial(_query, batches),
    )


DUCKDB = _database(("duckdb",), "duckdb:///FILE?table=NAME", "duckdb", _duckdb_batches)
POSTGRESQL = _database(
    ("postgresql", "postgres"),
    "postgresql://HOST/DB?table=NAME",
    "postgres",
    _postgresql_batches,
)
