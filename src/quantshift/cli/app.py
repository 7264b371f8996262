"""The `quantshift` command: its verbs in workflow order, and the handling of errors.

A verb is imported when it is called, because importing the libraries of all verbs takes a second.
"""

import atexit
import contextlib
import gc
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, final

import typer
from rich.console import Console
from typer.core import TyperGroup

from quantshift import __version__
from quantshift.base.extras import missing_package
from quantshift.cli.failing import (
    Ending,
    bad_input,
    check_streams,
    ending,
    fail,
    flush_output,
    show_traceback,
    wrong_usage,
)
from quantshift.cli.help_text import fill_width
from quantshift.errors import UserError

UsageError: type[Any] = typer.BadParameter.__bases__[0]
"""The error of a command line that cannot be read."""


class Verb(NamedTuple):
    """The module of a verb, and what the verb does.

    name: the name of its function in the module or, for a group of commands, of its app.
    summary: the first sentence of its help, so that the list of verbs needs no imports.
    extra: the extra that installs all that the verb needs, if that is more than one package's.
    """

    module: str
    name: str
    summary: str
    extra: str = ""


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
        "score": Verb(
            "score",
            "score",
            "Write a model's probabilities for every row of a table, for other programs.",
        ),
        "audit-plan": Verb(
            "audit_plan",
            "audit_plan",
            "Draw random items to label by hand, as many as a given precision needs.",
        ),
        "history": Verb(
            "history",
            "app",
            "Show, export and prune a history of `quantify` or `judge` estimates.",
        ),
        "sketch": Verb(
            "sketch",
            "sketch",
            "Reduce scores to counts (10 kB per batch of two classes) for `quantify --sketch`.",
        ),
        "judge": Verb(
            "judge",
            "app",
            "Estimate the true rate behind the verdicts of an LLM judge or any model.",
        ),
        "data": Verb(
            "data",
            "app",
            "Create and inspect data sets from your own tables, texts, arrays and posteriors.",
            extra="all",
        ),
        "run": Verb(
            "run",
            "run",
            "Run experiments; results that exist are not computed again.",
            extra="all",
        ),
        "bench": Verb(
            "bench",
            "bench",
            "Run all methods on suites of experiments, and write the leaderboard.",
            extra="all",
        ),
        "merge": Verb(
            "merge",
            "merge",
            "Check bundles of results and add them to your own leaderboard.",
            extra="all",
        ),
        "status": Verb(
            "status",
            "status",
            "Show what is done, failed and pending in each experiment and data set, and how "
            "fast it ran.",
            extra="all",
        ),
        "verify": Verb(
            "status",
            "verify",
            "Check every result file against its checksum, and that nothing planned is missing.",
            extra="all",
        ),
        "report": Verb(
            "report",
            "report",
            "Turn results into a web page, tables, figures and a summary; nothing is run again.",
            extra="all",
        ),
        "example": Verb(
            "example",
            "example",
            "Write small tables to try quantshift on, and say what to type for each.",
        ),
        "demo": Verb(
            "demo",
            "demo",
            "A small-scale run of all the paper's experiments, on embedded synthetic reviews.",
            extra="all",
        ),
        "list": Verb(
            "listing",
            "list_",
            "List the quantifiers and shifts, with what each assumes, and the experiments.",
            extra="all",
        ),
        "cite": Verb(
            "cite",
            "cite",
            "Print BibTeX of quantshift, and of the publications behind the methods you used.",
        ),
        "doctor": Verb(
            "doctor",
            "doctor",
            "Show versions, cores, memory, and required and optional packages, found or missing.",
        ),
    }
)
"""The verbs in workflow order."""

CYCLES = 300_000
"""Number of new objects after which the garbage collector looks for cycles (default: 700)."""

COMPLETED_LINES = ("_TYPER_COMPLETE_ARGS", "COMP_WORDS")
"""Environment variables in which shells (the second: bash) pass the line to be completed."""

STOPPED = 130
"""The exit code of a command that was stopped by Ctrl-C, by convention of the shells."""


@contextlib.contextmanager
def _usage_in_one_line() -> Iterator[None]:
    """Raise errors of the command line as those of the user, which are printed in one line."""
    try:
        yield
    except UsageError as error:
        if type(error).show is not UsageError.show:  # nothing is wrong: it prints the help
            raise
        raise wrong_usage(error) from error


