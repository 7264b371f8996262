"""Limits that allow for items in clusters; see `quantshift.judging.items.clusters`."""

from dataclasses import replace

import numpy as np

from quantshift.base.types import Codes
from quantshift.judging.designs.design import Design
from quantshift.judging.designs.parts.share_estimate import ShareEstimate
from quantshift.judging.findings import JudgeFindings
from quantshift.judging.items.clusters import (
    FEW,
    LabelledClusters,
    chances_by_cell,
    design_effect,
    labelled_together,
    student,
)
from quantshift.judging.items.judged_items import JudgedItems, Settings

ONE_CLUSTER = "all labels are of one cluster, which says nothing about the others"


def allowing_for_clusters(
    estimate: ShareEstimate, items: JudgedItems, design: Design, settings: Settings
) -> ShareEstimate:
    """The estimate with limits for items in clusters; without clusters it stays as it is."""
    external = items.external
    if items.clusters is None and (external is None or external.clusters is None):
        return estimate
    sample, of_labels = design.in_sample(items), _clusters_of_labels(items)
    every = _of_items(items)
    if external is not None:
        every = np.concatenate([every, of_labels])
    if len(np.unique(every)) == len(every):
        return estimate
    one_by_one = design.labelled_are_items and design.uses_labels and settings.of_items
    if one_by_one and not _together(items):
        return estimate
    if not design.uses_labels:
        of_labels = _of_items(items)
    labelled = LabelledClusters.of(of_labels)
    if labelled.n < 2:
        zeros = np.zeros_like(estimate.low)
        return replace(
            estimate,
            low=zeros,
            high=zeros + 1,
            no_estimate_reason=estimate.no_estimate_reason or ONE_CLUSTER,
        )
    influence, clusters, others = estimate.influence, _of_items(items)[sample], None
    if estimate.influence_external is not None:
        if np.isin(of_labels, clusters).any():
            influence = np.concatenate([influence, estimate.influence_external])
            clusters = np.concatenate([clusters, of_labels])
        else:
            others = influence, clusters
            influence, clusters = estimate.influence_external, of_labels
    n_labels = len(of_labels) if design.uses_labels else len(items)
    unit = np.full(influence.shape[1], (len(estimate.influence) / n_labels) ** 2)
    effect = design_effect(influence, clusters, labelled, unit, others=others)
    factor = np.maximum(np.sqrt(effect.ratio) * student(effect.freedom, settings.level), 1.0)
    findings = estimate.findings
    if labelled.n < FEW:
        findings = (*findings, JudgeFindings.FEW_CLUSTERS.found(n=labelled.n))
    p = estimate.prevalence
    return replace(
        estimate,
        low=np.clip(p - factor * (p - estimate.low), 0, 1),
        high=np.clip(p + factor * (estimate.high - p), 0, 1),
        by_labels=estimate.by_labels * effect.ratio,
        by_items=estimate.by_items * effect.ratio,
        findings=findings,
        clusters=labelled,
    )


def _of_items(items: JudgedItems) -> Codes:
    """The cluster of every item; each is one of its own if there are none."""
    return -1 - np.arange(len(items)) if items.clusters is None else items.clusters


def _clusters_of_labels(items: JudgedItems) -> Codes:
    external = items.external
    if external is None:
        return _of_items(items)[items.is_labelled]
    if external.clusters is None:
        return -1 - len(items) - np.arange(len(external.labels))
    return external.clusters


def _together(items: JudgedItems) -> bool:
    """Whether whole clusters were labelled."""
    if items.clusters is None:
        return False
    cells = np.zeros(len(items), dtype=np.int64)
    if items.verdicts is not None:
        cells = items.verdicts_together()
    return labelled_together(
        items.is_labelled, items.clusters, chances_by_cell(items.is_labelled, cells)
    )
