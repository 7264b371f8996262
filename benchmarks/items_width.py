"""Intervals for the share among the items, against those for the population.

    python benchmarks/items_width.py [--classes 2,3,10] [--separations 1.5,3,4.5] [--sizes 100,500]
        [--doors posteriors,sketch,columns] [--repeats 20] [--first-repeat 0] [--bootstrap 200]

Classes are normal with the same variance, their centres as far apart as --separations say. A
repeat draws 1,000 labelled items with equal shares and two samples of each size, whose shares are
uniform on the simplex. Doors: `posteriors` of a model trained elsewhere, calibrated by SLD; the
same as a `sketch` of counts; `columns`, from which SubclassSLD learns. Intervals of the items
should hold the shares among them, those of the population the shares that they were drawn with.
Printed by door, number of classes, separation and size: the area under the ROC curve (each class
against the others), coverage and mean width of both intervals, the ratio of the widths, and the
largest ratio of any sample; with standard errors over repeats.
"""

import argparse
import itertools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from quantshift import SLD, SubclassSLD, sketch
from quantshift.base.seeding import generator
from quantshift.intervals.prediction import aggregate_interval, predict_interval
from quantshift.intervals.targets import ITEMS, POPULATION
from quantshift.sketches.estimating.batches import batches_of, grouped
from quantshift.sketches.estimating.intervals import CountIntervals

N_TRAINING, N_SAMPLES = 1000, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--classes", default="2,3,10")
    parser.add_argument("--separations", default="1.5,3,4.5")
    parser.add_argument("--sizes", default="100,500")
    parser.add_argument("--doors", default="posteriors,sketch,columns")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--bootstrap", type=int, default=200)
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1):
        found = pd.DataFrame(list(run(options)))
    print(summary(found))
    print(f"{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
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
        subclasses = SubclassSLD().fit(*labelled) if "columns" in doors else None
        for size, _ in itertools.product(sizes, range(N_SAMPLES)):
            p = rng.dirichlet(np.ones(n_classes))
            X, y = drawn(p, size, centres, rng)
            shares = np.bincount(y, minlength=n_classes) / size
            for door in doors:
                key = {"door": door, "classes": n_classes, "gap": gap, "n": size, "repeat": repeat}
                limits = {}
                for of in (ITEMS, POPULATION):
                    how = {"of": of, "n_bootstrap": options.bootstrap}
                    if door == "columns":
                        found = predict_interval(subclasses, X, **how)
                    elif door == "posteriors":
                        found = aggregate_interval(sld, model.predict_proba(X), **how)
                    else:
                        found = from_counts(sld, model.predict_proba(X), **how)
                    limits[of] = found.low, found.high
                for k in range(1, n_classes) if n_classes == 2 else range(n_classes):
                    yield {
                        **key,
                        "AUC": auc,
                        **columns("items", shares[k], *(end[k] for end in limits[ITEMS])),
                        **columns("population", p[k], *(end[k] for end in limits[POPULATION])),
                    }


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
        lines.append(
            "{:>10} {:2d} classes, separation {}, n = {:4d}".format(*key)
            + f", AUC {mean['AUC']:.3f}: items hold {mean['items: holds']:.3f} +- "
            f"{error['items: holds']:.3f}, width {mean['items: width']:.3f}; population "
            f"{mean['population: holds']:.3f}, {mean['population: width']:.3f}; narrower by "
            f"{mean['population: width'] / mean['items: width']:.1f}, ratio at most "
            f"{part['ratio'].max():.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
