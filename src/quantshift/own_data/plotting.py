"""A quantification as a matplotlib chart."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from quantshift.errors import unknown_name
from quantshift.own_data.rendering import share_of, shown
from quantshift.own_data.result import Answer
from quantshift.own_data.words import shortened

MOST_NAMED = 30
"""With more rows only every so many are named."""


def plot_shares(result: Answer, label: str | None, ax: Axes | None) -> Axes:
    """Points with their intervals, one row per class or per batch, the first at the top.

    label: the class, batch by batch; of one batch all classes if it is None.
    """
    lead = result.headline if label is None else label
    if lead not in result.classes:
        raise unknown_name("class", lead, result.classes)
    if len(result.batches) == 1 and label is None:
        (batch,) = result.batches
        rows = [(shown(result, share.label), share) for share in batch.shares]
        title = f"share in {shortened(batch.name)}"
    else:
        rows = [(shortened(b.name, 24), share_of(b, lead)) for b in result.batches]
        title = f"share of {shown(result, lead)}"
    if ax is None:
        # Not pyplot's: a figure that nobody has to close.
        ax = Figure(figsize=(7, 1.2 + 0.3 * min(len(rows), 40)), layout="constrained").subplots()
    for place, (_, share) in enumerate(rows):
        ax.plot([share.low, share.high], [place, place], color="C0", alpha=0.4, linewidth=5)
        if share.estimate is not None:
            ax.plot(share.estimate, place, "o", color="C0")
    step = -(-len(rows) // MOST_NAMED)
    ax.set_yticks(range(0, len(rows), step), [name for name, _ in rows[::step]], parse_math=False)
    ax.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xlabel(f"{title}, {100 * result.level:g} % interval", parse_math=False)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    return ax
