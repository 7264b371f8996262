"""The answer to a call of `quantify`: what it found, and the ways to show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quantshift.answers.conditions import Condition
from quantshift.answers.show.answer import json_schema_of
from quantshift.answers.show.notebook import Summary
from quantshift.base.imports import extra_needed
from quantshift.quantifying.output.summaries import summary_of
from quantshift.quantifying.output.text import render_text, several_head
from quantshift.quantifying.result import AbstractQuantification

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Quantification(AbstractQuantification):
    """The answer to one call of `quantify`: printed, drawn, or taken apart.

    Attributes
    ----------
    batches : tuple of Batch
        What is known about each batch of the sample: its shares with their limits, of which kind
        they are and why, and what has changed.
    classes : tuple of str
        The classes.
    headline : str
        The class whose share is the headline.
    names : dict
        The displayed names of classes ("Exited = 1").
    label : str or None
        The column of the labels.
    level : float
        Confidence level of the limits.
    findings : tuple of Finding
        Warnings and notes that are not about a single batch.
    simultaneous : bool
        Whether the intervals of a batch hold for all classes at once or for each on its own; those
        of an audit hold for each.
    method, reason, assumption, plain_assumption : str
        The method, why it is used, and what it assumes, for experts and without formulas.
    used, left_out_columns : tuple
        The columns that items are made of, and the other columns of the table.
    sample_rows : tuple of Rows
        How many rows of each sample were read, used and left out.
    training : TrainingSide
        The labelled rows.
    groups : GroupErrors or None
        Errors of the methods on the groups of the training table.
    by : str or None
        The column that divides the sample into batches.
    in_sequence : bool
        Whether batches follow one another, like dates, so that each is compared with the one
        before.
    declared : str
        What the user has declared about the shift, in a sentence; empty if nothing.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> from quantshift import quantify
    >>> rng = np.random.default_rng(0)
    >>> left = rng.random(400) < 0.5
    >>> known = pl.DataFrame({"visits": rng.normal(8 - 4 * left), "left": left})
    >>> new = known.drop("left").head(200)
    >>> answer = quantify(new, train=known, label="left", classifier="logistic", replicates=200)
    >>> answer.to_frame().columns[:6].tolist()
    ['batch', 'items', 'left_out', 'class', 'estimate', 'low']
    >>> answer.batches[0].shares[0].label, answer.batches[0].shares[0].estimate is None
    ('False', False)
    """

    def to_text(self, *, details: bool = False) -> str:
        """What a terminal shows. details: with all that was tested, of every batch, and of what."""
        return render_text(self, details=details)

    def page(
        self,
        *,
        conditions: Sequence[Condition] = (),
        provenance: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A self-contained web page as one string of HTML; see `AbstractAnswer`."""
        from quantshift.quantifying.output.page import render_page

        return render_page(self, conditions=conditions, provenance=provenance)

    def plot(self, label: str | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Shares with their intervals: of all classes, or of one class batch by batch.

        label: the class, if there are several batches (default: the headline).
        """
        with extra_needed("plots"):
            from quantshift.answers.show.plotting import plot_shares
        return plot_shares(self, label, ax, several_head(self))

    def summary(self) -> Summary:
        """A few lines for the interactive shell."""
        return summary_of(self)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the output of `Quantification.to_json`."""
    return json_schema_of(Quantification)
