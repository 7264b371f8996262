"""A judgement as a matplotlib chart."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from quantshift.errors import unknown_name
from quantshift.judging.result import JudgedBatch, Judgement
from quantshift.own_data.plotting import draw_shares
from quantshift.own_data.rendering import shown
from quantshift.own_data.result import Share
from quantshift.own_data.words import shortened


def plot_judgement(result: Judgement, label: str | None, ax: Axes | None) -> Axes:
    """Points with their intervals, and the naive rates as crosses."""
    lead = result.headline if label is None else label
    if lead not in result.classes:
        raise unknown_name("class", lead, result.classes)
    if len(result.batches) == 1 and label is None:
        (batch,) = result.batches
        rows = [(shown(result, share.label), share) for share in batch.shares]
        naive = [_naive(batch, share.label) for share in batch.shares]
        title = f"share in {shortened(batch.name)}"
    else:
        rows = [(shortened(b.name, 24), _share(b.shares, lead)) for b in result.batches]
        naive = [_naive(batch, lead) for batch in result.batches]
        title = f"share of {shown(result, lead)}"
    ax = draw_shares(rows, f"{title}, {100 * result.level:g} % interval", ax)
    known = [(p, place) for place, p in enumerate(naive) if p is not None]
    if known:
        ax.plot(*zip(*known, strict=True), "x", color="C3", label="by the verdicts alone")
        ax.legend(loc="best", frameon=False)
    return ax


def _naive(batch: JudgedBatch, label: str) -> float | None:
    naive = batch.judges[0].naive if batch.judges else None
    return None if naive is None else naive[label]


def _share(shares: Sequence[Share], label: str) -> Share:
    return next(share for share in shares if share.label == label)
