"""Protocols by name: those of the package, read from its exports, and users' own.

Users name their own as "package.module:Class" or "FILE.py:Class".
"""

import dataclasses
import inspect

import quantshift.lab.shifts
from quantshift.base.imports import exported_classes, imported_class, is_import_path
from quantshift.errors import UserError, unknown_name
from quantshift.lab.shifts.protocol import AbstractProtocol


def protocols() -> dict[str, type[AbstractProtocol]]:
    """The exported protocols by name."""
    return exported_classes(quantshift.lab.shifts, AbstractProtocol)  # type: ignore[type-abstract]


def protocol_class(kind: str) -> type[AbstractProtocol]:
    """The protocol of that name in the catalogue, or the one at the import path."""
    by_name = {cls.name: cls for cls in protocols().values()}
    if kind in by_name:
        return by_name[kind]
    if not is_import_path(kind):
        wrong = unknown_name("kind of shift", kind, by_name)
        raise UserError(f'{wrong} (your own: "package.module:Class" or "FILE.py:Class")')
    cls = imported_class(kind)
    if inspect.isabstract(cls) or not issubclass(cls, AbstractProtocol):
        raise UserError(
            f"{kind!r} is not a protocol; derive it from quantshift.lab.shifts.AbstractShift"
        )
    if not dataclasses.is_dataclass(cls):
        raise UserError(
            f"{kind!r} is not a dataclass: its fields are the keys of the [shift] table; decorate "
            "it with @dataclass(frozen=True, kw_only=True)"
        )
    return cls
