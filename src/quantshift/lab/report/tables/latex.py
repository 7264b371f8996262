"""Tables in LaTeX, with booktabs rules and grey cells by colortbl."""

import re

from quantshift.base.text_tables import latex_escape
from quantshift.lab.report.tables.table import (
    SYMBOLS,
    Cell,
    ColumnGroup,
    ReportTable,
    Row,
    with_mathematics,
)

PREAMBLE = (
    r"\usepackage[utf8]{inputenc}",
    r"\usepackage[T1]{fontenc}",
    r"\usepackage{booktabs}",
    r"\usepackage[table]{xcolor}",
    r"\usepackage{graphicx}",
)
"""The packages that a document needs for these tables."""

WIDE = 10
"""Tables with more columns have less space between them."""

FIT = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}"
"""Shrinks a table if it is wider than the text."""

GREY = r"\cellcolor[gray]{0.8}"

_MARKS = {"ddag": r"\ddag", "dag": r"\dag"}

_CHARACTERS = {
    "‡": r"$\ddagger$",
    "†": r"$\dagger$",
    "–": "--",
    "−": "$-$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "×": r"$\times$",
    "★": r"$\star$",
}


def latex(table: ReportTable, *, standalone: bool = False) -> str:
    """A `table` environment with tabular, caption and legend; standalone: a whole document."""
    environment = _environment(table)
    if not standalone:
        needs = "% needs " + " ".join(PREAMBLE)
        return f"{needs}\n{environment}\n"
    document = (
        r"\documentclass{article}",
        *PREAMBLE,
        r"\pagestyle{empty}",
        r"\begin{document}",
        environment,
        r"\end{document}",
    )
    return "\n".join(document) + "\n"


def latex_text(text: str) -> str:
    """Text with mathematics and escaped special characters."""
    return with_mathematics(text, _plain, lambda formula: f"${formula}$")


def _environment(table: ReportTable) -> str:
    caption = " ".join([table.caption, *table.legend])
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            *([r"\setlength{\tabcolsep}{4.5pt}"] if len(table.columns) > WIDE else []),
            f"{FIT}{{%\n{_tabular(table)}}}",
            f"\\caption{{{latex_text(caption)}}}",
            f"\\label{{tab:{table.name}}}",
            r"\end{table}",
        ]
    )


def _tabular(table: ReportTable) -> str:
    body = [_line(row) for row in table.rows if not row.total]
    totals = [_line(row) for row in table.rows if row.total]
    separator = "|" if len(table.groups) > 1 else ""
    layout = separator.join("r" * len(group.columns) for group in table.groups)
    return "\n".join(
        [
            f"\\begin{{tabular}}{{{_label_layout(table)}|{layout}}}",
            r"\toprule",
            *([_group_line(table.groups)] if table.grouped else []),
            " & ".join([latex_text(table.corner), *(latex_text(c) for _, c in table.columns)])
            + r" \\",
            r"\midrule",
            *body,
            *([r"\midrule", *totals] if totals else []),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _label_layout(table: ReportTable) -> str:
    numeric = all(isinstance(row.value, int | float) for row in table.rows if not row.total)
    return "r" if numeric else "l"


def _group_line(groups: tuple[ColumnGroup, ...]) -> str:
    headings = (
        f"\\multicolumn{{{len(group.columns)}}}{{c}}{{{latex_text(group.text)}}}"
        for group in groups
    )
    return " & ".join(["", *headings]) + r" \\"


def _line(row: Row) -> str:
    return " & ".join([_minus(latex_text(row.label)), *map(_cell, row.cells)]) + r" \\"


def _cell(cell: Cell) -> str:
    text = _minus(latex_text(cell.text))
    if cell.mark == "best":
        text = f"\\textbf{{{text}}}"
    elif cell.mark in SYMBOLS:
        # Marks take no width, so that the digits stay aligned.
        text += f"\\rlap{{$^{{{_MARKS[cell.mark]}}}$}}"
    if cell.partial:
        text += f" {{\\tiny ($n={cell.n}$)}}"
    return f"{GREY} {text}" if cell.shaded else text


def _minus(text: str) -> str:
    """Minus signs before numbers; a hyphen is too short."""
    return re.sub(r"^-(?=[\d.])", "$-$", text)


def _plain(text: str) -> str:
    escaped = latex_escape(text)
    return "".join(_CHARACTERS.get(character, character) for character in escaped)
