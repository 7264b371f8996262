"""Prevalences drawn from the simplex: uniformly (Kraemer's algorithm), or from a Dirichlet.

With many classes a grid of prevalences becomes too large; random draws cover the simplex with as
many samples as one can afford. Few real distributions of ordered classes are as jagged as a uniform
draw, so methods for ordered classes are compared on the smoothest draws as well (APP-OQ).

References: N. A. Smith and R. W. Tromble, "Sampling uniformly from the unit simplex" (2004);
Z. Lipton et al., "Detecting and correcting for label shift with black box predictors", ICML 2018
(Dirichlet shift); M. Bunse et al., "Regularization-based methods for ordinal quantification", Data
Mining and Knowledge Discovery 38 (2024) (jaggedness, APP-OQ).
"""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Prevalences
from quantshift.errors import DataError, UserError
from quantshift.lab.shifts.natural import AbstractNaturalTraining
from quantshift.lab.shifts.parts.coordinates import prevalence_value
from quantshift.lab.shifts.parts.strata import Recipe, Strata
from quantshift.lab.shifts.protocol import Words
from quantshift.prevalence import simplex

MOST_CANDIDATES = 1_000_000
"""The most prevalences from which the smoothest are chosen."""


@final
@dataclass(frozen=True, kw_only=True)
class UniformPrevalence(AbstractNaturalTraining):
    """Uniform prevalence (prior probability shift, drawn from the simplex).

    Each test sample has a prevalence of its own, the same for every training set; training sets are
    random samples of their pool. Degree as in prior shift.

    Parameters
    ----------
    seed : int
        Seed of all draws.
    test_size : int
        Items of a test sample.
    train_size : int
        Items of a training set.
    test_repeats : int
        Draws at each point of the test grid.
    train_repeats : int
        Draws at each point of the training grid.
    replace : bool
        Whether items are drawn with replacement.
    positive : class label, optional
        The class that prevalences refer to if there are two; by default the last.
    whole_pool : bool
        Train on the whole training pool, instead of drawing from it.
    splits : int
        Divisions of the data into training and test items, each with its own training sets.
    n_classes : int, optional
        Filled in by an experiment.
    concentration : float
        Of a symmetric Dirichlet distribution of the prevalences. 1 is uniform; below 1 most samples
        are dominated by few classes; far above 1 all classes are equally common.
    smoothest : float
        For ordered classes, the share of the prevalences to keep, those with the smallest sum of
        squared second differences. 0.2 is APP-OQ, 1 keeps all. Enough candidates are drawn to leave
        `test_repeats`.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat(["ham", "spam"], 300)
    >>> protocol = UniformPrevalence(test_size=50, test_repeats=3)
    >>> len(list(protocol.samples(y)))
    3
    """

    name: ClassVar[str] = "uniform"
    changes: ClassVar[str] = "P(Y) changes (uniform on the simplex), P(X|Y) stays"
    title: ClassVar[str] = "Uniform prevalence"
    later_options: ClassVar[frozenset[str]] = frozenset(
        {"concentration", "smoothest", "splits", "whole_pool"}
    )

    concentration: float = 1.0
    smoothest: float = 1.0

    def words(self) -> Words:
        """Title and summary say how the prevalences were drawn."""
        title, drawn = self.title, "uniformly from all possible ones"
        if self.concentration != 1:
            title = f"Dirichlet prevalence (concentration {self.concentration:g})"
            most = (
                "dominated by fewer classes" if self.concentration < 1 else "nearer to equal shares"
            )
            drawn = (
                f"from a symmetric Dirichlet distribution of concentration {self.concentration:g}, "
                f"which are {most} than uniform ones"
            )
        selection = ""
        if self.smoothest != 1:
            title += f", the smoothest {self.smoothest:.0%}"
            selection = f", and the smoothest {self.smoothest:.0%} of them are kept"
        summary = f"The prevalences of the samples are drawn {drawn}{selection}."
        return replace(super().words(), title=title, summary=summary)

    def _test_recipes(self, strata: Strata, labels: NDArray[Any]) -> list[Recipe]:
        size = self._size("test")
        points = self._points(len(self._repeats("test")), len(strata.classes), seed=self.seed)
        return [
            Recipe(
                {"p_test": prevalence_value(point)},
                [*simplex.whole_counts(point, size).tolist(), 0],
                labels,
                range(repeat, repeat + 1),
            )
            for repeat, point in enumerate(points)
        ]

    def drawn_prevalences(self, n_samples: int, n_classes: int, *, seed: int) -> Prevalences:
        """New prevalences, as concentrated and as smooth as those of the test samples."""
        return self._points(n_samples, n_classes, seed=seed, side="validation")

    def _points(
        self, n_samples: int, n_classes: int, *, seed: int, side: str = "test"
    ) -> Prevalences:
        """The prevalence of each sample, (n_samples, n_classes)."""
        axes = {"shift": self.name, "side": side, "draws": "prevalence"}

        def point(number: int) -> Prevalences:
            return self._point(n_classes, generator(seed, **axes, repeat=number))

        if not 0 < self.smoothest <= 1:
            raise UserError(f"smoothest={self.smoothest} must be above 0 and at most 1")
        if self.smoothest == 1:
            return np.stack([point(number) for number in range(n_samples)])
        if n_classes < 3:
            raise DataError(
                f"smoothest={self.smoothest:g} needs three ordered classes or more, found "
                f"{n_classes}; leave it out"
            )
        n_candidates = math.ceil(round(n_samples / self.smoothest, 6))
        if n_candidates > MOST_CANDIDATES:
            raise UserError(
                f"smoothest={self.smoothest:g} of {n_candidates:,} prevalences is too small a "
                f"share; at most {MOST_CANDIDATES:,} are drawn"
            )
        drawn = np.stack([point(number) for number in range(n_candidates)])
        smoothest = np.argsort(jaggedness(drawn), kind="stable")[:n_samples]
        return np.asarray(drawn[np.sort(smoothest)])

    def _point(self, n_classes: int, rng: np.random.Generator) -> Prevalences:
        if self.concentration == 1:
            return np.asarray(simplex.uniform(1, n_classes, rng)[0])
        if not (0 < self.concentration < math.inf):
            raise UserError(f"concentration={self.concentration} must be above 0 and finite")
        return np.asarray(rng.dirichlet(np.full(n_classes, self.concentration)))


def jaggedness(prevalences: Prevalences) -> NDArray[np.float64]:
    """Sum of squared second differences of prevalences of ordered classes, (..., n_classes).

    >>> jaggedness(np.array([[0.2, 0.3, 0.5], [0.5, 0.0, 0.5]])).round(2).tolist()
    [0.01, 1.0]
    """
    return np.asarray((np.diff(prevalences, n=2, axis=-1) ** 2).sum(axis=-1))
