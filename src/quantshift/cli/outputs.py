"""The files that verbs write in addition to what they print."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from quantshift.answers.outputs import OUTPUTS
from quantshift.answers.outputs.output import AbstractOutput, Circumstances
from quantshift.answers.show.answer import AbstractAnswer
from quantshift.base.options import OUTPUT, option
from quantshift.base.shell import command_line
from quantshift.base.storage.files import check_output, write_output
from quantshift.errors import UserError

NOT_IN_PROVENANCE = frozenset({"as_json", "overwrite", "summary", "history", "at", "fail_on"})
"""Options that do not change what a page says, beside those of files."""

REPLACES = "Replace a file that quantshift did not create."
Overwrite = Annotated[bool, typer.Option("--overwrite", help=REPLACES, rich_help_panel=OUTPUT)]
OverwriteLabels = Annotated[
    bool, typer.Option("--overwrite", help="Replace an existing file, including its labels.")
]
SheetFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE.csv", help="Write the items to label here."),
]
ResultsFolder = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results.")
]
DataSetFolder = Annotated[
    Path, typer.Option("--out", "-o", metavar="DIR", help="The data-set folder to create.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and exit; nothing is run.")]


@dataclass(frozen=True)
class OutputFiles:
    """The files to which an answer is written.

    paths: the file of each format, None if it was not requested.
    """

    paths: Mapping[str, Path | None] = field(default_factory=dict)
    overwrite: bool = option(False, REPLACES, panel=OUTPUT)

    def check(self, inputs: Sequence[Any], *beside: str | Path) -> None:
        """Refuse files that cannot be written, before the work starts.

        inputs: what the same command reads. beside: files that it writes too.
        """
        nouns: dict[str, str] = {}
        for output, path in self._requested():
            check_output(
                path,
                inputs=inputs,
                overwrite=self.overwrite,
                ours=output.is_ours,
                endings=output.endings,
            )
            other = nouns.setdefault(os.path.realpath(path), output.noun)
            if other != output.noun:
                raise UserError(
                    f"{path} cannot be both the {other} and the {output.noun}; name two files"
                )
        for other_file in beside:
            if os.path.realpath(other_file) in nouns:
                raise UserError(f"{other_file} cannot be two outputs; name two files")

    def write(
        self, answer: AbstractAnswer, circumstances: Circumstances, inputs: Sequence[Any]
    ) -> Iterator[str]:
        """Write them; returns what to print, line by line."""
        written = []
        for output, path in self._requested():
            write_output(
                path,
                output.render(answer, circumstances).encode(),
                inputs=inputs,
                overwrite=self.overwrite,
                ours=output.is_ours,
            )
            written.append(f"{output.noun} in {path}")
        yield from ["", *written] if written else []

    def _requested(self) -> Iterator[tuple[AbstractOutput, Path]]:
        for output in OUTPUTS:
            path = self.paths.get(output.name)
            if path is not None:
                yield output, path


def provenance(context: typer.Context) -> tuple[tuple[str, str], ...]:
    """How a page was made, for the reader: the command without its outputs, and the seed."""
    command: Any = context.command
    words = context.command_path.split()
    left_out = NOT_IN_PROVENANCE | {output.name for output in OUTPUTS}
    for parameter in command.params:
        source = context.get_parameter_source(parameter.name)
        if source is None or source.name != "COMMANDLINE" or parameter.name in left_out:
            continue
        value = context.params[parameter.name]
        for each in value if isinstance(value, list | tuple) else [value]:
            if parameter.param_type_name == "option":
                words.append(parameter.opts[0])
            if each is not True:
                words.append(str(each))
    return ("command", command_line(words)), ("seed", str(context.params["seed"]))
