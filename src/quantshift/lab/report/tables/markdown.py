"""Tables in Markdown; column names are prefixed with the heading of their group."""

from quantshift.base.text_tables import markdown_escape
from quantshift.lab.report.tables.table import (
    SYMBOLS,
    Cell,
    ColumnGroup,
    ReportTable,
    spoken_mathematics,
    with_mathematics,
)


def markdown(table: ReportTable) -> str:
    """A pipe table between its caption, in bold, and its legend."""
    header = [table.corner, *(_heading(group, name) for group, name in table.columns)]
    rule = ["---", *("---:" for _ in table.columns)]
    lines = [
        _line([_text(name) for name in header]),
        _line(rule),
        *(_line([_text(row.label), *map(_cell, row.cells)]) for row in table.rows),
    ]
    legend = [" ".join(_text(sentence) for sentence in table.legend)] if table.legend else []
    parts = [f"**{_text(table.caption)}**", "\n".join(lines), *legend]
    return "\n\n".join(parts) + "\n"


def _heading(group: ColumnGroup, name: str) -> str:
    return f"{group.text}: {name}" if group.text else name


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    text = _text(cell.text)
    if cell.mark == "best":
        text = f"**{text}**"
    elif cell.mark in SYMBOLS:
        text += f"<sup>{SYMBOLS[cell.mark]}</sup>"
    return f"{text} (n={cell.n})" if cell.partial else text


def _text(text: str) -> str:
    return markdown_escape(with_mathematics(text, str, spoken_mathematics))
