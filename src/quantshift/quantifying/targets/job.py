"""`quantify` with several targets: the answer to each, over one reading of the tables.

Each target is answered as if it were the only one, with its own tests. A change of another changes
what the items of this one look like, which refutes that only its own share changed. Where its own
answer is a range, the targets are answered together if they can be (`joint_sample`). Limits for all
of them at once are taken at a higher level.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scipy.special import ndtri

from quantshift.answers.conditions import Condition
from quantshift.answers.shares import Share, share_of
from quantshift.answers.targets.answer import TargetAnswers
from quantshift.answers.targets.result import Limits
from quantshift.base.progress import OnProgress, silent, within
from quantshift.claims import Explanation
from quantshift.claims.findings import About, Finding
from quantshift.errors import UserError, unknown_name
from quantshift.quantifying.estimating.batches import allow_for_left_out
from quantshift.quantifying.estimating.estimation import estimate_sample
from quantshift.quantifying.estimating.row_sample import RowSample
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.options import EstimationOptions, Request
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.reading.pool import open_samples, read_features
from quantshift.quantifying.result import Batch
from quantshift.quantifying.targets.folder import is_target_models, load_target_models
from quantshift.quantifying.targets.folder_names import target_folder_name
from quantshift.quantifying.targets.joint_sample import SampleOfTarget, TargetsTogether
from quantshift.quantifying.targets.parents import Parents
from quantshift.quantifying.targets.training import TargetModels, train_targets
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import check_same, tied_to_batches
from quantshift.statistics.multiple_tests import level_for_all
from quantshift.tables.reading import OpenTable, open_table


def quantify_targets(request: Request, progress: OnProgress) -> TargetAnswers[Quantification]:
    """The answer to a call with several labels."""
    _check_request(request)
    tables = open_samples(request.sources.sample, lenient=request.columns.lenient)
    models = _models(request, tables, progress)
    _check_conditions(request.conditions, models.targets)
    read = read_features(
        tables,
        models.models[0],
        request.batches.grouping,
        seed=request.training.seed,
        progress=progress,
        weights=request.columns.weights or models.models[0].columns.weights,
    )
    pool = read.pool(models.models[0])
    together = TargetsTogether(models, pool.items, pool.batches, request.training.seed)
    answers: dict[str, Quantification] = {}
    wider: dict[str, list[Limits]] = {}
    options = request.estimation_with(models.models[0].declared)
    level = level_for_all(options.level, len(models.targets))
    seed = request.training.seed
    for number, (target, model) in enumerate(zip(models.targets, models.models, strict=True), 1):
        of_target = within(f"label {number} of {len(models.targets)} ({target})", progress)
        of_target("classifying the items", 0, 0)
        own = _request_of(target, request)
        alone = RowSample.of_pool(read.classified_pool(model), tables, model, own)
        sample = SampleOfTarget.of(alone, together)
        answers[target] = estimate_sample(sample, options, request.audit, seed, of_target)
        wider[target] = _limits_at(sample, answers[target], replace(options, level=level), seed)
    return combined(answers, wider, level, models.parents, models.not_learnt())


def combined(
    answers: Mapping[str, Quantification],
    wider: Mapping[str, Sequence[Limits]],
    level: float,
    parents: Parents,
    findings: Iterable[Finding] = (),
) -> TargetAnswers[Quantification]:
    """The answers to all targets as one, with shares that fit together.

    wider: the limits of each target in every batch that hold for all of them; level: of these.
    """
    first = next(iter(answers.values()))
    found = list(findings)
    coherent: dict[str, list[Batch]] = {target: [] for target in answers}
    for_all: dict[str, list[Limits]] = {target: [] for target in answers}
    for i, batch in enumerate(first.batches):
        own = {target: answer.batches[i] for target, answer in answers.items()}
        shares = {target: share_of(each, target) for target, each in own.items()}
        wide = {t: Share(t, share.estimate, *wider[t][i]) for t, share in shares.items()}
        found += [
            SampleFindings.CHILD_ABOVE_PARENT.found(batch=batch.name, child=child, parent=parent)
            for child, parent in parents.contradictions(wide)
        ]
        fitting, fitting_for_all = parents.coherent(shares), parents.coherent(wide)
        for target, each in own.items():
            where = About(batch.name if len(first.batches) > 1 else None, target)
            found += (replace(each, about=where) for each in _about(each))
            if fitting[target] != shares[target]:
                cut = SampleFindings.CUT_AT_PARENT.found(parent=parents.of[target])
                found.append(replace(cut, about=where))
            coherent[target].append(_with_share(each, fitting[target]))
            for_all[target].append((fitting_for_all[target].low, fitting_for_all[target].high))
    fitted = {t: replace(answers[t], batches=tuple(batches)) for t, batches in coherent.items()}
    return TargetAnswers.of(fitted, for_all, level, found)


def _about(batch: Batch) -> Iterator[Finding]:
    """What the targets together say of a batch."""
    shift = batch.shift
    if shift is not None and shift.kind is Explanation.JOINT:
        method = batch.alternatives[0].method
        yield SampleFindings.ANSWERED_TOGETHER.found(method=method)
    elif shift is not None and shift.is_significant:
        yield SampleFindings.OTHERS_DO_NOT_EXPLAIN.found()


def _check_request(request: Request) -> None:
    """Refuse options that are for one label."""
    columns = request.columns
    for given, argument, why in (
        (columns.posteriors or None, "posteriors", "columns of posteriors belong to one label"),
        (columns.positive, "positive", "every label is the positive class of its own answer"),
        (request.audit.audit, "audit", "an audit is of one label"),
        (request.row_file.rows, "rows", "a file of rows has the probabilities of one label"),
    ):
        if given is not None:
            raise UserError(
                f"{why}: leave it out, or name one label at a time", arguments=[argument, "label"]
            )
    sources, named = request.sources, request.label_options
    if sources.model is None:
        if sources.train is None:
            raise UserError("give a training table, or a model", arguments=["train", "model"])
        return
    if sources.train is not None:
        raise UserError("give a training table or a model, not both")
    if not is_target_models(sources.model):
        raise UserError(
            "the model has one label: leave the others out, or train a model of all of them",
            arguments=["model", "label"],
        )
    if columns.label_columns or named.separator is not None or named.parents:
        raise UserError(
            "the model has its labels and their parents already; leave them out",
            arguments=["label", "separator", "parents"],
        )


def _check_conditions(conditions: Sequence[str], labels: Sequence[str]) -> None:
    """Refuse conditions on labels that there are not."""
    for text in conditions:
        named = Condition.parse(text).label
        values = {label + end for label in labels for end in ("", ".low", ".high")}
        if named not in values:
            raise unknown_name("label", named, labels)


def _models(request: Request, samples: Sequence[OpenTable], progress: OnProgress) -> TargetModels:
    """The given models, those of a folder, or models trained for these samples."""
    recipe, given = request.recipe, request.sources.model
    if given is not None:
        models = given if isinstance(given, TargetModels) else load_target_models(given)
        check_same(models.models[0], recipe)
        return models
    progress("training", 0, 0)
    assert request.sources.train is not None
    table = open_table(
        request.sources.train, name="the training table", lenient=recipe.columns.lenient
    )
    offered = set.intersection(*(set(sample.columns) for sample in samples))
    shared = [name for name in table.columns if name in offered]
    return train_targets(
        table,
        recipe,
        request.label_options,
        offered=offered,
        tied=tied_to_batches(recipe, samples, shared),
        progress=progress,
    )


def _request_of(target: str, request: Request) -> Request:
    """The call for one label alone, for the commands that an answer advises.

    There is no such call if the labels of the training table are in one column.
    """
    columns, model = request.columns, request.sources.model
    if isinstance(model, str | Path):
        own_model = Path(model) / target_folder_name(target)
        return replace(request, sources=replace(request.sources, model=own_model))
    if not columns.indicators:
        return replace(request, sources=replace(request.sources, model=None, train=None))
    others = [name for name in columns.indicators if name != target]
    # With columns of items that are named, all others are left out anyway.
    dropped = () if columns.text or columns.features else others
    own = replace(columns, label=target, indicators=(), drop=(*columns.drop, *dropped))
    return replace(request, columns=own)


def _limits_at(
    sample: SampleOfTarget, answer: Quantification, options: EstimationOptions, seed: int
) -> list[Limits]:
    """The limits of the target in each batch at a higher level.

    So far out, replicates are few: limits are at least as far from the estimate as normal errors
    would put them.
    """
    model: Model = sample.model
    shown = sample.evidence(options, seed, silent)
    tails = [(1 + level) / 2 for level in (options.level, answer.level)]
    ratio = float(ndtri(tails[0]) / ndtri(tails[1]))
    code = model.classes.index(model.headline)
    limits: list[Limits] = []
    for batch in answer.batches:
        if batch.name not in shown:
            limits.append((0.0, 1.0))
            continue
        interval = shown[batch.name].interval
        low, high = allow_for_left_out(
            float(interval.low[code]), float(interval.high[code]), batch.n_items, batch.left_out
        )
        own = share_of(batch, model.headline)
        centre = float(interval.prevalence[code]) if own.estimate is None else own.estimate
        limits.append(
            (
                max(0.0, min(low, own.low, centre - ratio * (centre - own.low))),
                min(1.0, max(high, own.high, centre + ratio * (own.high - centre))),
            )
        )
    return limits


def _with_share(batch: Batch, share: Share) -> Batch:
    """The batch with this share of its target, and the rest for the other class."""
    if share == share_of(batch, share.label):
        return batch
    (other,) = (own.label for own in batch.shares if own.label != share.label)
    rest = share.complement(other)
    return replace(
        batch, shares=tuple(share if own.label == share.label else rest for own in batch.shares)
    )
