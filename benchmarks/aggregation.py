"""Aggregation compared with QuaPy 0.2.3: 1,050 samples of 500 posteriors, binary, one core.

    python benchmarks/aggregation.py [--small]

Both sides get the same posteriors and the same samples; QuaPy aggregates them in a loop, as its
users do. Prints milliseconds per sample, the ratio, the largest difference of the estimates, and
the peak memory of our call beyond what the pool itself needs, in units of the posteriors gathered
for one block of samples.

Then SLD with 5 and 10 classes that overlap little, much and very much, 200 samples of uniformly
drawn prevalence each: speed, and by how much the estimates violate the conditions of a maximum of
the likelihood (largest of g_k - 1, and of p_k |g_k - 1|, with g_k the mean of r_k / (p . r); it
bounds how far the mean log-likelihood is below its maximum). All draws come from seed 0.
"""

import argparse
import time
import tracemalloc
import warnings
from typing import Any

import numpy as np
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from quantshift import ACC, CC, PACC, PCC, SLD, SMM, DyS, HDy
from quantshift.quantifiers.base.samples import BLOCK_ITEMS

N_SAMPLES, SIZE, POOL, KNOWN = 1050, 500, 50_000, 5_000
N_MULTICLASS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial: a tenth of the samples")
    shrink = 10 if parser.parse_args().small else 1
    n_samples, n_multiclass = N_SAMPLES // shrink, N_MULTICLASS // shrink
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from quapy.method import aggregative as quapy
        from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    known, y = posteriors(rng, KNOWN)
    pool, labels = posteriors(rng, POOL)
    index = samples(rng, labels, n_samples)
    classifier = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    frozen = (classifier, False)
    emq = quapy.EMQ(*frozen)
    emq.train_prevalence = np.bincount(y) / len(y)
    pairs: list[tuple[Any, Any, bool]] = [
        (CC(), quapy.CC(*frozen), True),
        (PCC(), quapy.PCC(*frozen), False),
        (ACC(), quapy.ACC(*frozen, val_split=None), True),
        (PACC(), quapy.PACC(*frozen, val_split=None), False),
        (SMM(), quapy.SMM(*frozen, val_split=None), False),
        (DyS(), quapy.DyS(*frozen, val_split=None, n_bins=10, divergence="topsoe"), False),
        (HDy(), quapy.HDy(*frozen, val_split=None), False),
        (SLD(calibration="none"), emq, False),
    ]
    block = BLOCK_ITEMS * 2 * 8
    print(f"{n_samples} samples of {SIZE} from a pool of {POOL}; ms per sample, one core")
    print(f"{'':5} {'QuaPy':>8} {'ours':>8} {'ratio':>7} {'difference':>11} {'memory':>9}")
    with threadpool_limits(1):
        for ours, theirs, crisp in pairs:
            theirs.aggregation_fit(known.argmax(axis=1) if crisp else known, y)
            given = pool.argmax(axis=1) if crisp else pool
            begun = time.perf_counter()
            reference = np.array([theirs.aggregate(given[row])[1] for row in index])
            slow = time.perf_counter() - begun
            ours.fit_posteriors(known, y)
            fast = min(timed(ours, pool, index) for _ in range(5))
            p_hat = ours.aggregate(pool, index)[:, 1]
            tracemalloc.start()
            ours.aggregate(pool, index)
            peak = tracemalloc.get_traced_memory()[1] - fixed_cost(ours, pool)
            tracemalloc.stop()
            print(
                f"{type(ours).__name__:5} {1e3 * slow / n_samples:8.3f} "
                f"{1e3 * fast / n_samples:8.4f} "
                f"{slow / fast:6.0f}x {np.abs(p_hat - reference).max():11.1e} "
                f"{peak / block:7.2f} x"
            )
    print(f"memory: peak, in units of the posteriors gathered for a block ({block / 2**20:.1f} MB)")
    print()
    print(
        f"SLD, {n_multiclass} samples of {SIZE}; ms per sample, one core; violation of KKT, largest"
    )
    print(f"{'':18} {'QuaPy':>8} {'ours':>8} {'ratio':>7} {'QuaPy':>9} {'ours':>9}")
    with threadpool_limits(1):
        for n_classes in (5, 10):
            for separation in (4.0, 2.0, 1.0, 0.5):
                multiclass(rng, emq, n_classes, separation, n_multiclass)


def multiclass(
    rng: np.random.Generator, emq: Any, n_classes: int, separation: float, n_samples: int
) -> None:
    """One line: Gaussian scores of unit variance, each class `separation` along an axis."""
    y = rng.integers(n_classes, size=20_000)
    scores = rng.normal(size=(len(y), n_classes)) + separation * np.eye(n_classes)[y]
    pool = softmax(separation * scores, axis=1)
    prior = np.bincount(y) / len(y)
    weights = rng.dirichlet(np.ones(n_classes), n_samples) / prior
    index = np.stack([rng.choice(len(y), SIZE, p=w[y] / w[y].sum()) for w in weights])
    ours = SLD(calibration="none").fit_posteriors(pool, y)
    ours.aggregate(pool, index[:1])  # compiled
    fast = min(timed(ours, pool, index) for _ in range(5))
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its limit of 1,000 steps
        reference = np.array([emq.EM(prior, pool[row])[0] for row in index])
    slow = time.perf_counter() - begun
    worst = [
        max(violation(pool[row] / prior, p) for row, p in zip(index, estimates, strict=True))
        for estimates in (reference, ours.aggregate(pool, index))
    ]
    print(
        f"{n_classes:2} classes, {separation:3} apart {1e3 * slow / len(index):8.3f} "
        f"{1e3 * fast / len(index):8.4f} {slow / fast:6.0f}x {worst[0]:9.1e} {worst[1]:9.1e}"
    )


def violation(likelihood: np.ndarray, p: np.ndarray) -> float:
    excess = (likelihood / (likelihood @ p)[:, np.newaxis]).mean(axis=0) - 1
    return float(max(excess.max(), (p * np.abs(excess)).max()))


def timed(quantifier: Any, pool: np.ndarray, index: np.ndarray) -> float:
    begun = time.perf_counter()
    quantifier.aggregate(pool, index)
    return time.perf_counter() - begun


def fixed_cost(quantifier: Any, pool: np.ndarray) -> int:
    """Memory that the pool itself needs, whatever the samples: its check and representation."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    quantifier.aggregate(pool, np.zeros((1, 1), dtype=np.int64))
    return tracemalloc.get_traced_memory()[1] - before


def posteriors(rng: np.random.Generator, n_items: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n_items)
    p = 1 / (1 + np.exp(-1.2 * rng.normal(1.2 * (2 * y - 1), 1.3)))
    return np.column_stack([1 - p, p]), y


def samples(rng: np.random.Generator, labels: np.ndarray, n_samples: int) -> np.ndarray:
    members = [np.flatnonzero(labels == code) for code in (0, 1)]
    rows = []
    for p in np.linspace(0, 1, 21):
        for _ in range(n_samples // 21):
            counts = SIZE - round(p * SIZE), round(p * SIZE)
            parts = [rng.choice(m, c, replace=False) for m, c in zip(members, counts, strict=True)]
            rows.append(np.concatenate(parts))
    return np.stack(rows)


if __name__ == "__main__":
    main()
