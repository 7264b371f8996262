"""`quantshift example`: small tables to try every command on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.shell import command_line
from quantshift.lab.data.embedded.examples import EXAMPLES, write_examples


@dataclass(frozen=True)
class ExampleQuestion:
    """A question that the tables answer.

    text: as a user would ask it.
    truth: the right answer, which is known because the tables are drawn.
    commands: what to type, word by word; words that name a table of the examples have {folder}.
    """

    text: str
    truth: str
    commands: tuple[tuple[str, ...], ...]

    def typed(self, folder: str | Path) -> Iterator[str]:
        """The commands for tables that were written to this folder."""
        for words in self.commands:
            yield command_line(
                str(Path(word.format(folder=folder))) if "{folder}" in word else word
                for word in words
            )


_QUANTIFY = ("quantshift", "quantify", "--train")
_METHODS = "CC,PCC,PACC,SLD,MLPE"

QUESTIONS = (
    ExampleQuestion(
        "How many of the new reviews are positive?",
        "20%",
        (
            (
                *(*_QUANTIFY, "{folder}/reviews.csv", "--sample", "{folder}/new-reviews.csv"),
                *("--label", "sentiment", "--text", "review"),
            ),
        ),
    ),
    ExampleQuestion(
        "The judge has passed 74% of the answers. How many are good?",
        "70%",
        (
            (
                *("quantshift", "judge", "{folder}/verdicts.csv"),
                *("--verdict", "judge", "--label", "human", "--labels", "random"),
            ),
        ),
    ),
    ExampleQuestion(
        "How many customers left in each month?",
        "44, 35 and 45%",
        (
            (
                *(*_QUANTIFY, "{folder}/customers.csv", "--sample", "{folder}/new-customers.csv"),
                *("--label", "left", "--by", "date", "--every", "month", "--columns", "causes"),
            ),
        ),
    ),
    ExampleQuestion(
        "Which method suits such customers?",
        "PCC",
        (
            (
                *("quantshift", "data", "import", "{folder}/customers.csv", "--label", "left"),
                *("--groups", "site", "--out", "{folder}/customers"),
            ),
            (
                *("quantshift", "bench", "natural", "--data", "{folder}/customers"),
                *("--methods", _METHODS, "--out", "{folder}/leaderboard"),
            ),
        ),
    ),
)
"""What to try with the tables, in the order of a first tour."""


def example(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for the tables."),
    ] = Path("examples"),
) -> None:
    """Write small tables to try quantshift on, and say what to type for each.

    The tables are made up, so that the right answers are known. No file is ever replaced; call
    it again to see the commands again.

    Examples:

    quantshift example

    quantshift example --out try
    """
    console = Console(highlight=False, soft_wrap=True, markup=False)
    files = write_examples(out)
    width = max(len(str(file)) for file in files)
    for file in files:
        console.print(f"{file!s:{width}}  {EXAMPLES[file.name].content}")
    for question in QUESTIONS:
        console.print(f"\n{question.text} (the truth: {question.truth})")
        for command in question.typed(out):
            console.print(f"  {command}")
