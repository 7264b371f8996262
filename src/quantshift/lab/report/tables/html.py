"""Tables in HTML: semantic, sortable, with class names for the page's style sheet.

Classes: `report-table` (the figure), `best`, `shaded`, `missing`, `partial` (cells), `legend`.
Every cell has `data-sort`, a number, or a text in the column of labels; totals are in the table
footer, which is not sorted.
"""

import re
from html import escape

from quantshift.lab.report.tables.table import SYMBOLS, Cell, ReportTable, Row, with_mathematics

MEANINGS = {
    "ddag": "not significantly different from the best",
    "dag": "different from the best at .001 < p < .05",
}


def html_table(table: ReportTable) -> str:
    """A `figure` with the table and its legend."""
    body = [_row(row) for row in table.rows if not row.total]
    totals = [_row(row) for row in table.rows if row.total]
    legend = " ".join(html_text(sentence) for sentence in table.legend)
    return "\n".join(
        [
            f'<figure class="report-table" id="table-{escape(table.name)}">',
            "<table>",
            f"<caption>{html_text(table.caption)}</caption>",
            "<thead>",
            *_header(table),
            "</thead>",
            "<tbody>",
            *body,
            "</tbody>",
            *(["<tfoot>", *totals, "</tfoot>"] if totals else []),
            "</table>",
            *([f'<figcaption class="legend">{legend}</figcaption>'] if legend else []),
            "</figure>\n",
        ]
    )


def html_text(text: str) -> str:
    r"""Text with mathematics as HTML.

    >>> html_text(r"$\alpha_L$ < 1")
    '<i>α</i><sub>L</sub> &lt; 1'
    """
    return with_mathematics(text, escape, _formula)


def _header(table: ReportTable) -> list[str]:
    span = ' rowspan="2"' if table.grouped else ""
    corner = f'<th scope="col"{span}>{html_text(table.corner)}</th>'
    names = "".join(
        f'<th scope="col"{_classes(["shaded"] if group.shaded else [])}>{html_text(name)}</th>'
        for group, name in table.columns
    )
    if not table.grouped:
        return [f"<tr>{corner}{names}</tr>"]
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(group.columns)}"'
        f"{_classes(['shaded'] if group.shaded else [])}>{html_text(group.text)}</th>"
        for group in table.groups
    )
    return [f"<tr>{corner}{groups}</tr>", f"<tr>{names}</tr>"]


def _row(row: Row) -> str:
    sort = row.label if row.value is None else _sort(row.value)
    label = f'<th scope="row" data-sort="{escape(sort)}">{_minus(html_text(row.label))}</th>'
    return f"<tr>{label}{''.join(map(_cell, row.cells))}</tr>"


def _cell(cell: Cell) -> str:
    text = _minus(html_text(cell.text))
    classes = [
        name
        for name, applies in (
            ("best", cell.mark == "best"),
            ("shaded", cell.shaded),
            ("missing", cell.value is None),
            ("partial", cell.partial),
        )
        if applies
    ]
    if cell.mark == "best":
        text = f"<strong>{text}</strong>"
    elif cell.mark in SYMBOLS:
        text += f'<sup title="{escape(MEANINGS[cell.mark])}">{SYMBOLS[cell.mark]}</sup>'
    if cell.partial:
        text += f' <small title="of {cell.samples} samples">n={cell.n}</small>'
    return f'<td{_classes(classes)} data-sort="{escape(_sort(cell.value))}">{text}</td>'


def _sort(value: float | str | None) -> str:
    if value is None:
        return ""
    return f"{value:.8g}" if isinstance(value, int | float) else value


def _classes(names: list[str]) -> str:
    return f' class="{" ".join(names)}"' if names else ""


def _minus(text: str) -> str:
    """Typographic minus signs before digits."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "−", text)


def _formula(formula: str) -> str:
    text = escape(formula).replace(r"\alpha", "α").replace(r"\rho", "ρ").replace(" - ", " − ")
    return re.sub(r"([a-zA-Zα-ω])(?:_(\w))?", _variable, text)


def _variable(match: re.Match[str]) -> str:
    name, subscript = match.groups()
    return f"<i>{name}</i>" + (f"<sub>{subscript}</sub>" if subscript else "")
