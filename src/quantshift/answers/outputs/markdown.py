"""An answer as Markdown, for the comment of a pull request or the summary of a job."""

from collections.abc import Sequence
from pathlib import Path

from quantshift.answers.conditions import failures_of, open_in
from quantshift.answers.outputs.output import AbstractOutput, Circumstances
from quantshift.answers.show.answer import AbstractAnswer

MARK = "<!-- quantshift -->"
"""The first line, by which a file or a comment is recognised as ours."""

MARKUP = "|*_`[]#"
"""Characters that mean something in Markdown."""


class Markdown(AbstractOutput):
    """The summary of an answer, its table, and whether its conditions hold."""

    name = "markdown"
    noun = "summary"
    endings = ("md",)
    help = "Also write a summary in Markdown, for a pull request."

    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """Headline, failed conditions, table, and the full text, folded."""
        headline, table = answer.summary()
        failed = failures_of(circumstances.conditions, answer)
        lines = [MARK, *(f"{_escaped(line)}  " for line in headline), ""]
        undecided = open_in(circumstances.conditions, answer)
        lines += [f"**Failed:** {_escaped(line)}  " for line in failed]
        lines += [f"**Open:** {_escaped(line)}  " for line in undecided]
        if circumstances.conditions and not failed and not undecided:
            lines.append("No condition of failure holds.")
        lines += ["", *_table(table)]
        # A text with back quotes must not end the block.
        text = answer.to_text(details=True).replace("`", "'")
        lines += [
            "",
            "<details><summary>Details</summary>",
            "",
            "```",
            text,
            "```",
            "",
            "</details>",
        ]
        return "\n".join(lines) + "\n"

    def is_ours(self, path: Path) -> bool:
        """Whether the file has our mark."""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip() == MARK


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [[_escaped(cell) for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]] if lines else []


def _escaped(text: str) -> str:
    """Text in which nothing is markup."""
    escaped = text.replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in MARKUP:
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped.replace("\n", " ")
