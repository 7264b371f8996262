"""Files of reviews: their layouts, and which rows are kept.

- McAuley's crawls: a JSON object per line, with `reviewText`, `overall` and the votes, either
  `helpful` = [useful, total] or the newer `vote`, a string such as "1,234". The newer crawl leaves
  `vote` out when there is none, so no field means no vote.
- `star<TAB>text`: the layout of the public data set (Zenodo record 8421611); no votes.
- Tables of any format with a column of texts and one of stars; no votes.

A zip archive may hold several files of these. Every row is counted once: kept, or under the first
reason for which it was dropped. The reasons, in this order: malformed (not a review: no tab, no
JSON object, a missing field, stars that are not 0 to 5), undecodable (bytes that are not UTF-8),
zero stars, short (fewer than `min_chars` characters, i.e. Unicode code points of the unchanged
text), unvoted (fewer than `min_useful` useful votes; only where there are votes). Empty lines are
not rows.
"""

import json
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.lab.data.importing.options import ReviewLimits
from quantshift.lab.data.sets.stored_texts import Texts
from quantshift.tables.files.broken_files import explained
from quantshift.tables.files.chunks import Chunk, OpenTable
from quantshift.tables.files.places import Spool
from quantshift.tables.files.quotes import BYTE_ORDER_MARK
from quantshift.tables.formats import endings_of, format_of, known_formats
from quantshift.tables.formats.table_format import TableFile
from quantshift.tables.reading import open_file
from quantshift.tables.table_files import check_content, table_file

ZIP = ".zip"
BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 26
GZIP_MAGIC = b"\x1f\x8b"
UNREADABLE = "\ufffd"
"""What the reader of tables puts in the place of bytes that are not UTF-8."""

_IN_WORDS: Mapping[Any, str] = MappingProxyType(
    {bool: "truth values", int: "whole numbers", float: "numbers", list: "lists or objects"}
)
"""What a column of a type holds."""

JUDGED_ROWS = 1000
"""The number of rows that decide whether a file has the expected format."""

Row: TypeAlias = tuple[int, str, int | None]
"""Stars from 0 to 5, the text, and the useful votes, None where there are no votes."""

RowParser: TypeAlias = Callable[[bytes], Row]


class MalformedRow(ValueError):  # noqa: N818 - an outcome that is counted, not an error
    """A row that is not a review; the message says what is wrong with it."""


@dataclass(frozen=True)
class ReviewLayout:
    """How reviews are stored in a file.

    looks_like: a description for messages. unit: what the rows are called. parse: reads a line;
    None for tables.
    """

    name: str
    looks_like: str
    unit: str
    has_votes: bool = False
    parse: RowParser | None = None


@dataclass(frozen=True)
class ReviewColumns:
    """The names of the two columns that are read from a table.

    lenient: every line of a CSV file is a row, whatever its quotes.
    """

    text: str = "text"
    stars: str = "stars"
    lenient: bool = False


@dataclass(frozen=True)
class ReviewTally:
    """How many rows of a source were kept or dropped; `rows` is the sum of the others."""

    rows: int = 0
    malformed: int = 0
    undecodable: int = 0
    zero_stars: int = 0
    short: int = 0
    unvoted: int = 0
    kept: int = 0

    def __add__(self, other: "ReviewTally") -> "ReviewTally":
        return ReviewTally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Lines:
    """Whole lines of a file; first: the number of the first one, from 1."""

    first: int
    lines: bytes


Block: TypeAlias = Lines | Chunk
"""Consecutive rows of a file."""

Blocks: TypeAlias = Iterator[tuple[Block, int]]
"""Blocks, and the position in the source file, in bytes, that has been reached after each."""


@dataclass(frozen=True)
class ReviewPart:
    """A whole file, or a member of an archive."""

    name: str
    layout: ReviewLayout
    blocks: Blocks


@dataclass(frozen=True)
class Sifted:
    """The rows kept from a block, its tally, and how many of the file's first rows were bad."""

    stars: NDArray[np.int8]
    texts: Texts
    tally: ReviewTally
    first_bad: str | None
    n_judged: int
    n_judged_bad: int


