"""`quantshift migrate`: upgrade results of an older version to this one."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.cli.progress import say
from quantshift.nouns import counted
from quantshift.results.migration import migrate as migrate_results

SHOWN_FILES = 10


def migrate(
    results: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder of results.", show_default=False)
    ],
) -> None:
    """Upgrade results of an older version; the old ones are kept as DIR.v1."""
    say_line = partial(say, Console())
    done = migrate_results(results)
    if done is None:
        say_line(f"{results} is up to date; nothing to do")
        return
    say_line(f"{results} is up to date: {counted(done.parts, 'part')}, {counted(done.rows, 'row')}")
    for problem in done.left_out[:SHOWN_FILES]:
        say_line(f"left out: {problem.path} {problem.detail}")
    if len(done.left_out) > SHOWN_FILES:
        more = counted(len(done.left_out) - SHOWN_FILES, "more damaged file")
        say_line(f"... and {more} left out")
    if done.left_out:
        say_line("run the same experiments again to compute what was left out")
    say_line(f"the old results are kept in {done.kept}; delete it when you no longer need it")
    if done.foreign:
        others = counted(len(done.foreign), "file")
        say_line(f"also left there: {others} not made by quantshift")
