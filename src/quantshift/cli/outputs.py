"""The page and the table that verbs on own tables write in addition to their output, and how they
end."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from quantshift.errors import UserError
from quantshift.files import Recognises, check_output, is_page, write_output

FAILED, CANNOT_BE_ESTIMATED = 3, 4
"""Exit codes."""


@dataclass(frozen=True)
class Outputs:
    """Where the page and the table go, if anywhere.

    ours: recognises an older table of ours. inputs: what the same command reads.
    """

    html: Path | None
    table: Path | None
    ours: Recognises
    inputs: Sequence[Any]
    overwrite: bool

    def check(self) -> None:
        """Refuse, before the work, what cannot be written."""
        if self.html is not None:
            check_output(self.html, inputs=self.inputs, overwrite=self.overwrite, ours=is_page)
        if self.table is not None:
            check_output(self.table, inputs=self.inputs, overwrite=self.overwrite, ours=self.ours)
            if self.html and os.path.realpath(self.html) == os.path.realpath(self.table):
                raise UserError(
                    f"{self.table} cannot be both the page and the table; name two files"
                )

    def write(self, page: Callable[[], str], table: Callable[[], str]) -> Iterator[str]:
        """Write both; returns what to print, line by line."""
        written = []
        for path, content, what, ours in (
            (self.html, page, "page", is_page),
            (self.table, table, "table", self.ours),
        ):
            if path is not None:
                encoded = content().encode()
                write_output(path, encoded, inputs=self.inputs, overwrite=self.overwrite, ours=ours)
                written.append(f"{what} in {path}")
        yield from ["", *written] if written else []


def leave(failed: Sequence[str], *, can_be_estimated: bool, told: bool = False) -> None:
    """End with the exit code that scripts go by; nothing happens if all is well.

    told: whether the failures were printed already.
    """
    for line in () if told else failed:
        typer.echo(f"failed: {line}", err=True)
    if not can_be_estimated:
        raise typer.Exit(CANNOT_BE_ESTIMATED)
    if failed:
        raise typer.Exit(FAILED)
