"""Errors of the methods on the user's own groups, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.records import as_frame
from quantshift.base.imports import extra_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAVE_ONE_OUT, FORWARD = "leave-one-out", "forward"

YEARS = range(1900, 2100)


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
    notes: which groups were pooled or left out, in sentences.
    """

    column: str
    design: str
    every: str
    method: str
    groups: tuple[LeftOutGroup, ...]
    errors: Mapping[str, float]
    notes: tuple[str, ...]

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
        from quantshift.quantifying.output.advice import groups_text

        return groups_text(self)

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """The error of every method on every group, and the mean of each."""
        with extra_needed("plots"):
            from quantshift.quantifying.output.plotting import plot_group_errors

        return plot_group_errors(self, ax)
