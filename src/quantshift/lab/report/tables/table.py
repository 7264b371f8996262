"""A table as plain data, independent of how it is rendered.

Labels, captions and legends may contain simple mathematics between dollar signs, such as `$p_U$`
and `$\\alpha_L$`; each renderer writes it in its own way.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "best", "ddag", "dag"]

SYMBOLS = {"ddag": "‡", "dag": "†"}
"""Symbols of the marks; the best is bold instead."""

MISSING = "–"
"""Shown where there is no result."""


@dataclass(frozen=True)
class Cell:
    """One value as it is shown, with its marks and counts.

    text: the value as text, `MISSING` if there is none.
    value: the value itself, for sorting and for CSV.
    n, samples: estimates behind a mean, and samples of its group; n is shown if it is less.
    """

    text: str
    value: float | str | None = None
    mark: Mark = ""
    shaded: bool = False
    n: int | None = None
    samples: int | None = None

    @property
    def partial(self) -> bool:
        """Whether some samples of the group have no estimate."""
        return self.n is not None and self.samples is not None and self.n < self.samples


@dataclass(frozen=True)
class ColumnGroup:
    """A heading over several columns; `text` may be empty."""

    text: str
    columns: tuple[str, ...]
    shaded: bool = False


@dataclass(frozen=True)
class Row:
    """A row: its label, its value for sorting and its cells; totals are kept apart at the end."""

    label: str
    cells: tuple[Cell, ...]
    value: float | str | None = None
    total: bool = False


@dataclass(frozen=True)
class ReportTable:
    """A table with its caption and legend; `name` can name a file, `corner` heads the labels.

    experiment, parts, dataset: what the table is about; empty where it is about more than one.
    """

    name: str
    caption: str
    corner: str
    groups: tuple[ColumnGroup, ...]
    rows: tuple[Row, ...]
    legend: tuple[str, ...] = ()
    experiment: str = ""
    parts: tuple[str, ...] = ()
    dataset: str = ""

    @property
    def columns(self) -> tuple[tuple[ColumnGroup, str], ...]:
        """Every column with its group."""
        return tuple((group, name) for group in self.groups for name in group.columns)

    @property
    def grouped(self) -> bool:
        """Whether the groups have headings."""
        return any(group.text for group in self.groups)


def decimal(value: float, digits: int = 3) -> str:
    """A number in the style of the paper, without the zero before the decimal point.

    >>> decimal(0.0294), decimal(-0.5), decimal(1.25), decimal(-0.0001)
    ('.029', '-.500', '1.250', '.000')
    """
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def with_mathematics(
    text: str, plain: Callable[[str], str], mathematics: Callable[[str], str]
) -> str:
    """The text with `plain` applied outside dollar signs and `mathematics` between them.

    >>> with_mathematics("a $x$ b", str.upper, lambda formula: f"<{formula}>")
    'A <x> B'
    """
    pieces = re.split(r"\$([^$]*)\$", text)
    return "".join(
        mathematics(piece) if position % 2 else plain(piece)
        for position, piece in enumerate(pieces)
    )


def spoken_mathematics(formula: str) -> str:
    r"""A formula in plain characters.

    >>> spoken_mathematics(r"\alpha_L - \alpha_U")
    'α_L - α_U'
    """
    return formula.replace(r"\alpha", "α").replace(r"\rho", "ρ")
