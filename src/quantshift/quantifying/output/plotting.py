"""A quantification as a matplotlib chart."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from quantshift.answers.words import shortened
from quantshift.quantifying.output.advice import METHOD_NAMES
from quantshift.quantifying.training.group_errors import GroupErrors


def plot_group_errors(groups: GroupErrors, ax: Axes | None) -> Axes:
    """A row per method, smallest mean error at the top: a bar for the mean, a dot per group."""
    methods = sorted(groups.errors, key=lambda method: groups.errors[method])
    if ax is None:
        ax = Figure(figsize=(7, 1.2 + 0.4 * len(methods)), layout="constrained").subplots()
    for row, method in enumerate(methods):
        colour = "C0" if method == groups.method else "0.45"
        ax.barh(row, groups.errors[method], height=0.6, color=colour, alpha=0.35)
        errors = [group.errors[method] for group in groups.groups]
        ax.plot(errors, [row] * len(errors), "o", color=colour, alpha=0.8, markersize=4)
        ax.annotate(
            f"{100 * groups.errors[method]:.1f}",
            (max(errors), row),
            (8, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    names = [METHOD_NAMES.get(method, method) for method in methods]
    ax.set_yticks(range(len(methods)), names, parse_math=False)
    ax.set(ylim=(len(methods) - 0.5, -0.5))
    ax.set_xlim(0, 1.12 * max(max(g.errors.values()) for g in groups.groups) + 0.01)
    ax.set_xlabel(
        f"error on each left-out group of {shortened(groups.column, 24)}, and its mean, in points",
        parse_math=False,
    )
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    return ax