@final
class Verbs(TyperGroup):
    """The verbs; one that is stopped prints one line, also where the library for options would not.

    That library takes the end of a file for Ctrl-D, and `sys.exit` in loaded code for its own.
    """

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the options before the verb."""
        with _usage_in_one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Call the verb."""
        try:
            with _usage_in_one_line():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            Console(stderr=True).print("stopped")
            raise typer.Exit(STOPPED) from None
        except (SystemExit, EOFError) as error:
            raise bad_input(error) from error


def _print_version(requested: bool) -> None:
    if requested:
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
    """Quantification under dataset shift: how common is each class, and can that be trusted?

    First steps: `quantshift example`, or `quantshift quantify --help` if you have a table with
    labels and a table without. `quantshift VERB --help` explains each command with examples.
    """


def app_with(verbs: Collection[str] = VERBS) -> typer.Typer:
    """The command with these verbs; without any, all are listed but none can be called."""
    app = typer.Typer(
        name="quantshift",
        cls=Verbs,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback()(options)
    if verbs:
        # Help and version need none of the libraries behind it.
        from quantshift.cli.declared import with_options
    for verb in verbs:
        function = _function(verb)
        if isinstance(function, typer.Typer):
            for command in function.registered_commands:
                if command.callback is not None:
                    command.callback = with_options(command.callback)
            app.add_typer(function, name=verb)
        else:
            app.command(verb)(with_options(function))
    if not verbs:
        for verb in VERBS:
            app.command(verb, help=VERBS[verb].summary)(_placeholder)
    fill_width(app)
    return app


def _function(verb: str) -> Any:
    """The function or the app of a verb, imported now."""
    module, name, _, extra = VERBS[verb]
    try:
        return getattr(import_module(f"quantshift.cli.commands.{module}"), name)
    except ModuleNotFoundError as error:
        raise missing_package(error, f"quantshift {verb} needs", extra) or error from None


def _placeholder() -> None:
    """Stands in for a verb that has not been imported."""


def _collect_rarely() -> None:
    """Let the garbage collector run rarely: a short process gains little from it.

    With Python's default threshold, collection takes a quarter of the processor time of `quantify`,
    much of it at the end of the process, when the memory is released anyway.
    """
    gc.set_threshold(CYCLES)
    atexit.register(_forget_cycles)


def _forget_cycles() -> None:
    # The bindings of DuckDB report every object that is not released as a leak.
    if "duckdb" not in sys.modules:
        gc.freeze()


def main() -> None:
    """Entry point: whatever goes wrong is one line on stderr and an exit code."""
    _collect_rarely()
    debug = "--debug" in sys.argv[1:]
    # --debug may also follow the verb, where people add it after an error.
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    # For completion, a shell calls the command without arguments.
    lines = [os.environ.get(name, "").split()[1:] for name in COMPLETED_LINES]
    words = arguments or next(filter(None, lines), [])
    verb = next((word for word in words if not word.startswith("-")), "")
    # Help, and suggestions for a misspelt verb, need only the names of the verbs.
    verbs = [verb] if verb in VERBS else []
    try:
        check_streams()
        app = app_with(verbs)
        gc.freeze()  # imported objects live as long as the process
        app(args=arguments, prog_name="quantshift")
    except SystemExit:  # how the command ends if all is well, and after errors in its options
        flush_output()
        raise
    except KeyboardInterrupt:  # before the verb was called
        Console(stderr=True).print("stopped")
        sys.exit(STOPPED)
    except BaseException as error:  # libraries in Rust raise some that are not an Exception
        if debug:
            show_traceback(error)
        how = ending(error)
        if isinstance(error, UserError) and error.arguments:
            how = Ending(f"{how.message}{_options_to_use(error, verbs, arguments)}", how.code)
        fail(how)


def _options_to_use(error: UserError, verbs: Collection[str], words: Sequence[str]) -> str:
    """The options of the called verb that would fix the error, in brackets."""
    command: Any = typer.main.get_command(app_with(verbs))
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    command = getattr(command, "commands", {}).get(getattr(command, "default", ""), command)
    options = [
        p.opts[0] for p in command.params if p.name in error.arguments and p.opts[0][0] == "-"
    ]
    return f" ({', '.join(options)})" if options else ""
