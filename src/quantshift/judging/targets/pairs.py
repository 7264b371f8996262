"""Which verdict belongs to which label, and tables in which both are written in one way.

    spam_judge  abuse_judge  spam  abuse          judge_tags   people_tags
    1           0            1     0              spam         spam
    1           1                                 spam; abuse
    0           0            0     1                           none

Each label has a column of verdicts and one of labels, or the cells of two columns hold all of them.
Several judges or people may have a column each for a label: gpt_spam+claude_spam=ann_spam+ben_spam.
In a column of labels an empty cell means that nobody has labelled the item. So where people found
no label, the cell of a separated column says "none". A judge has seen every item: an empty cell of
its separated column means that it found none.
"""

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeAlias

from quantshift.base.options import as_names
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.tables.columns.labels import (
    MISSING_LABELS,
    TRUTHS,
    check_separator,
    label_names,
    no_truth_value,
)
from quantshift.tables.columns.spelling import usual_spellings
from quantshift.tables.files.chunks import Chunk, OpenTable

JOINED = "+"
"""What stands between the columns of several judges, or of several people."""

MOST_LABELS = 1_000
"""With more labels, nobody would look at them one by one."""

NONE_FOUND = "none"
"""The cell of an item that people have looked at and found without any label."""

Texts: TypeAlias = Sequence[str | None]
"""A column of texts; None where there is none."""


@dataclass(frozen=True)
class TargetPair:
    """A label with the columns of its verdicts, one for each judge, and of what people say."""

    name: str
    verdicts: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return self.verdicts + self.labels

    @property
    def classes(self) -> tuple[str, str]:
        """What the cells of both columns say: that an item is without the label, or has it."""
        return f"not {self.name}", self.name


Columns = str | Sequence[str]
"""One column; or several, as names or as one text: "gpt_spam+claude_spam"."""


def named_pairs(
    pairs: Mapping[str | tuple[str, ...], Columns], columns: Collection[str]
) -> tuple[TargetPair, ...]:
    """The labels of paired columns; each label has the name of its column.

    columns: those of the tables, whose names may contain a +.
    """
    label_pairs = tuple(
        TargetPair(JOINED.join(labels), verdicts, labels)
        for verdicts, labels in (
            (_several(left, columns), _several(right, columns)) for left, right in pairs.items()
        )
    )
    counts = Counter(column for pair in label_pairs for column in pair.columns)
    twice = next((name for name, n in counts.items() if n > 1), None)
    if not pairs or twice is not None:
        problem = "name a pair" if not pairs else f"the column {twice!r} is named twice"
        raise UserError(
            f"{problem}; every label has a column of verdicts and one of labels",
            arguments=["pairs"],
        )
    _check_number(len(pairs), "the call")
    return label_pairs


def _several(written: Columns, columns: Collection[str]) -> tuple[str, ...]:
    """One column, or several with a + between them."""
    if not isinstance(written, str) or written in columns:
        return as_names(written)
    return as_names([part.strip() for part in written.split(JOINED) if part.strip()])


def in_memory(table: OpenTable, columns: Iterable[str]) -> OpenTable:
    """The table with these columns, read once."""
    names = tuple(dict.fromkeys(columns))
    with closing(table.chunks(names)) as chunks:
        parts = list(chunks)

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        for part in parts:
            yield replace(part, columns=part.columns.select(requested))

    types = {name: table.types[name] for name in names}
    return replace(table, columns=names, types=types, read=read, nested=frozenset())


def with_columns(
    table: OpenTable, columns: Mapping[str, Texts], without: Iterable[str] = ()
) -> OpenTable:
    """A table in memory with these columns of strings, in place of those that it has."""
    left_out = set(without)
    names = [name for name in dict.fromkeys([*table.columns, *columns]) if name not in left_out]
    own = [name for name in table.columns if name not in columns]

    def read(requested: Sequence[str]) -> Generator[Chunk]:
        import polars as pl

        start = 0
        # Without a column of its own a chunk would not know its length.
        for part in table.read(list(dict.fromkeys([*own, table.columns[0]]))):
            cells = [
                pl.Series(name, columns[name][start : start + len(part)], dtype=pl.String)
                if name in columns
                else part.columns[name]
                for name in requested
            ]
            yield replace(part, columns=pl.DataFrame(cells))
            start += len(part)

    types = {name: str if name in columns else table.types[name] for name in names}
    return replace(table, columns=tuple(names), types=types, read=read)


def labels_in(table: OpenTable, name: str, missing: Sequence[str] | None = None) -> Texts:
    """The labels in a whole column of a table in memory."""
    column = table.joined(table.read([name]), [name])[name]
    return label_names(column, missing).to_list()


def paired_cells(
    table: OpenTable,
    pairs: Sequence[TargetPair],
    mapping: Mapping[str, str],
    missing: Sequence[str] | None,
) -> OpenTable:
    """The table with the names of classes in all paired columns that it has.

    mapping: the truth value that a verdict stands for, where the user says so.
    """
    truths = dict(TRUTHS)
    verdicts = [name for pair in pairs for name in pair.verdicts if name in table.columns]
    present = {name for v in verdicts for name in labels_in(table, v) if name is not None}
    for verdict, label in mapping.items():
        if verdicts and verdict not in present:
            raise UserError(unknown_name("verdict", verdict, present), arguments=["map"])
        if label.casefold() not in TRUTHS:
            raise UserError(
                f"{label!r} does not say whether an item has a label; map verdicts to 1 and 0",
                arguments=["map"],
            )
        truths[verdict.casefold()] = TRUTHS[label.casefold()]
    columns: dict[str, Texts] = {}
    for pair in pairs:
        for column in pair.verdicts:
            if column in table.columns:
                names = labels_in(table, column)
                # A name that is not a truth value stays a verdict of its own.
                columns[column] = [
                    class_name or name
                    for class_name, name in zip(_classes(names, pair, truths), names, strict=True)
                ]
        for column in pair.labels:
            if column in table.columns:
                names = labels_in(table, column, missing)
                columns[column] = _labels(names, pair, f"{table.name}: row {{}}, column {column!r}")
    return with_columns(table, columns)


