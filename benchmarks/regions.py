"""Coverage of regions of all classes at once, by simulation.

    python benchmarks/regions.py [--repeats 200] [--seed 0] [--methods PACC,SLD]
        [--settings 3x50x500,5x200x500]

Prior shift holds by construction: items of K classes have posteriors from overlapping Gaussians, a
training set of as many items of each class, and a sample whose prevalence is uniform on the
simplex. Every repetition draws all three again. Levels are 95%.

Printed are the share of repetitions in which the region contains the prevalence, and the share of
the simplex that it covers, by kind. `coverage_methods.py` has the intervals of each class. Errors
are standard errors over repetitions.
"""

import argparse
from typing import Any, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from quantshift.base.seeding import generator
from quantshift.intervals.regions import RegionKind, region_of
from quantshift.quantifiers.base import catalogue

SETTINGS = ((3, 50, 500), (3, 500, 300), (5, 200, 500))
"""Classes, training items of each class, items of a sample."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--methods", default="PACC,SLD,BayesianCC,BayesianKDEy")
    parser.add_argument("--settings", default="", help="as 3x50x500,5x200x500")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with threadpool_limits(1):
        regions(options)


def drawn(n: int, p: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.choice(len(p), n, p=p)
    logits = 2 * (rng.normal(size=(n, len(p))) + 1.2 * np.eye(len(p))[y])
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True), y


def problem(n_classes: int, n_train: int, size: int, repeat: int, seed: int) -> tuple[Any, ...]:
    rng = generator(
        seed, purpose="regions", n_classes=n_classes, n_train=n_train, size=size, repeat=repeat
    )
    parts = [drawn(n_train, np.eye(n_classes)[k], rng) for k in range(n_classes)]
    known, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    p = rng.dirichlet(np.ones(n_classes))
    return known, y, drawn(size, p, rng)[0], p


def shown(values: list[Any]) -> str:
    numbers = np.array(values, dtype=float)
    return f"{numbers.mean():.3f} +- {numbers.std(ddof=1) / len(numbers) ** 0.5:.3f}"


def regions(options: Any) -> None:
    print(f"{'':44}", *(f"{kind:>15} {'of the simplex':>15}" for kind in get_args(RegionKind)))
    given = [tuple(map(int, s.split("x"))) for s in options.settings.split(",") if s]
    for setting in given or SETTINGS:
        for name in options.methods.split(","):
            method = catalogue.quantifiers()[name]()
            held: dict[str, list[float]] = {kind: [] for kind in get_args(RegionKind)}
            share: dict[str, list[float]] = {kind: [] for kind in get_args(RegionKind)}
            for repeat in range(options.repeats):
                known, y, sample, p = problem(*setting, repeat, options.seed)
                found = method.fit_posteriors(known, y).aggregate_interval(sample, n_bootstrap=200)
                for kind in get_args(RegionKind):
                    region = region_of(found, kind=kind)
                    held[kind].append(float(region.contains(p)))
                    share[kind].append(region.simplex_share())
            name = "{} classes, {} training items each, {}: ".format(*setting)
            cells = [
                c for kind in get_args(RegionKind) for c in (shown(held[kind]), shown(share[kind]))
            ]
            print(f"{name + type(method).__name__:44}", *(f"{c:>15}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
