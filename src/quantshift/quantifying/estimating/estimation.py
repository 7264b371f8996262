"""The shares in every batch of a sample, of rows or of counts of scores.

All batches share the bootstrap's replicates of the training side.
"""

from quantshift.answers.batch_names import compared_batches, in_sequence
from quantshift.base.progress import OnProgress
from quantshift.intervals.engine import SMALL
from quantshift.quantifying.estimating.batches import (
    Compared,
    batch_of,
    changed_classes,
    empty_batch,
    heeding_warnings,
)
from quantshift.quantifying.estimating.sample import AbstractSample
from quantshift.quantifying.estimating.summary import training_side
from quantshift.quantifying.options import AuditOptions, EstimationOptions
from quantshift.quantifying.output.quantification import Quantification
from quantshift.quantifying.result import Batch


def estimate_sample(
    sample: AbstractSample,
    options: EstimationOptions,
    audit: AuditOptions,
    seed: int,
    progress: OnProgress,
) -> Quantification:
    """The shares in every batch of a sample, with all that is said about them."""
    model = sample.model
    sizes = sample.sizes()
    evidence = sample.evidence(options, seed, progress)
    compared, findings = compared_batches(list(sizes)), sample.findings()
    batches: list[Batch] = []
    before: Compared | None = None
    for name in sizes:
        if name not in evidence:
            batches.append(empty_batch(name, model.classes, left_out=sample.left_out(name)))
            continue
        batch_evidence = evidence[name]
        # The error of the mean of a few items is not known.
        is_compared = name in compared and sizes[name] >= SMALL
        scored = sample.scored(name)
        now = Compared.of(batch_evidence, scored)
        change = changed_classes(before if is_compared else None, now, model.classes)
        batch = batch_of(
            model,
            scored,
            batch_evidence,
            change,
            audit,
            declared=options.declared,
        )
        batches.append(heeding_warnings(sample.completed(batch, batch_evidence), findings))
        before = now if sizes[name] >= SMALL else before
    return Quantification(
        classes=model.classes,
        level=options.level,
        simultaneous=options.simultaneous,
        method=model.method,
        reason=model.reason,
        assumption=model.quantifier.tags.assumption,
        plain_assumption=model.quantifier.tags.in_words,
        training=training_side(model),
        batches=tuple(batches),
        findings=findings,
        label=model.columns.label,
        headline=model.headline,
        names=model.names,
        used=model.columns.used,
        left_out_columns=tuple(sample.left_out_columns()),
        sample_rows=sample.rows(),
        groups=model.groups,
        by=sample.by,
        in_sequence=in_sequence(list(sizes)),
        declared=options.declared.sentence,
    )
