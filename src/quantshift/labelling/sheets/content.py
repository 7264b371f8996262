"""The content of items as texts and digests, by which a sheet is compared with its table."""

import hashlib

import polars as pl

from quantshift.tables.spreadsheet_cells import comparable


def content_check(content: pl.DataFrame) -> list[str]:
    """A short digest of each row's content; the leading x keeps programs from reading a number."""
    return [
        f"x{hashlib.blake2b(key.encode(), digest_size=5).hexdigest()}"
        for key in content_keys(content.select(sorted(content.columns)))
    ]


def content_keys(content: pl.DataFrame) -> list[str]:
    """A text for each row, the same for cells that a spreadsheet has only rewritten."""
    cells = comparable(content)
    return cells.select(pl.concat_str(pl.all(), separator="\x1f")).to_series().to_list()
