"""The answer as a page says it first: a sentence for any batch and class, and a few numbers."""

from dataclasses import dataclass, replace

from quantshift.nouns import counted
from quantshift.own_data.rendering import answer, estimate_said, share_of, shown
from quantshift.own_data.result import RANGE, SEQUENCE, Batch, Quantification, Share
from quantshift.own_data.words import (
    class_names,
    condition,
    labels_said,
    limits,
    limits_head,
    percent,
    shortened,
)


@dataclass(frozen=True)
class Found:
    """What was found for one class of one batch.

    heading: "14.7% of the 833 items in month 12 have Exited = 1".
    limits: "95% confidence interval 11.2 to 18.9%", or what stands in its place.
    lead: what carries the number, in sentences. numbers: each with its name.
    """

    heading: str
    limits: str
    lead: str
    numbers: tuple[tuple[str, str], ...]


def headline_found(result: Quantification, batch: Batch, label: str) -> Found:
    """What was found for a class of a batch."""
    share = share_of(batch, label)
    return Found(
        heading=_heading(result, batch, share),
        limits=_limits(result, batch, share),
        lead=_lead(replace(result, headline=label), batch, share),
        numbers=_numbers(result, batch, share),
    )


def batch_said(result: Quantification, batch: Batch) -> str:
    """A batch as people see it: with the name of its column if it says nothing without it."""
    name = shortened(batch.name)
    if class_names(result.by, [batch.name])[batch.name] == batch.name:
        return name
    return f"{shortened(result.by or '')} {name}"


def class_said(result: Quantification, label: str) -> str:
    """A class with the column of the labels: "Exited = 1"."""
    if result.names.get(label, label) != label or result.label is None:
        return shown(result, label)
    return f"{shortened(result.label)} = {shown(result, label)}"


def _heading(result: Quantification, batch: Batch, share: Share) -> str:
    what, where = class_said(result, share.label), batch_said(result, batch)
    if share.estimate is None:
        return f"The share of {what} in {where} cannot be estimated"
    if batch.needs_labels:
        return f"The share of {what} in {where} cannot be estimated without labels"
    has = "are" if result.label is None else "have"
    items = counted(batch.n_items, "item")
    return f"{percent(share.estimate)} of the {items} in {where} {has} {what}"


def _limits(result: Quantification, batch: Batch, share: Share) -> str:
    bounds = limits(share.low, share.high)
    if share.estimate is None:
        return f"anything from {bounds} is possible"
    if batch.limits_are == RANGE:
        return f"the assumptions allow {bounds}; this range is not a confidence interval"
    at_every_look = " at every look" * (batch.limits_are == SEQUENCE)
    return f"{100 * result.level:g}% confidence interval{at_every_look} {bounds}"


def _lead(result: Quantification, batch: Batch, share: Share) -> str:
    if share.estimate is None:
        return f"{answer(result, batch)}."
    if batch.needs_labels:
        few = labels_said(batch.shares, result.level, batch.n_items)
        return f"{few[:1].upper()}{few[1:]}."
    why = batch.carried
    if not why:
        return ""
    why = f"The number {why}" if why.startswith("assumes") else f"{why[:1].upper()}{why[1:]}"
    right = "" if batch.accuracy is None else f" {batch.accuracy.said}"
    return f"{why}.{right}"


def _numbers(result: Quantification, batch: Batch, share: Share) -> tuple[tuple[str, str], ...]:
    known = result.training.prevalence.get(share.label)
    name = f"share of {shown(result, share.label)}"
    return (
        (f"{name} {condition(batch.shift)}" if batch.needs_labels else name, estimate_said(share)),
        (limits_head(batch.limits_are, result.level), limits(share.low, share.high)),
        *([] if known is None else [("share in training", percent(known))]),
        ("items", f"{batch.n_items:,}"),
    )
