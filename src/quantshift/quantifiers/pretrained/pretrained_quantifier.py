"""A quantifier that was trained on simulated shifts: it gives a distribution, not only a number.

From one unlabelled sample nobody can tell how it differs from the training items, so every rule is
a guess. Here the guess is explicit: random worlds in which training set and sample differ in many
ways (`training/` in the repository), and a small network that has learnt from them how the share is
distributed, given what can be seen. A few labelled items of the sample make it narrower.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Indices, Prevalences, Reals
from quantshift.errors import DataError, UserError
from quantshift.prevalence.labels import encode_labels
from quantshift.prevalence.weights import Weights
from quantshift.quantifiers.base.estimator import (
    AbstractQuantifier,
    Diagnostics,
    Reduction,
    Samples,
)
from quantshift.quantifiers.base.items import Items, uneven
from quantshift.quantifiers.base.samples import count_samples, index_blocks
from quantshift.quantifiers.base.tags import Tags
from quantshift.quantifiers.pretrained.columns import N_COLUMNS, RelevantColumns
from quantshift.quantifiers.pretrained.distribution import HEDGE, ShareDistribution
from quantshift.quantifiers.pretrained.network import CELLS, cell_shares, log_density
from quantshift.quantifiers.pretrained.summaries import (
    LARGEST_LOGIT,
    Summaries,
    TaskBatch,
    mirrored,
    task_summaries,
)
from quantshift.quantifiers.pretrained.trained import network_weights

MOST_TRAINING_ITEMS, MOST_ITEMS = 2000, 4000
"""The most items that are looked at; from more, this many are drawn at random."""


class PretrainedQuantifier(AbstractQuantifier):
    """Pretrained Quantifier: the distribution of the share, learnt from simulated shifts.

    The estimate is the median of `distribution(X)`. Right on average over worlds like those that
    the network was trained on, which is no guarantee for a particular one; see the documentation
    for how it did on real tables. More than two classes: each against the rest.

    network: a file of weights of one's own training; None: those of the package.

    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> PretrainedQuantifier().fit(X, y).predict(X[100:250]).round(1)  # 100 of ham, 50 of spam
    array([0.7, 0.3])
    """

    tags: ClassVar[Tags] = Tags(
        assumption="training set and sample differ as in the simulated worlds of its training",
        plain_assumption="the data have shifted in a way similar to many simulated shifts",
        sees=frozenset({"posteriors", "features"}),
        beyond_prior_shift=True,
        draws_of_items=True,
    )
    diagnostics: ClassVar[Mapping[str, str]] = MappingProxyType({"uncertainty": "float"})

    def __init__(
        self,
        classifier: BaseEstimator | None = None,
        *,
        network: str | None = None,
        cv: int = 5,
        seed: int = 0,
    ) -> None:
        self.classifier = classifier
        self.network = network
        self.cv = cv
        self.seed = seed

    def predict(
        self,
        X: Any,
        samples: Samples | None = None,
        *,
        weights: ArrayLike | None = None,
        labelled: ArrayLike | None = None,
        labels: Sequence[Any] | NDArray[Any] | None = None,
    ) -> Prevalences:
        """Prevalence of the sample X, shape (n_classes,), in the order of `classes_`.

        With `samples` (an index matrix or a list of index arrays into X) the prevalence of each
        of them, shape (n_samples, n_classes); X is classified once.

        labelled, labels: positions of items of X drawn at random, and their labels.
        """
        if labelled is None and labels is None:
            return super().predict(X, samples, weights=weights)
        if samples is not None:
            raise UserError("labelled items belong to one sample: leave `samples` out")
        return self.distribution(X, weights=weights, labelled=labelled, labels=labels).share

    def distribution(
        self,
        X: Any,
        *,
        weights: ArrayLike | None = None,
        labelled: ArrayLike | None = None,
        labels: Sequence[Any] | NDArray[Any] | None = None,
    ) -> ShareDistribution:
        """The distribution of the shares among the items of X.

        labelled, labels: positions of items of X drawn at random, and their labels.
        """
        items = self.items(X, weights)
        known_labels = self._known_labels(labelled, labels, len(items))
        return self._distribution(items, np.arange(len(items)), known_labels)

    @property
    def shrinks(self) -> bool:
        """True: what it was trained on counts more for smaller samples."""
        return True

    def reduction(self, features: Any, codes: Codes, weights: Weights | None = None) -> Reduction:
        """The most relevant columns, standardised."""
        return RelevantColumns.learnt(features, codes, weights)

    def draws(
        self, items: Items, samples: Samples, n_draws: int, *, seed: int = 0
    ) -> Prevalences | None:
        """Draws from the distribution of each sample, (n_samples, n_draws, n_classes)."""
        drawn = np.empty((count_samples(samples), n_draws, len(self.classes_)))
        for members, index in index_blocks(samples, len(items)):
            for member, rows in zip(members.tolist(), index, strict=True):
                rng = generator(seed, purpose="interval", side="share", sample=member)
                drawn[member] = self._distribution(items, rows, {}).draws(n_draws, rng)
        return drawn

    def _learn(self, items: Items, codes: Codes) -> None:
        items = self._represent_items(items)
        rng = generator(self.seed, purpose="pretrained", side="training")
        rows = _at_most(MOST_TRAINING_ITEMS, np.arange(len(codes)), rng)
        # Every class must be seen, however rare it is.
        missing = np.setdiff1d(codes, codes[rows])
        rows = np.concatenate([rows, np.flatnonzero(np.isin(codes, missing))])
        self.seen_ = items.take(rows)
        self.seen_codes_ = codes[rows]

    def _represent_items(self, items: Items) -> Items:
        if items.posteriors is None or items.features is None:
            raise UserError("PretrainedQuantifier needs posteriors and features of the items")
        return items

    def _solve(
        self, representation: Items, index: Indices, weights: Weights | None = None
    ) -> tuple[Prevalences, Diagnostics]:
        items = replace(representation, weights=weights)
        distributions = [self._distribution(items, rows, {}) for rows in index]
        widths = [
            (of_sample.quantile(0.84) - of_sample.quantile(0.16)).max()
            for of_sample in distributions
        ]
        uncertainty = np.array(widths) / 2
        return np.stack([of_sample.share for of_sample in distributions]), {
            "uncertainty": uncertainty
        }

    def _known_labels(
        self, labelled: ArrayLike | None, labels: Any, n_items: int
    ) -> dict[int, int]:
        """The class number of each labelled item, by its position in the sample."""
        if labelled is None and labels is None:
            return {}
        if labelled is None or labels is None:
            raise UserError("give both: the positions of labelled items, and their labels")
        positions = np.asarray(labelled)
        if positions.dtype.kind not in "iu" or positions.ndim != 1 or len(positions) != len(labels):
            raise DataError(
                "labelled: give the positions of the labelled items, one for each label"
            )
        if len(np.unique(positions)) != len(positions):
            raise DataError("labelled: every position may occur only once")
        if positions.size and not 0 <= positions.min() <= positions.max() < n_items:
            raise DataError(f"labelled: positions are from 0 to {n_items - 1}")
        _, codes = encode_labels(labels, classes=self.classes_)
        return dict(zip(positions.tolist(), codes.tolist(), strict=True))

    def _distribution(
        self, items: Items, rows: Indices, known_labels: Mapping[int, int]
    ) -> ShareDistribution:
        """The distribution of one sample."""
        return self._answer(*self._seen_of(items, rows, known_labels))

    def _seen_of(
        self, items: Items, rows: Indices, known_labels: Mapping[int, int]
    ) -> tuple[Summaries, Reals, bool]:
        """What the network sees of one sample, which shares labels allow, whether there are any.

        Each class is looked at twice, as the class and as the rest, so that it makes no
        difference which of two classes comes first.
        """
        items = self._represent_items(items)
        assert items.posteriors is not None
        rng = generator(self.seed, purpose="pretrained", side="sample")
        chosen = _at_most(MOST_ITEMS, rows, rng, keep=known_labels)
        weights = None if items.weights is None else items.weights[chosen]
        sample = Items(items.posteriors[chosen], None, items.features[chosen], uneven(weights))
        labels = np.array([known_labels.get(row, -1) for row in chosen.tolist()])
        codes = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        views = [self._view(sample, labels, code) for code in codes]
        task = _stacked([view for pair in views for view in (pair, mirrored(pair))])
        possible = np.stack([_possible(labels, code, len(rows)) for code in codes])
        return task_summaries(task, cell_shares(np), np), possible, bool(known_labels)

    def _answer(self, seen: Summaries, possible: Reals, labelled: bool) -> ShareDistribution:
        """What the network says."""
        probabilities = np.exp(log_density(network_weights(self.network), seen, np))
        probabilities = (probabilities[::2] + probabilities[1::2, ::-1]) / 2 * possible
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        if len(self.classes_) == 2:
            probabilities = np.concatenate([probabilities[:, ::-1], probabilities])
        distribution = ShareDistribution(self.classes_, probabilities)
        return distribution.hedged(HEDGE) if labelled else distribution

    def _view(self, sample: Items, labels: Codes, code: int) -> TaskBatch:
        """What is seen if the question is the share of one class."""
        seen = self.seen_
        shape = (1, -1, N_COLUMNS)
        n_columns = seen.features.shape[1]
        padding = ((0, 0), (0, N_COLUMNS - n_columns))
        return TaskBatch(
            X=np.pad(seen.features, padding).reshape(shape),
            y=(self.seen_codes_ == code).astype(np.float64)[np.newaxis],
            logits=_logits(seen.posteriors, code),
            sample=np.pad(sample.features, padding).reshape(shape),
            sample_logits=_logits(sample.posteriors, code),
            shown=(np.arange(N_COLUMNS) < n_columns).astype(np.float64)[np.newaxis],
            weights=_shares(seen),
            sample_weights=_shares(sample),
            size=_size(seen),
            sample_size=_size(sample),
            labelled=(labels >= 0).astype(np.float64)[np.newaxis],
            labels=(labels == code).astype(np.float64)[np.newaxis],
        )


def _at_most(
    number: int, rows: Indices, rng: np.random.Generator, keep: Mapping[int, int] | None = None
) -> Indices:
    """This many of the rows, drawn at random, together with all of those to keep."""
    if len(rows) <= number:
        return rows
    drawn = np.sort(rng.choice(len(rows), number, replace=False))
    if keep:
        drawn = np.union1d(drawn, np.flatnonzero(np.isin(rows, list(keep))))
    return rows[drawn]


def _logits(posteriors: Any, code: int) -> Reals:
    p = np.clip(posteriors[:, code], 1e-6, 1 - 1e-6)
    logits = np.clip(np.log(p) - np.log1p(-p), -LARGEST_LOGIT, LARGEST_LOGIT)
    return np.asarray(logits)[np.newaxis]


def _shares(items: Items) -> Reals:
    weights = np.ones(len(items)) if items.weights is None else items.weights
    return np.asarray(weights / weights.sum())[np.newaxis]


def _size(items: Items) -> Reals:
    return np.array([len(items) if items.weights is None else items.weights.sum()], dtype=float)


def _stacked(tasks: Sequence[TaskBatch]) -> TaskBatch:
    names = TaskBatch.__dataclass_fields__
    return TaskBatch(**{name: np.concatenate([getattr(t, name) for t in tasks]) for name in names})


def _possible(labels: Codes, code: int, n_items: int) -> Reals:
    """1 for cells with shares that the labels allow, 0 for others."""
    least = (labels == code).sum() / n_items
    most = 1 - ((labels >= 0) & (labels != code)).sum() / n_items
    borders = np.sin(np.arange(CELLS + 1) * (np.pi / 2 / CELLS)) ** 2
    return np.asarray((borders[1:] > least) & (borders[:-1] < most), dtype=np.float64)
