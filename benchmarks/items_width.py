"""Intervals for the share among the items, against those for the population.

    python benchmarks/items_width.py [--classes 2,3,10] [--separations 1.5,3,4.5] [--sizes 100,500]
        [--tables digits,breast_cancer] [--doors posteriors,sketch,columns]
        [--method SubclassSLD] [--repeats 20] [--first-repeat 0] [--bootstrap 200]
        [--against FOLDER]
    python benchmarks/items_width.py --ideal

Classes are normal with the same variance, their centres as far apart as --separations say. A
repeat draws 1,000 labelled items with equal shares and two samples of each size, whose shares are
uniform on the simplex. With --tables the items are rows of tables of scikit-learn: a third of them
trains a model, a third is labelled, and samples are of the rest.

Doors: `posteriors` of a model trained elsewhere, calibrated by SLD; the same as a `sketch` of
counts; `columns`, from which --method learns: SubclassSLD, or GuardedSLD with prior shift declared.
Intervals of the items should hold the shares among them, those of the population the shares that
they were drawn with. Printed by door, classes and size: the area under the ROC curve (each class
against the others), coverage and mean width of both intervals, the ratio of the widths, and the
largest ratio of any sample; with standard errors over repeats. --against is a clone or a work tree
of another version (0.2.0 or later): how often its interval of the same samples, from posteriors by
SLD or from columns by SubclassSLD, holds the share among the items, and how many times wider it is.

--ideal prints instead how many times wider the interval for the population must be, by the
variances of SLD and two normal classes (`ideal_ratios`).
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from parts.other_version import OtherVersion
from quantshift import SLD, GuardedSLD, SubclassSLD
from quantshift.base.seeding import generator
from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.quantifiers import guarded_intervals
from quantshift.sketches import sketch
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals

N_TRAINING, N_SAMPLES = 1000, 2

METHODS = {"SubclassSLD": SubclassSLD, "GuardedSLD": partial(GuardedSLD, assume="prior")}

OTHER = "other version"

TABLES = {"digits": load_digits, "breast_cancer": load_breast_cancer}

Drawn = tuple[tuple[Any, Any], tuple[Any, Any], Callable[[int], tuple[Any, Any, Any]]]
"""Items to train a model on and labelled items, with their classes, and what draws a sample: its
population's shares, items and classes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--classes", default="2,3,10")
    parser.add_argument("--separations", default="1.5,3,4.5")
    parser.add_argument("--tables", help="digits, breast_cancer: instead of normal classes")
    parser.add_argument("--sizes", default="100,500")
    parser.add_argument("--doors", default="posteriors,sketch,columns")
    parser.add_argument("--method", default="SubclassSLD", choices=["SubclassSLD", "GuardedSLD"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--bootstrap", type=int, default=200)
    parser.add_argument("--against", help="folder of another version")
    parser.add_argument("--ideal", action="store_true")
    options = parser.parse_args()
    if options.ideal:
        print(ideal_ratios())
        return
    begun = time.perf_counter()
    with threadpool_limits(1), ExitStack() as stack:
        other = stack.enter_context(OtherVersion(options.against)) if options.against else None
        found = pd.DataFrame(list(run(options, other)))
    print(summary(found))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any, other: OtherVersion | None) -> Iterator[dict[str, Any]]:
    """A row for every class of every sample."""
    sizes, doors = list(map(int, options.sizes.split(","))), options.doors.split(",")
    repeats = range(options.first_repeat, options.first_repeat + options.repeats)
    for world, repeat in itertools.product(worlds(options), repeats):
        elsewhere, labelled, draw = world.drawn(repeat)
        n_classes = world.n_classes
        model = LogisticRegression(max_iter=1000).fit(*elsewhere)
        q = model.predict_proba(labelled[0])
        scores = q[:, 1] if n_classes == 2 else q
        auc = roc_auc_score(labelled[1], scores, multi_class="ovr")
        sld = SLD().fit_posteriors(q, labelled[1])
        learnt = METHODS[options.method]().fit(*labelled) if "columns" in doors else None
        for size, sample in itertools.product(sizes, range(N_SAMPLES)):
            p, X, y = draw(size)
            posteriors = model.predict_proba(X)
            shares = np.bincount(y, minlength=n_classes) / size
            for door in doors:
                limits = {}
                for of in (ITEMS, POPULATION):
                    how = {"of": of, "n_bootstrap": options.bootstrap}
                    if door == "columns":
                        limits[of] = from_columns(learnt, X, **how)
                    elif door == "posteriors":
                        limits[of] = both(sld.aggregate_interval(posteriors, **how))
                    else:
                        limits[of] = both(from_counts(sld, posteriors, **how))
                truths = {ITEMS: shares, POPULATION: p}
                if other is not None:
                    asked = ("SubclassSLD", *labelled, X)
                    if door != "columns":
                        asked = ("SLD", q, labelled[1], posteriors)
                    limits[OTHER], truths[OTHER] = other.limits(*asked, options.bootstrap), shares
                key = {"door": door, "world": str(world), "n": size, "repeat": repeat}
                for k in range(1, n_classes) if n_classes == 2 else range(n_classes):
                    row = {**key, "sample": sample, "class": k, "share": shares[k], "AUC": auc}
                    for of, (low, high) in limits.items():
                        row |= columns(of, truths[of][k], low[k], high[k])
                    yield row


def both(interval: Any) -> tuple[Any, Any]:
    """The limits of an interval."""
    return interval.low, interval.high


def from_columns(quantifier: Any, X: Any, **how: Any) -> tuple[Any, Any]:
    """The limits for a sample of rows."""
    if isinstance(quantifier, SubclassSLD):
        return both(quantifier.predict_interval(X, **how))
    found = guarded_intervals(quantifier, quantifier.items(X), [np.arange(len(X))], **how)
    return found.low[0], found.high[0]


@dataclass(frozen=True)
class Normal:
    """Normal classes with their centres `gap` apart."""

    n_classes: int
    gap: float

    def __str__(self) -> str:
        return f"{self.n_classes:2d} classes, separation {self.gap}"

    def drawn(self, repeat: int) -> Drawn:
        """Items to train a model on, labelled items, and what draws a sample."""
        K, gap = self.n_classes, self.gap
        rng = generator(repeat, purpose="width of items", n_classes=K, gap=gap)
        codes = np.arange(N_TRAINING) % K
        elsewhere, labelled = ((self._items(codes, rng), codes) for _ in range(2))

        def draw(size: int) -> tuple[Any, Any, Any]:
            p = rng.dirichlet(np.ones(K))
            y = rng.choice(K, size, p=p)
            return p, self._items(y, rng), y

        return elsewhere, labelled, draw

    def _items(self, y: Any, rng: np.random.Generator) -> Any:
        centres = self.gap / np.sqrt(2) * np.eye(self.n_classes)
        return centres[y] + rng.normal(size=(len(y), self.n_classes))


@dataclass(frozen=True)
class Table:
    """A table of scikit-learn: a third trains, a third is labelled, samples are of the rest."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(np.unique(self._columns[1]))

    @cached_property
    def _columns(self) -> tuple[Any, Any]:
        X, y = TABLES[self.name](return_X_y=True)
        return scale(X), y

    def drawn(self, repeat: int) -> Drawn:
        """Items to train a model on, labelled items, and what draws a sample."""
        X, y = self._columns
        rng = generator(repeat, purpose="width of items", table=self.name)
        *training, rest = np.array_split(rng.permutation(len(y)), 3)
        elsewhere, labelled = ((X[rows], y[rows]) for rows in training)
        members = [rest[y[rest] == k] for k in range(self.n_classes)]

        def draw(size: int) -> tuple[Any, Any, Any]:
            while True:  # until there are enough rows of every class
                p = rng.dirichlet(np.ones(self.n_classes))
                counts = rng.multinomial(size, p)
                if all(n <= len(own) for n, own in zip(counts, members, strict=True)):
                    break
            drawn = [
                rng.choice(own, n, replace=False) for own, n in zip(members, counts, strict=True)
            ]
            rows = np.concatenate(drawn)
            return p, X[rows], y[rows]

        return elsewhere, labelled, draw


def worlds(options: Any) -> Iterator[Normal | Table]:
    """What samples are drawn from."""
    if options.tables:
        yield from map(Table, options.tables.split(","))
        return
    for n_classes, gap in itertools.product(
        options.classes.split(","), options.separations.split(",")
    ):
        yield Normal(int(n_classes), float(gap))


def from_counts(sld: SLD, posteriors: Any, **how: Any) -> Any:
    """The interval from a sketch of the posteriors."""
    names = [f"p{k}" for k in range(posteriors.shape[1])]
    frame = pl.DataFrame(dict(zip(names, posteriors.T, strict=True)))
    made = sketch(frame.with_columns(day=pl.lit("1")), posteriors=names, batch="day")
    order = list(range(len(names)))
    batches = batches_of(made, order)
    maker = CountIntervals(sld, level=0.95, seed=0, **how)
    ((found,), _) = maker.of(list(batches), grouped(made, batches, list(batches), order))
    return found


def columns(name: str, truth: float, low: float, high: float) -> dict[str, float]:
    """Whether the limits hold the truth, and how wide they are."""
    held = low - 1e-9 <= truth <= high + 1e-9
    return {f"{name}: holds": float(held), f"{name}: width": float(high - low)}


def summary(found: pd.DataFrame) -> str:
    """Means, and standard errors over repeats."""
    found = found.assign(ratio=found["items: width"] / found["population: width"].clip(lower=1e-9))
    lines = []
    for key, part in found.groupby(["door", "world", "n"], sort=False):
        by_repeat = part.groupby("repeat").mean(numeric_only=True)
        mean, error = by_repeat.mean(), by_repeat.sem()
        line = (
            "{:>10} {}, n = {:4d}".format(*key)
            + f", AUC {mean['AUC']:.3f}: items hold {mean['items: holds']:.3f} +- "
            f"{error['items: holds']:.3f}, width {mean['items: width']:.3f}; population "
            f"{mean['population: holds']:.3f}, {mean['population: width']:.3f}; narrower by "
            f"{mean['population: width'] / mean['items: width']:.1f}, ratio at most "
            f"{part['ratio'].max():.2f}"
        )
        if f"{OTHER}: width" in found:
            times, error_of_it = ratio_of_means(
                by_repeat[f"{OTHER}: width"], by_repeat["items: width"]
            )
            line += (
                f"; other version {mean[f'{OTHER}: holds']:.3f}, {mean[f'{OTHER}: width']:.3f}; "
                f"narrower by {times:.2f} +- {error_of_it:.2f}"
            )
        lines.append(line)
    return "\n".join(lines)


def ratio_of_means(above: Any, below: Any) -> tuple[float, float]:
    """The mean of the one by that of the other, and its standard error to the first order."""
    ratio = above.mean() / below.mean()
    return ratio, (above - ratio * below).sem() / below.mean()


def ideal_ratios() -> str:
    """The ratio of ideal widths: for shares of .5 and .1, and of mean widths over all shares.

    Let p be the posterior of an item at the sample's share pi, and rho the mean of p (1 - p)
    divided by pi (1 - pi). With known posteriors the variance of SLD is pi (1 - pi) / n / (1 - rho)
    for the population, and rho times that for the items. Posteriors that were fitted on training
    items, by logistic regression, add the same variance to both.
    """
    shares, sizes = (np.arange(100) + 0.5) / 100, (100, 500, 1000)
    lines = [f"AUC, shares .5 and .1, all; all with {N_TRAINING} training items, n = {sizes}"]
    for auc in (0.9, 0.97, 0.98, 0.99, 0.999):
        gap = np.sqrt(2) * ndtri(auc)
        known = [ratio_of_widths(gap, np.array(of), 1, 0.0) for of in ([0.5], [0.1], shares)]
        fitted = [ratio_of_widths(gap, shares, n, 1 / N_TRAINING) for n in sizes]
        lines.append(f"{auc}: " + ", ".join(f"{ratio:.2f}" for ratio in known + fitted))
    return "\n".join(lines)


def ratio_of_widths(gap: float, shares: Any, n: int, per_training_item: float) -> float:
    """Mean ideal width for the population by that for the items, over samples of these shares.

    Two normal classes that are `gap` apart, equally common among the training items;
    per_training_item: 1 by the number of these, or 0 if posteriors are known.
    """
    x = np.linspace(-9, 9 + gap, 20_001)
    one, other = (np.exp(-((x - centre) ** 2) / 2) for centre in (gap, 0.0))
    total = one.sum()
    powers = np.stack([np.ones_like(x), x])
    q = one / (one + other)
    information = (powers * ((one + other) / 2 * q * (1 - q) / total)) @ powers.T
    # Classes of fixed size say nothing about the intercept by their numbers.
    covariance = np.linalg.inv(information) - np.diag([4.0, 0.0])
    widths = []
    for share in shares:
        mixed = share * one + (1 - share) * other
        p = share * one / mixed
        slopes = powers @ (mixed * p * (1 - p) / total)
        variance = share * (1 - share)
        rho = slopes[0] / variance
        training = per_training_item * slopes @ covariance @ slopes / (1 - rho) ** 2
        labels = variance / n / (1 - rho)
        widths.append(np.sqrt([labels + training, rho * labels + training]))
    population, items = np.mean(widths, axis=0)
    return float(population / items)


if __name__ == "__main__":
    main()
