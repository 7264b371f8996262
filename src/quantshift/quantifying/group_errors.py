"""Errors of the methods on the user's own groups, and the ways to show them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quantshift.answers.show.records import as_frame
from quantshift.answers.words import shortened
from quantshift.base.imports import extra_needed
from quantshift.base.nouns import counted
from quantshift.claims.findings import Finding
from quantshift.quantifiers.baselines import BASELINE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAVE_ONE_OUT, FORWARD = "leave-one-out", "forward"

YEARS = range(1900, 2100)

METHOD_NAMES: Mapping[str, str] = MappingProxyType({BASELINE: "training prevalence"})
"""Displayed names of methods whose acronyms say nothing to most readers."""


def is_year(name: str) -> bool:
    """Whether a group is a year."""
    return name.isdecimal() and int(name) in YEARS


@dataclass(frozen=True)
class LeftOutGroup:
    """One group, estimated by a model that was trained without it.

    n_items: its rows that were estimated; n_trained: rows that the model learnt from.
    prevalence: the known shares of the classes. estimates: by method and class. errors: by method,
    the mean absolute error over the classes. refuted: whether its features refute label shift; None
    if there are no features.
    """

    name: str
    n_items: int
    n_trained: int
    prevalence: Mapping[str, float]
    estimates: Mapping[str, Mapping[str, float]]
    errors: Mapping[str, float]
    refuted: bool | None


@dataclass(frozen=True, repr=False)
class GroupErrors:
    """Each group of a column, estimated by models that have not seen it.

    column: the column of the groups. design: "leave-one-out", trained on all other groups; or
        "forward", for dates, years and numbered periods, trained on the earlier ones. every: the
        period by which dates were grouped, or nothing.
    method: the one that the model uses.
    errors: by method, the mean of the groups' errors.
    findings: which groups were pooled or left out.
    """

    column: str
    design: str
    every: str
    method: str
    groups: tuple[LeftOutGroup, ...]
    errors: Mapping[str, float]
    findings: tuple[Finding, ...]

    @property
    def in_time(self) -> bool:
        """Whether each group was estimated from those before it."""
        return self.design == FORWARD

    @property
    def noun(self) -> str:
        """What one of them is called: group, month, year, period."""
        if not self.in_time:
            return "group"
        years = all(is_year(group.name) for group in self.groups)
        return self.every or ("year" if years else "period")

    def to_frame(self) -> Any:
        """A data frame with a row per group, method and class: pandas if it is installed."""
        return as_frame(self.records())

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`."""
        for group in self.groups:
            for method, shares in group.estimates.items():
                for label, estimate in shares.items():
                    truth = group.prevalence[label]
                    yield {
                        "group": group.name,
                        "items": group.n_items,
                        "trained_on": group.n_trained,
                        "method": method,
                        "class": label,
                        "truth": truth,
                        "estimate": estimate,
                        "error": abs(estimate - truth),
                    }

    def __repr__(self) -> str:
        """How far off each method would have been, in a sentence."""
        return groups_text(self)

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """The error of every method on every group, and the mean of each.

        A row per method, smallest mean error at the top: a bar for the mean, a dot per group.
        """
        with extra_needed("plots"):
            from matplotlib.figure import Figure
            from matplotlib.ticker import PercentFormatter

        methods = sorted(self.errors, key=lambda method: self.errors[method])
        if ax is None:
            ax = Figure(figsize=(7, 1.2 + 0.4 * len(methods)), layout="constrained").subplots()
        for row, method in enumerate(methods):
            colour = "C0" if method == self.method else "0.45"
            ax.barh(row, self.errors[method], height=0.6, color=colour, alpha=0.35)
            errors = [group.errors[method] for group in self.groups]
            ax.plot(errors, [row] * len(errors), "o", color=colour, alpha=0.8, markersize=4)
            ax.annotate(
                f"{100 * self.errors[method]:.1f}",
                (max(errors), row),
                (8, 0),
                textcoords="offset points",
                verticalalignment="center",
            )
        names = [METHOD_NAMES.get(method, method) for method in methods]
        ax.set_yticks(range(len(methods)), names, parse_math=False)
        ax.set(ylim=(len(methods) - 0.5, -0.5))
        ax.set_xlim(0, 1.12 * max(max(g.errors.values()) for g in self.groups) + 0.01)
        ax.set_xlabel(
            f"error on each left-out group of {shortened(self.column, 24)}, "
            "and its mean, in points",
            parse_math=False,
        )
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
        return ax


def groups_text(groups: GroupErrors) -> str:
    """How far off each method would have been on the user's own groups, in a sentence."""
    others = sorted(
        (m for m in groups.errors if m not in (groups.method, BASELINE)),
        key=lambda method: groups.errors[method],
    )
    method_used = f"{groups.method}, the method used here, would have been off by {_points(groups)}"
    other_methods = ", ".join(f"{m} by {100 * groups.errors[m]:.1f}" for m in others)
    n_groups = counted(len(groups.groups), groups.noun)
    how = "each estimated from those before it" if groups.in_time else "each left out in turn"
    baseline = f"assuming the training prevalence by {100 * groups.errors[BASELINE]:.1f}"
    return (
        f"On your own {groups.column!r} ({n_groups}, {how}) {method_used}, {other_methods}; "
        f"{baseline}."
    )


def _points(groups: GroupErrors) -> str:
    return f"{100 * groups.errors[groups.method]:.1f} points on average"
