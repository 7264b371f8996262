"""The public API as text: what the root and the rooms export, with parameters and methods.

python tests/public_api.py          prints it
python tests/public_api.py --write  writes tests/public_api.txt, with which a test compares it
"""

import importlib
import inspect
import sys
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
ROOMS = (
    "quantshift",
    "quantshift.quantifiers",
    "quantshift.lab.shifts",
    "quantshift.checks",
    "quantshift.intervals",
    "quantshift.items",
    "quantshift.lab.experiments",
    "quantshift.lab.results",
    "quantshift.quantifying",
    "quantshift.sketches",
)
"""Where the names of the Python interface are; a name is listed where it comes first."""


def public_api() -> str:
    """A line for every public function, class, method and property, sorted.

    What a class has from another public class is listed there.
    """
    return "".join(
        f"{line}\n" for name, value in sorted(exports().items()) for line in described(name, value)
    )


@cache
def exports() -> dict[str, Any]:
    """What the rooms export, by its name in the first room that does, without `quantshift.`."""
    found: dict[str, Any] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            value = getattr(module, name)
            if not any(value is other for other in found.values()):
                found[f"{room}.{name}".removeprefix("quantshift.")] = value
    return found


def described(name: str, value: Any) -> list[str]:
    """The lines of one export."""
    if isinstance(value, ModuleType):
        return [
            line
            for inner in public_names(value)
            for line in described(f"{name}.{inner}", getattr(value, inner))
        ]
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return [name]
    lines = [f"{name}{parameters(value)}"]
    if inspect.isclass(value):
        public = [other for other in exports().values() if inspect.isclass(other)]
        bases = [base for base in value.__mro__[1:] if base in public]
        inherited = {line for base in bases for line in members(base)}
        lines += [f"{name}.{line}" for line in members(value) if line not in inherited]
    return lines


def members(cls: type) -> list[str]:
    """The public methods of a class, with parameters, and what is read like an attribute."""
    lines = []
    for member in sorted(dir(cls)):
        found = inspect.getattr_static(cls, member)
        if member.startswith("_") or is_foreign(found):
            continue
        is_method = isinstance(found, staticmethod | classmethod) or inspect.isfunction(found)
        lines.append(f"{member}{parameters(getattr(cls, member)) if is_method else ''}")
    return lines


def public_names(module: ModuleType) -> list[str]:
    """What a module defines, sorted."""
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    )


def is_foreign(member: Any) -> bool:
    """Whether a class has it from another library, such as scikit-learn."""
    function = getattr(member, "__func__", getattr(member, "fget", member))
    if inspect.isbuiltin(function):
        return True
    owner = getattr(member, "__objclass__", None)
    home = getattr(function, "__module__", None) or getattr(owner, "__module__", "quantshift")
    return not home.startswith("quantshift")


def parameters(function: Any) -> str:
    """Names, kinds and defaults, without the types; none of an enumeration, which Python words."""
    if inspect.isclass(function) and issubclass(function, Enum):
        return ""
    signature = inspect.signature(function)
    plain = [
        parameter.replace(annotation=parameter.empty, default=shown(parameter.default))
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


class Shown:
    """A default value whose repr is the same in every run."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(default: Any) -> Any:
    """The default, or what stands for it."""
    if default is inspect.Parameter.empty:
        return default
    # The repr of an ordered dictionary is not the same in every Python.
    text = repr(dict(default)) if isinstance(default, Mapping) else repr(default)
    return Shown(text if " at 0x" not in text and "<" not in text else "...")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        FILE.write_text(public_api(), encoding="utf-8")
    else:
        print(public_api(), end="")
