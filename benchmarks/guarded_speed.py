"""The time GuardedSLD takes: for the fit, for a batch, and for many samples of one batch.

    python benchmarks/guarded_speed.py [--rows 5000] [--columns 30] [--repeats 3]

Gaussian columns, a label that depends on three of them, one thread; the median of the repetitions.
The limits are 5 s for the fit and .3 s for a batch of 500 rows, without the bootstrap.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from quantshift import GuardedSLD

BATCH, SAMPLES = 500, 200


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X, y = drawn(options.rows, options.columns, rng)
    pool, _ = drawn(20 * BATCH, options.columns, rng)
    samples = [rng.choice(len(pool), BATCH, replace=False) for _ in range(SAMPLES)]
    with threadpool_limits(1):
        # The first call compiles.
        quantifier = GuardedSLD(mode="columns").fit(X, y)
        quantifier.predict(pool[:BATCH])
        fit = seconds(lambda: GuardedSLD(mode="columns").fit(X, y), options.repeats)
        batch = seconds(lambda: quantifier.predict(pool[:BATCH]), options.repeats)
        many = seconds(lambda: quantifier.predict(pool, samples), options.repeats)
    print(f"fit of {options.rows} rows x {options.columns} columns: {fit:.2f} s")
    print(f"a batch of {BATCH} rows: {batch:.3f} s")
    print(f"{SAMPLES} samples of {BATCH} of {len(pool)} rows: {1000 * many / SAMPLES:.2f} ms each")


def drawn(n: int, n_columns: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Rows, and labels that depend on them."""
    X = rng.normal(size=(n, n_columns))
    odds = np.exp(X[:, 0] - X[:, 1] * X[:, 2] - 0.5)
    return X, (rng.random(n) < odds / (1 + odds)).astype(int)


def seconds(action: Callable[[], Any], repeats: int) -> float:
    """Median time of an action, in seconds of this process."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        action()
        times.append(time.process_time() - begun)
    return float(np.median(times))


if __name__ == "__main__":
    main()
