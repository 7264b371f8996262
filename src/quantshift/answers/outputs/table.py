"""An answer as a table for other programs."""

from pathlib import Path

from quantshift.answers.outputs.output import AbstractOutput, Circumstances
from quantshift.answers.show.answer import AbstractAnswer
from quantshift.answers.show.records import is_answer_csv


class CsvTable(AbstractOutput):
    """CSV with a line for each batch and class."""

    name = "csv"
    noun = "table"
    endings = ("csv",)
    help = "Also write a table with a row per batch and class."

    def render(self, answer: AbstractAnswer, circumstances: Circumstances) -> str:
        """The records of the answer."""
        return answer.to_csv()

    def is_ours(self, path: Path) -> bool:
        """Whether the file begins like our tables."""
        return is_answer_csv(path)
