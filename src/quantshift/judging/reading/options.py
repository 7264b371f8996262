"""The options of `judge` and `plan_judge`, declared once.

They are the keyword arguments of these functions and the options of their commands.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quantshift.answers.options import (
    LENIENT,
    LEVEL,
    MISSING,
    POSITIVE,
    SEED,
    WHOSE_SHARE,
    AmountOptions,
)
from quantshift.base.domains import SharedSeed, check_value
from quantshift.base.options import COLUMNS, LABELS, OUTPUT, TABLES, as_names, option, split_names
from quantshift.errors import UserError, unknown_name
from quantshift.intervals.targets import ITEMS, SHARES_OF
from quantshift.judging.designs.registry import plans, stated_designs
from quantshift.judging.items.judged_items import ASSUMPTIONS, AUTO, Settings
from quantshift.judging.items.meaning import two_labels
from quantshift.judging.sensitivity import Rate
from quantshift.tables.columns.labels import label_name
from quantshift.tables.reading import Source

ALL = "all"
"""In place of the names of systems or columns."""

_NUMBER = r"[0-9]*\.?[0-9]+"
_RATE = re.compile(rf"(?P<rate>{_NUMBER})(\s*,\s*(?P<low>{_NUMBER})\s*-\s*(?P<high>{_NUMBER}))?")


def parse_map(written: str) -> dict[str, str]:
    """The label that each verdict stands for.

    >>> parse_map("pass=1,fail=0")
    {'pass': '1', 'fail': '0'}
    """
    pairs = []
    for entry in split_names(written):
        verdict, sign, label = (part.strip() for part in entry.partition("="))
        if not (verdict and sign and label):
            raise UserError(f"{entry!r} is not a mapping; write VERDICT=LABEL", arguments=["map"])
        pairs.append((verdict, label))
    return labels_by_verdict(pairs)


def parse_pairs(written: str) -> dict[str, str]:
    """The column of labels that belongs to each column of verdicts.

    >>> parse_pairs("spam_judge=spam, abuse_judge=abuse")
    {'spam_judge': 'spam', 'abuse_judge': 'abuse'}
    """
    pairs: dict[str, str] = {}
    for entry in split_names(written):
        verdict, sign, label = (part.strip() for part in entry.partition("="))
        if not (verdict and sign and label):
            raise UserError(f"{entry!r} is not a pair; write VERDICT=LABEL", arguments=["pairs"])
        if verdict in pairs:
            raise UserError(
                f"the verdicts {verdict!r} are paired with {pairs[verdict]!r} and {label!r}; pair "
                "them with one",
                arguments=["pairs"],
            )
        pairs[verdict] = label
    return pairs


def parse_pair(written: str) -> tuple[str, str]:
    """The class of a win and that of a loss.

    >>> parse_pair("A,B")
    ('A', 'B')
    """
    pair = split_names(written)
    if len(pair) != 2:
        raise UserError(f"{written!r} does not name two classes; write A,B", arguments=["wins"])
    return pair[0], pair[1]


def parse_systems(written: str | Sequence[str]) -> tuple[str, ...]:
    """Groups to compare in pairs, or `ALL` of them.

    >>> parse_systems("A,B,C"), parse_systems("all"), parse_systems(["A", "B"])
    (('A', 'B', 'C'), ('all',), ('A', 'B'))
    """
    systems = split_names(written) if isinstance(written, str) else as_names(written)
    if len(systems) < 2 and systems != (ALL,):
        raise UserError(
            f"{written!r} does not name two groups or more; write A,B, or {ALL}",
            arguments=["compare"],
        )
    return systems


def parse_rate(written: str) -> Rate:
    """A rate, with limits if there are any.

    >>> parse_rate("0.9,0.85-0.94")
    (0.9, 0.85, 0.94)
    """
    match = _RATE.fullmatch(written.strip())
    if match is None:
        raise UserError(
            f"{written!r} is not a rate; write 0.9, or with limits 0.9,0.85-0.94",
            arguments=["sensitivity", "specificity"],
        )
    rate = float(match["rate"])
    return rate if match["low"] is None else (rate, float(match["low"]), float(match["high"]))


def labels_by_verdict(mapping: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> dict[str, str]:
    """The label that each verdict stands for, by name; one verdict cannot stand for two."""
    labels: dict[str, str] = {}
    pairs = list(mapping.items() if isinstance(mapping, Mapping) else mapping)
    if not all(isinstance(pair, tuple) and len(pair) == 2 and None not in pair for pair in pairs):
        raise UserError("a map has a label for each verdict, as in {'pass': 'good'}")
    for verdict, label in ((class_name(left), class_name(right)) for left, right in pairs):
        if labels.setdefault(verdict, label) != label:
            raise two_labels(verdict, labels[verdict], label)
    return labels


def class_name(value: Any) -> str:
    """A class as it is called in tables."""
    return label_name(value) or str(value)


def _names() -> str:
    """The designs that can be stated."""
    return ", ".join(design.name for design in stated_designs())


def _ways() -> str:
    """How items can have been chosen, for the help."""
    *others, last = (design.help for design in stated_designs())
    return f"{', '.join(others)}, or {last}"


@dataclass(frozen=True)
class JudgeOptions:
    """What the user says about the columns.

    verdict: one column for each judge. map: verdict -> label. missing: what stands for no label.
    external: labelled items are others than those of the table, whatever their ids. people: the
    columns of labels, if several people have one each. every_column: all columns of the table are
    read.
    """

    verdict: tuple[str, ...] = option(
        (),
        "Column of the verdicts; for several judges, one each (gpt,claude).",
        reads="names",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    label: str | None = option(
        None,
        "Column of human labels, empty where there is none. Several columns (ann,ben,cyd) if "
        "several people have labelled: the label is that of most of them.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    score: str | None = option(
        None,
        "Column of numeric scores, instead of or in addition to verdicts.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    id: str | None = option(
        None,
        "Column that identifies the items. It joins the items of --labelled and pairs those of a "
        "comparison.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    by: str | None = option(
        None,
        "Estimate a rate for each group of this column.",
        metavar="COLUMN",
        panel=TABLES,
    )
    annotator: str | None = option(
        None,
        "Column of who gave the label. The table then has a row for each item and person, and "
        "needs --id.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    cluster: str | None = option(
        None,
        "Column of the question, conversation or user that items belong to. Items of "
        "one cluster are alike and say less than as many independent ones. Repeated ids are "
        "clusters. `plan judge` draws whole ones.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    weights: str | None = option(
        None,
        "Column of weights, such as views: the share is that of the weight instead of the items.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    source: str | None = option(
        None,
        "Column of --labelled that says which source an item comes from, such as a system or a "
        "month: labels of several show how far the judge's errors move between them.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    first: str | None = option(
        None,
        "Column of the answer that the judge saw first, in the words of --wins: check whether "
        "the judge prefers an answer because of its place.",
        metavar="COLUMN",
        panel=COLUMNS,
    )
    errors_by: tuple[str, ...] = option(
        (),
        "Columns by which the judge may err more often, such as the length or the topic of an "
        "item; for a column of texts, its length counts. all: all columns without another role.",
        reads="names",
        metavar="A,B,...|all",
        panel=COLUMNS,
    )
    cut: str | None = option(
        None,
        "Choose the threshold of --score: the one that agrees best with people, or the one with "
        "the largest recall of those that reach a precision (or the reverse). Its errors are "
        "reported out of sample.",
        metavar="agreement|precision=0.9|recall=0.9",
        panel=COLUMNS,
    )
    map: Mapping[str, str] | None = option(
        None,
        "Which verdict means which label, if it is not obvious: pass=1,fail=0.",
        parse=parse_map,
        metavar="VERDICT=LABEL,...",
        panel=COLUMNS,
    )
    classes: tuple[str, ...] = option(
        (),
        "All classes, if some of them do not occur among the labels.",
        reads="names",
        metavar="A,B,...",
        panel=COLUMNS,
    )
    positive: str | None = option(None, POSITIVE)
    missing: tuple[str, ...] | None = option(None, MISSING)
    lenient: bool = option(False, LENIENT)
    external: bool = False
    people: tuple[str, ...] = ()
    every_column: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that are read for every item, except the label."""
        names = [
            *(*self.verdict, self.score, self.id, self.by),
            *(self.annotator, self.cluster, self.weights),
        ]
        return list(dict.fromkeys(name for name in names if name is not None))

    def beside(self, columns: Sequence[str]) -> list[str]:
        """The columns of the items that are read beside the others."""
        if self.every_column:
            return list(columns)
        names = [*([] if self.first is None else [self.first]), *self.scanned(columns)]
        return list(dict.fromkeys(names))

    def scanned(self, columns: Sequence[str]) -> list[str]:
        """The columns of a table by which the judge may err."""
        if self.errors_by != (ALL,) or ALL in columns:
            return list(dict.fromkeys(self.errors_by))
        roles = {*self.verdict, *self.people, self.label, self.id, self.annotator, self.cluster}
        return [name for name in columns if name not in roles | {self.weights}]

    def scanning_only(self, columns: Sequence[str]) -> "JudgeOptions":
        """The same with only those columns by which the judge may err that a table has."""
        scanned = tuple(name for name in self.scanned(columns) if name in columns)
        return replace(self, errors_by=scanned)

    def saying(self, **stated: Any) -> "JudgeOptions":
        """The same with what the user says about values, which may be of any type, as names."""
        mapped, missing, positive = stated["map"], stated["missing"], stated.get("positive")
        return replace(
            self,
            map=labels_by_verdict(mapped or {}),
            classes=tuple(class_name(c) for c in stated["classes"]),
            positive=None if positive is None else class_name(positive),
            missing=None if missing is None else as_names(missing),
            lenient=stated["lenient"],
        )


