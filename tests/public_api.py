"""The public API as text: every name of `quantshift`, with parameters, defaults and methods.

python tests/public_api.py          prints it
python tests/public_api.py --write  writes tests/public_api.txt, with which a test compares it
"""

import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import quantshift

FILE = Path(__file__).with_suffix(".txt")


def public_api() -> str:
    """A line for every public function, class, method and property, sorted.

    What a class has from another public class is listed there.
    """
    lines = []
    for name in sorted(quantshift.__all__):
        lines += described(name, getattr(quantshift, name))
    return "".join(f"{line}\n" for line in lines)


def described(name: str, value: Any) -> list[str]:
    """The lines of one export."""
    if isinstance(value, ModuleType):
        return [
            line
            for inner in public_names(value)
            for line in described(f"{name}.{inner}", getattr(value, inner))
        ]
    if not callable(value):
        return [name]
    lines = [f"{name}{parameters(value)}"]
    if inspect.isclass(value):
        bases = [base for base in value.__mro__[1:] if base.__name__ in quantshift.__all__]
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
    return not getattr(function, "__module__", "quantshift").startswith("quantshift")


def parameters(function: Any) -> str:
    """Names, kinds and defaults, without the types."""
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
    text = repr(default)
    return Shown(text if " at 0x" not in text and "<" not in text else "...")


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        FILE.write_text(public_api(), encoding="utf-8")
    else:
        print(public_api(), end="")
