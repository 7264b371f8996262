"""The content of items as texts and digests, by which a sheet is compared with its table."""

import hashlib

from quantshift.tables.cells import Columns
from quantshift.tables.spreadsheet_cells import comparable


def content_check(content: Columns) -> list[str]:
    """A short digest of each row's content; the leading x keeps programs from reading a number."""
    return [
        f"x{hashlib.blake2b(key.encode(), digest_size=5).hexdigest()}"
        for key in content_keys({name: content[name] for name in sorted(content)})
    ]


def content_keys(content: Columns) -> list[str]:
    """A text for each row, the same for cells that a spreadsheet has only rewritten."""
    return ["\x1f".join(row) for row in zip(*map(comparable, content.values()), strict=True)]
