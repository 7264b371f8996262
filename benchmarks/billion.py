"""A billion scores in 1,000 batches: counting, estimating, intervals.

    python benchmarks/billion.py                    # 1 billion rows, about 12 GB of Parquet
    python benchmarks/billion.py --rows 50_000_000  # a twentieth, for a quick look

Rows are drawn (seed 0) and written as Parquet, a part at a time; each part is counted by
`quantshift.sketch` from its file and removed, so that the disk holds one part. Writing is not
timed. Then: the estimates of all batches (SLD) and their intervals from the sketch of a training
set of 20,000 items. Memory is the peak of a process that does nothing but count.

The same estimates by QuaPy's EMQ, if it can be imported: one batch by one, on `--peer` rows, and
extrapolated linearly to all rows. It gets the scores in memory; reading is not timed for it.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from quantshift import Sketch, quantify_sketch, sketch

PART_ROWS = 10_000_000
TRAINING = 20_000


def scores(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1 / (1 + np.exp(-(1.4 * (2 * codes - 1) + 1.4 * rng.normal(size=len(codes)))))


def part(number: int, n_rows: int, n_batches: int) -> pl.DataFrame:
    """Rows of consecutive batches, whose shares go from 10% to 30%."""
    rng = np.random.default_rng([0, number])
    batch = rng.integers(0, n_batches, n_rows)
    codes = (rng.random(n_rows) < 0.1 + 0.2 * batch / n_batches).astype(np.int8)
    return pl.DataFrame({"p": scores(codes, rng), "batch": batch.astype(np.int32)})


def counted(path: str) -> tuple[Sketch, float, float, float]:
    """In a process of its own: the sketch of a file, seconds, processor seconds, peak memory."""
    begun, used = time.perf_counter(), time.process_time()
    made = sketch(path, score="p", batch="batch")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return made, time.perf_counter() - begun, time.process_time() - used, peak


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=10**9)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--peer", type=lambda text: int(text.replace("_", "")), default=1_000_000)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    codes = (rng.random(TRAINING) < 0.4).astype(int)
    training = pl.DataFrame({"p": scores(codes, rng), "y": codes})
    n_parts = -(-options.rows // PART_ROWS)
    sizes = [min(PART_ROWS, options.rows - i * PART_ROWS) for i in range(n_parts)]
    wall = processor = peak = 0.0
    whole: Sketch | None = None
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, spawn.Pool(1) as pool:
        for number, size in enumerate(sizes):
            path = Path(folder) / f"{number}.parquet"
            part(number, size, options.batches).write_parquet(path)
            made, seconds, used, memory = pool.apply(counted, (str(path),))
            path.unlink()
            begun = time.perf_counter()
            whole = made if whole is None else whole.merge(made)
            wall += seconds + time.perf_counter() - begun
            processor, peak = processor + used, max(peak, memory)
    assert whole is not None
    assert whole.n_rows == options.rows
    print(f"counting: {options.rows:,} rows in {wall:.0f} s wall, {processor:.0f} s processor")
    print(
        f"  {options.rows / wall:,.0f} rows/s wall, {options.rows / processor:,.0f} per processor s"
    )
    merging = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"  peak memory: counting process {peak:.2f} GB; this one, which draws rows and merges,")
    print(f"  {merging:.2f} GB")
    print(f"  sketch: {len(whole.to_bytes()) / options.batches:,.0f} bytes for each batch")
    begun, used = time.perf_counter(), time.process_time()
    answer = quantify_sketch(whole, sketch(training, score="p", label="y", bins=True))
    print(
        f"estimates, intervals and tests of {options.batches:,} batches: "
        f"{time.perf_counter() - begun:.0f} s wall, {time.process_time() - used:.0f} s processor"
    )
    truth = 0.1 + 0.2 * np.arange(options.batches) / options.batches
    by_name = {batch.name: batch for batch in answer.batches}
    shares = [by_name[str(i)].shares[1] for i in range(options.batches)]
    errors = np.array([share.estimate for share in shares]) - truth
    held = np.mean([s.low <= t <= s.high for s, t in zip(shares, truth, strict=True)])
    alarms = np.mean([batch.shift.rejected for batch in answer.batches if batch.shift])
    noise = np.sqrt(np.mean((errors - errors.mean()) ** 2))
    print(f"  mean error {errors.mean():+.4f} (one training set), spread over batches {noise:.4f}")
    print(f"  intervals hold the truth in {held:.1%}; shift marked in {alarms:.1%} of batches")
    compare(training, options)


def compare(training: pl.DataFrame, options: argparse.Namespace) -> None:
    """QuaPy on a part."""
    try:
        from quapy.method.aggregative import EMQ
    except ImportError:
        print("QuaPy is not installed: not compared")
        return
    rows = part(0, options.peer, 1)["p"].to_numpy()
    posteriors = np.column_stack([1 - rows, rows])
    prior = np.array([1 - training["y"].mean(), training["y"].mean()])
    begun = time.perf_counter()
    EMQ.EM(prior, posteriors)
    seconds = time.perf_counter() - begun
    print(
        f"QuaPy EMQ.EM on {options.peer:,} scores in memory: {seconds:.2f} s; extrapolated to "
        f"{options.rows:,} rows: {seconds * options.rows / options.peer:,.0f} s, no intervals"
    )


if __name__ == "__main__":
    main()
