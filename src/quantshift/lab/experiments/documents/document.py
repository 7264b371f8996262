"""An experiment's TOML as plain values that record where they came from.

A value is set in the file's base, in the file, in a profile of either, or in an override; later
ones win. Every error about a value names the place that set it, on one line: file, dotted key and
what is wrong.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift.errors import UserError, unknown_name

PAPER = "paper"
"""The profile that uses the file unchanged."""

OVERRIDE = "override"
"""The name in error messages of a value that was set outside the file."""


@dataclass(frozen=True)
class Document:
    """The values of one experiment, a profile and overrides applied.

    values   nested mappings, lists as tuples
    source   the name of the file in error messages
    folder   the folder of relative paths
    origins  dotted key -> the place that set it last, if not the file itself
    chosen   dotted keys set by a profile or an override
    """

    values: Mapping[str, Any]
    source: str
    folder: Path
    origins: Mapping[str, str]
    chosen: frozenset[str]

    def error(self, key: str, problem: str) -> UserError:
        """An error about the value at the dotted key, on one line."""
        return _complaint(self._origin(key), key, problem)

    @contextmanager
    def at(self, key: str) -> Iterator[None]:
        """Errors raised inside become errors about the value at the dotted key."""
        try:
            yield
        except UserError as error:
            raise self.error(key, str(error)) from error.__cause__

    def _origin(self, key: str) -> str:
        # An error about an item of a list belongs to the key of the list.
        for known_key in reversed(list(self.origins)):
            if key == known_key or key.startswith((f"{known_key}.", f"{known_key}[")):
                return self.origins[known_key]
        return self.source


def read_document(
    text: str,
    *,
    source: str,
    folder: Path,
    profile: str,
    overrides: Mapping[str, Any],
    read_base: Callable[[str], str],
    replacements: Mapping[str, Any] | None = None,
) -> Document:
    """The file's text as a document, on top of its base, with the profile and overrides applied.

    read_base: returns the text of the file named by `base`.
    replacements: whole tables that stand in place of those of the file and its profile; overrides
        come after them.
    """
    values = _parsed(text, source)
    origins: dict[str, str] = {}
    if "base" in values:
        values, origins = _on_base(values, source, read_base)
    profiles = _profiles(values.pop("profiles", {}), source)
    if profile != PAPER and profile not in profiles:
        raise _complaint(source, str(unknown_name("profile", profile, [PAPER, *profiles])))
    chosen: set[str] = set()

    def apply(origin: str, layer: Mapping[str, Any]) -> None:
        for key, value in _flat(layer):
            _assign(values, key, value, origin)
            origins.pop(key, None)  # so that the latest is at the end
            origins[key] = origin
            chosen.add(key)

    apply(f"{source} [profiles.{profile}]", profiles.get(profile, {}))
    for name, table in (replacements or {}).items():
        values[name] = dict(table)
        origins[name] = OVERRIDE
        chosen.add(name)
    apply(OVERRIDE, overrides)
    return Document(_tuples(values), source, folder, origins, frozenset(chosen))


def parse_overrides(assignments: Iterable[str]) -> dict[str, Any]:
    """Overrides from texts such as `shift.train_size=1000`; the values are TOML.

    A bare word is read as a string, because a shell removes the quotes.

    >>> parse_overrides(["shift.train_size=1000", "selection.measure=rae"])
    {'shift.train_size': 1000, 'selection.measure': 'rae'}
    """
    overrides: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        key, text = key.strip(), text.strip()
        if not equals or not key or not text:
            raise UserError(f"{OVERRIDE}: {assignment!r} is not of the form key=value")
        overrides[key] = _toml_value(key, text)
    return overrides


def _complaint(*parts: str) -> UserError:
    # Keys and values may contain line breaks; the message is one line.
    return UserError(": ".join(" ".join(part.split()) for part in parts))


def _toml_value(key: str, text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        parsed = {"value": text} if re.fullmatch(r"[A-Za-z_][\w.:/-]*", text) else {}
    if set(parsed) != {"value"}:
        raise UserError(
            f'{OVERRIDE}: {key}: {text!r} is not a TOML value; e.g. 3, [0.1, 0.5], "text"'
        )
    return parsed["value"]


def _parsed(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source}: not valid TOML: {error}") from None


def _on_base(
    values: dict[str, Any], source: str, read_base: Callable[[str], str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values merged over those of the base, and the origins of keys set only in the base."""
    name = values.pop("base")
    if not isinstance(name, str):
        raise _complaint(source, "base", f"must be the name of a file in quotes, got {name!r}")
    origin = f"{source} [base {name}]"
    try:
        below = _parsed(read_base(name), origin)
    except OSError as error:
        raise _complaint(source, "base", f"{name!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _complaint(source, "base", f"{name!r} is not UTF-8 text") from None
    if "base" in below:
        raise _complaint(origin, "base", "a base has no base of its own; remove the key")
    set_in_file = {key for key, _ in _flat(values)}
    origins = {key: origin for key, _ in _flat(below) if key not in set_in_file}
    return _overlaid(below, values), origins


def _overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged; any other value in `above` replaces the one in `below`."""
    joined = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], Mapping) and isinstance(above[key], Mapping):
            joined[key] = _overlaid(below[key], above[key])
    return joined


def _profiles(values: Any, source: str) -> dict[str, Mapping[str, Any]]:
    if not isinstance(values, dict) or not all(isinstance(v, dict) for v in values.values()):
        raise UserError(f"{source}: profiles: must be tables, e.g. [profiles.quick]")
    if PAPER in values:
        raise UserError(
            f"{source}: profiles.{PAPER}: is the file as it stands; write the values in the file"
        )
    return values


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _assign(values: dict[str, Any], key: str, value: Any, origin: str) -> None:
    *tables, last = key.split(".")
    table = values
    for depth, name in enumerate(tables, start=1):
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise _complaint(origin, key, f"{'.'.join(tables[:depth])} is not a table")
    table[last] = value


def _tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_tuples(item) for item in value)
    return value