def read_parts(path: Path, columns: ReviewColumns) -> Generator[ReviewPart]:
    """The parts of a file; consume each part's blocks before you request the next part."""
    name = str(path)
    with explained(name):
        if path.suffix.lower() == ZIP:
            yield from _zip_parts(name, path, columns)
            return
        layout = layout_of(path)
        if layout.parse is None:
            table = open_file(table_file(path), lenient=columns.lenient)
            blocks = _table_blocks(table, columns, path.stat().st_size)
            yield ReviewPart(name, layout, _explained_blocks(name, blocks))
            return
        compressed, _ = endings_of(path)
        with path.open("rb") as raw:
            _check_magic(name, raw.read(len(GZIP_MAGIC)), compressed=compressed)
            raw.seek(0)
            # Arrow's stream unpacks without holding the lock of the interpreter.
            stream = (
                pa.CompressedInputStream(pa.PythonFile(raw, "r"), "gzip") if compressed else raw
            )
            blocks = _line_blocks(name, stream, raw.tell)
            yield ReviewPart(name, layout, _explained_blocks(name, blocks))


def layout_of(path: Path) -> ReviewLayout:
    """The layout of a file, by its name."""
    _, ending = endings_of(path)
    if ending in _LAYOUTS:
        return _LAYOUTS[ending]
    table_format = format_of(path)
    if table_format is None:
        tables = (e for f in known_formats() for e in f.endings if e not in _LAYOUTS)
        endings = ", ".join([*filter(None, _LAYOUTS), *tables])
        raise UserError(
            f"{path}: unknown format {''.join(path.suffixes[-2:])!r}; known: {endings}, text also "
            "as .gz, and all in a .zip"
        )
    return ReviewLayout(table_format.name, f"a table ({table_format.name})", "row")


def sift(
    block: Block, layout: ReviewLayout, limits: ReviewLimits, columns: ReviewColumns
) -> Sifted:
    """The rows of a block that are kept."""
    if isinstance(block, Chunk):
        return _sift_table(block, columns, limits)
    assert layout.parse is not None
    return _sift_lines(block, layout.parse, limits)


def _zip_parts(archive_name: str, path: Path, columns: ReviewColumns) -> Generator[ReviewPart]:
    with path.open("rb") as raw, zipfile.ZipFile(raw) as archive:
        members = [m for m in archive.infolist() if not m.is_dir() and not _is_metadata(m.filename)]
        if not members:
            raise DataError(f"{archive_name}: the archive is empty")
        for member in members:
            name, inside = f"{archive_name}:{member.filename}", Path(member.filename)
            compressed, ending = endings_of(inside)
            layout = layout_of(inside)
            if layout.parse is None:
                table_format = format_of(inside)
                assert table_format is not None
                spool = _spooled(archive, member)
                file = TableFile(name, spool.path, table_format, ending, compressed, spool)
                check_content(file)
                table = open_file(file, lenient=columns.lenient)
                blocks = _table_blocks(table, columns, raw.tell())
            elif compressed:
                raise DataError(f"{name}: a .gz file in an archive; unpack it first")
            else:
                blocks = _line_blocks(name, archive.open(member), raw.tell)
            yield ReviewPart(name, layout, _explained_blocks(name, blocks))


