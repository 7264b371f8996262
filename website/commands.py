"""The command line as tables: every command with its arguments, options, defaults and help."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from quantshift.cli.app import app_with, options
from website.tables import code, table

_WORDS = {str: "TEXT", int: "INTEGER", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command.

    names    as typed, e.g. --out, -o; the metavar of an argument
    value    what follows the name; empty for a flag
    default  as text; "required" if a value is required; empty if the default is no value
    """

    names: tuple[str, ...]
    value: str
    default: str
    help: str


@dataclass(frozen=True)
class Command:
    """A command: its full name, its function and its parameters."""

    name: str
    function: Callable[..., None]
    parameters: tuple[Parameter, ...]

    @property
    def summary(self) -> str:
        """The first sentence of its help."""
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\n")[0].replace("\n", " ")

    @property
    def explanation(self) -> str:
        """The rest of its help, its examples as a block of commands."""
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")[1:]
        text = [p for p in paragraphs if not p.startswith("Example") and not _is_call(p)]
        calls = [line.strip() for p in paragraphs for line in p.splitlines() if _is_call(line)]
        block = ["```sh\n" + "\n".join(c.removeprefix("Example: ") for c in calls) + "\n```"]
        return "\n\n".join(text + (block if calls else []))


def commands() -> list[Command]:
    """All commands, by group."""
    app = app_with()
    listed = [_command("quantshift", options)]
    listed += [_command(f"quantshift {c.name}", c.callback) for c in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        listed += [
            _command(f"quantshift {group.name} {command.name}", command.callback)
            for command in group.typer_instance.registered_commands
        ]
    return listed


def options_table(name: str) -> str:
    """The table of the parameters of one command."""
    (command,) = [c for c in commands() if c.name == name]
    return _table(command)


def reference() -> str:
    """Every command with its help and its table."""
    return "\n\n".join(_section(command) for command in commands())


def _section(command: Command) -> str:
    if command.name == "quantshift":
        return f"## Before the command\n\n{_table(command)}"
    parts = [f"## {command.name}", command.summary, command.explanation, _table(command)]
    return "\n\n".join(filter(None, parts))


def _table(command: Command) -> str:
    rows = [
        (
            ", ".join(map(code, p.names)) + (f" {code(p.value)}" if p.value else ""),
            p.default if p.default in ("", "required") else code(p.default),
            p.help,
        )
        for p in command.parameters
    ]
    return table(["option", "default", "what it does"], rows) if rows else ""


def _command(name: str, function: Callable[..., None] | None) -> Command:
    assert function is not None
    return Command(name, function, tuple(_parameters(function)))


def _parameters(function: Callable[..., None]) -> Iterator[Parameter]:
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        hint = hints[parameter.name]
        if hint is typer.Context:
            continue
        assert get_origin(hint) is Annotated, f"{function.__name__}: {parameter.name}"
        kind, info = get_args(hint)
        yield _parameter(parameter, kind, info)


def _parameter(
    parameter: inspect.Parameter, kind: Any, info: ArgumentInfo | OptionInfo
) -> Parameter:
    flag = kind is bool
    value = info.metavar or "|".join(_choices(kind)) or _word(kind)
    names: tuple[str, ...]
    if isinstance(info, ArgumentInfo):
        names, value = (value if _choices(kind) else info.metavar or parameter.name.upper(),), ""
    else:
        # In `Annotated` the first name is in the place of the former default.
        declared = [info.default, *(info.param_decls or ())]
        names = tuple(name for name in declared if isinstance(name, str))
        names = names or (f"--{parameter.name.replace('_', '-')}",)
    required = parameter.default is inspect.Parameter.empty
    default = "required" if required else _default(parameter.default)
    return Parameter(names, "" if flag else value, default, info.help or "")


def _default(value: Any) -> str:
    if value is None or value is False:
        return ""
    if isinstance(value, Enum):
        return str(value.value)
    return " ".join(map(_default, value)) if isinstance(value, list | tuple) else str(value)


def _choices(kind: Any) -> list[str]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return [choice for part in get_args(kind) for choice in _choices(part)]


def _word(kind: Any) -> str:
    if get_origin(kind) in (list, Union, UnionType):
        return next((_word(part) for part in get_args(kind) if part is not NoneType), "")
    return _WORDS.get(kind, "")


def _is_call(line: str) -> bool:
    call = line.strip().removeprefix("Example: ")
    return call.startswith("quantshift ") or " | quantshift " in call
