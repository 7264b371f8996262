"""From sketches to prevalences: what `quantify` says of tables, said of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from quantshift.audit import FEWEST_LABELS, audit_interval, count_interval, reweigh
from quantshift.data.reading import Source
from quantshift.errors import DataError, UserError
from quantshift.intervals import PrevalenceInterval
from quantshift.own_data import words
from quantshift.own_data.batches import (
    allowing,
    changed_classes,
    empty_batch,
    histograms,
    shares_of,
    unknown_shares,
)
from quantshift.own_data.classifiers import AUTO
from quantshift.own_data.columns import NO_GROUP, NO_LABEL, Asked
from quantshift.own_data.evidence import (
    ALL_ALIKE,
    NO_BETTER_THAN_CHANCE,
    OUTSIDE,
    TEST_LEVEL,
)
from quantshift.own_data.model import (
    NOT_DRAWN,
    Model,
    Training,
    column_order,
    posterior_columns,
    quantifier_class,
    without_training,
)
from quantshift.own_data.progress import OnProgress, silent
from quantshift.own_data.result import Assumption, Audited, Batch, Quantification, Rows, Shift
from quantshift.own_data.training import MOST_TRAINING, REASONS
from quantshift.own_data.training_side import training_side, training_warnings
from quantshift.quantifiers.estimator import AbstractClassifying
from quantshift.quantifiers.expectation import SLD
from quantshift.seeding import generator
from quantshift.sketches.count_intervals import CountIntervals, Reals
from quantshift.sketches.count_test import ScoreGroups, mixture_p_value
from quantshift.sketches.counted import CountedSamples, distinct, estimates
from quantshift.sketches.making import sketch as make_sketch
from quantshift.sketches.sketch_table import (
    BATCH,
    BY,
    CELL,
    COUNT,
    LABEL,
    Sketch,
    load_sketch,
)
from quantshift.types import Codes, Posteriors

P_FLOOR = 1e-6
"""Smaller p-values are told as this one: no approximation holds so far out."""

WHOLE = "all"
"""The name of the batch of a sketch that has no column of batches."""


def quantify_sketch(
    sample: Sketch | str | Path,
    train_sketch: Sketch | str | Path | None = None,
    *,
    positive: str | None = None,
    method: str = AUTO,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    simultaneous: bool = False,
    audit: Source | None = None,
    audit_columns: Mapping[str, str] | None = None,
    seed: int = 0,
    progress: OnProgress | None = None,
) -> Quantification:
    """The prevalence of each class in every batch of a sketch, with intervals and verdicts.

    sample: a `Sketch`, or the file of one. train_sketch: one with labels, of scores by the same
        model, on items it was not trained on; without it the scores are taken at their word (PCC).
    positive: the class that the score is of (default: the second of two). method: any that sees
        posteriors alone.
    audit: table of randomly chosen items with their scores and labels, and batches if the sketch
        has any. audit_columns: the names of its columns `label` and `batch`, where others.
    """
    report = progress or silent
    counted = _loaded(sample)
    if counted.about.labelled:
        raise UserError(
            "the sample is a sketch with labels: give it for training, or make one without",
            arguments=["train_sketch"],
        )
    names, trained, left_out = counted.about.classes, None, {}
    if train_sketch is None:
        model = _untrained(names, method)
    else:
        trained = _loaded(train_sketch)
        _check_together(counted, trained)
        where = str(train_sketch) if isinstance(train_sketch, str | Path) else "the training sketch"
        model = _trained(trained, where, positive, method, seed)
    order = column_order(names, model.classes) if len(names) > 1 else [0, 1]
    if positive is not None and len(names) == 1 and trained is not None:
        order = [0, 1] if model.classes[1] == positive else [1, 0]
    report("estimating", 0, 0)
    batches = _batches(counted, order)
    filled = [name for name, own in batches.items() if own.counts.sum() > 0]
    groups = _grouped(counted, batches, filled)
    quantifier = model.quantifier
    assert isinstance(quantifier, AbstractClassifying)
    found: dict[str, PrevalenceInterval] = {}
    alike: dict[str, bool] = {}
    if filled:
        intervals, same = CountIntervals(
            quantifier,
            level=level,
            n_bootstrap=n_bootstrap,
            seed=seed,
            simultaneous=simultaneous,
            progress=report,
        ).of(filled, groups)
        found = dict(zip(filled, intervals, strict=True))
        alike = dict(zip(filled, map(bool, same), strict=True))
    report("testing for shift", 0, 0)
    tests = _Tests(trained, counted, order, model, seed) if trained is not None else None
    audited = {} if audit is None else _audited(audit, counted, model, order, audit_columns or {})
    left_out = _left_out(counted)
    told, before = [], None
    for name, own in batches.items():
        if name not in found:
            told.append(empty_batch(name, model.classes, left_out=left_out.get(name, 0)))
            continue
        told.append(
            _told(
                model,
                own,
                found[name],
                alike=alike[name],
                left_out=left_out.get(name, 0),
                shift=None if tests is None else tests.of(own, found[name]),
                change=changed_classes(before, found[name], model.classes),
                labelled=audited.get(name),
                asked=audit is not None,
            )
        )
        before = found[name]
    unknown = sorted(set(audited) - set(batches))
    warnings = list(training_warnings(model)) if trained is not None else []
    if unknown:
        warnings.append(f"the audit has labels of batches that the sketch has not: {unknown[0]!r}")
    source = str(sample) if isinstance(sample, str | Path) else "the sketch"
    n_out = sum(counted.left_out.values())
    rows = Rows(source, counted.n_rows, counted.n_rows - n_out, counted.left_out)
    return Quantification(
        classes=model.classes,
        level=level,
        simultaneous=simultaneous,
        method=model.method,
        reason=model.reason,
        assumption=quantifier.assumption,
        training=training_side(model),
        batches=tuple(told),
        warnings=tuple(warnings),
        label=model.columns.label,
        headline=model.headline,
        names=model.names,
        used=model.columns.used,
        left_out_columns=(),
        sample_rows=(rows,),
    )


@dataclass(frozen=True, eq=False)
class _Own:
    """The usable rows of one batch. rows: of the sketch's table; order is that of the classes."""

    name: str
    rows: pl.DataFrame
    posteriors: Posteriors
    counts: Reals


