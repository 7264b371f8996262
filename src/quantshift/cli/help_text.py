"""Help texts as they were written, filling the width of the terminal, short or in full.

Typer would keep the docstrings' line breaks, and take words in square brackets for markup. The help
of a command whose daily options are marked is one screen: what the command does, two examples and a
sentence about each of these options; `--help-all` shows everything.
"""

import inspect
import re
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

N_EXAMPLES = 2
"""Examples in a short help."""

EXAMPLES = "Examples:"
"""The paragraph of a docstring after which its examples stand."""

_IN_FULL = "quantshift.help_all"
_DAILY = "daily"

Command = TypeVar("Command", bound=Callable[..., None])


def _show_everything(context: typer.Context, requested: bool) -> None:
    if requested:
        context.meta[_IN_FULL] = True
        typer.echo(context.get_help(), color=context.color)
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        callback=_show_everything,
        is_eager=True,
        help="Show all options and examples, and exit.",
    ),
]
"""The option that shows the whole help; the command itself does nothing with it."""


def daily(*options: str) -> Callable[[Command], Command]:
    """Mark the options of daily work of a command, in the order in which its help shows them."""

    def marked(command: Command) -> Command:
        setattr(command, _DAILY, options)
        return command

    return marked


def command_class(command: Callable[..., None]) -> type[TyperCommand]:
    """The class of a command: its help is short if its daily options are marked."""
    return DailyCommand if hasattr(command, _DAILY) else TyperCommand


class DailyCommand(TyperCommand):
    """A command whose help shows the options of daily work; `--help-all` shows all of them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in full if that was asked for."""
        shown = self if ctx.meta.get(_IN_FULL) else self._short()
        TyperCommand.format_help(shown, ctx, formatter)

    def _short(self) -> "DailyCommand":
        by_name = {str(parameter.name): parameter for parameter in self.params}
        arguments = [name for name, p in by_name.items() if p.param_type_name == "argument"]
        names = [*arguments, *getattr(self.callback, _DAILY), "help_all"]
        short = copy(self)
        short.params = [_in_a_sentence(by_name[name]) for name in names]
        short.help = _with_few_examples(self.help or "")
        return short


def _in_a_sentence(parameter: Any) -> Any:
    """The parameter with the first sentence of its help, in no panel of its own."""
    short = copy(parameter)
    short.help = re.split(r"(?<=[.])\s", parameter.help or "", maxsplit=1)[0]
    short.rich_help_panel = None
    return short


def _with_few_examples(text: str) -> str:
    r"""The first paragraph of a help, and its first examples.

    >>> _with_few_examples("What.\n\nHow.\n\nExamples:\n\n    a\n\n    b\n\n    c")
    'What.\n\nExamples:\n\n    a\n\n    b\n\n`--help-all` shows all options and examples.'
    """
    paragraphs = text.split("\n\n")
    first = paragraphs.index(EXAMPLES)
    shown = [paragraphs[0], *paragraphs[first : first + 1 + N_EXAMPLES]]
    return "\n\n".join([*shown, "`--help-all` shows all options and examples."])


def fill_width(app: typer.Typer) -> None:
    """Join the lines of each paragraph in all help texts of the app; indented lines stay."""
    for command in app.registered_commands:
        if command.callback is not None:
            command.help = flowing(command.help or inspect.getdoc(command.callback) or "")
    group = app.registered_callback
    if group is not None and group.callback is not None and group.callback.__doc__:
        group.help = flowing(group.callback.__doc__)
    for nested in app.registered_groups:
        if nested.typer_instance is not None:
            fill_width(nested.typer_instance)


def flowing(text: str) -> str:
    r"""The text with one line per paragraph; brackets are escaped, unless they are already.

    >>> flowing("One\nsentence.\n\n    an example\n\nAnother\none.")
    'One sentence.\n\n    an example\n\nAnother one.'
    >>> print(flowing("package[extra]"), flowing(flowing("package[extra]")))
    package\[extra] package\[extra]
    """
    paragraphs = re.sub(r"(?<!\\)\[", r"\[", inspect.cleandoc(text)).split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith((" ", "- ")) else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
