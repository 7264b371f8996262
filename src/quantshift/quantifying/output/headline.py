"""The headline of a page: a sentence and a few numbers for any batch and class."""

from dataclasses import replace
from statistics import median

from quantshift.answers.batch_names import NO_GROUP
from quantshift.answers.kinds import limits_head
from quantshift.answers.page import Headline
from quantshift.answers.shares import Share, share_of
from quantshift.answers.text import conditionally, estimate_text, shown
from quantshift.answers.words import class_names, limits, percents, shortened
from quantshift.base.nouns import counted, percent
from quantshift.claims import NOTHING_KNOWN, Kind
from quantshift.quantifying.output.text import (
    answer,
    large_enough,
    smaller_text,
    undeclared_text,
    with_size,
)
from quantshift.quantifying.result import AbstractQuantification, Batch


def headline_found(result: AbstractQuantification, batch: Batch, label: str) -> Headline:
    """What was found for a class of a batch."""
    share = share_of(batch, label)
    return Headline(
        heading=_heading(result, batch, share),
        limits=_limits(result, batch, share),
        lead=_lead(replace(result, headline=label), batch, share),
        numbers=_numbers(result, batch, share),
    )


def headline_of_all(result: AbstractQuantification, label: str) -> Headline:
    """What was found for a class of several batches: the extremes, unless most have no estimate."""
    shares = [(share_of(batch, label), batch) for batch in result.batches]
    estimates = [(share.estimate, batch) for share, batch in shares if share.estimate is not None]
    n_either = sum(bool(share.either) for share, _ in shares)
    n_items = sum(batch.n_items for batch in result.batches)
    numbers = [("batches", f"{len(shares):,}"), ("items", f"{n_items:,}")]
    in_training = result.training.prevalence.get(label)
    if in_training is not None:
        numbers.insert(0, ("share in training", percent(in_training)))
    class_name = class_label(result, label)
    n_unknown = len(shares) - len(estimates) - n_either
    note = f"{counted(n_unknown, 'batch', 'batches')} cannot be estimated. " if n_unknown else ""
    if n_either:
        note += f"{counted(n_either, 'batch has', 'batches have')} one of two intervals. "
    lead = f"{note}Choose a batch below to see its interval and what it rests on."
    if 2 * n_unknown > len(shares):
        labels_would_do = all(
            batch.n_items and batch.reason not in NOTHING_KNOWN
            for share, batch in shares
            if not share.is_known
        )
        without_labels = " without labels" if labels_would_do else ""
        which = f"{n_unknown:,} of" if estimates else "any of"
        heading = (
            f"The share of {class_name} cannot be estimated{without_labels} in {which} "
            f"{len(shares):,} batches"
        )
        return Headline(heading, "see below why", lead, tuple(numbers))
    if not estimates:
        heading = (
            f"The share of {class_name} is one of two intervals in {n_either:,} of "
            f"{len(shares):,} batches"
        )
        return Headline(heading, "the items cannot tell which", lead, tuple(numbers))
    large, least = large_enough(estimates)
    telling = sorted(large, key=lambda entry: entry[0])
    if len(telling) == 1:
        return headline_found(result, telling[0][1], label)
    (low, first), (high, last) = telling[0], telling[-1]
    lowest, highest = (with_size(batch, batch_label(result, batch)) for batch in (first, last))
    low_text, high_text = percents([low, high])
    verb = "are" if result.label is None else "have"
    n_smaller = len(estimates) - len(telling)
    return Headline(
        heading=f"{low_text} ({lowest}) to {high_text} ({highest}) of the items {verb} "
        f"{class_name}",
        limits=f"{counted(len(telling), 'batch', 'batches')}{smaller_text(n_smaller, least)}, "
        f"{counted(n_items, 'item')} in all",
        lead=lead,
        numbers=(
            (f"lowest share, {lowest}", low_text),
            (f"highest share, {highest}", high_text),
            *numbers,
        ),
    )


