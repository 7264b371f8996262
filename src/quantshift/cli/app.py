"""The `quantshift` command: the verbs in the order of the work, and one way to fail.

A verb is imported when it is called: the libraries behind the others take a second.
"""

import atexit
import gc
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, NoReturn, final

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from quantshift import __version__
from quantshift.cli.help_text import fill_width
from quantshift.cli.light_sklearn import import_sklearn
from quantshift.errors import UserError


class Verb(NamedTuple):
    """Where a verb is, and what it does.

    name: of its function in the module of this package or, of several commands, of its app.
    summary: the first sentence of its help, so that the list of verbs is shown without them.
    """

    module: str
    name: str
    summary: str


VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "quantify": Verb(
            "quantify",
            "quantify",
            "Estimate how common each class is in new data, and whether to trust it.",
        ),
        "train": Verb(
            "train",
            "train",
            "Train a model on a labelled table once; quantify many samples later.",
        ),
        "audit-plan": Verb(
            "audit_plan",
            "audit_plan",
            "Draw random items to label by hand, as many as a given precision needs.",
        ),
        "history": Verb(
            "history",
            "app",
            "Show, export and prune a history of `quantify` estimates.",
        ),
        "sketch": Verb(
            "sketch",
            "sketch",
            "Reduce scores to counts, a few kB per batch, which `quantify --sketch` works from.",
        ),
        "judge": Verb(
            "judge",
            "app",
            "Estimate the true rate behind the verdicts of an LLM judge or any model.",
        ),
        "corpus": Verb(
            "corpus",
            "app",
            "Create and inspect corpora of reviews.",
        ),
        "data": Verb(
            "data",
            "app",
            "Create and inspect data sets from your own tables, arrays and posteriors.",
        ),
        "run": Verb(
            "run",
            "run",
            "Run experiments; results that exist are not computed again.",
        ),
        "bench": Verb(
            "bench",
            "bench",
            "Run all methods on suites of experiments, and write the leaderboard.",
        ),
        "status": Verb(
            "status",
            "status",
            "Show what is done, failed and pending in each experiment and data set, and how "
            "fast it ran.",
        ),
        "verify": Verb(
            "status",
            "verify",
            "Check every result file against its checksum, and that nothing planned is missing.",
        ),
        "migrate": Verb(
            "migrate",
            "migrate",
            "Upgrade results of an older version; the old ones are kept as DIR.v1.",
        ),
        "report": Verb(
            "report",
            "report",
            "Turn results into a web page, tables, figures and a summary; nothing is run again.",
        ),
        "demo": Verb(
            "demo",
            "demo",
            "A small-scale run of all the paper's experiments, on embedded synthetic reviews.",
        ),
        "list": Verb(
            "listing",
            "list_",
            "List the quantifiers and shifts, with what each assumes, and the experiments.",
        ),
        "doctor": Verb(
            "doctor",
            "doctor",
            "Show versions, cores, memory, and required and optional packages, found or missing.",
        ),
    }
)
"""In the order of the work."""

CYCLES = 300_000
"""New objects after which the garbage collector looks for cycles; Python's default is 700."""

CLASSIFYING = frozenset({"quantify", "train", "audit-plan"})
"""Verbs that need scikit-learn and, of their own accord, neither pandas nor scipy.stats."""

COMPLETED_LINE = "_TYPER_COMPLETE_ARGS"
"""The variable in which shells put the line that is to be completed."""

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


def app_with(verbs: Collection[str] = VERBS) -> typer.Typer:
    """The command with these verbs; without any, all are named and none can be called."""
    app = typer.Typer(
        name="quantshift",
        cls=Verbs,
        help="Quantification under dataset shift: how common is each class, and can the estimate "
        "be trusted?",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback()(options)
    for verb in verbs:
        function = getattr(import_module(f"quantshift.cli.{VERBS[verb].module}"), VERBS[verb].name)
        if isinstance(function, typer.Typer):
            app.add_typer(function, name=verb)
        else:
            app.command(verb)(function)
    if not verbs:
        for verb in VERBS:
            app.command(verb, help=VERBS[verb].summary)(_named_only)
    fill_width(app)
    return app


def _named_only() -> None:
    """Stand in for a verb that has not been imported."""


def _collect_rarely() -> None:
    """Spare a short process the search for cycles among the objects of the imported libraries.

    At Python's default, this search takes a quarter of the processor time of `quantify`. Much of it
    happens when the process ends and returns its memory anyway.
    """
    gc.set_threshold(CYCLES)
    atexit.register(gc.freeze)


def main() -> None:
    """Entry point: user errors are one line on stderr and exit code 2."""
    _collect_rarely()
    debug = "--debug" in sys.argv[1:]
    # --debug is welcome behind the verb too, where one types it after an error.
    arguments = [a for a in sys.argv[1:] if a != "--debug"]
    # A shell that asks how a line goes on calls the command without arguments.
    words = os.environ.get(COMPLETED_LINE, "").split()[1:] or arguments
    verb = next((word for word in words if not word.startswith("-")), "")
    # Help and advice on a misspelt verb need but their names.
    wanted = [verb] if verb in VERBS else []
    if verb in CLASSIFYING:
        import_sklearn()
    try:
        app = app_with(wanted)
        gc.freeze()  # what has been imported stays
        app(args=arguments, prog_name="quantshift")
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
        _fail(f"not enough memory on this machine ({error}); reduce the size of the job")


def _fail(message: str) -> NoReturn:
    console = Console(stderr=True, soft_wrap=True)
    said = escape(" ".join(message.split()))
    console.print(f"[bold red]error:[/] {said}", highlight=False)
    sys.exit(2)


def _cure(error: UserError, verbs: Collection[str], words: Sequence[str]) -> str:
    """The options of the verb that was called by which the error can be cured, in brackets."""
    command: Any = typer.main.get_command(app_with(verbs))
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    command = getattr(command, "commands", {}).get(getattr(command, "default", ""), command)
    wanted = {OTHER_NAMES.get(name, name) for name in error.arguments}
    options = [p.opts[0] for p in command.params if p.name in wanted and p.opts[0][0] == "-"]
    return f" ({', '.join(options)})" if options else ""
