"""Detection of misplaced quotes in CSV and TSV files, before any row is used.

A quote that is not closed swallows the rows after it: a parser reads them as one long cell and
loses them silently. Three signs reveal it: the quote is still open at the end of the file; text
follows the closing quote; or the cell contains what looks like whole rows. Texts of several lines
are common and valid, so the last sign counts only if nearly all lines of a cell have as many cells
as the header, and these look like the cells of their columns: numbers, dates, or one of a few
levels. If no column has such a shape, there must be many such lines.
"""

import codecs
import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.errors import DataError
from quantshift.tables.columns.cell_names import DECIMAL

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BLOCK_BYTES = 1 << 20
LONGEST_CELL = 1 << 22
"""The most bytes of a quoted cell; longer rows cannot be read."""

FITTING = 0.8
"""The share of the lines of a cell that must look like rows; some rows may be malformed."""

ENOUGH, ENOUGH_OF_TWO = 4.0, 2.5
"""The evidence needed to conclude that a cell contains rows, from one column or from several."""

MOST_LEVELS, ROWS_PER_LEVEL = 20, 5
LINES_WITHOUT_SHAPE = 7
"""The lines that must fit if no column has a known shape; with two columns twice as many."""

ROWS_LEARNT, ROWS_IN_ALL = 200, 5_000
"""The rows from which the shapes of the columns are learnt: per block, and in total."""

MOST_SUSPECTS, LINES_KEPT = 1000, 60

_LINE_END = re.compile(rb"\r\n|\n|\r")
_QUOTED = re.compile(rb'"[^"]*"')
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T][\d:.+Z-]+)?")
_WORD = re.compile(r"[\w.+-]{1,20}")


def check_quotes(name: str, file: Any, delimiter: str, columns: Sequence[str]) -> bool:
    """Refuse a file with a misplaced quote, naming its line; return whether the file is UTF-8.

    file: any object with `read`, positioned at its beginning.
    """
    checked_file = _Utf8Check(file)
    _Check(name, delimiter, columns).run(checked_file)
    return checked_file.is_utf8()


def line_by_line(file: Iterable[bytes], delimiter: str) -> Iterator[bytes]:
    """The file with every line as a row: quotes that do not match are literal."""
    separator = delimiter.encode()
    well_formed = _line_of_cells(separator)
    for line in file:
        if b'"' not in line or well_formed.fullmatch(line):
            yield line
            continue
        cells = line.rstrip(b"\r\n").split(separator)
        yield separator.join(b'"' + cell.replace(b'"', b'""') + b'"' for cell in cells) + b"\n"


def _line_of_cells(separator: bytes) -> re.Pattern[bytes]:
    escaped = re.escape(separator)
    cell = rb'(?:"[^"]*(?:""[^"]*)*"|[^"%b\r\n][^%b\r\n]*)?' % (escaped, escaped)
    return re.compile(rb"%b(?:%b%b)*\r?\n?" % (cell, escaped, cell))


class _Utf8Check:
    """A file that checks while it is read whether its bytes are UTF-8."""

    def __init__(self, file: Any) -> None:
        self.file, self.decoder = file, codecs.getincrementaldecoder("utf-8")()
        self.failed = False

    def read(self, size: int) -> bytes:
        block = bytes(self.file.read(size))
        if not self.failed and not (block.isascii() and self.decoder.getstate() == (b"", 0)):
            self._decode(block)
        return block

    def is_utf8(self) -> bool:
        self._decode(b"", final=True)
        return not self.failed

    def _decode(self, block: bytes, *, final: bool = False) -> None:
        try:
            self.decoder.decode(block, final)
        except UnicodeDecodeError:
            self.failed = True


@dataclass(frozen=True)
class _Block:
    """Complete records: their bytes, the quoted cells of several lines, the first line's number."""

    data: bytes
    cells: Sequence[tuple[int, int]]
    line: int

    @cached_property
    def line_ends(self) -> NDArray[np.int64]:
        """The positions of the line ends."""
        values = np.frombuffer(self.data, np.uint8)
        ends = np.flatnonzero(values == ord("\n"))
        return np.asarray(ends if len(ends) else np.flatnonzero(values == ord("\r")))