@dataclass(frozen=True)
class SeveralLabelsOptions:
    """Several labels at once, each with verdicts of its own."""

    pairs: Mapping[str, str] | None = option(
        None,
        "Several labels at once: which column of verdicts belongs to which column of labels "
        "(instead of --verdict and --label). The cells of both say 0 or 1, yes or no. Several "
        "judges or people: gpt_spam+claude_spam=ann_spam+ben_spam.",
        parse=parse_pairs,
        metavar="VERDICT=LABEL,...",
        panel=COLUMNS,
    )
    separator: str | None = option(
        None,
        "Several labels in one cell: what is between them in the columns --verdict and --label. "
        "Write 'none' where people have found no label: an empty cell is not labelled.",
        reads="value",
        metavar="';'",
        panel=COLUMNS,
    )


@dataclass(frozen=True)
class LabelOptions:
    """Where the labels are, and how their items were chosen."""

    labelled: Source | None = option(
        None,
        "Another table with labels, such as a filled sheet. It has rows of `plan judge`, items of "
        "TABLE (with --id), or other items that have their own verdicts.",
        reads="name",
        metavar="FILE",
        panel=TABLES,
    )
    labels: str | None = option(
        None,
        f"How the labelled items were chosen: {_names()}. That is, {_ways()}. Guessed if not "
        "given; checked against the data.",
        metavar="HOW",
        panel=TABLES,
    )
    assume: str = option(
        AUTO,
        "What carries over from labels elsewhere. rates: the judge errs as often here as there. "
        "verdicts: a verdict means the same here and there. auto: neither is declared; the answer "
        "is a range that allows for both to move.",
        metavar="|".join(ASSUMPTIONS),
        panel=TABLES,
    )
    insist: bool = option(False, "Trust --labels even if the table contradicts it.", panel=TABLES)


