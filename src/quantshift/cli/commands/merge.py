"""`quantshift merge`: results that others computed, added to one's own leaderboard."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from quantshift.base.nouns import counted
from quantshift.cli.outputs import ResultsFolder
from quantshift.cli.progress import say
from quantshift.leaderboard.bundle import add_bundle, open_bundle


def merge(
    bundles: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.zip...",
            help="Bundles written by `quantshift bench --bundle`.",
            show_default=False,
        ),
    ],
    *,
    out: ResultsFolder = Path("runs/bench"),
    check: Annotated[
        bool, typer.Option("--check", help="Only check the bundles and say what they hold.")
    ] = False,
) -> None:
    """Check bundles of results and add them to your own leaderboard.

    Every file in a bundle is compared with its checksum, and every row with what the bundle says
    about it. Results that were computed with other data, settings or files of methods are refused.
    No code in a bundle is executed.

    Exit code 0: all is added; 2: a bundle is broken, was changed, or does not fit.

    Examples:

        quantshift merge theirs.zip --out runs/bench

        quantshift merge theirs.zip --check
    """
    # Imported here because the page needs packages that take a second to import.
    from quantshift.leaderboard.build import build_leaderboard

    console = Console()
    for file in bundles:
        with open_bundle(file) as bundle:
            say(console, f"{file}: {bundle.sentence}")
    if check:
        return
    for file in bundles:
        result = add_bundle(file, out)
        already_there = f", {result.known:,} were there" if result.known else ""
        say(console, f"{file}: {counted(result.added, 'result')} added to {out}{already_there}")
    board = build_leaderboard(out)
    say(console, f"open {board.page.resolve().as_uri()} in a browser")
