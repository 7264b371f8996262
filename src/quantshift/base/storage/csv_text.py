"""CSV as text: the only place that writes it.

Python's own writer leaves a carriage return unquoted where lines end in a line feed, and whatever
reads the file then sees two broken rows. Here every line break within a cell is quoted.
"""

import csv
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_END = "\r\n"


class _Lines:
    """Lines as `csv` writes them, each with a line feed at its end."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        self.lines.append(line.removesuffix(_END) + "\n")


def csv_text(rows: Iterable[Iterable[object]], *, delimiter: str = ",") -> str:
    r"""A line for each row; cells that hold the delimiter, a quote or a line break are quoted.

    >>> csv_text([["a", "b"], ["one\rtwo", 0.5], ["x,y", None]])
    'a,b\n"one\rtwo",0.5\n"x,y",\n'
    """
    written = _Lines()
    # A cell is quoted if it has a character of the end of a line: both, for any reader.
    csv.writer(written, delimiter=delimiter, lineterminator=_END).writerows(rows)
    return "".join(written.lines)


def frame_csv(frame: "pl.DataFrame", *, header: bool = True) -> bytes:
    """The same of a data frame, as bytes: polars is fast, and quotes every line break too."""
    return frame.write_csv(include_header=header).encode()
