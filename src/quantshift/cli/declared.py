"""Options of a command from the dataclasses that declare them.

A command names dataclasses as the types of its parameters; `with_options` replaces each of them by
its fields, from which Typer makes the options, and fills the dataclass when the command is called.
`Annotated[Declared, Only("a", "b")]` takes some of the fields. `OutputFiles` stands for an option
of every format that answers can be written in. Typer does the rest.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from quantshift.answers.outputs import OUTPUTS
from quantshift.base.options import OUTPUT, OptionText, Reads, option_texts, split_names
from quantshift.cli.inputs import source
from quantshift.cli.outputs import OutputFiles


class Only:
    """Some of the options that a dataclass declares."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dataclass(frozen=True)
class _Group:
    """A parameter of a command that stands for options: a dataclass, and which of its fields."""

    declared: Any
    names: tuple[str, ...]

    @classmethod
    def of(cls, hint: Any) -> "_Group | None":
        """From the type of the parameter; None if it is an ordinary parameter."""
        declared, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if not (isinstance(declared, type) and is_dataclass(declared)):
            return None
        names = tuple(option_texts(declared))
        chosen = next((mark.names for mark in marks if isinstance(mark, Only)), names)
        if not set(chosen) <= set(names):
            raise TypeError(f"{declared.__name__} declares {names}, not all of {chosen}")
        return cls(declared, chosen) if names else None

    def parameters(self) -> Iterator[inspect.Parameter]:
        """The fields as parameters of a command."""
        if self.declared is OutputFiles:
            for output in OUTPUTS:
                text = OptionText(output.help, metavar="FILE", panel=OUTPUT)
                yield _parameter(output.name, text, Path | None, None)
        texts, types = option_texts(self.declared), get_type_hints(self.declared)
        for declared_field in fields(self.declared):
            if declared_field.name in self.names:
                text = texts[declared_field.name]
                kind = _WRITTEN.get(text.reads, types[declared_field.name])
                default = None if text.reads in _WRITTEN else declared_field.default
                if text.parse is not None and text.reads == "value":
                    kind, default = str | None, None
                yield _parameter(declared_field.name, text, kind, default)

    def filled(self, options: dict[str, Any]) -> Any:
        """The dataclass with its fields from the options, which are removed from them."""
        values: dict[str, Any] = {}
        if self.declared is OutputFiles:
            values["paths"] = {output.name: options.pop(output.name) for output in OUTPUTS}
        texts = option_texts(self.declared)
        for name in self.names:
            value = _read(texts[name], options.pop(name))
            if value is not None:
                values[name] = value
        return self.declared(**values)


_WRITTEN: Mapping[Reads, Any] = MappingProxyType(
    {
        "name": str | None,
        "names": str | None,
        "file": Path | None,
        "files": list[str] | None,
        "repeated": list[str] | None,
    }
)
"""What Typer reads in place of the type of a field."""


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its dataclasses as options."""
    command = inspect.unwrap(command)
    signature = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)
    grouped = {name: _Group.of(hint) for name, hint in hints.items()}
    groups = {name: group for name, group in grouped.items() if group is not None}
    if not groups:
        return command
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name in groups:
            parameters += groups[parameter.name].parameters()
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    @functools.wraps(command)
    def call(**options: Any) -> None:
        filled = {name: group.filled(options) for name, group in groups.items()}
        command(**options, **filled)

    keywords = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    call.__signature__ = signature.replace(parameters=keywords)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in keywords} | {"return": None}
    return call


def _parameter(name: str, text: OptionText, kind: Any, default: Any) -> inspect.Parameter:
    long = f"--{(text.name or name).replace('_', '-')}"
    option = typer.Option(
        *([long] if text.short is None else [long, f"-{text.short}"]),
        help=text.help,
        metavar=text.metavar,
        rich_help_panel=text.panel,
        show_default=text.shows_default,
        min=text.least,
        max=text.most,
    )
    annotation = Annotated[kind, option]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _read(text: OptionText, value: Any) -> Any:
    """The value of a field from what was written; None for its default."""
    if text.reads == "files":
        return source(value)
    if text.reads == "repeated":
        value = tuple(value) if value else None
        if text.parse is None:
            return value
    if value is None:
        return None
    if text.reads == "names":
        return split_names(value)
    return value if text.parse is None else text.parse(value)
