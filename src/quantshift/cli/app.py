"""The `quantshift` command: the verbs in the order of the work, and one way to fail."""

import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from quantshift import __version__
from quantshift.cli import (
    audit_plan,
    corpus,
    data,
    demo,
    doctor,
    listing,
    migrate,
    quantify,
    report,
    run,
    status,
    train,
)
from quantshift.errors import UserError

app = typer.Typer(
    name="quantshift",
    help="Quantification under dataset shift: how common is each class, and can it be believed?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
app.command("quantify")(quantify.quantify)
app.command("train")(train.train)
app.command("audit-plan")(audit_plan.audit_plan)
app.add_typer(corpus.app, name="corpus")
app.add_typer(data.app, name="data")
app.command("run")(run.run)
app.command("status")(status.status)
app.command("verify")(status.verify)
app.command("migrate")(migrate.migrate)
app.command("report")(report.report)
app.command("demo")(demo.demo)
app.command("list")(listing.list_)
app.command("doctor")(doctor.doctor)

OTHER_NAMES: Mapping[str, str] = MappingProxyType({"n_workers": "jobs", "train_on": "train"})
"""Arguments of the library that have another name on the command line."""


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"quantshift {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error instead of one line.")
    ] = False,
) -> None:
    """Options that come before the verb; `main` itself looks for --debug."""


def main() -> None:
    """Entry point: user errors are one line on stderr and exit code 2."""
    debug = "--debug" in sys.argv[1:]
    # --debug is welcome behind the verb too, where one types it after an error.
    arguments = [a for a in sys.argv[1:] if a != "--debug"]
    try:
        app(args=arguments, prog_name="quantshift")
    except UserError as error:
        if debug:
            raise
        console = Console(stderr=True, soft_wrap=True)
        said = escape(" ".join(f"{error}{_cure(error, arguments)}".split()))
        console.print(f"[bold red]error:[/] {said}", highlight=False)
        sys.exit(2)


def _cure(error: UserError, words: Sequence[str]) -> str:
    """The options of the verb that was called by which the error can be cured, in brackets."""
    command: Any = typer.main.get_command(app)
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    wanted = {OTHER_NAMES.get(name, name) for name in error.arguments}
    options = [p.opts[0] for p in command.params if p.name in wanted and p.opts[0][0] == "-"]
    return f" ({', '.join(options)})" if options else ""
