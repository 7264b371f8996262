"""Errors of the methods on the user's own groups, as plain data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.records import as_frame
from quantshift.base.imports import extra_needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAVE_ONE_OUT, FORWARD = "leave-one-out", "forward"


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
        "forward", for dates and years, trained on the earlier groups. every: the period by which
        dates were grouped, or nothing.
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
