"""`quantshift migrate`: results of an older version become results of this one."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.nouns import counted
from quantshift.results.migration import migrate as migrate_results

SHOWN_FILES = 10


def migrate(
    results: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)
    ],
) -> None:
    """Upgrade results of an older version; the old ones are kept as DIR.v1."""
    console = Console()

    def say(text: str) -> None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)

    done = migrate_results(results)
    if done is None:
        say(f"{results} is up to date; nothing to do")
        return
    say(f"{results} is up to date: {counted(done.parts, 'part')}, {counted(done.rows, 'row')}")
    for problem in done.left_out[:SHOWN_FILES]:
        say(f"left out: {problem.path} {problem.detail}")
    if len(done.left_out) > SHOWN_FILES:
        more = counted(len(done.left_out) - SHOWN_FILES, "more damaged file")
        say(f"... and {more} left out")
    if done.left_out:
        say("run the same experiments again to compute what was left out")
    say(f"the old results are kept in {done.kept}; delete it when you no longer need it")
    if done.foreign:
        say(f"{len(done.foreign)} files that are not results are there, and only there")
