"""Shares with their limits as a matplotlib chart."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from quantshift.answers.kinds import limits_head
from quantshift.answers.shares import Answer, share_of
from quantshift.answers.text import shown
from quantshift.answers.words import shortened
from quantshift.claims import Kind
from quantshift.errors import unknown_name

MOST_NAMED = 400
"""A new figure is tall enough to name this many rows."""

NAMES_PER_INCH = 6
"""How many rows fit into an inch with their names; if there are more, some are not named."""


def plot_shares(
    result: Answer, label: str | None, ax: Axes | None, limits_name: str | None = None
) -> Axes:
    """Points with their intervals, one row per class or per batch, the first at the top.

    Two intervals of which one holds are two bars without a point.

    label: the class to show batch by batch; if None, a single batch is shown with all classes.
    limits_name: what to call the limits, if they are not an interval.
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
        # Not created by pyplot, so that it need not be closed.
        height = max(0.3 * min(len(rows), 40), min(len(rows), MOST_NAMED) / NAMES_PER_INCH)
        ax = Figure(figsize=(7, 1.2 + height), layout="constrained").subplots()
        most_named = max(len(rows), 1) if len(rows) <= MOST_NAMED else MOST_NAMED
    else:
        most_named = max(1, int(NAMES_PER_INCH * ax.get_window_extent().height / ax.figure.dpi))
    for position, (_, share) in enumerate(rows):
        for part in share.parts:
            # A bar that ends at its limits: the usual caps of a wide line go beyond them.
            ax.hlines(position, part.low, part.high, color="C0", alpha=0.4, linewidth=5)
        if share.estimate is not None:
            ax.plot(share.estimate, position, "o", color="C0")
    step = -(-len(rows) // most_named)
    ax.set_yticks(range(0, len(rows), step), [name for name, _ in rows[::step]], parse_math=False)
    ax.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
    head = limits_name or limits_head(Kind.INTERVAL, result.level)
    ax.set_xlabel(f"{title}, {head}", parse_math=False)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    return ax
