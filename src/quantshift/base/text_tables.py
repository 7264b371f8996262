"""Small tables of strings as plain text, Markdown or LaTeX; the first column is the row's name."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns and the cells, all of them strings."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def text_table(table: Table) -> str:
    """Aligned columns under the title.

    >>> print(text_table(Table("Data", ("", "n"), (("Books", "7"), ("Music", "12")))))
    Data
            n
    Books   7
    Music  12
    """
    lines = (table.header, *table.rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.header))]
    aligned = (
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
    return "\n".join([table.title, *aligned])


def markdown_table(table: Table) -> str:
    """A Markdown table under its title in bold."""
    rule = ["---", *("---:" for _ in table.header[1:])]
    lines = [
        "| " + " | ".join(line) + " |"
        for line in (
            map(markdown_escape, table.header),
            rule,
            *(map(markdown_escape, row) for row in table.rows),
        )
    ]
    return "\n".join([f"**{markdown_escape(table.title)}**", "", *lines])


def latex_table(table: Table) -> str:
    """A `tabular` with the rules of the booktabs package; the title as a comment."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(latex_escape(cell) for cell in cells) + r" \\"

    return "\n".join(
        [
            f"% {table.title}",
            r"\begin{tabular}{l" + "r" * (len(table.header) - 1) + "}",
            r"\toprule",
            line(table.header),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


RENDERERS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {"text": text_table, "markdown": markdown_table, "latex": latex_table}
)


def markdown_escape(text: str) -> str:
    r"""The text on one line, with Markdown's special characters escaped.

    >>> print(markdown_escape("a|b *c* p_U _d_"))
    a\|b \*c\* p_U \_d\_
    """
    one_line = " ".join(text.split())
    # An underscore inside a word needs no escape.
    return re.sub(r"[\\|*<`\[\]]|(?<!\w)_|_(?!\w)", lambda match: f"\\{match[0]}", one_line)


def latex_escape(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
    return "".join(special.get(character, character) for character in text)