def _labels(names: Texts, pair: TargetPair, where: str) -> Texts:
    """What people say about a label; where: a column, with {} for the row."""
    classes = _classes(names, pair, TRUTHS)
    wrong = (row for row, name in enumerate(names) if name is not None and classes[row] is None)
    row = next(wrong, None)
    if row is not None:
        raise no_truth_value(where.format(row + 1), names[row], ["pairs"])
    return classes


def _classes(names: Texts, pair: TargetPair, truths: Mapping[str, bool]) -> Texts:
    """What the names say about a label; None if a name is not a truth value."""
    to_class = {name: pair.classes[truth] for name, truth in truths.items()}
    return [None if name is None else to_class.get(name.casefold()) for name in names]


@dataclass(frozen=True)
class SeparatedPair:
    """Two columns whose cells hold several labels: those of the judge, and those of people."""

    verdict: str
    label: str
    separator: str
    missing: Sequence[str] | None = None

    def verdict_sets(self, table: OpenTable) -> list[frozenset[str] | None] | None:
        """The labels that the judge gives to each item; None where there is no verdict."""
        if self.verdict not in table.columns:
            return None
        both = zip(labels_in(table, self.verdict, ()), labels_in(table, self.verdict), strict=True)
        return [
            None if name is not None and verdict is None else self._parts(name or "")
            for name, verdict in both
        ]

    def label_sets(self, table: OpenTable) -> list[frozenset[str] | None] | None:
        """The labels that people give to each item; None where they have not looked at it."""
        if self.label not in table.columns:
            return None
        missing = MISSING_LABELS if self.missing is None else self.missing
        unlabelled = [name for name in missing if name.casefold() != NONE_FOUND]
        cells = labels_in(table, self.label, unlabelled)
        return [None if name is None else self._parts(name) for name in cells]

    def _parts(self, cell: str) -> frozenset[str]:
        parts = frozenset(part.strip() for part in cell.split(self.separator) if part.strip())
        return frozenset(part for part in parts if part.casefold() != NONE_FOUND)

    def _check_separator(self, tables: Sequence[OpenTable]) -> None:
        cells = [
            cell
            for table in tables
            for name in (self.verdict, self.label)
            if name in table.columns
            for cell in labels_in(table, name, ())
            if cell is not None
        ]
        where = f"{tables[0].name}: column {self.verdict!r} or {self.label!r}"
        check_separator(where, self.separator, cells)

    def check_labels(self, table: OpenTable, sets: Sequence[frozenset[str] | None]) -> None:
        """Refuse labels if it is not clear whether people found any item without one."""
        if None in sets and any(sets) and frozenset() not in sets:
            raise DataError(
                f"{table.name}: column {self.label!r}: every item that people have labelled has a "
                "label, so empty cells may be items that they found without any; write "
                f"{NONE_FOUND!r} in these, or insist that there are none",
                arguments=["insist"],
            )

    def spread(self, tables: Sequence[OpenTable]) -> tuple[list[OpenTable], tuple[TargetPair, ...]]:
        """The tables with two columns for each label, instead of those that hold all."""
        self._check_separator(tables)
        sets_by_table = [(self.verdict_sets(table), self.label_sets(table)) for table in tables]
        counts = Counter(
            name
            for both in sets_by_table
            for sets in both
            for names in sets or ()
            for name in names or ()
        )
        usual = usual_spellings(counts)
        names = sorted({usual.get(name, name) for name in counts})
        if not names:
            raise DataError(
                f"{tables[0].name}: no item has a label, neither by {self.verdict!r} nor by "
                f"{self.label!r}"
            )
        _check_number(len(names), f"{tables[0].name}, column {self.label!r}")
        pairs = tuple(
            TargetPair(name, (f"{self.verdict}: {name}",), (f"{self.label}: {name}",))
            for name in names
        )
        spread = []
        for table, (verdicts, labels) in zip(tables, sets_by_table, strict=True):
            columns: dict[str, Texts] = {}
            for pair in pairs:
                for sets, column in zip((verdicts, labels), pair.columns, strict=True):
                    if sets is not None:
                        columns[column] = _class_column(sets, pair, usual)
            spread.append(with_columns(table, columns, without=(self.verdict, self.label)))
        return spread, pairs


def _class_column(
    sets: Sequence[frozenset[str] | None], pair: TargetPair, usual: Mapping[str, str]
) -> Texts:
    """What the cells say about one label."""
    return [
        None
        if names is None
        else pair.classes[any(usual.get(name, name) == pair.name for name in names)]
        for names in sets
    ]


def _check_number(n_labels: int, where: str) -> None:
    if n_labels > MOST_LABELS:
        raise UserError(
            f"{where} has {n_labels:,} labels, more than the {MOST_LABELS} that can be judged at "
            "once; judge some at a time",
            arguments=["pairs", "separator"],
        )
