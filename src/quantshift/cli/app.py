"""The `quantshift` command: the verbs in the order of the work, and one way to fail.

A verb is imported when it is called: the libraries behind the others take a second.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NoReturn, final

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from quantshift import __version__
from quantshift.errors import UserError

VERBS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "quantify": ("quantify", "quantify"),
        "train": ("train", "train"),
        "audit-plan": ("audit_plan", "audit_plan"),
        "judge": ("judge", "app"),
        "corpus": ("corpus", "app"),
        "data": ("data", "app"),
        "run": ("run", "run"),
        "status": ("status", "status"),
        "verify": ("status", "verify"),
        "migrate": ("migrate", "migrate"),
        "report": ("report", "report"),
        "demo": ("demo", "demo"),
        "list": ("listing", "list_"),
        "doctor": ("doctor", "doctor"),
    }
)
"""The module of each verb in this package, and its function or, of several commands, its app."""

STOPPED = 130
"""The exit code of a command that Ctrl-C has ended, as shells know it."""


@final
class Verbs(TyperGroup):
    """The verbs; whichever is stopped by Ctrl-C says so in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Call the verb."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            Console(stderr=True).print("stopped")
            raise typer.Exit(STOPPED) from None


OTHER_NAMES: Mapping[str, str] = MappingProxyType({"n_workers": "jobs", "train_on": "train"})
"""Arguments of the library that have another name on the command line."""


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"quantshift {__version__}", highlight=False)
        raise typer.Exit


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


def app_with(verbs: Iterable[str] = VERBS) -> typer.Typer:
    """The command with these verbs."""
    app = typer.Typer(
        name="quantshift",
        cls=Verbs,
        help="Quantification under dataset shift: how common is each class, and can it be "
        "believed?",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback()(options)
    for verb in verbs:
        module, name = VERBS[verb]
        function = getattr(import_module(f"quantshift.cli.{module}"), name)
        if isinstance(function, typer.Typer):
            app.add_typer(function, name=verb)
        else:
            app.command(verb)(function)
    return app


def main() -> None:
    """Entry point: user errors are one line on stderr and exit code 2."""
    debug = "--debug" in sys.argv[1:]
    # --debug is welcome behind the verb too, where one types it after an error.
    arguments = [a for a in sys.argv[1:] if a != "--debug"]
    verb = next((a for a in arguments if not a.startswith("-")), "")
    # Help and advice on a misspelt verb need them all.
    wanted = [verb] if verb in VERBS else list(VERBS)
    try:
        app_with(wanted)(args=arguments, prog_name="quantshift")
    except UserError as error:
        if debug:
            raise
        _fail(f"{error}{_cure(error, wanted, arguments)}")
    except KeyboardInterrupt:  # before the verb was called
        Console(stderr=True).print("stopped")
        sys.exit(STOPPED)
    except MemoryError as error:
        if debug:
            raise
        _fail(f"the memory of this machine is not enough for this ({error}); ask for less of it")


def _fail(message: str) -> NoReturn:
    console = Console(stderr=True, soft_wrap=True)
    said = escape(" ".join(message.split()))
    console.print(f"[bold red]error:[/] {said}", highlight=False)
    sys.exit(2)


def _cure(error: UserError, verbs: Sequence[str], words: Sequence[str]) -> str:
    """The options of the verb that was called by which the error can be cured, in brackets."""
    command: Any = typer.main.get_command(app_with(verbs))
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    command = getattr(command, "commands", {}).get(getattr(command, "default", ""), command)
    wanted = {OTHER_NAMES.get(name, name) for name in error.arguments}
    options = [p.opts[0] for p in command.params if p.name in wanted and p.opts[0][0] == "-"]
    return f" ({', '.join(options)})" if options else ""
