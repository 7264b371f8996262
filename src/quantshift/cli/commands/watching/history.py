"""`quantshift history`: what `quantify` or `judge` appended, as series, tables and a page."""

import re
from pathlib import Path
from typing import Annotated

import typer

from quantshift.answers.show.records import is_answer_csv
from quantshift.base.storage.files import PAGE_ENDINGS, check_output, head, is_page, write_output
from quantshift.cli.outputs import Overwrite
from quantshift.errors import UserError
from quantshift.history import History
from quantshift.history.kept.record import FORMAT
from quantshift.history.output.rendering import (
    pruned_lines,
    render_calls,
    render_series,
)
from quantshift.history.watching.options import AlarmOptions

app = typer.Typer(
    no_args_is_help=True,
    help="Show, export and prune a history of `quantify` or `judge` estimates.",
)

Folder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="Folder given to `quantify` or `judge --history DIR`.",
        show_default=False,
    ),
]
FORMATS = ("csv", "json")
EXPORT = re.compile(rf'\{{\s*"format": {FORMAT},\s*"version": "[^"]*",\s*"calls": \['.encode())
"""How an export as JSON begins."""


@app.command("list")
def list_(folder: Folder) -> None:
    """List the calls with their times, batches and models.

    Exit code 0: no problems; 1: some files are damaged (reported on standard error).
    """
    history = _opened(folder)
    typer.echo(render_calls(history.calls()))
    _tell_problems(history)


@app.command("show")
def show(
    folder: Folder,
    alarms: AlarmOptions,
    label: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="CLASS", help="Class to show (default: the one in the headline)."
        ),
    ] = None,
) -> None:
    """Show each series: the last estimate of every batch, its marks, and the alarms.

    Exit code 0: no problems; 1: some files are damaged (reported on standard error).
    """
    history = _opened(folder)
    limits = history.limits(**alarms.changes)
    typer.echo(render_series(history, limits, label))
    _tell_problems(history)


@app.command("export")
def export(
    folder: Folder,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="csv|json",
            help="csv: a row for each batch and class with its last estimate, limits and "
            "alarms. json: all calls in full. (default: by the name of the file, or csv)",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write to this file instead of standard output."
        ),
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Export the history as CSV or JSON for other programs."""
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    as_ = as_ or (ending if ending in FORMATS else "csv")
    if as_ not in FORMATS:
        raise UserError(f"cannot export as {as_!r}; known: {', '.join(FORMATS)}")
    if out is not None:
        check_output(out, inputs=[folder], overwrite=overwrite, ours=_is_export, endings=(as_,))
    history = _opened(folder)
    text = history.to_csv() if as_ == "csv" else history.to_json()
    if out is None:
        typer.echo(text.rstrip("\n"))
    else:
        write_output(out, text.encode(), inputs=[folder], overwrite=overwrite, ours=_is_export)
        typer.echo(f"{as_} in {out}")
    _tell_problems(history)


@app.command("prune")
def prune(
    folder: Folder,
    before: Annotated[
        str | None,
        typer.Option("--before", metavar="DATE", help="Remove calls made before this date."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", metavar="N", min=0, help="Remove all but the last N calls."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be removed without removing it.")
    ] = False,
) -> None:
    """Remove old calls. No other files in the folder are touched, not even damaged ones.

    If calls of the baseline are removed, the next batches replace them in the baseline.
    """
    history = _opened(folder)
    for line in pruned_lines(
        history.prune(before=before, keep=keep, dry_run=dry_run), dry_run=dry_run
    ):
        typer.echo(line)


@app.command("page")
def page(
    folder: Folder,
    alarms: AlarmOptions,
    html: Annotated[
        Path, typer.Option("--html", metavar="FILE", help="Page to write.", show_default=False)
    ],
    overwrite: Overwrite = False,
) -> None:
    """Write a page with the series: intervals, alarms, shifts, audits and model changes."""
    check_output(html, inputs=[folder], overwrite=overwrite, ours=is_page, endings=PAGE_ENDINGS)
    history = _opened(folder)
    limits = history.limits(**alarms.changes)
    from quantshift.history.output.page import render_page

    content = render_page(history, limits).encode()
    write_output(html, content, inputs=[folder], overwrite=overwrite, ours=is_page)
    typer.echo(f"page in {html}")


def _opened(folder: Path) -> History:
    history = History.open(folder, must_exist=True)
    if not history.calls():
        problems = history.problems()
        if problems:
            raise UserError(f"{folder} has no sound call: {problems[0]}; {problems[0].cure}")
        raise UserError(
            f"{folder} has no calls; `quantify --history` and `judge --history` append them"
        )
    return history


def _tell_problems(history: History) -> None:
    problems = history.problems()
    for problem in problems:
        typer.echo(f"warning: {problem}", err=True)
    if problems:
        raise typer.Exit(1)


def _is_export(path: Path) -> bool:
    return is_answer_csv(path) or EXPORT.match(head(path)) is not None
