"""Processor time of an estimate by PretrainedQuantifier, and of imports with and without it.

    python benchmarks/pretrained_speed.py [--repeats 5]

2,000 training rows, a sample of 500, 30 columns, one core, after the classifiers are fitted. The
import is that of the package, and of a copy of it without the module (its weights are read at the
first estimate). Lowest processor seconds of the repeats; the first one does not count.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import quantshift
from quantshift import PretrainedQuantifier
from quantshift.base.seeding import generator

N_TRAIN, N_SAMPLE, N_COLUMNS = 2000, 500, 30
LIMIT = 0.5
PACKAGE = Path(quantshift.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rng = generator(0, purpose="speed")
    y = (rng.random(N_TRAIN + N_SAMPLE) < 0.4).astype(int)
    X = rng.standard_normal((len(y), N_COLUMNS)) + 0.3 * y[:, np.newaxis]
    sample, labels = X[N_TRAIN:], y[N_TRAIN:]
    with threadpool_limits(1):
        fitted = PretrainedQuantifier(LogisticRegression()).fit(X[:N_TRAIN], y[:N_TRAIN])
        for k in (0, 10, 100):
            known = {"labelled": np.arange(k), "labels": labels[:k]} if k else {}
            taken = lowest(lambda known=known: estimate_seconds(fitted, sample, known), repeats)
            print(f"an estimate, {k:3} labels  {taken:5.3f} s   at most {LIMIT} s")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / PACKAGE.name
        shutil.copytree(PACKAGE, copy)
        shutil.rmtree(copy / "quantifiers" / "pretrained")
        for name, parent in (("with it", PACKAGE.parent), ("without it", Path(folder))):
            taken = lowest(lambda parent=parent: import_seconds(parent), repeats)
            print(f"import quantshift, {name:10}  {taken:5.3f} s")


def lowest(seconds: Callable[[], float], repeats: int) -> float:
    """The lowest of some times, the first one left out."""
    return min([seconds() for _ in range(repeats + 1)][1:])


def estimate_seconds(fitted: PretrainedQuantifier, sample: object, known: object) -> float:
    begun = time.process_time()
    fitted.distribution(sample, **known)
    return time.process_time() - begun


def import_seconds(folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    where = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", "import quantshift"], check=True, env=where)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
