"""`quantify` with several labels: the answer to each label, over one reading of the tables.

Each label is answered as if it were the only one, with its own tests. A change of another label
changes what the items of this one look like, which refutes that only its own share changed. Where
its own answer is a range, the labels are answered together if they can be (`joint_sample`). Limits
for all labels at once are taken at a higher level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scipy.special import ndtri

from quantshift.answers.conditions import Condition
from quantshift.answers.merging import of_targets
from quantshift.answers.shares import Share, share_of
from quantshift.base.progress import OnProgress, silent, within
from quantshift.claims import Explanation
from quantshift.claims.findings import Finding, Severity
from quantshift.errors import UserError, unknown_name
from quantshift.quantifying.estimating.batches import allow_for_left_out
from quantshift.quantifying.estimating.estimation import estimate_sample
from quantshift.quantifying.estimating.row_sample import RowSample
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.labels.joint_sample import LabelsTogether, SampleOfLabel
from quantshift.quantifying.labels.label_folder import is_label_models, load_label_models
from quantshift.quantifying.labels.label_folder_names import label_folder_name
from quantshift.quantifying.labels.label_quantification import LabelQuantification
from quantshift.quantifying.labels.label_result import LabelAnswer, LabelBatch
from quantshift.quantifying.labels.label_training import LabelModels, train_labels
from quantshift.quantifying.labels.parents import Parents
from quantshift.quantifying.options import EstimationOptions, Request
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.output.text import findings_of
from quantshift.quantifying.reading.pool import open_samples, read_features
from quantshift.quantifying.result import Batch
from quantshift.quantifying.training.model import Model
from quantshift.quantifying.training.recipe import check_same, tied_to_batches
from quantshift.statistics.multiple_tests import level_for_all
from quantshift.tables.reading import OpenTable, open_table

Limits = tuple[float, float]


def quantify_labels(request: Request, progress: OnProgress) -> LabelQuantification:
    """The answer to a call with several labels."""
    _check_request(request)
    tables = open_samples(request.sources.sample, lenient=request.columns.lenient)
    models = _models(request, tables, progress)
    _check_conditions(request.conditions, models.labels)
    read = read_features(
        tables,
        models.models[0],
        request.batches.grouping,
        seed=request.training.seed,
        progress=progress,
        weights=request.columns.weights or models.models[0].columns.weights,
    )
    pool = read.pool(models.models[0])
    together = LabelsTogether(models, pool.items, pool.batches, request.training.seed)
    answers: dict[str, Quantification] = {}
    wider: dict[str, dict[str, Limits]] = {}
    options = request.estimation_with(models.models[0].declared)
    level = level_for_all(options.level, len(models.labels))
    for number, (label, model) in enumerate(zip(models.labels, models.models, strict=True), 1):
        of_label = within(f"label {number} of {len(models.labels)} ({label})", progress)
        of_label("classifying the items", 0, 0)
        own = _request_of(label, request)
        alone = RowSample.of_pool(read.classified_pool(model), tables, model, own)
        sample = SampleOfLabel(alone, together, label)
        seed = request.training.seed
        answer = estimate_sample(sample, options, request.audit, seed, of_label)
        answers[label] = answer
        wider[label] = _limits_at(sample, answer, replace(options, level=level), seed)
    return combined_answers(models, answers, wider, level)


def combined_answers(
    models: LabelModels,
    answers: Mapping[str, Quantification],
    wider: Mapping[str, Mapping[str, Limits]],
    level: float,
) -> LabelQuantification:
    """The answers to all labels as one, with shares that fit together.

    wider: the limits of each label and batch that hold for all labels at once; level: of these.
    """
    parents, labels = models.parents, models.labels
    first = answers[labels[0]]
    batches: list[LabelBatch] = []
    contradictions: list[Finding] = []
    coherent: dict[str, list[Batch]] = {label: [] for label in labels}
    for i, batch in enumerate(first.batches):
        own = {label: answers[label].batches[i] for label in labels}
        shares = {label: share_of(own[label], label) for label in labels}
        for_all = {
            label: Share(label, share.estimate, *wider[label][batch.name])
            for label, share in shares.items()
        }
        contradictions += _contradictions(parents, for_all, batch.name)
        fitting, fitting_for_all = parents.coherent(shares), parents.coherent(for_all)
        label_answers = [
            _answer(answers[label], own[label], fitting[label], fitting_for_all[label])
            for label in labels
        ]
        label_answers.sort(key=lambda answer: (answer.change is None, -abs(answer.change or 0.0)))
        batches.append(LabelBatch(batch.name, batch.n_items, batch.left_out, tuple(label_answers)))
        for label in labels:
            coherent[label].append(_with_share(own[label], fitting[label]))
    return LabelQuantification(
        labels=labels,
        level=first.level,
        level_for_all=level,
        batches=tuple(batches),
        parents=dict(parents.of),
        left_out_labels=models.left_out,
        findings=(*contradictions, *_findings(answers)),
        answers={
            label: replace(answers[label], batches=tuple(coherent[label])) for label in labels
        },
    )


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
    if not is_label_models(sources.model):
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


def _models(request: Request, samples: Sequence[OpenTable], progress: OnProgress) -> LabelModels:
    """The given models, those of a folder, or models trained for these samples."""
    recipe, given = request.recipe, request.sources.model
    if given is not None:
        models = given if isinstance(given, LabelModels) else load_label_models(given)
        check_same(models.models[0], recipe)
        return models
    progress("training", 0, 0)
    assert request.sources.train is not None
    table = open_table(
        request.sources.train, name="the training table", lenient=recipe.columns.lenient
    )
    offered = set.intersection(*(set(sample.columns) for sample in samples))
    shared = [name for name in table.columns if name in offered]
    return train_labels(
        table,
        recipe,
        request.label_options,
        offered=offered,
        tied=tied_to_batches(recipe, samples, shared),
        progress=progress,
    )


def _request_of(label: str, request: Request) -> Request:
    """The call for one label alone, for the commands that an answer advises.

    There is no such call if the labels of the training table are in one column.
    """
    columns, model = request.columns, request.sources.model
    if isinstance(model, str | Path):
        own_model = Path(model) / label_folder_name(label)
        return replace(request, sources=replace(request.sources, model=own_model))
    if not columns.indicators:
        return replace(request, sources=replace(request.sources, model=None, train=None))
    others = [name for name in columns.indicators if name != label]
    # With columns of items that are named, all others are left out anyway.
    dropped = () if columns.text or columns.features else others
    own = replace(columns, label=label, indicators=(), drop=(*columns.drop, *dropped))
    return replace(request, columns=own)


def _limits_at(
    sample: SampleOfLabel, answer: Quantification, options: EstimationOptions, seed: int
) -> dict[str, Limits]:
    """The limits of the label in each batch at a higher level.

    So far out, replicates are few: limits are at least as far from the estimate as normal errors
    would put them.
    """
    model: Model = sample.model
    shown = sample.evidence(options, seed, silent)
    tails = [(1 + level) / 2 for level in (options.level, answer.level)]
    ratio = float(ndtri(tails[0]) / ndtri(tails[1]))
    code = model.classes.index(model.headline)
    limits = {batch.name: (0.0, 1.0) for batch in answer.batches}
    for batch in answer.batches:
        if batch.name not in shown:
            continue
        interval = shown[batch.name].interval
        low, high = allow_for_left_out(
            float(interval.low[code]), float(interval.high[code]), batch.n_items, batch.left_out
        )
        own = share_of(batch, model.headline)
        centre = float(interval.prevalence[code]) if own.estimate is None else own.estimate
        limits[batch.name] = (
            max(0.0, min(low, own.low, centre - ratio * (centre - own.low))),
            min(1.0, max(high, own.high, centre + ratio * (own.high - centre))),
        )
    return limits


def _answer(result: Quantification, batch: Batch, share: Share, for_all: Share) -> LabelAnswer:
    """The answer to one label in one batch. share, for_all: after they were made to fit."""
    training = result.training.prevalence[share.label]
    shift = batch.shift
    is_joint = shift is not None and shift.kind is Explanation.JOINT
    return LabelAnswer(
        label=share.label,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        either=share.either,
        low_for_all=for_all.low,
        high_for_all=for_all.high,
        training=training,
        change=None if share.estimate is None else share.estimate - training,
        method=batch.alternatives[0].method if is_joint else result.method,
        grounds=batch.grounds,
        shift=None if shift is None else shift.is_significant,
        p_value=None if shift is None else shift.p_value,
        changed=share.label in batch.change,
        cut=share != share_of(batch, share.label),
    )


def _with_share(batch: Batch, share: Share) -> Batch:
    """The batch with this share of its label, and the rest for the other class."""
    if share == share_of(batch, share.label):
        return batch
    (other,) = (own.label for own in batch.shares if own.label != share.label)
    rest = share.complement(other)
    return replace(
        batch, shares=tuple(share if own.label == share.label else rest for own in batch.shares)
    )


def _contradictions(parents: Parents, shares: Mapping[str, Share], batch: str) -> list[Finding]:
    return [
        SampleFindings.CHILD_ABOVE_PARENT.found(batch=batch, child=child, parent=parent)
        for child, parent in parents.contradictions(shares)
    ]


def _findings(answers: Mapping[str, Quantification]) -> list[Finding]:
    """What is found for all labels, once, and for some, with their names; without advice."""
    several = len(next(iter(answers.values())).batches) > 1
    return of_targets(
        {
            label: [
                found if several else replace(found, about=replace(found.about, batch=None))
                for found in findings_of(answer)
                if found.severity is not Severity.ADVICE
            ]
            for label, answer in answers.items()
        }
    )
