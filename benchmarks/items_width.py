"""Intervals for the share among the items, against those for the population.

    python benchmarks/items_width.py [--classes 2,3,10] [--separations 1.5,3,4.5] [--sizes 100,500]
        [--doors posteriors,sketch,columns] [--method SubclassSLD] [--repeats 20]
        [--first-repeat 0] [--bootstrap 200] [--against FOLDER]

Classes are normal with the same variance, their centres as far apart as --separations say. A
repeat draws 1,000 labelled items with equal shares and two samples of each size, whose shares are
uniform on the simplex. Doors: `posteriors` of a model trained elsewhere, calibrated by SLD; the
same as a `sketch` of counts; `columns`, from which --method learns: SubclassSLD, or GuardedSLD with
prior shift declared. Intervals of the items should hold the shares among them, those of the
population the shares that they were drawn with. Printed by door, number of classes, separation and
size: the area under the ROC curve (each class against the others), coverage and mean width of both
intervals, the ratio of the widths, and the largest ratio of any sample; with standard errors over
repeats. --against is a clone or a work tree of another version (0.2.0 or later): how often its
interval of the same samples, from posteriors by SLD or from columns by SubclassSLD, holds the share
among the items, and how many times wider it is.
"""

import argparse
import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from other_version import OtherVersion
from quantshift import SLD, GuardedSLD, SubclassSLD, sketch
from quantshift.base.seeding import generator
from quantshift.intervals import guarded_intervals
from quantshift.intervals.prediction import aggregate_interval, predict_interval
from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals

N_TRAINING, N_SAMPLES = 1000, 2

METHODS = {"SubclassSLD": SubclassSLD, "GuardedSLD": partial(GuardedSLD, assume="prior")}

OTHER = "other version"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--classes", default="2,3,10")
    parser.add_argument("--separations", default="1.5,3,4.5")
    parser.add_argument("--sizes", default="100,500")
    parser.add_argument("--doors", default="posteriors,sketch,columns")
    parser.add_argument("--method", default="SubclassSLD", choices=["SubclassSLD", "GuardedSLD"])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--bootstrap", type=int, default=200)
    parser.add_argument("--against", help="folder of another version")
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), ExitStack() as stack:
        other = stack.enter_context(OtherVersion(options.against)) if options.against else None
        found = pd.DataFrame(list(run(options, other)))
    print(summary(found))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any, other: OtherVersion | None) -> Iterator[dict[str, Any]]:
    """A row for every class of every sample."""
    classes, sizes = (list(map(int, v.split(","))) for v in (options.classes, options.sizes))
    separations, doors = map(float, options.separations.split(",")), options.doors.split(",")
    repeats = range(options.first_repeat, options.first_repeat + options.repeats)
    for n_classes, gap, repeat in itertools.product(classes, separations, repeats):
        rng = generator(repeat, purpose="width of items", n_classes=n_classes, gap=gap)
        centres = gap / np.sqrt(2) * np.eye(n_classes)
        elsewhere, labelled = (
            drawn(np.full(n_classes, 1 / n_classes), N_TRAINING, centres, rng) for _ in range(2)
        )
        model = LogisticRegression(max_iter=1000).fit(*elsewhere)
        q = model.predict_proba(labelled[0])
        scores = q[:, 1] if n_classes == 2 else q
        auc = roc_auc_score(labelled[1], scores, multi_class="ovr")
        sld = SLD().fit_posteriors(q, labelled[1])
        learnt = METHODS[options.method]().fit(*labelled) if "columns" in doors else None
        for size, sample in itertools.product(sizes, range(N_SAMPLES)):
            p = rng.dirichlet(np.ones(n_classes))
            X, y = drawn(p, size, centres, rng)
            posteriors = model.predict_proba(X)
            shares = np.bincount(y, minlength=n_classes) / size
            for door in doors:
                limits = {}
                for of in (ITEMS, POPULATION):
                    how = {"of": of, "n_bootstrap": options.bootstrap}
                    if door == "columns":
                        limits[of] = from_columns(learnt, X, **how)
                    elif door == "posteriors":
                        limits[of] = both(aggregate_interval(sld, posteriors, **how))
                    else:
                        limits[of] = both(from_counts(sld, posteriors, **how))
                truths = {ITEMS: shares, POPULATION: p}
                if other is not None:
                    asked = ("SubclassSLD", *labelled, X)
                    if door != "columns":
                        asked = ("SLD", q, labelled[1], posteriors)
                    limits[OTHER], truths[OTHER] = other.limits(*asked, options.bootstrap), shares
                key = {"door": door, "classes": n_classes, "gap": gap, "n": size, "repeat": repeat}
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
        return both(predict_interval(quantifier, X, **how))
    found = guarded_intervals(quantifier, quantifier.items(X), [np.arange(len(X))], **how)
    return found.low[0], found.high[0]


def drawn(p: Any, n: int, centres: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Items and their classes."""
    y = np.arange(n) % len(p) if np.ptp(p) == 0 else rng.choice(len(p), n, p=p)
    return centres[y] + rng.normal(size=(n, len(p))), y


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
    for key, part in found.groupby(["door", "classes", "gap", "n"], sort=False):
        by_repeat = part.groupby("repeat").mean(numeric_only=True)
        mean, error = by_repeat.mean(), by_repeat.sem()
        line = (
            "{:>10} {:2d} classes, separation {}, n = {:4d}".format(*key)
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


if __name__ == "__main__":
    main()
