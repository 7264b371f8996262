"""The page and the table that verbs write in addition to their output, and their exit codes."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from quantshift.base.files import Recognises, check_output, is_page, write_output
from quantshift.base.shell import command_line
from quantshift.errors import UserError

OUTPUT_OPTIONS = frozenset(
    {"html", "table", "as_json", "overwrite", "summary", "history", "at", "fail_on"}
)
"""Options that do not change what a page says; they are left out of its provenance."""

FAILED, CANNOT_BE_ESTIMATED = 3, 4
"""Exit codes."""


@dataclass(frozen=True)
class Outputs:
    """The files to which the page and the table are written, if any.

    ours: recognises an older table made by quantshift. inputs: what the same command reads.
    """

    html: Path | None
    table: Path | None
    ours: Recognises
    inputs: Sequence[Any]
    overwrite: bool

    def check(self) -> None:
        """Refuse files that cannot be written, before the work starts."""
        if self.html is not None:
            self._check(self.html, "html", is_page)
        if self.table is not None:
            self._check(self.table, "csv", self.ours)
            if self.html and os.path.realpath(self.html) == os.path.realpath(self.table):
                raise UserError(
                    f"{self.table} cannot be both the page and the table; name two files"
                )

    def _check(self, path: Path, kind: str, ours: Recognises) -> None:
        check_output(path, inputs=self.inputs, overwrite=self.overwrite, ours=ours, kind=kind)

    def write(self, page: Callable[[], str], table: Callable[[], str]) -> Iterator[str]:
        """Write both; returns what to print, line by line."""
        written = []
        for path, content, kind, ours in (
            (self.html, page, "page", is_page),
            (self.table, table, "table", self.ours),
        ):
            if path is not None:
                encoded = content().encode()
                write_output(path, encoded, inputs=self.inputs, overwrite=self.overwrite, ours=ours)
                written.append(f"{kind} in {path}")
        yield from ["", *written] if written else []


def provenance(context: typer.Context) -> list[tuple[str, str]]:
    """How a page was made, for the reader: the command without its outputs, and the seed."""
    command: Any = context.command
    # The command of a verb that also has subcommands is hidden; people write the verb alone.
    path = context.parent.command_path if command.hidden and context.parent else None
    words = (path or context.command_path).split()
    for parameter in command.params:
        source = context.get_parameter_source(parameter.name)
        if source is None or source.name != "COMMANDLINE" or parameter.name in OUTPUT_OPTIONS:
            continue
        value = context.params[parameter.name]
        for each in value if isinstance(value, list | tuple) else [value]:
            words += [parameter.opts[0]] * (parameter.param_type_name == "option")
            words += [] if each is True else [str(each)]
    return [("command", command_line(words)), ("seed", str(context.params["seed"]))]


def leave(failed: Sequence[str], *, can_be_estimated: bool, printed: bool = False) -> None:
    """Exit with the code that scripts rely on; without failures, return.

    printed: whether the failures were printed already.
    """
    for line in () if printed else failed:
        typer.echo(f"failed: {line}", err=True)
    if not can_be_estimated:
        raise typer.Exit(CANNOT_BE_ESTIMATED)
    if failed:
        raise typer.Exit(FAILED)