def _spooled(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Spool:
    with archive.open(member) as stream:
        return Spool(iter(lambda: stream.read(BLOCK_BYTES), b""))


def _is_metadata(name: str) -> bool:
    """Whether a member of an archive is metadata of an operating system."""
    return name.startswith("__MACOSX/") or Path(name).name.startswith(".")


def _check_magic(name: str, start: bytes, *, compressed: bool) -> None:
    if compressed and start and start != GZIP_MAGIC:
        raise DataError(f"{name}: not a gzip file, though its name ends in .gz; rename it")
    if not compressed and start == GZIP_MAGIC:
        raise DataError(f"{name}: a gzip file, though its name does not end in .gz; rename it")


def _explained_blocks(
    name: str, blocks: Iterator[tuple[Block, int]]
) -> Iterator[tuple[Block, int]]:
    with explained(name):
        yield from blocks


def _line_blocks(name: str, stream: Any, position: Callable[[], int]) -> Blocks:
    """Whole lines, split only at line feeds: a text may contain other Unicode line separators."""
    first, remainder = 1, b""
    while chunk := stream.read(BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            remainder += chunk
            if len(remainder) > LONGEST_LINE:
                raise DataError(
                    f"{name}: line {first} is longer than {LONGEST_LINE >> 20} MB; "
                    "is this one review per line?"
                )
            continue
        lines, remainder = remainder + chunk[:cut], chunk[cut:]
        yield _lines(first, lines), position()
        first += lines.count(b"\n")
    if remainder:
        yield _lines(first, remainder), position()


def _lines(first: int, lines: bytes) -> Lines:
    return Lines(first, lines.removeprefix(BYTE_ORDER_MARK) if first == 1 else lines)


def _table_blocks(table: OpenTable, columns: ReviewColumns, size: int) -> Blocks:
    """The chunks of a table; size: the size of the file in bytes."""
    for role, column in (("text", columns.text), ("label", columns.stars)):
        if column not in table.columns:
            # Without a header, the first row is taken for it and may be long.
            error = unknown_name("column", column, [name[:20] for name in table.columns[:20]])
            raise DataError(
                f"{table.name}: {error}; name it (a file star<TAB>text without a header must end "
                "in .txt)",
                arguments=[role],
            )
    kind = list if columns.text in table.nested else table.types[columns.text]
    if kind is not str:
        content = _IN_WORDS.get(kind, str(kind))
        raise DataError(f"{table.name}: column {columns.text!r} holds {content}, not text")
    position = 0
    with closing(table.chunks([columns.text, columns.stars])) as chunks:
        for chunk in chunks:
            # An estimate: the reader of tables does not report its position in the file.
            position += int(chunk.columns[columns.text].str.len_bytes().sum())
            yield chunk, min(position, size)


def _sift_lines(block: Lines, parse: RowParser, limits: ReviewLimits) -> Sifted:
    stars: list[int] = []
    texts: list[bytes] = []
    bad_rows: list[tuple[int, str]] = []
    rows = n_judged = undecodable = zero_stars = short = unvoted = 0
    for number, row in enumerate(_rows(block.lines), block.first):
        if row == b"":
            continue
        rows += 1
        n_judged += number <= JUDGED_ROWS
        try:
            star, text, useful = parse(row)
        except UnicodeDecodeError:
            undecodable += 1
            bad_rows.append((number, "bytes that are not UTF-8"))
        except MalformedRow as reason:
            bad_rows.append((number, str(reason)))
        else:
            if star == 0:
                zero_stars += 1
            elif len(text) < limits.min_chars:
                short += 1
            elif useful is not None and useful < limits.min_useful:
                unvoted += 1
            else:
                stars.append(star)
                texts.append(text.encode())
    malformed = len(bad_rows) - undecodable
    return Sifted(
        stars=np.array(stars, dtype=np.int8),
        # From bytes: pyarrow is five times slower with a list of str.
        texts=pa.array(texts, type=pa.large_binary()).view(pa.large_string()),
        tally=ReviewTally(rows, malformed, undecodable, zero_stars, short, unvoted, len(stars)),
        first_bad="line {}: {}".format(*bad_rows[0]) if bad_rows else None,
        n_judged=n_judged,
        n_judged_bad=sum(number <= JUDGED_ROWS for number, _ in bad_rows),
    )


def _rows(lines: bytes) -> Sequence[bytes]:
    # Most files have no carriage return, and searching for a single byte is cheap.
    if b"\r" in lines:
        lines = lines.replace(b"\r\n", b"\n")
    return lines.split(b"\n")


def _sift_table(chunk: Chunk, columns: ReviewColumns, limits: ReviewLimits) -> Sifted:
    """The same for rows of a table, a column at a time; a missing text is an empty one."""
    star_cells = chunk.columns[columns.stars]
    stars, texts = _star_levels(star_cells), chunk.columns[columns.text].fill_null("")
    malformed = stars.is_null()
    has_replacements = texts.str.contains(UNREADABLE, literal=True)
    undecodable = ~malformed & (has_replacements if chunk.undecodable else False)
    bad = malformed | undecodable
    zero_stars = ~bad & (stars == 0).fill_null(False)
    short = ~bad & ~zero_stars & (texts.str.len_chars() < limits.min_chars)
    is_kept = ~(bad | zero_stars | short)
    first_bad = f"{chunk.first_ragged}: wrong number of columns" if chunk.first_ragged else None
    if bad.any():
        row = int(bad.arg_max() or 0)
        reason = _star_reason(star_cells[row]) if malformed[row] else "bytes that are not UTF-8"
        first_bad = f"row {chunk.first + row}: {reason}"
    n_judged = min(max(JUDGED_ROWS - chunk.first + 1, 0), len(chunk))
    ragged_judged = chunk.ragged if chunk.first <= JUDGED_ROWS else 0
    return Sifted(
        stars=stars.filter(is_kept).cast(pl.Int8).to_numpy(),
        texts=texts.filter(is_kept).to_arrow().cast(pa.large_string()),
        tally=ReviewTally(
            len(chunk) + chunk.ragged,
            int(malformed.sum()) + chunk.ragged,
            int(undecodable.sum()),
            int(zero_stars.sum()),
            int(short.sum()),
            kept=int(is_kept.sum()),
        ),
        first_bad=first_bad,
        n_judged=n_judged + ragged_judged,
        n_judged_bad=int(bad[:n_judged].sum()) + ragged_judged,
    )


def json_row(line: bytes) -> Row:
    """A line of McAuley's crawls."""
    text_of_line = line.decode("utf-8")
    try:
        review = json.loads(text_of_line)
    except (ValueError, RecursionError) as error:
        raise MalformedRow("not a JSON object") from error
    if not isinstance(review, dict):
        raise MalformedRow("not a JSON object")
    text = review.get("reviewText")
    if not isinstance(text, str):
        raise MalformedRow("no reviewText")
    # JSON can contain a lone surrogate, which UTF-8 cannot encode. Searching for one character is
    # many times faster than for two, and decides most lines.
    if "\\" in text_of_line and "\\u" in text_of_line:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise MalformedRow("a lone surrogate in reviewText") from error
    return _star_number(review.get("overall")), text, _useful_votes(review)


def tabbed_row(line: bytes) -> Row:
    """A line `star<TAB>text`."""
    star, tab, text = line.partition(b"\t")
    if not tab:
        raise MalformedRow("no tab")
    stars = _STAR_BYTES.get(star.strip())
    if stars is None:
        raise MalformedRow(_star_reason(star))
    return stars, text.decode("utf-8"), None


_STAR_TEXTS: Mapping[str, int] = MappingProxyType(
    {spelling: star for star in range(6) for spelling in (f"{star}", f"{star}.0")}
)

_STAR_BYTES: Mapping[bytes, int] = MappingProxyType(
    {spelling.encode(): star for spelling, star in _STAR_TEXTS.items()}
)

_STAR_NUMBERS: Mapping[float, int] = MappingProxyType({star: star for star in range(6)})

_JSON = ReviewLayout("json", "one JSON object per line", "line", has_votes=True, parse=json_row)
_TABBED = ReviewLayout("tabbed", "star<TAB>text", "line", parse=tabbed_row)

_LAYOUTS: Mapping[str, ReviewLayout] = MappingProxyType(
    {".json": _JSON, ".jsonl": _JSON, ".ndjson": _JSON, ".txt": _TABBED, "": _TABBED}
)
"""The layouts of lines by ending; all other files are tables."""


def _star_number(star: Any) -> int:
    stars = _STAR_NUMBERS.get(star) if type(star) in (int, float) else None
    if stars is None:
        raise MalformedRow(_star_reason(star))
    return stars


def _star_levels(column: pl.Series) -> pl.Series:
    """The stars of a column as numbers, null where a cell holds no valid number of stars."""
    if column.dtype == pl.String:
        return column.str.strip_chars().replace_strict(
            dict(_STAR_TEXTS), default=None, return_dtype=pl.Int8
        )
    if not column.dtype.is_numeric():
        return pl.Series(column.name, [None] * len(column), dtype=pl.Int8)
    return column.cast(pl.Float64).replace_strict(
        {float(star): star for star in range(6)}, default=None, return_dtype=pl.Int8
    )


def _star_reason(star: Any) -> str:
    if star is None:
        return "no number of stars"
    return f"the number of stars is {_excerpt(star)}, not 1 to 5"


def _useful_votes(review: Mapping[str, Any]) -> int:
    helpful = review.get("helpful")
    if helpful is not None:
        if isinstance(helpful, list) and helpful and type(helpful[0]) is int:
            return helpful[0]
        raise MalformedRow("helpful is not [useful, total]")
    vote = review.get("vote")
    if vote is None:
        return 0
    try:
        return int(str(vote).replace(",", ""))
    except ValueError as error:
        raise MalformedRow(f"vote is {_excerpt(vote)}, not a number") from error


def _excerpt(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= 20 else text[:20] + "...")
