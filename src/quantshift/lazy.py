"""Doors that stay light: names of a package that are imported when somebody first asks for them."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package; homes: module -> its names, as exported here.

    A module with its own name among the names is exported itself.
    Type checkers do not run this: give them the same imports under TYPE_CHECKING.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def get_attribute(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(home_of[name])
        thing = home if home_of[name] == f"{package}.{name}" else getattr(home, name)
        setattr(sys.modules[package], name, thing)
        return thing

    def directory() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return get_attribute, directory
