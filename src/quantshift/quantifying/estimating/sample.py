"""What `quantify` needs to know of a sample, whether it is given by rows or by counts of scores."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from quantshift.answers.columns import LeftOutColumn
from quantshift.answers.rows import Rows
from quantshift.base.progress import OnProgress
from quantshift.base.types import Posteriors, Reals
from quantshift.claims.findings import Finding
from quantshift.prevalence.weights import Weights
from quantshift.quantifying.estimating.unlabelled import Evidence
from quantshift.quantifying.options import EstimationOptions
from quantshift.quantifying.result import Batch
from quantshift.quantifying.training.model import Model


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """The items of one batch as the classifier sees them.

    posteriors: a row for each item or, with counts, for `counts` items; 0 for a labelled item that
        another row already counts.
    labelled: the codes of labelled items by their row, in the order of labelling. n_skipped: rows
        of the audited table that may have been left without a label for what they are.
    weights: how much each row counts, if rows differ in that.
    n_items: how many are used; n_left_out: rows that are not, which the limits allow for.
    command: draws random items of the batch to label; deciding_command: draws enough of them to be
        labelled from the top until it is settled which of two shares is true. Both are empty if the
        batch is not a file.
    """

    name: str
    posteriors: Posteriors
    n_items: int
    n_left_out: int = 0
    labelled: Mapping[int, int] = field(default_factory=dict)
    counts: Reals | None = None
    command: str = ""
    deciding_command: str = ""
    n_skipped: int = 0
    weights: Weights | None = None

    @property
    def mean_posterior(self) -> tuple[Reals, Reals]:
        """The mean posterior of each class, and its variance as that of a sample."""
        q = self.posteriors
        weights = np.ones(len(q)) if self.weights is None else self.weights
        counts = np.ones(len(q)) if self.counts is None else self.counts
        shares = weights * counts / (weights @ counts)
        mean = shares @ q
        return mean, (shares**2 / np.maximum(counts, 1)) @ np.square(q - mean)


class AbstractSample(ABC):
    """The unlabelled items of a call, in batches.

    model: what they are estimated with. by: the column that divides them, if there is one.
    """

    model: Model
    by: str | None

    @abstractmethod
    def sizes(self) -> Mapping[str, int]:
        """How many items each batch has, in the order of the batches."""

    @abstractmethod
    def left_out(self, name: str) -> int:
        """How many rows of a batch are not among its items."""

    @abstractmethod
    def evidence(
        self, options: EstimationOptions, seed: int, progress: OnProgress
    ) -> Mapping[str, Evidence]:
        """The evidence on every batch that has items.

        The p-values of tests are adjusted for the number of batches.
        """

    @abstractmethod
    def scored(self, name: str) -> ScoredBatch:
        """The items of a batch."""

    @abstractmethod
    def completed(self, batch: Batch, evidence: Evidence) -> Batch:
        """The batch with whatever else can be said of it: the accuracy, columns that changed."""

    @abstractmethod
    def rows(self) -> tuple[Rows, ...]:
        """How many rows of each table were used."""

    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """Findings that are not about a single batch, those about training among them."""

    @abstractmethod
    def left_out_columns(self) -> Sequence[LeftOutColumn]:
        """The columns of the training table that are not used."""
