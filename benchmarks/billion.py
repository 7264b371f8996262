"""A billion scores in 1,000 batches: counting, estimating, intervals.

    python benchmarks/billion.py                    # 1 billion rows, about 10 GB of Parquet
    python benchmarks/billion.py --rows 20_000_000  # a fiftieth, for a quick look
    python benchmarks/billion.py --folder scores    # rows are kept there, and taken from there

Rows are drawn (seed 0) and written as Parquet files of 5 million rows, in any order of batches:
every file has rows of every batch. Writing is not timed; a run that is repeated with the same
folder draws only the files that are missing. Without a folder the files are in a temporary one; if
the disk does not hold them all at once, nothing is begun.

Then, each in a process of its own: `quantshift.sketch` counts all files, as one call; and the
estimates (SLD), intervals and tests of all batches are made from the sketch of a training set of
20,000 items. Peak memory is that of these processes with all they have started.

The same estimates by QuaPy's EMQ, if it can be imported: one sample of `--peer` rows, extrapolated
linearly to all rows. It gets the scores in memory; reading is not timed for it.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FILE_ROWS = 5_000_000
BYTES_PER_ROW = 11
TRAINING = 20_000


def scores(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1 / (1 + np.exp(-(1.4 * (2 * codes - 1) + 1.4 * rng.normal(size=len(codes)))))


def rows_of(number: int, n_rows: int, n_batches: int) -> pl.DataFrame:
    """Rows of all batches, whose shares go from 10% to 30%."""
    rng = np.random.default_rng([0, number])
    batch = rng.integers(0, n_batches, n_rows, dtype=np.int32)
    codes = (rng.random(n_rows) < 0.1 + 0.2 * batch / n_batches).astype(np.int8)
    return pl.DataFrame({"p": scores(codes, rng), "batch": batch})


def labelled() -> pl.DataFrame:
    """The training set."""
    rng = np.random.default_rng(1)
    codes = (rng.random(TRAINING) < 0.4).astype(int)
    return pl.DataFrame({"p": scores(codes, rng), "y": codes})


def write_files(folder: Path, n_rows: int, n_batches: int) -> list[Path]:
    """The files of the rows; those that are there are taken."""
    sizes = [min(FILE_ROWS, n_rows - first) for first in range(0, n_rows, FILE_ROWS)]
    paths = [folder / f"{n_batches}-{i:04}-{size}.parquet" for i, size in enumerate(sizes)]
    missing = [i for i, path in enumerate(paths) if not path.exists()]
    needed = sum(sizes[i] for i in missing) * BYTES_PER_ROW
    free = shutil.disk_usage(folder).free
    if needed > free:
        sys.exit(f"{folder}: {needed / 1e9:.0f} GB are needed, {free / 1e9:.0f} GB are free")
    begun = time.perf_counter()
    for done, i in enumerate(missing, start=1):
        aside = paths[i].with_suffix(".part")
        rows_of(i, sizes[i], n_batches).write_parquet(aside, statistics=False)
        aside.rename(paths[i])
        said(f"writing file {done} of {len(missing)}, {time.perf_counter() - begun:.0f} s")
    said("")
    return paths


def said(text: str) -> None:
    """Progress, on one line of a terminal or one line for each step."""
    end = "\r" if sys.stderr.isatty() else "\n"
    if text or end == "\r":
        print(f"{text:60}", end=end, file=sys.stderr, flush=True)


def measured(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float, float]:
    """What work returns in a process of its own, seconds, processor seconds, peak memory in GB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (work, *arguments))


def _timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float, float]:
    begun, used = time.perf_counter(), _processor()
    found = work(*arguments)
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = sum(resource.getrusage(who).ru_maxrss for who in both) / 1e6
    return found, time.perf_counter() - begun, _processor() - used, peak


def _processor() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def count(paths: list[str], out: str) -> int:
    """All files, as one call."""
    from quantshift.sketches import sketch

    begun, last = time.perf_counter(), [0.0]

    def progress(what: str, done: int, _: int) -> None:
        seconds = time.perf_counter() - begun
        if seconds - last[0] >= 10:
            last[0] = seconds
            said(f"{what}: {done:,} rows, {done / seconds:,.0f} a second")

    made = sketch(paths, score="p", batch="batch", progress=progress)
    made.save(out)
    return made.n_rows


def estimate(path: str) -> list[tuple[str, float, float, float, bool]]:
    """Estimates, intervals and tests of all batches."""
    from quantshift.sketches import quantify_sketch, sketch

    answer = quantify_sketch(path, sketch(labelled(), score="p", label="y"))
    return [
        (
            batch.name,
            batch.shares[1].estimate,
            batch.shares[1].low,
            batch.shares[1].high,
            bool(batch.shift and batch.shift.rejected),
        )
        for batch in answer.batches
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    whole = lambda text: int(text.replace("_", ""))  # noqa: E731
    parser.add_argument("--rows", type=whole, default=10**9)
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--peer", type=whole, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        run(options.folder, options)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), options)


def run(folder: Path, options: argparse.Namespace) -> None:
    n_rows, n_batches = options.rows, options.batches
    paths = [str(path) for path in write_files(folder, n_rows, n_batches)]
    with tempfile.TemporaryDirectory() as aside:
        made = f"{aside}/sketch.parquet"
        counted, wall, processor, peak = measured(count, paths, made)
        assert counted == n_rows
        said("")
        print(f"counting: {n_rows:,} rows in {wall:.0f} s wall, {processor:.0f} s processor")
        print(f"  {n_rows / wall:,.0f} rows/s wall, {n_rows / processor:,.0f} per processor s")
        print(f"  peak memory {peak:.2f} GB")
        print(f"  sketch: {Path(made).stat().st_size / n_batches:,.0f} bytes for each batch")
        answers, wall, processor, peak = measured(estimate, made)
    print(
        f"estimates, intervals and tests of {n_batches:,} batches of {n_rows / n_batches:,.0f}: "
        f"{wall:.0f} s wall, {processor:.0f} s processor, peak memory {peak:.2f} GB"
    )
    by_name = {answer[0]: answer for answer in answers}
    _, found, low, high, rejected = zip(*(by_name[str(i)] for i in range(n_batches)), strict=True)
    truth = 0.1 + 0.2 * np.arange(n_batches) / n_batches
    errors = np.array(found) - truth
    held = np.mean((np.array(low) <= truth) & (truth <= np.array(high)))
    noise = np.std(errors)
    print(f"  mean error {errors.mean():+.4f} (one training set), spread over batches {noise:.4f}")
    print(f"  intervals hold the truth in {held:.1%}; shift in {np.mean(rejected):.1%} of batches")
    compare(options)


def compare(options: argparse.Namespace) -> None:
    """QuaPy on a part."""
    try:
        from quapy.method.aggregative import EMQ
    except ImportError:
        print("QuaPy is not installed: not compared")
        return
    rows = rows_of(0, options.peer, 1)["p"].to_numpy()
    posteriors = np.column_stack([1 - rows, rows])
    positive = labelled()["y"].mean()
    begun, used = time.perf_counter(), time.process_time()
    EMQ.EM(np.array([1 - positive, positive]), posteriors)
    seconds, processor = time.perf_counter() - begun, time.process_time() - used
    times = options.rows / options.peer
    print(
        f"QuaPy EMQ.EM on {options.peer:,} scores in memory: {seconds:.2f} s wall, {processor:.2f} "
        f"s processor; extrapolated to {options.rows:,} rows: {seconds * times:,.0f} s wall, "
        f"{processor * times:,.0f} s processor, without reading and without intervals"
    )


if __name__ == "__main__":
    main()
