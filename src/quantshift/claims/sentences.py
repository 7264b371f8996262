"""Templates of sentences, filled with numbers and names, or with ranges of the numbers of many.

A template is one of `str.format`. After the colon of a field stands how its value is said, besides
what Python knows (`.1f`):

- nothing: a number with its thousands, a name as it is, the first names of several, counts by name;
- `short`: a number with four digits, or all that it has before the point;
- `points`, `whole points`: a difference of shares in percentage points, with one decimal or none;
- `count row`, `count batch/batches`: the number with its noun;
- `percent`, `whole percent`: a share, with decimals only where it is small;
- `quoted`, `quoted 3`: names in quotes, the first of them or so many; `quoted and`: all of them,
  with the word before the last; counts by name, each with its count in brackets;
- `lowest percent`, `highest percent`: one end of the numbers of many;
- `is|are`: the first for one, true or a single name, the second otherwise;
- `all=every item|some=a part`: by the value of a text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import TypeAlias

from quantshift.base.nouns import (
    counted,
    first_names,
    listed,
    percent,
    short_number,
    whole_percent,
)

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | Mapping[str, int]
"""What a finding holds: numbers, names, and counts by name."""


@dataclass(frozen=True)
class Range:
    """The numbers of several findings, from the lowest to the highest."""

    low: float
    high: float


def filled(template: str, values: Mapping[str, Value | Range]) -> str:
    """The sentence.

    >>> template = "{n:count item} {n:is|are} left"
    >>> filled(template, {"n": 1}), filled(template, {"n": Range(3, 26)})
    ('1 item is left', '3 to 26 items are left')
    """
    return template.format(**{name: _Said(value) for name, value in values.items()})


def names_in(template: str) -> Iterator[str]:
    """The names of the values that a template says.

    >>> list(names_in("{kind:all=every item|some={n:count item}} in {place}"))
    ['kind', 'n', 'place']
    """
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            yield name
            yield from names_in(spec or "")


@dataclass(frozen=True)
class _Said:
    """A value in a template."""

    value: Value | Range

    def __format__(self, spec: str) -> str:
        value = self.value
        if "|" in spec:
            return _chosen(value, spec)
        if isinstance(value, Range) and spec.startswith(("lowest ", "highest ")):
            value = value.low if spec.startswith("lowest ") else value.high
        spec = spec.removeprefix("lowest ").removeprefix("highest ")
        if isinstance(value, Range):
            return _between(_number(value.low, spec), _number(value.high, spec), spec)
        if isinstance(value, Mapping):
            return _counts(value, spec)
        if isinstance(value, str | tuple):
            return _names((value,) if isinstance(value, str) else value, spec)
        return _number(value, spec)


def _chosen(value: Value | Range, spec: str) -> str:
    """One of the texts between which a value decides."""
    texts = spec.split("|")
    if isinstance(value, str):
        return dict(text.split("=", 1) for text in texts)[value]
    n = len(value) if isinstance(value, tuple | Mapping) else value
    return texts[0] if n in (1, Range(1, 1)) else texts[1]


def _number(number: float, spec: str) -> str:
    how, _, noun = spec.partition(" ")
    if how == "count":
        return counted(int(number), *noun.split("/"))
    if spec == "percent":
        return percent(number)
    if spec == "whole percent":
        return whole_percent(number)
    if spec == "short":
        return short_number(number)
    if spec in ("points", "whole points"):
        return f"{100 * number:.{1 if spec == 'points' else 0}f}"
    return format(number, spec or (",d" if isinstance(number, int) else "g"))


def _between(low: str, high: str, spec: str) -> str:
    """Two numbers that are said in the same way, with what follows both once."""
    if low == high:
        return low
    if spec.startswith("count "):
        return f"{low.split(' ', 1)[0]} to {high}"
    return f"{low.removesuffix('%')} to {high}"


def _counts(counts: Mapping[str, int], spec: str) -> str:
    if not spec:
        return ", ".join(f"{name}: {n:,}" for name, n in counts.items())
    names = tuple(f"{name!r} ({n:,})" for name, n in counts.items())
    return _names(names, spec.replace("quoted", "plain"))


def _names(names: tuple[str, ...], spec: str) -> str:
    how, _, most = spec.partition(" ")
    said = tuple(map(repr, names)) if how == "quoted" else names
    if most == "and":
        return listed(said)
    return first_names(said, int(most)) if most else first_names(said)
