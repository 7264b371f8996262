"""Files of Weka and Mulan (ARFF): declared columns, and rows that are dense or sparse.

The header declares every column: a number, one of some values, a string or a date. In a sparse row,
`{3 1, 7 0.5}`, columns are given by position, and all others are 0 or the first declared value, as
Weka reads them. Dates are strings here. Rows with weights of their own and tables within cells
(relational columns) are refused.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import Cell, as_numbers
from quantshift.tables.files.chunks import ROWS, Chunk, OpenTable
from quantshift.tables.files.quotes import BYTE_ORDER_MARK
from quantshift.tables.formats.table_format import TableFile, TableFormat
from quantshift.tables.formats.values import typed_cells

MISSING = "?"
COMMENT = "%"
SHOWN = 40
"""The most characters of a cell or line that a message shows."""

NO_NUMBER, UNDECLARED = "is not a number", "is not among the declared values"
WEIGHT = "a weight in braces after a row is not read; make it a column"

NUMBERS = ("numeric", "real", "integer")
STRINGS = ("string", "date")

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{][^\s{{]*)\s*(.*)", re.IGNORECASE)
_CELL = re.compile(rf"\s*({_QUOTED}|[^,'\"\s][^,]*?|)\s*(,|$)")
_SPARSE_CELL = re.compile(rf"\s*(\d+)\s+({_QUOTED}|[^,}}'\"\s][^,}}]*?)\s*(,|}})")
_NOMINAL = re.compile(r"\{(.*)\}\s*(?:%.*)?")
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """A declared column: a number, one of `levels`, or any string (neither)."""

    name: str
    is_number: bool
    levels: tuple[str, ...] | None = None

    @property
    def type(self) -> type:
        """The type of its cells."""
        return float if self.is_number else str

    @property
    def default(self) -> str | None:
        """What a sparse row means by leaving the column out; None if that is not known."""
        if self.is_number:
            return "0"
        return self.levels[0] if self.levels else None


@dataclass(frozen=True)
class Header:
    """What a file declares: its columns, the lines before its rows, whether rows are sparse."""

    attributes: tuple[Attribute, ...]
    n_lines: int
    sparse: bool


def read_header(file: TableFile) -> Header:
    """The declarations of a file."""
    attributes: list[Attribute] = []
    declared_at = 0
    for number, line, _ in _lines(file):
        if declared_at:
            return Header(tuple(attributes), declared_at, line.startswith("{"))
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@attribute":
            attributes.append(_attribute(f"{file.name}: line {number}", line))
        elif keyword == "@data":
            declared_at = number
            if not attributes:
                raise DataError(f"{file.name}: line {number}: @data before any @attribute")
        elif keyword != "@relation":
            raise DataError(
                f"{file.name}: line {number} is not a declaration (@relation, @attribute or "
                f"@data): {line[:SHOWN]!r}"
            )
    if not declared_at:
        raise DataError(f"{file.name}: no line '@data'; is the file complete?")
    return Header(tuple(attributes), declared_at, sparse=False)


def _open(file: TableFile) -> OpenTable:
    header = read_header(file)
    names = tuple(attribute.name for attribute in header.attributes)
    types = {a.name: a.type for a in header.attributes}
    position_of = {name: position for position, name in enumerate(names)}

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        first = 1
        block = _Block(file.name, header, [position_of[name] for name in requested])
        for row in read_rows(file, header):
            block.add(row)
            if len(block) == ROWS:
                yield block.chunk(first)
                first += ROWS
                block = _Block(file.name, header, block.positions)
        if len(block):
            yield block.chunk(first)

    return OpenTable(file.name, names, types, read)


@dataclass(frozen=True)
class GivenCells:
    """The values that a row gives, as they are written, by position; None where one is missing.

    A sparse row leaves out the columns that have their default. line: the number of its line.
    """

    line: int
    by_position: dict[int, str | None]
    was_undecodable: bool


def read_rows(file: TableFile, header: Header) -> Iterator[GivenCells]:
    """The rows after the header, none of whose values is checked."""
    n_columns = len(header.attributes)
    for number, line, was_undecodable in _lines(file):
        if number > header.n_lines:
            cells = _given(f"{file.name}: line {number}", line, n_columns)
            yield GivenCells(number, cells, was_undecodable)


def _given(where: str, line: str, n_columns: int) -> dict[int, str | None]:
    if line.startswith("{"):
        return _sparse_cells(where, line, n_columns)
    cells = _cells(where, line)
    if len(cells) == n_columns + 1 and line.endswith("}"):
        raise DataError(f"{where}: {WEIGHT}")
    if len(cells) != n_columns:
        raise DataError(f"{where} has {len(cells)} values, but {n_columns} are declared")
    return dict(enumerate(cells))


class _Block:
    """Rows that become a chunk: the cells as they are written; positions: those of its columns."""

    def __init__(self, name: str, header: Header, positions: list[int]) -> None:
        self.name = name
        self.attributes = header.attributes
        self.positions = positions
        self._rows: list[GivenCells] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: GivenCells) -> None:
        self._rows.append(row)

    def chunk(self, first: int) -> Chunk:
        attributes = {position: self.attributes[position] for position in self.positions}
        columns = {p: [a.default] * len(self) for p, a in attributes.items()}
        for i, row in enumerate(self._rows):
            for position in row.by_position.keys() & columns.keys():
                columns[position][i] = row.by_position[position]
        types = {attribute.name: attribute.type for attribute in attributes.values()}
        cells = {a.name: self._column(a, columns[p], p) for p, a in attributes.items()}
        n_undecodable = sum(row.was_undecodable for row in self._rows)
        import polars as pl

        return Chunk(first, pl.DataFrame(cells, schema=types), n_undecodable)

    def _column(self, attribute: Attribute, cells: list[str | None], position: int) -> list[Cell]:
        values: Sequence[Cell] = cells
        if attribute.is_number:
            import polars as pl

            values = as_numbers(pl.Series(cells, dtype=pl.String)).to_list()
            wrong = [i for i, cell in enumerate(cells) if cell is not None and values[i] is None]
            expected = NO_NUMBER
        elif attribute.levels is not None:
            unknown = set(cells) - {*attribute.levels, None}
            wrong = [i for i, cell in enumerate(cells) if cell in unknown] if unknown else []
            expected = UNDECLARED
        else:
            wrong = [i for i, row in enumerate(self._rows) if position not in row.by_position]
            expected = "must be given in a sparse row, since no string is zero"
        if wrong:
            where = f"{self.name}: line {self._rows[wrong[0]].line}"
            raise wrong_value(where, attribute, cells[wrong[0]], expected)
        return typed_cells(values, attribute.type)


def wrong_value(where: str, attribute: Attribute, cell: str | None, expected: str) -> DataError:
    """The refusal of a value that is not as its column is declared."""
    value = "" if cell is None else f" the value {cell[:SHOWN]!r} of"
    return DataError(f"{where}:{value} {attribute.name!r} {expected}")


def _lines(file: TableFile) -> Iterator[tuple[int, str, bool]]:
    """The lines that are neither empty nor comments: number, text, whether some was not UTF-8."""
    with file.lines() as lines:
        for number, raw in enumerate(lines, start=1):
            try:
                line, was_undecodable = raw.removeprefix(BYTE_ORDER_MARK).decode().strip(), False
            except UnicodeDecodeError:
                line, was_undecodable = raw.decode("utf-8", "replace").strip(), True
            if line and not line.startswith(COMMENT):
                yield number, line, was_undecodable


def _attribute(where: str, line: str) -> Attribute:
    parts = _ATTRIBUTE.fullmatch(line)
    if parts is None:
        raise DataError(f"{where}: not '@attribute NAME TYPE': {line[:SHOWN]!r}")
    name, kind = _unquoted(parts[1]), parts[2].strip()
    if nominal := _NOMINAL.fullmatch(kind):
        levels = [level for level in _cells(where, nominal[1]) if level is not None]
        if not levels:
            raise DataError(f"{where}: {name!r} has no values; declare at least one in {{...}}")
        return Attribute(name, is_number=False, levels=tuple(levels))
    word = kind.split(None, 1)[0].lower() if kind else ""
    if word in NUMBERS:
        return Attribute(name, is_number=True)
    if word in STRINGS:
        return Attribute(name, is_number=False)
    raise DataError(
        f"{where}: {name!r} has the type {kind[:SHOWN]!r}; known: "
        f"{', '.join((*NUMBERS, *STRINGS))} and values in {{...}}"
    )


def _cells(where: str, line: str) -> list[str | None]:
    """The values of a dense row or of a declaration; None where one is missing."""
    if "'" not in line and '"' not in line:
        return [_value(cell.strip()) for cell in line.split(",")]
    cells: list[str | None] = []
    start, comma = 0, ","
    while comma:
        match = _CELL.match(line, start)
        if match is None:
            raise DataError(f"{where}: a quote is misplaced near {line[start : start + SHOWN]!r}")
        cells.append(_value(match[1]))
        start, comma = match.end(), match[2]
    return cells


def _sparse_cells(where: str, line: str, n_columns: int) -> dict[int, str | None]:
    """The values that a sparse row gives, by position."""
    cells: dict[int, str | None] = {}
    start, mark = 1, "" if line[1:].lstrip().startswith("}") else ","
    while mark == ",":
        match = _SPARSE_CELL.match(line, start)
        if match is None:
            raise DataError(
                f"{where}: not 'POSITION VALUE' in a sparse row: {line[start : start + SHOWN]!r}"
            )
        position = int(match[1])
        if position >= n_columns:
            raise DataError(
                f"{where}: position {position}, but the last of the {n_columns} declared columns "
                f"is {n_columns - 1}"
            )
        if position in cells:
            raise DataError(f"{where}: position {position} is given twice")
        cells[position] = _value(match[2])
        start, mark = match.end(), match[3]
    if line[start:].strip() not in ("", "}"):
        raise DataError(f"{where}: {WEIGHT}")
    return cells


def _value(cell: str) -> str | None:
    return None if cell in ("", MISSING) else _unquoted(cell)


def _unquoted(cell: str) -> str:
    if cell[:1] not in ("'", '"'):
        return cell
    return _ESCAPED.sub(lambda match: _ESCAPES.get(match[1], match[1]), cell[1:-1])


def _recognises(_: Path, start: bytes) -> bool:
    lines = start.removeprefix(BYTE_ORDER_MARK).splitlines()
    filled = (line.strip() for line in lines if line.strip())
    first = next((line for line in filled if not line.startswith(COMMENT.encode())), b"")
    return re.match(rb"@relation\b", first, re.IGNORECASE) is not None


ARFF = TableFormat(
    name="ARFF",
    endings=(".arff",),
    gzipped=True,
    recognises=_recognises,
    open=_open,
)
