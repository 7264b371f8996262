"""`judge` with several labels: the answer to each, over one reading of the tables.

Each label is judged as if it were the only one, by its own verdicts and labels. Limits for all
labels at once are those of each at a higher level.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quantshift.answers.batch_names import batches_in_order
from quantshift.answers.merging import of_targets
from quantshift.answers.shares import share_of
from quantshift.base.options import as_names
from quantshift.claims import Facts, decide
from quantshift.claims.findings import Finding
from quantshift.errors import UserError
from quantshift.judging.labels.label_judgement import LabelJudgement
from quantshift.judging.labels.label_pairs import (
    JOINED,
    LabelPair,
    SeparatedPair,
    in_memory,
    named_pairs,
    paired_cells,
    with_columns,
)
from quantshift.judging.labels.label_rates import LabelJudgedBatch, LabelRate
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.output.text import shown_findings
from quantshift.judging.reading.inputs import NO_VERDICT
from quantshift.judging.reading.options import labels_by_verdict
from quantshift.judging.result import JudgedBatch
from quantshift.statistics.multiple_tests import level_for_all
from quantshift.tables.reading import OpenTable, open_table

FOR_ONE_LABEL = (
    *("score", "compare", "wins", "first", "errors_by", "cut", "misjudged"),
    *("classes", "positive", "sensitivity", "specificity"),
)
"""What can be asked about one label at a time."""

ROLES = ("id", "by", "annotator", "cluster", "weights")
"""Columns that are the same for all labels."""


@dataclass(frozen=True)
class PairedTables:
    """The tables in memory, with the names of classes in the columns of all labels."""

    pairs: tuple[LabelPair, ...]
    table: OpenTable
    labelled: OpenTable | None

    def of(self, pair: LabelPair) -> tuple[OpenTable, OpenTable | None]:
        """Both tables without the columns of the other labels."""
        others = {column for other in self.pairs if other != pair for column in other.columns}
        if self.labelled is None:
            return with_columns(self.table, {}, others), None
        return with_columns(self.table, {}, others), with_columns(self.labelled, {}, others)


def judge_labels(arguments: Mapping[str, Any], judge: Callable[..., Any]) -> LabelJudgement:
    """The answer to a call with several labels.

    arguments: those of `judge`; judge: that function, which answers for one label.
    """
    _check_arguments(arguments)
    tables = _paired_tables(arguments)
    own = {
        name: arguments[name]
        for name in (*ROLES, "labels", "assume", "insist", "lenient", "level", "seed", "of")
    }
    level = level_for_all(arguments["level"], len(tables.pairs))
    answers: dict[str, Judgement] = {}
    wider: dict[str, Judgement] = {}
    for pair in tables.pairs:
        table, labelled = tables.of(pair)
        label = pair.labels if len(pair.labels) > 1 else pair.labels[0]
        for_label = {**own, "labelled": labelled, "verdict": pair.verdicts, "label": label}
        for_label |= {"classes": pair.classes, "positive": pair.name}
        try:
            answers[pair.name] = judge(table, **for_label)
            wider[pair.name] = judge(table, **{**for_label, "level": level})
        except UserError as error:
            raise type(error)(
                f"label {pair.name!r}: {error}", arguments=list(error.arguments)
            ) from error
    return LabelJudgement(
        labels=tuple(answers),
        level=arguments["level"],
        level_for_all=level,
        by=arguments["by"],
        batches=tuple(_batches(tables.pairs, answers, wider)),
        findings=_findings(answers),
        answers=answers,
    )


def _check_arguments(arguments: Mapping[str, Any]) -> None:
    """Refuse what can be asked about one label alone, or does not fit together."""
    for name in FOR_ONE_LABEL:
        if arguments[name] is not None and arguments[name] != ():
            raise UserError(
                f"{name} is for one label: judge that label alone, or leave {name} out",
                arguments=[name],
            )
    if arguments["table"] is None:
        raise UserError("several labels need a table; a data frame will do")
    if arguments["pairs"] is not None:
        for name in ("verdict", "label", "separator"):
            if arguments[name] is not None and arguments[name] != ():
                raise UserError(
                    f"pairs name the columns of verdicts and labels; leave {name} out",
                    arguments=[name],
                )


def _paired_tables(arguments: Mapping[str, Any]) -> PairedTables:
    """Both tables, read once."""
    lenient = arguments["lenient"]
    tables = [open_table(arguments["table"], name="the table", lenient=lenient)]
    if arguments["labelled"] is not None:
        tables.append(open_table(arguments["labelled"], name="the labelled table", lenient=lenient))
    missing = None if arguments["missing"] is None else as_names(arguments["missing"])
    mapping = labels_by_verdict(arguments["map"] or {})
    if arguments["pairs"] is not None:
        pairs = named_pairs(
            arguments["pairs"], {name for table in tables for name in table.columns}
        )
        columns = [column for pair in pairs for column in pair.columns]
        tables = _read(tables, columns, arguments)
        tables = [paired_cells(table, pairs, mapping, missing) for table in tables]
    else:
        both = _separated(arguments)
        tables = _read(tables, [both.verdict, both.label], arguments)
        for table in () if arguments["insist"] else tables:
            both.check_labels(table, both.label_sets(table) or ())
        tables, pairs = both.spread(tables)
    return PairedTables(pairs, tables[0], tables[1] if len(tables) > 1 else None)


def _separated(arguments: Mapping[str, Any]) -> SeparatedPair:
    """The two columns whose cells hold several labels."""
    verdict, label, separator = (arguments[name] for name in ("verdict", "label", "separator"))
    verdicts = as_names(verdict) if isinstance(verdict, str | list | tuple) else ()
    if len(verdicts) != 1 or not isinstance(label, str):
        raise UserError(
            "a separator divides the cells of one column of verdicts and one of labels; name both",
            arguments=["verdict", "label"],
        )
    if not separator.strip(" "):
        raise UserError(
            "a separator is what stands between labels, such as ';'", arguments=["separator"]
        )
    if arguments["map"]:
        raise UserError(
            "a map is for verdicts that say whether an item has a label; leave it out, and write "
            "labels alike in both columns",
            arguments=["map"],
        )
    return SeparatedPair(verdicts[0], label, separator, arguments["missing"])


def _read(
    tables: list[OpenTable], columns: list[str], arguments: Mapping[str, Any]
) -> list[OpenTable]:
    """The tables in memory, with all columns if rows of one are looked up in the other."""
    roles = [arguments[name] for name in ROLES if arguments[name] is not None]
    if len(tables) == 1:
        tables[0].require([*columns, *roles])
        return [in_memory(tables[0], [*columns, *roles])]
    lacking = [c for c in [*columns, *roles] if not any(c in table.columns for table in tables)]
    tables[0].require(lacking)
    return [in_memory(t, [c for c in t.columns if c not in t.nested]) for t in tables]


def _batches(
    pairs: tuple[LabelPair, ...],
    answers: Mapping[str, Judgement],
    wider: Mapping[str, Judgement],
) -> Iterator[LabelJudgedBatch]:
    """The rates of all labels in each batch."""
    names = [batch.name for answer in answers.values() for batch in answer.batches]
    for name in batches_in_order(names):
        both = [
            (_batch_named(answers[pair.name], name), _batch_named(wider[pair.name], name))
            for pair in pairs
        ]
        rates = [
            _unknown(pair, answers[pair.name].overall.labels.design)
            if own is None
            else _rate(pair, own, for_all or own)
            for pair, (own, for_all) in zip(pairs, both, strict=True)
        ]
        n_items = max(own.n_items for own, _ in both if own is not None)
        yield LabelJudgedBatch(name, n_items, tuple(rates))


def _unknown(pair: LabelPair, design: str) -> LabelRate:
    """The rate of a label in a group in which no item has a verdict on it."""
    return LabelRate(
        label=pair.name,
        verdict=JOINED.join(pair.verdicts),
        n_labelled=0,
        estimate=None,
        low=0.0,
        high=1.0,
        low_for_all=0.0,
        high_for_all=1.0,
        naive=None,
        kappa=None,
        design=design,
        grounds=decide(Facts(None, n_items=0)),
        no_estimate_reason=NO_VERDICT,
    )


def _batch_named(answer: Judgement, name: str) -> JudgedBatch | None:
    return next((batch for batch in answer.batches if batch.name == name), None)


def _rate(pair: LabelPair, batch: JudgedBatch, wider: JudgedBatch) -> LabelRate:
    """The rate of one label; its limits for all labels contain its own."""
    own, for_all = share_of(batch, pair.name), share_of(wider, pair.name)
    agreement = batch.judges[0].agreement
    return LabelRate(
        label=pair.name,
        verdict=JOINED.join(pair.verdicts),
        n_labelled=batch.n_labelled,
        estimate=own.estimate,
        low=own.low,
        high=own.high,
        low_for_all=min(own.low, for_all.low),
        high_for_all=max(own.high, for_all.high),
        naive=batch.naive(pair.name),
        kappa=None if agreement is None else agreement.estimate,
        design=batch.labels.design,
        grounds=batch.grounds,
        no_estimate_reason=batch.no_estimate_reason,
    )


def _findings(answers: Mapping[str, Judgement]) -> tuple[Finding, ...]:
    """Findings about all labels, each once, and those about some, with their names."""
    return tuple(of_targets({label: shown_findings(answer) for label, answer in answers.items()}))
