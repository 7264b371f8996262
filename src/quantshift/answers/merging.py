"""Findings of one kind about many batches, targets or columns, in one line each.

What differs between them are numbers, of which the lowest and the highest are said.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from quantshift.answers.words import shortened, some_names
from quantshift.base.nouns import counted
from quantshift.claims.findings import Finding
from quantshift.claims.sentences import Range, Value, filled, names_in

MOST_ALONE = 3
"""Findings of one kind about more columns of a batch share a line."""

Part = Literal["batch", "target"]
"""What findings are about, of which there may be many."""


@dataclass(frozen=True)
class Said:
    """A sentence, and the batches or targets that it is about; none if it is about all of them."""

    names: tuple[str, ...]
    sentence: str


def merged(
    findings: Iterable[Finding], n_batches: int, shown: Callable[[str], str] = shortened
) -> list[str]:
    """One line for findings about batches that differ at most in their numbers.

    n_batches: how many there are; the only one is not named. shown: how the others are.
    """
    lines = []
    for said in together(findings, "batch"):
        names = [shown(name) for name in said.names] if n_batches > 1 else []
        where = batches_text(names, n_batches) if len(names) > 1 else "".join(names)
        lines.append(f"{where}: {said.sentence}" if where else said.sentence)
    return lines


def of_targets(findings: Mapping[str, Sequence[Finding]]) -> list[Finding]:
    """What was found for all targets once, and the rest with their targets.

    >>> from quantshift.answers.findings import RowFindings
    >>> odd = RowFindings.UNDECODABLE_CELLS.found(n=1)
    >>> [found.about.target for found in of_targets({"a": [odd], "b": [odd]})]
    [None]
    >>> [found.about.target for found in of_targets({"a": [odd], "b": []})]
    ['a']
    """
    first, *others = (dict.fromkeys(of_one) for of_one in findings.values())
    shared = [found for found in first if all(found in other for other in others)]
    own = (
        found.of_target(target)
        for target, of_one in findings.items()
        for found in of_one
        if found not in shared
    )
    return [*shared, *own]


def unless_about_all(findings: Iterable[Finding], n_targets: int) -> list[str]:
    """Each finding once, with the targets that it is about unless it is about all of them."""
    return [
        f"{some_names(said.names)}: {said.sentence}"
        if 0 < len(said.names) < n_targets
        else said.sentence
        for said in together(findings, "target")
    ]


def batches_text(names: Sequence[str], n_batches: int | None = None) -> str:
    """In which batches something holds. n_batches: how many there are.

    >>> batches_text(["a", "b"], 9), batches_text(["a", "b"], 2), batches_text(["a", "b"])
    ('in 2 of 9 batches (a, b)', 'in all 2 batches', 'in 2 batches (a, b)')
    """
    if len(names) == n_batches:
        return f"in all {n_batches:,} batches"
    of_all = "" if n_batches is None else f" of {n_batches:,}"
    return f"in {len(names):,}{of_all} batches ({some_names(names)})"


def together(findings: Iterable[Finding], part: Part) -> list[Said]:
    """What is found, each kind once, with the batches or targets that it is about."""
    kinds: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in dict.fromkeys(findings):
        kinds[_kind(finding, part)].append(finding)
    return [said for alike in kinds.values() for said in _said(alike, part)]


def _kind(finding: Finding, part: Part) -> Hashable:
    """What findings that share a line have in common: everything that is no number."""
    about, name = finding.about, getattr(finding.about, part)
    other = about.target if part == "batch" else about.batch
    said = set(names_in(finding.code.of_many))
    texts = tuple(
        (key, tuple(value.items()) if isinstance(value, Mapping) else value)
        for key, value in finding.numbers.items()
        if key in said and not _is_number(value)
    )
    kind = (finding.code, about.table, other, texts, name is None)
    # What is about the whole answer and no column of it is said as it is.
    alone = finding if name is None and about.column is None else None
    return kind, None if alone is None else alone.sentence


def _said(alike: Sequence[Finding], part: Part) -> Iterator[Said]:
    names = tuple(dict.fromkeys(filter(None, (getattr(f.about, part) for f in alike))))
    columns = Counter(f.about.column for f in alike if f.about.column is not None)
    if len(names) <= 1 and len(columns) <= MOST_ALONE and len(alike) <= max(len(columns), 1):
        for finding in alike:
            yield Said(names, f"{_prefix(finding, part)}{finding.sentence}")
        return
    first = alike[0]
    differ = any(finding.numbers != first.numbers for finding in alike)
    sentence = filled(first.code.of_many if differ else first.code.template, _ranges(alike))
    if columns:
        sentence = f"{_columns_text(columns, len(alike), len(names))}: {sentence}"
    if first.about.table is not None:
        sentence = f"{first.about.table}: {sentence}"
    yield Said(names, f"{_prefix(first, part)}{sentence}")


def _prefix(finding: Finding, part: Part) -> str:
    """The batch of a finding whose targets are named, or the target of one with its batches."""
    other = finding.about.target if part == "batch" else finding.about.batch
    return "" if other is None else f"{shortened(other)}: "


def _columns_text(columns: Counter[str], n_findings: int, n_names: int) -> str:
    """The columns, those of most batches first; not all of them need be odd in all batches."""
    names = [repr(name) for name, _ in columns.most_common()]
    noun = "column" if len(names) == 1 else counted(len(names), "column")
    some = "some of " if n_findings < max(n_names, 1) * len(names) else ""
    return f"{some}{noun} {some_names(names)}"


def _ranges(alike: Sequence[Finding]) -> dict[str, Value | Range]:
    """The values of findings of one kind, from the lowest to the highest."""
    values: dict[str, Value | Range] = {}
    for key, first in alike[0].numbers.items():
        values[key] = first
        if isinstance(first, int | float) and not isinstance(first, bool):
            numbers = [n for f in alike if isinstance(n := f.numbers[key], int | float)]
            if min(numbers) < max(numbers):
                values[key] = Range(min(numbers), max(numbers))
    return values


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