def leading_batch(result: AbstractQuantification) -> int:
    """The number of the batch that the page is about at first.

    That is the last of batches that follow one another, unless it has just begun: one with fewer
    than half as many items as is usual says little yet. The first of other batches.
    """
    if not (result.in_sequence or len(result.batches) == 1):
        return 0
    # Rows without a date are not the newest.
    sizes = {i: b.n_items for i, b in enumerate(result.batches) if b.name != NO_GROUP}
    if len(sizes) < 3:
        return max(sizes, default=0)
    usual = median(sizes.values())
    return max(i for i, size in sizes.items() if 2 * size >= usual)


def later_batches_text(result: AbstractQuantification) -> str:
    """Why the headline is not about the last batch, in a sentence; empty if it is."""
    after = result.batches[leading_batch(result) + 1 :]
    later = [batch for batch in after if batch.name != NO_GROUP]
    if not later or not result.in_sequence:
        return ""
    names = [f"{batch_label(result, b)} ({counted(b.n_items, 'item')})" for b in later[-3:]]
    verb = "has" if len(names) == 1 else "have"
    return (
        f"{', '.join(names)} {verb} fewer than half as many items as is usual; the headline is "
        "about the batch before"
    )


def batch_label(result: AbstractQuantification, batch: Batch) -> str:
    """The displayed name of a batch, with its column if the name alone says nothing ("12")."""
    name = shortened(batch.name)
    if class_names(result.by, [batch.name])[batch.name] == batch.name:
        return name
    return f"{shortened(result.by or '')} {name}"


def class_label(result: AbstractQuantification, label: str) -> str:
    """The displayed name of a class, with the label column: "Exited = 1"."""
    if result.names.get(label, label) != label or result.label is None:
        return shown(result, label)
    return f"{shortened(result.label)} = {shown(result, label)}"


def _heading(result: AbstractQuantification, batch: Batch, share: Share) -> str:
    label, where = class_label(result, share.label), batch_label(result, batch)
    if not share.is_known:
        labels_would_do = batch.reason not in NOTHING_KNOWN and bool(batch.alternatives)
        without_labels = " without labels" if labels_would_do else ""
        return f"The share of {label} in {where} cannot be estimated{without_labels}"
    verb = "are" if result.label is None else "have"
    items = counted(batch.n_items, "item")
    if share.either:
        bounds = " or ".join(limits(part.low, part.high) for part in share.parts)
        return f"Either {bounds} of the {items} in {where} {verb} {label}"
    found = estimate_text(share)
    if batch.kind is Kind.RANGE:
        found = limits(share.low, share.high)
    return f"{found} of the {items} in {where} {verb} {label}{conditionally(batch)}"


def _limits(result: AbstractQuantification, batch: Batch, share: Share) -> str:
    bounds = limits(share.low, share.high)
    if share.either:
        return "; ".join(f"{limits(c.low, c.high)} {c.condition}" for c in share.either)
    if share.estimate is None:
        return f"anything from {bounds} is possible"
    if batch.kind is Kind.RANGE:
        return "what remains possible, not a confidence interval"
    if batch.kind is Kind.CONDITIONAL:
        undeclared = undeclared_text(replace(result, headline=share.label), batch)
        return f"{100 * result.level:g}% interval {bounds}" + (
            f"; {undeclared}" if undeclared else ""
        )
    at_every_look = " at every look" if batch.kind is Kind.SEQUENCE else ""
    return f"{100 * result.level:g}% confidence interval{at_every_look} {bounds}"


def _lead(result: AbstractQuantification, batch: Batch, share: Share) -> str:
    if not share.is_known:
        return f"{answer(result, batch)}."
    why = batch.basis
    if not why:
        return ""
    why = f"The number {why}" if why.startswith("assumes") else f"{why[:1].upper()}{why[1:]}"
    accuracy = "" if batch.accuracy is None else f" {batch.accuracy.sentence}"
    return f"{why}.{accuracy}"


def _numbers(
    result: AbstractQuantification, batch: Batch, share: Share
) -> tuple[tuple[str, str], ...]:
    in_training = result.training.prevalence.get(share.label)
    name = f"share of {shown(result, share.label)}"
    return (
        *([] if share.either else [(name, estimate_text(share))]),
        (
            limits_head(batch.kind, result.level),
            " or ".join(limits(part.low, part.high) for part in share.parts),
        ),
        *([] if in_training is None else [("share in training", percent(in_training))]),
        ("items", f"{batch.n_items:,}"),
    )
