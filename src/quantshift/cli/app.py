"""The `quantshift` command: its verbs by group, and the handling of errors.

A verb is imported when it is called, because importing the libraries of all verbs takes a second.
"""

import atexit
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, final

import typer
from typer.core import TyperGroup

from quantshift import __version__
from quantshift.cli.failing import (
    OWN_FAILURE,
    Ending,
    bad_input,
    check_streams,
    ending,
    fail,
    flush_output,
    show_traceback,
    wrong_usage,
)
from quantshift.cli.help_text import command_class, fill_width
from quantshift.errors import UserError, check_utf8

UsageError: type[Any] = typer.BadParameter.__bases__[0]
"""The error of a command line that cannot be read."""


class Verb(NamedTuple):
    """The module of a verb, and what the verb does.

    module: in the folder `commands`, whose folders are the groups of the verbs.
    name: the name of its function in the module or, for a group of commands, of its app.
    summary: the first sentence of its help, so that the list of verbs needs no imports.
    """

    module: str
    name: str
    summary: str

    @property
    def group(self) -> str:
        """The title of its group in the help."""
        return GROUPS[self.module.partition(".")[0]]


GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "first_steps": "First steps",
        "answers": "Answers",
        "watching": "Watching",
        "research": "Research",
    }
)
"""The groups of verbs by their folders."""


VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "example": Verb(
            "first_steps.example",
            "example",
            "Write small tables to try quantshift on, and say what to type for each.",
        ),
        "demo": Verb(
            "first_steps.demo",
            "demo",
            "A small-scale run of all the paper's experiments, on embedded synthetic reviews.",
        ),
        "doctor": Verb(
            "first_steps.doctor",
            "doctor",
            "Show versions, cores, memory, the kernels of BLAS, and packages, found or missing.",
        ),
        "quantify": Verb(
            "answers.quantify",
            "quantify",
            "Estimate how common each class is in new data, and whether to trust it.",
        ),
        "judge": Verb(
            "answers.judge",
            "judge",
            "Estimate the true rate behind the verdicts of an LLM judge or any model.",
        ),
        "plan": Verb(
            "answers.plan",
            "app",
            "Choose which items people should label, as many as a given precision needs.",
        ),
        "train": Verb(
            "answers.train",
            "train",
            "Train a model on a labelled table once; quantify many samples later.",
        ),
        "probabilities": Verb(
            "answers.probabilities",
            "probabilities",
            "Write a model's probabilities for every row of a table, for other programs.",
        ),
        "sketch": Verb(
            "answers.sketch",
            "sketch",
            "Reduce scores to counts (10 kB per batch of two classes) for `quantify --sketch`.",
        ),
        "history": Verb(
            "watching.history",
            "app",
            "Show, export and prune a history of `quantify` or `judge` estimates.",
        ),
        "run": Verb(
            "research.run",
            "run",
            "Run experiments; results that exist are not computed again.",
        ),
        "status": Verb(
            "research.status",
            "status",
            "Show what is done, failed and pending in each experiment and data set, and how "
            "fast it ran.",
        ),
        "verify": Verb(
            "research.status",
            "verify",
            "Check every result file against its checksum, and that nothing planned is missing.",
        ),
        "bench": Verb(
            "research.bench",
            "bench",
            "Run all methods on suites of experiments, and write the leaderboard.",
        ),
        "report": Verb(
            "research.report",
            "report",
            "Turn results into a web page, tables, figures and a summary; nothing is run again.",
        ),
        "data": Verb(
            "research.data",
            "app",
            "Create and inspect data sets from your own tables, texts, arrays and posteriors.",
        ),
        "list": Verb(
            "research.listing",
            "list_",
            "List the quantifiers and shifts, with what each assumes, and the experiments.",
        ),
        "cite": Verb(
            "research.cite",
            "cite",
            "Print BibTeX of quantshift, and of the publications behind the methods you used.",
        ),
    }
)
"""The verbs by group, in the order in which they are used."""

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
            typer.echo("stopped", err=True)
            raise typer.Exit(STOPPED) from None
        except (SystemExit, EOFError) as error:
            raise bad_input(error) from error


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"quantshift {__version__}")
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
    for name in verbs:
        function = _function(name)
        if isinstance(function, typer.Typer):
            for command in function.registered_commands:
                if command.callback is not None:
                    command.callback = with_options(command.callback)
            app.add_typer(function, name=name)
        else:
            app.command(name, cls=command_class(function))(with_options(function))
    if not verbs:
        for name, verb in VERBS.items():
            app.command(name, help=verb.summary, rich_help_panel=verb.group)(_placeholder)
    fill_width(app)
    return app


def _function(verb: str) -> Any:
    """The function or the app of a verb, imported now."""
    module, name, _ = VERBS[verb]
    return getattr(import_module(f"quantshift.cli.commands.{module}"), name)


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


@contextlib.contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """The interrupts meanwhile: libraries in C may turn one into an error of their own."""
    noted: list[int] = []

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:
        yield noted
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def main() -> None:
    """Entry point: whatever goes wrong is one line on stderr and an exit code."""
    _collect_rarely()
    with _noted_interrupts() as interrupts:
        _called(interrupts)


def _called(interrupts: list[int]) -> None:
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
        for argument in arguments:
            check_utf8(argument)
        app = app_with(verbs)
        gc.freeze()  # imported objects live as long as the process
        app(args=arguments, prog_name="quantshift")
    except SystemExit:  # how the command ends if all is well, and after errors in its options
        flush_output()
        raise
    except KeyboardInterrupt:  # before the verb was called
        typer.echo("stopped", err=True)
        sys.exit(STOPPED)
    except BaseException as error:  # libraries in Rust raise some that are not an Exception
        if debug:
            show_traceback(error)
        how = ending(error)
        if interrupts and how.code == OWN_FAILURE:
            typer.echo("stopped", err=True)
            sys.exit(STOPPED)
        if isinstance(error, UserError) and error.arguments:
            how = Ending(f"{how.message}{_options_to_use(error, verbs, arguments)}", how.code)
        fail(how)


def _options_to_use(error: UserError, verbs: Collection[str], words: Sequence[str]) -> str:
    """The options of the called verb that would fix the error, in brackets."""
    command: Any = typer.main.get_command(app_with(verbs))
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    options = [
        p.opts[0] for p in command.params if p.name in error.arguments and p.opts[0][0] == "-"
    ]
    return f" ({', '.join(options)})" if options else ""
