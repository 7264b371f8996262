"""Excel workbooks: which sheet is the table, checked before it is read.

A workbook may have several sheets, some of them hidden. The table is the only visible sheet that
holds data; if there are several, the user names one after the file: `sales.xlsx#March`. The reader
of workbooks allocates memory for the whole rectangle between a sheet's first and last cell and
aborts the process if it is too large, so the rectangle is measured before.
"""

import logging
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quantshift.base.storage.archives import check_members, member_bytes
from quantshift.claims.findings import Finding
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.files.chunks import Frame, OpenTable, Progress, check_names
from quantshift.tables.formats.table_format import TableFile, TableFormat

if TYPE_CHECKING:
    import polars as pl

MOST_CELLS = 200_000_000
"""The most cells that are read of a sheet."""

EMPTY_CELLS = 10_000_000
"""The rectangle around the cells of a sheet may have this many cells more than ten times those."""

BLOCK_BYTES = 1 << 20

LONGEST_PART = 1 << 24
"""The most bytes of the part of a workbook that lists its sheets."""

VISIBLE = "visible"

ARCHIVE, OLDER = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""The first bytes of .xlsx files, which are zip archives, and of .xls files."""

_LOG = "fastexcel.types.dtype"
"""The log in which the reader reports columns without values, as our own messages do."""

_ROW, _CELL = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c[\s/>]")
_POSITION = re.compile(rb"""<(?:\w+:)?(?:row|c)\b[^>]*?\sr\s*=\s*["']([A-Z]*)([0-9]+)["']""")
_TRUTH = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\st\s*=\s*["']b["']""")
_CONTENT = re.compile(rb"<(?:\w+:)?(?:v|is)[\s>]")
_ADDED_NUMBER = re.compile(r"(.*)_\d+")


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook; part: its file in the archive, "" if the workbook is not one."""

    name: str
    is_visible: bool
    part: str = ""


@dataclass(frozen=True)
class Extent:
    """The cells of a sheet that hold something, and the rectangle around all its cells.

    has_truths: whether cells hold TRUE or FALSE.
    """

    n_cells: int
    n_rows: int
    n_columns: int
    has_truths: bool


@dataclass(frozen=True, eq=False)
class SheetTable:
    """The table of a workbook. findings: which sheets with data were not read."""

    frame: "pl.DataFrame"
    findings: tuple[Finding, ...]


def sheet_table(file: TableFile) -> SheetTable:
    """The table of a workbook: the sheet that is named, or the only visible one with data."""
    content = file.path.read_bytes()
    with _explained(file.name):
        import fastexcel

        if zipfile.is_zipfile(file.path):
            sheets, extents = _sheets_of_archive(file)
            filled = [sheet for sheet in sheets if extents[sheet.name].n_cells]
            sheet = _chosen(file, sheets, filled)
            _check_extent(file, sheet, extents[sheet.name])
            may_have_truths = extents[sheet.name].has_truths
        else:
            reader = fastexcel.read_excel(content)
            loaded = [
                reader.load_sheet(name, header_row=None, dtypes="string")
                for name in reader.sheet_names
            ]
            sheets = [Sheet(sheet.name, sheet.visible == VISIBLE) for sheet in loaded]
            filled = [s for s, read in zip(sheets, loaded, strict=True) if read.total_height]
            sheet = _chosen(file, sheets, filled)
            may_have_truths = True
        frame = _cells(content, sheet)
        if may_have_truths:
            frame = _with_truths(frame, content, sheet)
        # The reader adds a number to a name that occurs twice.
        added = [match.group(1) for name in frame.columns if (match := _ADDED_NUMBER.match(name))]
        if set(added) & set(frame.columns):
            header = fastexcel.read_excel(content).load_sheet(
                sheet.name, header_row=None, n_rows=1, dtypes="string"
            )
            names = header.to_polars().row(0)
            check_names(file.name, [name for name in names if name is not None])
    findings = () if file.sheet else tuple(_hidden_sheets(filled))
    return SheetTable(_without_empty_rows(frame), findings)


def _cells(content: bytes, sheet: Sheet, as_text: Sequence[str] = ()) -> "pl.DataFrame":
    """The cells of a sheet; those of some columns as text."""
    import polars as pl

    return pl.read_excel(
        content,
        sheet_name=sheet.name,
        infer_schema_length=None,
        drop_empty_rows=False,
        schema_overrides=dict.fromkeys(as_text, pl.String),
    )


def _with_truths(frame: "pl.DataFrame", content: bytes, sheet: Sheet) -> "pl.DataFrame":
    """The cells with TRUE and FALSE as such in columns of numbers, where they are read as 1 and 0.

    Such columns become text, as in formats without types.
    """
    import polars as pl

    numeric = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    texts = _cells(content, sheet, numeric) if numeric else frame
    mixed = []
    for name in numeric:
        words = texts[name].str.to_lowercase()
        is_truth = words.is_in(["true", "false"]).fill_null(False)
        if is_truth.any():
            mixed.append(words.set(~is_truth, None).fill_null(frame[name].cast(pl.String)))
    return frame.with_columns(mixed)


def _hidden_sheets(filled: Sequence[Sheet]) -> Iterator[Finding]:
    for sheet in filled:
        if not sheet.is_visible:
            yield TableFindings.HIDDEN_SHEET.found(sheet=sheet.name)


def _chosen(file: TableFile, sheets: Sequence[Sheet], filled: Sequence[Sheet]) -> Sheet:
    """The sheet to read. filled: those that hold data."""
    if file.sheet:
        requested = next((sheet for sheet in sheets if sheet.name == file.sheet), None)
        if requested is None:
            raise unknown_name(f"sheet of {file.path}:", file.sheet, [s.name for s in sheets])
        return requested
    visible = [sheet for sheet in filled if sheet.is_visible]
    if len(visible) == 1:
        return visible[0]
    if visible:
        names = ", ".join(repr(sheet.name) for sheet in visible)
        raise DataError(
            f"{file.name}: {len(visible)} sheets hold data: {names}; name one after the file, "
            f"{file.name}#{visible[0].name}"
        )
    if filled:
        raise DataError(
            f"{file.name}: only hidden sheets hold data; name one after the file, "
            f"{file.name}#{filled[0].name}"
        )
    raise DataError(f"{file.name}: the workbook is empty")


def _without_empty_rows(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The rows that hold something; in a single column, an empty cell is a missing value."""
    import polars as pl

    is_filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    if frame.width != 1:
        return frame.filter(is_filled)
    filled_rows = is_filled.arg_true()
    return frame.head(int(filled_rows[-1]) + 1 if len(filled_rows) else 0)


def _sheets_of_archive(file: TableFile) -> tuple[list[Sheet], dict[str, Extent]]:
    """The sheets of an .xlsx file, and their extents."""
    with zipfile.ZipFile(file.path) as archive:
        check_members(archive)
        if "xl/workbook.xml" not in archive.namelist():
            raise DataError(f"{file.name}: not an .xlsx workbook; save it as .xlsx or CSV")
        targets = {
            element.get("Id"): element.get("Target", "")
            for element in _elements(archive, "xl/_rels/workbook.xml.rels", "Relationship")
        }
        sheets = []
        for element in _elements(archive, "xl/workbook.xml", "sheet"):
            key = next((v for k, v in element.items() if k.endswith("}id")), None)
            target = targets.get(key, "")
            part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
            if "worksheets/" in part and part in archive.namelist():
                is_visible = element.get("state", VISIBLE) == VISIBLE
                sheets.append(Sheet(element.get("name", ""), is_visible, part))
        return sheets, {sheet.name: _extent(archive, sheet.part) for sheet in sheets}


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> list[Any]:
    """The elements of a part of the archive that have this tag."""
    if archive.getinfo(part).file_size > LONGEST_PART:
        raise DataError(f"its list of sheets is longer than {LONGEST_PART >> 20} MB")
    from xml.etree import ElementTree

    root = ElementTree.fromstring(member_bytes(archive, part))
    return [element for element in root.iter() if element.tag.rpartition("}")[2] == tag]


def _extent(archive: zipfile.ZipFile, part: str) -> Extent:
    """How far a sheet reaches, by the positions of its cells."""
    n_cells = n_rows = n_columns = n_row_tags = n_in_row = 0
    has_truths = False
    remainder = b""
    with archive.open(part) as stream:
        while (block := stream.read(BLOCK_BYTES)) and n_cells <= MOST_CELLS:
            data = remainder + block
            cut = max(data.rfind(b"<"), 0)
            whole_tags, remainder = data[:cut], data[cut:]
            if len(remainder) > LONGEST_PART:
                raise DataError(f"a tag is longer than {LONGEST_PART >> 20} MB")
            n_cells += len(_CONTENT.findall(whole_tags))
            has_truths = has_truths or _TRUTH.search(whole_tags) is not None
            positions = _POSITION.findall(whole_tags)
            n_rows = max([n_rows, *(int(row[:9]) for _, row in positions)])
            n_columns = max(
                [n_columns, *map(_column_number, {letters for letters, _ in positions})]
            )
            # Cells that do not say where they are follow each other.
            cells_of_rows = [len(_CELL.findall(row)) for row in _ROW.split(whole_tags)]
            cells_of_rows[0] += n_in_row
            n_columns, n_in_row = max(n_columns, *cells_of_rows, 0), cells_of_rows[-1]
            n_row_tags += len(cells_of_rows) - 1
    n_rows = max(n_rows, n_row_tags)
    return Extent(n_cells, n_rows, n_columns, has_truths)


def _column_number(letters: bytes) -> int:
    """The number of a column from 1; 0 without letters.

    >>> _column_number(b"A"), _column_number(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters[:4]:
        number = 26 * number + letter - 64
    return number


def _check_extent(file: TableFile, sheet: Sheet, extent: Extent) -> None:
    """Refuse a sheet that would need far more memory than its cells."""
    if extent.n_cells > MOST_CELLS:
        raise DataError(
            f"{file.name}: sheet {sheet.name!r} has more than {MOST_CELLS:,} cells; save it as CSV"
        )
    area = extent.n_rows * extent.n_columns
    if area > EMPTY_CELLS + 10 * extent.n_cells:
        raise DataError(
            f"{file.name}: sheet {sheet.name!r} reaches to row {extent.n_rows:,} and column "
            f"{extent.n_columns:,}, but only {extent.n_cells:,} cells hold something; delete the "
            "stray cells, or save the sheet as CSV"
        )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn errors of the libraries into an error of one line, and keep their log quiet.

    It would print a line for every column without values.
    """
    import polars as pl

    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError as error:
        raise UserError(
            f"{name}: reading Excel needs fastexcel; install it with: pip install "
            "'quantshift[excel]', or save the sheet as CSV"
        ) from error
    log = logging.getLogger(_LOG)
    was_disabled, log.disabled = log.disabled, True
    try:
        yield
    except UserError:
        raise
    except pl.exceptions.NoDataError as error:
        raise DataError(f"{name}: the sheet is empty") from error
    except Exception as error:  # the reader raises its own errors for a broken workbook
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{name}: not a readable workbook ({reason})") from error
    finally:
        log.disabled = was_disabled


def _open(file: TableFile) -> OpenTable:
    sheet = sheet_table(file)
    from quantshift.tables.formats.frames import frame_table

    return frame_table(file.name, sheet.frame, sheet.findings)


def _frame(file: TableFile, without: Sequence[str], _: Progress) -> Frame:
    sheet = sheet_table(file)
    from quantshift.tables.formats.frames import without_gaps

    frame = without_gaps(sheet.frame.drop(without, strict=False))
    return Frame(file.name, frame, findings=sheet.findings)


def _recognises(path: Path, start: bytes) -> bool:
    if start.startswith(ARCHIVE) and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    return start.startswith(OLDER)


EXCEL = TableFormat(
    name="Excel",
    endings=(".xlsx", ".xls"),
    described="an Excel workbook",
    magic=(ARCHIVE, OLDER),
    recognises=_recognises,
    has_sheets=True,
    open=_open,
    frame=_frame,
)
