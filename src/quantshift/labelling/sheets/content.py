"""The content of items as texts and digests, by which a sheet is compared with its table."""

import hashlib
from typing import TYPE_CHECKING

from quantshift.labelling.sheets.sheet_columns import Texts
from quantshift.tables.columns.cell_names import as_texts
from quantshift.tables.files.spreadsheet_cells import comparable

if TYPE_CHECKING:
    import polars as pl


def texts_of(frame: "pl.DataFrame") -> dict[str, list[str | None]]:
    """The cells of a table as texts, column by column."""
    return {column.name: as_texts(column).to_list() for column in frame}


def content_check(content: Texts) -> list[str]:
    """A short digest of each row's content; the leading x keeps programs from reading a number."""
    return [
        f"x{hashlib.blake2b(key.encode(), digest_size=5).hexdigest()}"
        for key in content_keys({name: content[name] for name in sorted(content)})
    ]


def content_keys(content: Texts) -> list[str]:
    """A text for each row, the same for cells that a spreadsheet has only rewritten."""
    return ["\x1f".join(row) for row in zip(*map(comparable, content.values()), strict=True)]