@dataclass(frozen=True)
class MisjudgedOptions:
    """A file of the items on which a judge and people disagree.

    overwrite: replace a file that quantshift did not create.
    """

    misjudged: str | Path | None = option(
        None,
        "Also write the labelled items on which the judge and people disagree to this CSV file, "
        "with all columns of the table.",
        reads="file",
        metavar="FILE.csv",
        panel=OUTPUT,
    )
    overwrite: bool = False


@dataclass(frozen=True)
class ComparisonOptions:
    """Which system is better: groups whose differences are estimated, or wins and losses."""

    compare: tuple[str, ...] | None = option(
        None,
        "Report the difference between groups of --by. Two of them, each pair of several, or all; "
        "with --id, on the same items.",
        parse=parse_systems,
        metavar="A,B,...|all",
        panel=TABLES,
    )
    wins: tuple[str, str] | None = option(
        None,
        "If classes say which of two answers is better: the class that is a win and the one that "
        "is a loss. Report the win rate against 50%; any other class is a tie and counts half.",
        parse=parse_pair,
        metavar="WIN,LOSS",
        panel=TABLES,
    )


@dataclass(frozen=True)
class RateOptions:
    """Known rates of the judge, instead of labels."""

    sensitivity: Rate | None = option(
        None,
        "If known, instead of labels: how often the verdict is positive when the true label is "
        "positive, with 95% limits.",
        parse=parse_rate,
        metavar="0.9,0.85-0.94",
    )
    specificity: Rate | None = option(
        None,
        "The same for the negative class: how often a negative item gets a negative verdict.",
        parse=parse_rate,
        metavar="0.97,0.95-0.99",
    )


@dataclass(frozen=True)
class LevelOptions:
    """The level of the intervals, and the seed of what is drawn at random."""

    level: float = option(0.95, LEVEL)
    seed: int = option(0, SEED)
    of: str = option(ITEMS, WHOSE_SHARE)

    def __post_init__(self) -> None:
        check_value("seed", self.seed, SharedSeed)
        if self.of not in SHARES_OF:
            raise unknown_name("value of `of`", self.of, SHARES_OF)

    def settings(self, *, insist: bool = False, assume: str = AUTO) -> Settings:
        """How to estimate."""
        if assume not in ASSUMPTIONS:
            raise unknown_name("assumption", assume, ASSUMPTIONS)
        return Settings(self.level, self.seed, insist, self.of, assume)


@dataclass(frozen=True)
class PlanOptions(AmountOptions):
    """How many items to label, and how to choose them.

    how: by default by score if there is one, else by verdict.
    """

    how: str | None = option(
        None,
        "How to choose the items (default: by score if there is one, otherwise by verdict).",
        metavar="|".join(plan.name for plan in plans()),
        panel=LABELS,
        shows_default=False,
    )


def question_about_labels(n_labelled: int) -> str:
    """How the labelled items were chosen, with the option for each answer."""
    *others, last = (f"{design.name} ({design.help})" for design in stated_designs())
    return (
        f"How were the {n_labelled:,} labelled items chosen? Say it with --labels: "
        f"{', '.join(others)} or {last}; until then the answer rests on a guess, which data can "
        "contradict and never confirm"
    )
