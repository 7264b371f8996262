"""A judgement as a matplotlib chart."""

from matplotlib.axes import Axes

from quantshift.answers.show.plotting import plot_shares
from quantshift.claims import Kind
from quantshift.judging.result import AbstractJudgement


def plot_judgement(result: AbstractJudgement, label: str | None, ax: Axes | None) -> Axes:
    """Points with their intervals or ranges, and the naive rates as crosses."""
    ranges = all(batch.kind.is_range for batch in result.batches)
    ax = plot_shares(result, label, ax, Kind.RANGE if ranges else None)
    if len(result.batches) == 1 and label is None:
        naive = [result.batches[0].naive(share.label) for share in result.batches[0].shares]
    else:
        lead = result.headline if label is None else label
        naive = [batch.naive(lead) for batch in result.batches]
    points = [(p, position) for position, p in enumerate(naive) if p is not None]
    if points:
        ax.plot(*zip(*points, strict=True), "x", color="C3", label="by the verdicts alone")
        ax.legend(loc="best", frameon=False)
    return ax