class _Fault(Exception):  # noqa: N818 - becomes a DataError
    """A quote opened at `start` is closed at `end` in the middle of a cell; -1: never closed."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


@dataclass(frozen=True)
class _Suspect:
    """A cell whose lines have as many cells as the header.

    opened: the column; cells: for each line, the columns and cells that may belong to a row.
    """

    line: int
    n_lines: int
    opened: str
    cells: Sequence[Sequence[tuple[int, str]]]


class _Check:
    def __init__(self, name: str, delimiter: str, columns: Sequence[str]) -> None:
        self.name, self.delimiter, self.columns = name, delimiter.encode(), columns
        self.rows: list[list[str]] = []
        self.suspects: list[_Suspect] = []
        self.n_learnt, self.shapes = 0, [_Shape(spaced=False, gaps=False)] * len(columns)

    def run(self, file: _Utf8Check) -> None:
        remainder, line, at_start = b"", 1, True
        while True:
            block = file.read(BLOCK_BYTES)
            data = remainder + block
            if at_start:
                data = data.removeprefix(BYTE_ORDER_MARK)
            if not block and not data.endswith((b"\n", b"\r")):
                data += b"\n"
            try:
                cells, cut, opened = _structure(data, self.delimiter, at_end=not block)
                if opened >= 0 and (not block or len(data) - opened > LONGEST_CELL):
                    raise _Fault(opened, -1)
            except _Fault as fault:
                raise self._refused(data, line, fault, at_end=not block) from None
            if b'"' in data:
                self._look(_Block(data[:cut], cells, line), has_header=at_start)
            line += _n_lines(data, cut)
            remainder, at_start = data[cut:], at_start and not cut
            if not block or len(remainder) > 2 * LONGEST_CELL:
                # The reader refuses a row that long.
                break
        self._judge()

    def _refused(self, data: bytes, line: int, fault: _Fault, *, at_end: bool) -> DataError:
        first = line + _n_lines(data, fault.start)
        if fault.end >= 0:
            last = line + _n_lines(data, fault.end)
            where = f"in line {last}, " if last > first else ""
            problem = f"closed {where}in the middle of a cell"
        else:
            problem = "never closed" if at_end else f"not closed within {LONGEST_CELL >> 20} MB"
        return self._error(first, self._column(data, fault.start), problem)

    def _error(self, line: int, column: str, problem: str) -> DataError:
        return DataError(
            f'{self.name}: line {line}: a quote (") is opened{column} and {problem}; fix the line, '
            "or read the file line by line",
            arguments=["lenient"],
        )

    def _column(self, data: bytes, start: int) -> str:
        """The column in which a quote is opened, for the message; empty if unknown."""
        before = _QUOTED.sub(b"", data[_line_start(data, start) : start])
        number = before.count(self.delimiter)
        if number >= len(self.columns):
            return ""
        return (
            f" in column {self.columns[number].splitlines()[0][:30]!r}"
            if self.columns[number]
            else ""
        )

    def _look(self, block: _Block, *, has_header: bool) -> None:
        n = len(self.columns)
        if n < 2:
            # With a single column, every line looks like a row.
            return
        if len(self.rows) < ROWS_IN_ALL:
            self.rows += self._learnt(block, has_header=has_header)
        for start, end in block.cells:
            suspect = self._suspect(block, start, end)
            if suspect is not None:
                self.suspects.append(suspect)
                if len(self.suspects) == MOST_SUSPECTS:
                    self._judge()

    def _learnt(self, block: _Block, *, has_header: bool) -> Iterator[list[str]]:
        """Rows of a single line, taken evenly from the whole block."""
        ends = _line_ends(np.frombuffer(block.data, np.uint8))
        inside = np.zeros(len(ends) + 1, dtype=np.int64)
        starts, stops = np.array(block.cells, dtype=np.int64).reshape(-1, 2).T
        np.add.at(inside, np.searchsorted(ends, starts), 1)
        np.add.at(inside, np.searchsorted(ends, stops) + 1, -1)
        single = np.flatnonzero(np.cumsum(inside)[:-1] == 0)[int(has_header) :]
        for i in single[:: max(1, len(single) // ROWS_LEARNT)].tolist():
            line = block.data[ends[i - 1] + 1 if i else 0 : ends[i]].decode("utf-8", "replace")
            try:
                row = next(csv.reader([line], delimiter=self.delimiter.decode()), [])
            except csv.Error:
                continue
            # Empty lines may precede the header.
            if len(row) == len(self.columns) and row != list(self.columns):
                yield row

    def _suspect(self, block: _Block, start: int, end: int) -> _Suspect | None:
        n, data = len(self.columns), block.data
        first, last = _line_start(data, start), _line_start(data, end)
        stop = _line_stop(data, end)
        n_lines = 1 + (data.count(b"\n", first, stop) or data.count(b"\r", first, stop))
        if data.count(self.delimiter, first, stop) < FITTING * (n - 1) * n_lines:
            return None
        lines = _LINE_END.split(data[first:stop])
        fitting = sum(line.count(self.delimiter) == n - 1 for line in lines)
        if fitting < FITTING * len(lines):
            return None
        opened = data.count(self.delimiter, first, start)
        closed = data.count(self.delimiter, last, end)
        column_ranges = [range(opened + 1, n), *[range(n)] * (len(lines) - 2), range(closed)]
        positions = [*range(len(lines))[:LINES_KEPT], *range(len(lines))[LINES_KEPT:][-1:]]
        cells = []
        for i in positions:
            parts = lines[i].decode("utf-8", "replace").split(self.delimiter.decode())
            cells.append(
                [(j, parts[j]) for j in column_ranges[i]] if len(parts) == n else [(-1, "")]
            )
        line = block.line + int(np.searchsorted(block.line_ends, start))
        return _Suspect(line, len(lines), self._column(data, start), cells)

    def _judge(self) -> None:
        if self.suspects and self.n_learnt < len(self.rows):
            columns = zip(*self.rows, strict=True)
            self.shapes, self.n_learnt = [_Shape.learnt(c) for c in columns], len(self.rows)
        for suspect in self.suspects:
            if _holds_rows(suspect, self.shapes):
                last = suspect.line + suspect.n_lines - 1
                problem = f"closed in line {last}, after what looks like whole rows"
                raise self._error(suspect.line, suspect.opened, problem)
        self.suspects.clear()


@dataclass(frozen=True)
class _Shape:
    """The shape of a column's cells: whether some begin with a space or are empty, and their kind.

    The kind is levels, number, date, or "" if it is none of these.
    """

    spaced: bool
    gaps: bool
    kind: str = ""
    levels: frozenset[str] = frozenset()

    @classmethod
    def learnt(cls, cells: Sequence[str]) -> "_Shape":
        present = [cell.strip() for cell in cells if cell.strip()]
        shape = cls(any(cell.startswith(" ") for cell in cells), len(present) < len(cells))
        levels = frozenset(present)
        if len(present) < ROWS_PER_LEVEL:
            return shape
        if len(levels) <= MOST_LEVELS and len(present) >= ROWS_PER_LEVEL * len(levels):
            return replace(shape, kind="levels", levels=levels)
        for kind, pattern in (("number", DECIMAL), ("date", _DATE)):
            if all(pattern.fullmatch(cell) for cell in present):
                return replace(shape, kind=kind)
        return shape

    def evidence(self, cell: str) -> float | None:
        """The evidence that a cell belongs to this column; None if it cannot."""
        if (cell.startswith(" ") and not self.spaced) or not (cell.strip() or self.gaps):
            # In a sentence, a comma is followed by a space or a line end.
            return None
        cell = cell.strip()
        if not self.kind or not cell:
            return 0.0
        if self.kind == "levels" and cell in self.levels:
            return 2.0 if re.search(r"[^\W\d]", cell) else 0.5
        if self.kind == "levels":
            # In a file sorted by label, another level may occur only in the swallowed rows.
            alike = _WORD.fullmatch(cell) and all(map(_WORD.fullmatch, self.levels))
            return 0.2 if alike else None
        if self.kind == "number":
            whole = cell.isdecimal()
            return (0.5 if whole else 2.0) if DECIMAL.fullmatch(cell) else None
        return 2.0 if _DATE.fullmatch(cell) else None


def _holds_rows(suspect: _Suspect, shapes: Sequence[_Shape]) -> bool:
    """Whether there is enough evidence that the lines of a cell are rows."""
    evidence: dict[int, float] = {}
    fitting = 0
    for cells in suspect.cells:
        values = [(j, shapes[j].evidence(cell) if j >= 0 else None) for j, cell in cells]
        if any(value is None for _, value in values):
            continue
        fitting += 1
        for j, value in values:
            evidence[j] = evidence.get(j, 0.0) + (value or 0.0)
    if fitting < FITTING * len(suspect.cells):
        return False
    if not any(shape.kind for shape in shapes):
        needed = LINES_WITHOUT_SHAPE * (2 if len(shapes) == 2 else 1)
        return fitting >= needed
    several = sum(value > 0 for value in evidence.values()) > 1
    return sum(evidence.values()) >= (ENOUGH_OF_TWO if several else ENOUGH)


def _structure(
    data: bytes, delimiter: bytes, *, at_end: bool
) -> tuple[Sequence[tuple[int, int]], int, int]:
    """The quoted cells of several lines, the end of the last complete record, the open quote or -1.

    A fast check of the whole block comes first.
    """
    if b'"' not in data:
        return (), max(data.rfind(b"\n"), data.rfind(b"\r")) + 1, -1
    structure = _regular(data, delimiter)
    if structure is None or (at_end and structure[1] < len(data)):
        cells, cut, opened = _walk(data, delimiter)
        structure = [cell for cell in cells if cell[1] < cut], cut, opened
    return structure


def _regular(data: bytes, delimiter: bytes) -> tuple[Sequence[tuple[int, int]], int, int] | None:
    """Like `_structure`, if all quotes open, close or are doubled; otherwise None."""
    values = np.frombuffer(data, np.uint8)
    quotes, ends = np.flatnonzero(values == ord('"')), _line_ends(values)
    outside = ends[np.searchsorted(quotes, ends) % 2 == 0]
    if not len(outside):
        return None
    cut = int(outside[-1]) + 1
    quotes = quotes[: np.searchsorted(quotes, cut)]
    opens, closes = quotes[::2], quotes[1::2]
    edge = np.zeros(256, dtype=np.bool_)
    edge[[*b'"\r\n', *delimiter]] = True
    before = np.where(opens > 0, values[opens - 1], ord("\n"))
    after = values[closes + 1]
    if not (edge[before].all() and edge[after].all()):
        return None
    starts, stops = opens[before != ord('"')], closes[after != ord('"')]
    several = np.searchsorted(ends, starts) < np.searchsorted(ends, stops)
    return list(zip(starts[several].tolist(), stops[several].tolist(), strict=True)), cut, -1


def _walk(data: bytes, delimiter: bytes) -> tuple[Sequence[tuple[int, int]], int, int]:
    """Like `_structure`, quote by quote, for quotes inside unquoted cells and misplaced ones."""
    cells: list[tuple[int, int]] = []
    edges, at, cut = frozenset(b"\r\n" + delimiter), 0, 0
    while True:
        start = data.find(b'"', at)
        stop = start if start >= 0 else len(data)
        cut = max(cut, data.rfind(b"\n", at, stop) + 1, data.rfind(b"\r", at, stop) + 1)
        if start < 0:
            return cells, cut, -1
        if start and data[start - 1] not in edges:
            at = start + 1
            continue
        end = data.find(b'"', start + 1)
        while end >= 0 and data[end + 1 : end + 2] == b'"':
            end = data.find(b'"', end + 2)
        if end < 0 or end + 1 == len(data):
            return cells, cut, start
        if data[end + 1] not in edges:
            raise _Fault(start, end)
        if _LINE_END.search(data, start, end):
            cells.append((start, end))
        at = end + 1


def _line_ends(values: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.asarray(np.flatnonzero((values == ord("\n")) | (values == ord("\r"))))


def _line_start(data: bytes, at: int) -> int:
    start = data.rfind(b"\n", 0, at) + 1
    return max(start, data.rfind(b"\r", start, at) + 1)


def _line_stop(data: bytes, at: int) -> int:
    stop = data.find(b"\n", at)
    stop = len(data) if stop < 0 else stop
    end = data.find(b"\r", at, stop)
    return stop if end < 0 else end


def _n_lines(data: bytes, stop: int) -> int:
    """The number of lines that end before a position, as an editor counts them."""
    return data.count(b"\n", 0, stop) or data.count(b"\r", 0, stop)
