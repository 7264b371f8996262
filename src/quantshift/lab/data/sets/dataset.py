"""A data set as experiments use it: items with labels and features."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Indices, Posteriors
from quantshift.lab.shifts.parts.given_items import Given
from quantshift.tables.preparation import TableColumns
from quantshift.texts.counts import CountMatrix
from quantshift.texts.tfidf import TfidfView
from quantshift.texts.view import MatrixView, View

STARS_CUT = 3.0
"""Reviews with more stars are positive, with fewer negative, as in the paper."""

Features: TypeAlias = CountMatrix | MatrixView | TableColumns
"""Term counts, a matrix, or the columns of a table."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Items with labels (or ordered levels), perhaps categories, and features or posteriors.

    name        valid as a folder name; it identifies the data set in results
    title       display name
    labels      the user's labels; None for an item without one (of a given sample, say)
    order       the classes in a given order; None: sorted
    ordinal     the labels are numbers whose order has a meaning
    cut_point   where ordered labels are cut into two classes unless an experiment says otherwise;
                None: every level is a class
    categories  the column that defines covariate shifts
    groups      further columns, which define natural shifts
    posteriors  (n_items, n_classes), a column for each of the sorted classes
    given       samples that come with the data, prevalences also by the sorted classes
    test        positions of the items kept for testing, if the data set was split when it was made;
                all others are for training. None: every experiment splits the items itself
    hash        identifies the content; results of different data do not mix
    """

    name: str
    title: str
    labels: NDArray[Any]
    order: NDArray[Any] | None = None
    ordinal: bool = False
    cut_point: float | None = None
    categories: NDArray[Any] | None = None
    groups: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    features: Features | None = None
    posteriors: Posteriors | None = None
    given: Given | None = None
    test: Indices | None = None
    hash: str

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def labelled(self) -> Indices:
        """Positions of the items that have a label."""
        if self.labels.dtype != object:
            return np.arange(len(self.labels))
        return np.flatnonzero(self.labels != None)  # noqa: E711 - item by item

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes in their order; the positive one of two is last."""
        if self.order is not None:
            return self.order
        labels = self.labels[self.labelled]
        return np.unique(np.array(labels.tolist()) if labels.dtype == object else labels)

    def view(self, rows: ArrayLike) -> View:
        """The features as the training set at `rows` defines them."""
        if isinstance(self.features, CountMatrix):
            return TfidfView.fit(self.features, rows)
        if isinstance(self.features, TableColumns):
            return self.features.view(rows)
        if self.features is None:
            return MatrixView(np.empty((len(self.labels), 0)))
        return self.features
