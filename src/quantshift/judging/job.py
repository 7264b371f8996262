"""The true rate behind verdicts, from a table to an answer: read, estimate, compare, advise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from quantshift.base.forks import uses_tables
from quantshift.base.keywords import suggests_arguments
from quantshift.errors import UserError, unknown_name
from quantshift.judging.arrays import asked_for, class_name, labels_by_verdict
from quantshift.judging.call import Call
from quantshift.judging.comparing import differences_of
from quantshift.judging.estimating.designs import DESIGNS
from quantshift.judging.estimating.estimation import GivenRate
from quantshift.judging.findings import batch_of, doubts, lost_rows, unknown_batch
from quantshift.judging.inputs import JudgeOptions, read_judged
from quantshift.judging.result import JudgedBatch, Judgement, MeanDifference, SystemDifference
from quantshift.quantifying.columns import as_names
from quantshift.quantifying.output.words import class_names, headline
from quantshift.quantifying.reading.pool import batches_in_order, row_warnings
from quantshift.tables.reading import Source

Columns = str | Sequence[Any] | Any
"""The name of a column, or the values themselves."""


@uses_tables
@suggests_arguments
def judge(
    table: Source | None = None,
    *,
    verdict: Columns | Mapping[str, Sequence[Any]] | None = None,
    label: Columns | None = None,
    labelled: Source | None = None,
    score: Columns | None = None,
    id: Columns | None = None,  # noqa: A002 - the name of the option
    by: Columns | None = None,
    compare: tuple[str, str] | None = None,
    labels: str | None = None,
    map: Mapping[Any, Any] = MappingProxyType({}),  # noqa: A002 - the name of the option
    classes: Sequence[Any] = (),
    positive: Any = None,
    sensitivity: float | tuple[float, float, float] | None = None,
    specificity: float | tuple[float, float, float] | None = None,
    missing: Sequence[str] | None = None,
    insist: bool = False,
    lenient: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> Judgement:
    """The true share of each class among items with verdicts of a model, from a few human labels.

    table: a file or a data frame with a verdict for every item. Without it the arguments that name
        columns hold their values: `judge(verdict=[...], label=[...])`, None for no label.
    verdict: the column of the verdicts, or several, one for each judge; score: a column of numbers
        instead, or in addition.
    label: the column of people's labels, empty where there is none.
    labelled: another table with labels: of the same items, found by `id`; a sheet that
        `plan_labels` has drawn; or other items, with verdicts of their own.
    labels: how the labelled items were chosen: "random", "by-verdict" (a number of each verdict),
        "by-label" (a number of each label), "elsewhere" (other items). Guessed if not given. Data
        that contradict it are an error, unless you `insist`.
    by: a column of groups to judge one by one; compare: two of them, whose difference is estimated,
        on the same items if their ids are the same.
    map: verdict -> label, where the names differ and it is not obvious; classes: all classes, if
        some are not among the labels; positive: the class whose share comes first.
    sensitivity, specificity: known rates instead of labels, with 95% limits: 0.9, or
        (0.9, 0.85, 0.94).
    """
    if not 0.5 <= level < 1:
        raise UserError(f"a level is between 0.5 and 1, got {level:g}", arguments=["level"])
    if labels is not None and labels not in DESIGNS:
        raise unknown_name("way to choose labels", labels, DESIGNS)
    source, options = asked_for(table, verdict, label, score, id, by)
    options = replace(
        options,
        map=labels_by_verdict(map),
        classes=tuple(class_name(c) for c in classes),
        positive=None if positive is None else class_name(positive),
        missing=None if missing is None else as_names(missing),
        elsewhere=labels == "elsewhere",
        lenient=lenient,
    )
    known = _given_rates(sensitivity, specificity)
    if known is None and options.label is None:
        raise UserError(
            "name the column of the labels, or give the sensitivity and specificity of the judge",
            arguments=["label", "sensitivity", "specificity"],
        )
    read = read_judged(source, labelled, options)
    if known is not None and len(read.meaning.classes) != 2:
        raise UserError("a sensitivity and a specificity are of two classes; there are more here")
    if compare is not None and by is None:
        raise UserError(
            "to compare two systems name the column that distinguishes them", arguments=["by"]
        )
    call = Call(read, options.verdict, known, labels, insist, level, seed)
    call.check()
    return _judgement(call, options, compare)


def _judgement(call: Call, options: JudgeOptions, compare: tuple[str, str] | None) -> Judgement:
    read = call.read
    positive = options.positive or (
        read.meaning.classes[-1] if len(read.meaning.classes) == 2 else None
    )
    lead = headline(read.meaning.classes, positive)
    guess = call.guess()
    design = guess.design if guess else _design(call)
    call.require_shared_verdicts(design)
    judged = call.estimate(read.items, design)
    overall = batch_of(call, read.name, judged, read.items, lead, guess=guess)
    warnings = [
        *read.warnings,
        *(w for rows in read.rows for w in row_warnings(lost_rows(rows))),
    ]
    warnings += doubts(call)
    batches: tuple[JudgedBatch, ...] = (overall,)
    differences: tuple[SystemDifference, ...] = ()
    of_means: MeanDifference | None = None
    if read.items.groups is not None:
        batches = tuple(_groups(call, judged.design, lead))
        if len(batches) > 1 and compare is None:
            warnings.append(
                f"each of the {len(batches)} intervals holds on its own; among so many the largest "
                "and the smallest share are partly chance"
            )
    if compare is not None:
        differences, of_means = differences_of(call, judged.design, compare)
    return Judgement(
        classes=read.meaning.classes,
        level=call.level,
        label=options.label,
        judges=options.verdict,
        score=options.score,
        by=options.by,
        ordered=call.ordered,
        headline=lead,
        names=class_names(options.label, read.meaning.classes),
        overall=overall,
        batches=batches,
        differences=differences,
        mean_difference=of_means,
        warnings=tuple(dict.fromkeys(warnings)),
        rows=read.rows,
    )


def _design(call: Call) -> str | None:
    """The design to estimate with; labels of a sheet and known rates need none."""
    return None if call.known is not None or call.read.planned else call.design_of_items


def _groups(call: Call, design: str, lead: str) -> Iterator[JudgedBatch]:
    """The groups one by one; carried-over rates are those of all groups together."""
    items = call.read.items
    groups = np.array(items.groups)
    pooled = call.pools(design)
    for name in batches_in_order(groups.tolist()):
        part = call.in_question(items.take(np.flatnonzero(groups == name)), design)
        if not pooled and not call.tells(part):
            yield unknown_batch(call, name, part, design)
            continue
        if not len(part):
            continue
        found = call.estimate(part, call.design_of_groups(design), part=True, pooled=pooled)
        yield batch_of(call, name, found, part, lead, pooled=pooled)


def _given_rates(
    sensitivity: float | tuple[float, float, float] | None,
    specificity: float | tuple[float, float, float] | None,
) -> tuple[GivenRate, GivenRate] | None:
    if sensitivity is None and specificity is None:
        return None
    if sensitivity is None or specificity is None:
        raise UserError(
            "give both the sensitivity and the specificity",
            arguments=["sensitivity", "specificity"],
        )
    return _given("sensitivity", sensitivity), _given("specificity", specificity)


def _given(what: str, rate: float | tuple[float, float, float]) -> GivenRate:
    values = [float(v) for v in (rate if isinstance(rate, tuple | list) else [rate])]
    if len(values) not in (1, 3) or not all(0 <= v <= 1 for v in values):
        raise UserError(
            f"a {what} is a share, with or without its limits: 0.9, or 0.9 between 0.85 and 0.94",
            arguments=[what],
        )
    if len(values) == 3 and not values[1] <= values[0] <= values[2]:
        raise UserError(f"the {what} {values[0]:g} is not between its limits", arguments=[what])
    return GivenRate(*values)