def _loaded(given: Sketch | str | Path) -> Sketch:
    return given if isinstance(given, Sketch) else load_sketch(given)


def _check_together(sample: Sketch, training: Sketch) -> None:
    if not training.about.labelled:
        raise UserError(
            "the training sketch has no labels: make it with the column of the labels",
            arguments=["train_sketch"],
        )
    if sample.about.classes != training.about.classes:
        raise DataError(
            f"the sample has scores {', '.join(sample.about.classes)}, the training sketch has "
            f"{', '.join(training.about.classes)}: make both from columns of the same names"
        )


def _untrained(names: Sequence[str], method: str) -> Model:
    if method not in (AUTO, "PCC"):
        raise UserError(
            f"{method} needs labelled rows: give a training sketch", arguments=["train_sketch"]
        )
    return without_training(names)


def _trained(training: Sketch, source: str, positive: str | None, method: str, seed: int) -> Model:
    """A model fitted on the items that a sketch with labels has counted."""
    usable = training.usable().filter(pl.col(LABEL).is_not_null())
    classes = tuple(sorted(usable[LABEL].unique().to_list()))
    names = training.about.classes
    if len(classes) < 2:
        raise DataError(f"{source}: labels of at least two classes are needed")
    if len(classes) != training.about.n_classes:
        raise DataError(
            f"{source}: {len(classes)} classes ({', '.join(classes[:5])}) but scores of "
            f"{training.about.n_classes}"
        )
    if positive is not None and positive not in classes:
        raise UserError(
            f"there is no class {positive!r}; there are {', '.join(classes)}",
            arguments=["positive"],
        )
    if positive is not None and len(classes) == 2:
        classes = (*(name for name in classes if name != positive), positive)
    order = column_order(names, classes) if len(names) > 1 else list(range(len(classes)))
    kind = quantifier_class(method, "posteriors")
    if not issubclass(kind, AbstractClassifying) or kind.sees - {"posteriors"}:
        raise UserError(f"{method} looks at more than posteriors: a sketch has nothing else")
    posteriors = training.posteriors_of(_pooled(training, usable))[:, order]
    codes = np.array([classes.index(label) for label in usable[LABEL].to_list()])
    counts = usable[COUNT].to_numpy()
    rows, drawn = _training_rows(counts, seed)
    repeated, own = posteriors[rows], codes[rows]
    base = SLD(seed=seed).fit_posteriors(repeated, own, classes=range(len(classes)))
    quantifier = (
        base if kind is SLD else kind().fit_posteriors(repeated, own, classes=range(len(classes)))
    )
    left_out = dict(training.left_out)
    n_unlabelled = int(training.usable().filter(pl.col(LABEL).is_null())[COUNT].sum())
    if n_unlabelled:
        left_out[NO_LABEL] = n_unlabelled
    if drawn:
        left_out[NOT_DRAWN] = drawn
    asked = Asked(label=training.about.label, posteriors=names, positive=positive)
    return Model(
        columns=posterior_columns(asked, ()),
        classes=classes,
        preparation=None,
        scorer=None,
        base=base,
        quantifier=quantifier,
        method=kind.__name__,
        reason="chosen by you" if method != AUTO else REASONS[kind.__name__],
        training=Training(
            rows=Rows(source, training.n_rows, len(rows), left_out),
            counts={label: int(counts[codes == code].sum()) for code, label in enumerate(classes)},
            classifier="given scores",
            accuracy=float(np.mean(repeated.argmax(axis=1) == own)),
            seed=seed,
        ),
        positive=positive,
    )


