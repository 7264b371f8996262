"""`judge` with several targets: the answer to each, over one reading of the tables.

Each target is judged as if it were the only one, by its own verdicts and labels. Limits for all of
them at once are those of each at a higher level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quantshift.answers.batch_names import batches_in_order
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.answers.targets.result import Limits
from quantshift.base.options import as_names
from quantshift.errors import UserError
from quantshift.judging.answering.calls import judgement, limits_at, prepared
from quantshift.judging.answering.judged_batches import unknown_batch
from quantshift.judging.designs.registry import design_named
from quantshift.judging.output.judgement import Judgement
from quantshift.judging.reading.inputs import NO_VERDICT
from quantshift.judging.reading.options import labels_by_verdict
from quantshift.judging.targets.pairs import (
    SeparatedPair,
    TargetPair,
    in_memory,
    named_pairs,
    paired_cells,
    with_columns,
)
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

    pairs: tuple[TargetPair, ...]
    table: OpenTable
    labelled: OpenTable | None

    def of(self, pair: TargetPair) -> tuple[OpenTable, OpenTable | None]:
        """Both tables without the columns of the other labels."""
        others = {column for other in self.pairs if other != pair for column in other.columns}
        if self.labelled is None:
            return with_columns(self.table, {}, others), None
        return with_columns(self.table, {}, others), with_columns(self.labelled, {}, others)


def judge_targets(arguments: Mapping[str, Any]) -> TargetAnswers[Judgement]:
    """The answer to a call with several targets. arguments: those of `judge`, by name."""
    _check_arguments(arguments)
    tables = _paired_tables(arguments)
    level = level_for_all(arguments["level"], len(tables.pairs))
    answers: dict[str, Judgement] = {}
    wider: dict[str, dict[str, Limits]] = {}
    for pair in tables.pairs:
        table, labelled = tables.of(pair)
        label = pair.labels if len(pair.labels) > 1 else pair.labels[0]
        columns = {"table": table, "labelled": labelled, "verdict": pair.verdicts, "label": label}
        classes = {"classes": pair.classes, "positive": pair.name, "map": None, "missing": None}
        try:
            call = prepared({**arguments, **columns, **classes})
            answers[pair.name] = judgement(call)
            wider[pair.name] = limits_at(call, answers[pair.name], level)
        except UserError as error:
            raise type(error)(
                f"label {pair.name!r}: {error}", arguments=list(error.arguments)
            ) from error
    names = batches_in_order(b.name for answer in answers.values() for b in answer.batches)
    answers = {target: _with_batches(answer, names) for target, answer in answers.items()}
    for_all = {target: [of.get(name, (0.0, 1.0)) for name in names] for target, of in wider.items()}
    return TargetAnswers.of(answers, for_all, level)


def _with_batches(answer: Judgement, names: Sequence[str]) -> Judgement:
    """The answer with all batches: it lacks those in which no item has a verdict on its target."""
    found = {batch.name: batch for batch in answer.batches}
    if len(found) == len(names):
        return answer
    design = design_named(answer.overall.labels.design)
    batches = tuple(
        found.get(name) or unknown_batch(name, answer.classes, design, NO_VERDICT) for name in names
    )
    return replace(answer, batches=batches)


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
