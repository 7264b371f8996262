"""Coverage of credible intervals and of regions, by simulation.

    python benchmarks/regions.py [--parts intervals,regions] [--repeats 200] [--seed 0]
        [--methods PACC,SLD] [--settings 3x50x500,5x200x500]

Prior shift holds by construction: items of K classes have posteriors from overlapping Gaussians, a
training set of as many items of each class, and a sample whose prevalence is uniform on the
simplex. Every repetition draws all three again. Levels are 95%.

intervals: the share of classes within their limits, mean width and Winkler's score, for the
Bayesian methods and others. PQ is compared with the share among the sample's items, the others with
the prevalence that the sample was drawn from.

regions: the share of repetitions in which the region contains the prevalence, and the share of the
simplex that it covers, by kind.

Errors are standard errors over repetitions.
"""

import argparse
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from quantshift import ACC, PQ, BayesianCC, BayesianKDEy
from quantshift.base.seeding import generator
from quantshift.intervals.prediction import aggregate_interval
from quantshift.intervals.regions import KINDS, region_of
from quantshift.quantifiers.base import catalogue

SETTINGS = ((2, 50, 200), (2, 500, 1000), (3, 50, 500), (3, 500, 300), (5, 200, 500))
"""Classes, training items of each class, items of a sample."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", default="intervals,regions")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--methods", default="PACC,SLD,BayesianCC,BayesianKDEy", help="of regions")
    parser.add_argument("--settings", default="", help="of regions, as 3x50x500,5x200x500")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with threadpool_limits(1):
        for part in options.parts.split(","):
            print(f"\n{part}")
            {"intervals": intervals, "regions": regions}[part](options)


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
    sample, y_sample = drawn(size, p, rng)
    return known, y, sample, p, np.bincount(y_sample, minlength=n_classes) / size


def shown(values: list[Any]) -> str:
    numbers = np.array(values, dtype=float)
    return f"{numbers.mean():.3f} +- {numbers.std(ddof=1) / len(numbers) ** 0.5:.3f}"


def winkler(truth: Any, low: Any, high: Any, *, level: float) -> Any:
    """Winkler's score of intervals: the width, and 2 / (1 - level) times what they miss by."""
    missed = np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0)
    return high - low + 2 / (1 - level) * missed


def intervals(options: Any) -> None:
    print(f"{'':44} {'coverage':>15} {'width':>15} {'Winkler':>15} {'error':>15}")
    for setting in SETTINGS:
        for method in (ACC(), BayesianCC(), PQ(), BayesianKDEy()):
            rows: list[list[float]] = []
            for repeat in range(options.repeats):
                known, y, sample, p, sample_shares = problem(*setting, repeat, options.seed)
                target = sample_shares if isinstance(method, PQ) else p
                fitted = method.fit_posteriors(known, y)
                found = aggregate_interval(fitted, sample, n_bootstrap=400)
                rows.append(
                    [
                        np.mean((found.low <= target) & (target <= found.high)),
                        np.mean(found.high - found.low),
                        winkler(target, found.low, found.high, level=0.95).mean(),
                        np.abs(found.prevalence - target).mean(),
                    ]
                )
            name = "{} classes, {} training items each, {}: ".format(*setting)
            cells = [shown(column) for column in zip(*rows, strict=True)]
            print(f"{name + type(method).__name__:44}", *(f"{c:>15}" for c in cells), flush=True)


def regions(options: Any) -> None:
    print(f"{'':44}", *(f"{kind:>15} {'of the simplex':>15}" for kind in KINDS))
    given = [tuple(map(int, s.split("x"))) for s in options.settings.split(",") if s]
    for setting in given or SETTINGS[2:]:
        for name in options.methods.split(","):
            method = catalogue.quantifiers()[name]()
            held: dict[str, list[float]] = {kind: [] for kind in KINDS}
            share: dict[str, list[float]] = {kind: [] for kind in KINDS}
            for repeat in range(options.repeats):
                known, y, sample, p, _ = problem(*setting, repeat, options.seed)
                found = aggregate_interval(method.fit_posteriors(known, y), sample, n_bootstrap=200)
                for kind in KINDS:
                    region = region_of(found, kind=kind)
                    held[kind].append(float(region.contains(p)))
                    share[kind].append(region.simplex_share())
            name = "{} classes, {} training items each, {}: ".format(*setting)
            cells = [c for kind in KINDS for c in (shown(held[kind]), shown(share[kind]))]
            print(f"{name + type(method).__name__:44}", *(f"{c:>15}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