def _pooled(training: Sketch, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows whose cells stand for the mean of all classes: that of each would tell the label."""
    if training.is_exact:
        return rows
    return rows.with_columns(pl.col(name).sum().over(CELL) for name in training.about.sums)


def _training_rows(counts: np.ndarray, seed: int) -> tuple[Codes, int]:
    """Each row as often as it was counted, up to `MOST_TRAINING`; and how many more there are."""
    total = int(counts.sum())
    if total > MOST_TRAINING:
        rng = generator(seed, purpose="training sketch")
        counts = rng.multivariate_hypergeometric(counts, MOST_TRAINING, method="marginals")
    return np.repeat(np.arange(len(counts)), counts), max(total - MOST_TRAINING, 0)


def _batches(counted: Sketch, order: Sequence[int]) -> dict[str, _Own]:
    """The batches by name, in order; those without usable rows among them."""
    usable = counted.usable()
    # The cells of further columns are put together: they matter to the test alone.
    found = {}
    parts = usable.partition_by(BATCH, as_dict=True, maintain_order=True)
    for batch in counted.batches:
        rows = parts.get((batch,), usable.clear())
        name = _name(counted, batch)
        posteriors = counted.posteriors_of(rows)[:, order]
        found[name] = _Own(name, rows, posteriors, rows[COUNT].to_numpy().astype(np.float64))
    return found


def _name(counted: Sketch, batch: str | None) -> str:
    if batch is not None:
        return batch
    return WHOLE if counted.batches == [None] else NO_GROUP


def _grouped(
    counted: Sketch, batches: Mapping[str, _Own], filled: Sequence[str]
) -> list[CountedSamples]:
    """Samples of the same cells together; where cells stand for means each has cells of its own."""
    if counted.about.n_classes > 2 and not counted.is_exact:
        return [
            CountedSamples(batches[name].posteriors, batches[name].counts[np.newaxis])
            for name in filled
        ]
    if not filled:
        return []
    every = np.concatenate([batches[name].posteriors for name in filled])
    cells, place = distinct(every)
    counts = np.zeros((len(filled), len(cells)))
    first = 0
    for i, name in enumerate(filled):
        own = batches[name].counts
        np.add.at(counts[i], place[first : first + len(own)], own)
        first += len(own)
    return [CountedSamples(cells, counts)]


def _left_out(counted: Sketch) -> dict[str, int]:
    """Rows of every batch that are counted but not used."""
    out = counted.table.filter(pl.col(CELL) < 0).group_by(BATCH).agg(pl.col(COUNT).sum())
    return {_name(counted, batch): int(n) for batch, n in out.iter_rows()}


class _Tests:
    """Tests whether batches are mixtures of the training classes."""

    def __init__(
        self, training: Sketch, counted: Sketch, order: Sequence[int], model: Model, seed: int
    ) -> None:
        self.seed = seed
        self.by = [name for name in training.about.by if name in counted.about.by]
        usable = training.usable().filter(pl.col(LABEL).is_not_null())
        posteriors = training.posteriors_of(_pooled(training, usable))[:, order]
        counts = usable[COUNT].to_numpy().astype(np.float64)
        self.groups = ScoreGroups.of(posteriors, counts)
        known = sorted(set(self._keys(usable)), key=str) if self.by else []
        self.strata = {key: i for i, key in enumerate(known, start=1)}
        codes = np.array([model.classes.index(label) for label in usable[LABEL].to_list()])
        places = self._places(usable, posteriors)
        self.training = np.stack(
            [
                np.bincount(places[codes == k], counts[codes == k], self.n_places)
                for k in range(len(model.classes))
            ]
        ).astype(np.float64)

    @property
    def n_places(self) -> int:
        """Groups of scores times those of the further columns, and one of others."""
        return (len(self.strata) + 1) * self.groups.n_groups

    def of(self, own: _Own, interval: PrevalenceInterval) -> Shift | None:
        """The verdict on one batch; None where there is too little to tell."""
        places = self._places(own.rows, own.posteriors)
        sample = np.bincount(places, own.counts, self.n_places).astype(np.float64)
        p_value = mixture_p_value(
            self.training, sample, interval.prevalence, name=own.name, seed=self.seed
        )
        if p_value is None:
            return None
        rejected = p_value < TEST_LEVEL
        kind = OUTSIDE if rejected else "prior"
        return Shift(rejected, kind, max(p_value, P_FLOOR), p_floor=P_FLOOR)

    def _keys(self, rows: pl.DataFrame) -> list[tuple[str | None, ...]]:
        return rows.select([BY + name for name in self.by]).rows()

    def _places(self, rows: pl.DataFrame, posteriors: Posteriors) -> Codes:
        groups = self.groups(posteriors)
        if not self.by:
            return groups
        strata = np.array([self.strata.get(key, 0) for key in self._keys(rows)], dtype=np.int64)
        return np.asarray(strata * self.groups.n_groups + groups)


def _told(
    model: Model,
    own: _Own,
    interval: PrevalenceInterval,
    *,
    alike: bool,
    left_out: int,
    shift: Shift | None,
    change: tuple[str, ...],
    labelled: "_Labelled | None",
    asked: bool,
) -> Batch:
    """A batch in numbers and words."""
    n_items = int(own.counts.sum())
    why_not = ALL_ALIKE if alike else ""
    if model.is_trained and not interval.informative.any():
        why_not = why_not or NO_BETTER_THAN_CHANCE
    assumptions = () if why_not else _assumptions(model, own, interval)
    shift = None if why_not else shift
    if shift is not None and shift.rejected:
        interval = _spanning(interval, assumptions, model)
    unaudited = unknown_shares(model.classes)
    if not why_not:
        unaudited = allowing(shares_of(model.classes, interval), n_items, left_out)
    audit = None
    if labelled is not None and len(labelled.codes) >= FEWEST_LABELS:
        audit = _audit(model, own, interval, labelled, n_items, left_out, bool(why_not))
    shares = unaudited if audit is None else audit.shares
    untrained = not model.is_trained
    verdict = words.verdict(
        shift,
        assumptions,
        model.headline,
        name=model.names[model.headline],
        untrained=untrained,
        topics=False,
    )
    if why_not:
        verdict = f"The shares cannot be estimated from these scores: {why_not}."
    can_be = not why_not or audit is not None
    carried = words.carried(
        shift,
        audit,
        assumption=model.quantifier.assumption,
        guarded=False,
        untrained=untrained,
        topics=False,
    )
    if audit is None and shift is not None and not shift.rejected:
        carried = f"assumes: {model.quantifier.assumption}; the scores do not contradict it"
    return Batch(
        name=own.name,
        n_items=n_items,
        shares=shares,
        unaudited=unaudited,
        assumptions=assumptions,
        shift=shift,
        audit=audit,
        change=change,
        scores=dict(zip(model.classes, histograms(own.posteriors, own.counts), strict=True)),
        verdict=verdict,
        warnings=tuple(
            words.batch_warnings(
                n_items=n_items,
                n_labelled=0 if labelled is None else len(labelled.codes),
                asked=asked,
                audited=audit is not None,
            )
        ),
        advice=tuple(
            words.advice(
                shares,
                assumptions,
                shift,
                audit,
                untrained=untrained,
                can_be_estimated=can_be,
                n_items=n_items,
                level=interval.level,
            )
        ),
        can_be_estimated=can_be,
        why_not="" if can_be else why_not,
        left_out=left_out,
        carried=carried if can_be else "",
        limits_are=words.limits_are(shift, audit),
    )


def _assumptions(model: Model, own: _Own, interval: PrevalenceInterval) -> tuple[Assumption, ...]:
    """The method's own estimate, and those of SLD and PCC, which stand for two kinds of shift."""
    counted = own.counts @ own.posteriors / own.counts.sum()
    told = {"PCC": ("covariate shift", counted)}
    if model.is_trained:
        assert isinstance(model.base, AbstractClassifying)
        prior = interval.prevalence
        if model.quantifier is not model.base:
            prior = estimates(model.base, own.posteriors, own.counts[np.newaxis])[0]
        told = {"SLD": ("prior shift", prior), **told}
        if model.method not in told:
            told = {
                model.method: (f"as {model.method} assumes", interval.prevalence),
                **told,
            }
    return tuple(
        Assumption(
            name,
            method,
            dict(zip(model.classes, map(float, p), strict=True)),
            for_comparison=method != model.method,
        )
        for method, (name, p) in told.items()
    )


def _spanning(
    interval: PrevalenceInterval, assumptions: Sequence[Assumption], model: Model
) -> PrevalenceInterval:
    """Limits that hold the estimates under all assumptions, none of which is confirmed."""
    points = np.array([[a.prevalence[label] for label in model.classes] for a in assumptions])
    return replace(
        interval,
        low=np.minimum(interval.low, points.min(axis=0)),
        high=np.maximum(interval.high, points.max(axis=0)),
    )


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Labelled items of a batch."""

    posteriors: Posteriors
    codes: Codes


def _audited(
    audit: Source,
    counted: Sketch,
    model: Model,
    order: Sequence[int],
    named: Mapping[str, str],
) -> dict[str, _Labelled]:
    """The labelled items of each batch."""
    about = counted.about
    has_batches = counted.batches != [None]
    labelled = make_sketch(
        audit,
        score=about.classes[0] if len(about.classes) == 1 else None,
        posteriors=about.classes if len(about.classes) > 1 else (),
        batch=named.get("batch", "batch") if has_batches else None,
        label=named.get("label", "label"),
    )
    rows = labelled.usable().filter(pl.col(LABEL).is_not_null())
    strange = sorted(set(rows[LABEL].to_list()) - set(model.classes))
    if strange:
        raise DataError(
            f"the audit has a label {strange[0]!r}; the classes are {', '.join(model.classes)}"
        )
    found = {}
    for (batch,), own in rows.partition_by(BATCH, as_dict=True, maintain_order=True).items():
        repeated = np.repeat(np.arange(len(own)), own[COUNT].to_numpy())
        codes = np.array([model.classes.index(label) for label in own[LABEL].to_list()])
        posteriors = labelled.posteriors_of(own)[:, order]
        found[_name(counted, batch)] = _Labelled(posteriors[repeated], codes[repeated])
    return found


def _audit(
    model: Model,
    own: _Own,
    interval: PrevalenceInterval,
    labelled: _Labelled,
    n_items: int,
    left_out: int,
    unknown: bool,
) -> Audited:
    """The audited shares: posteriors of all items by their counts, labels of a few."""
    posteriors = np.concatenate([own.posteriors, labelled.posteriors])
    if model.is_trained and not unknown:
        posteriors = reweigh(posteriors, model.base.prior_, interval.prevalence)
    k = len(labelled.codes)
    items = np.arange(len(posteriors) - k, len(posteriors))
    weights = np.concatenate([own.counts, np.zeros(k)])
    powered = audit_interval(
        posteriors, items, labelled.codes, level=interval.level, weights=weights
    )
    counted = count_interval(labelled.codes, len(model.classes), level=interval.level)
    outside = (interval.prevalence < powered.low) | (interval.prevalence > powered.high)
    return Audited(
        n_labelled=k,
        weight=powered.weight,
        shares=allowing(shares_of(model.classes, powered), n_items, left_out),
        counted=allowing(shares_of(model.classes, counted), n_items, left_out),
        contradicts=bool(outside.any()) and not unknown,
    )
