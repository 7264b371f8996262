"""Processor time of commands with the variables that limit threads unset, and set to 1.

    python benchmarks/threads.py [--rows 15000]

Each command runs on the same made table, in turn; times are those of the process, whatever else
the machine does. Both should be alike: where threads wait for each other, the first is larger.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
TABLES = "--train labelled.csv --sample new.csv"
COMMANDS = {
    "train": "train --train labelled.csv --label y --out model",
    "quantify": f"quantify {TABLES} --label y",
    "probabilities": "probabilities --model model --sample new.csv --out scores.csv --overwrite",
}
ESTIMATOR = (
    "import polars as pl; from quantshift import GuardedSLD;"
    "t = pl.read_csv('labelled.csv'); X = t.drop('y').to_numpy();"
    "GuardedSLD().fit(X, t['y'].to_numpy()).predict(X[:2000])"
)


def make_tables(folder: Path, n_rows: int) -> None:
    """A labelled table of 5,000 rows and 20 columns, and a new one."""
    rng = np.random.default_rng(0)
    for name, n, share in (("labelled", 5000, 0.5), ("new", n_rows, 0.25)):
        yes = rng.random(n) < share
        X = rng.normal(size=(n, 20)) + yes[:, np.newaxis] * np.linspace(0, 0.6, 20)
        frame = pl.DataFrame(X.round(4), schema=[f"x{j}" for j in range(20)])
        label = pl.Series("y", np.where(yes, "yes", "no"))
        (frame.with_columns(label) if name == "labelled" else frame).write_csv(
            folder / f"{name}.csv"
        )


def seconds(line: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    """Processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    unset = {name: value for name, value in os.environ.items() if name not in LIMITS}
    one = {**unset, **dict.fromkeys(LIMITS, "1")}
    python = [sys.executable, "-c"]
    command = "import sys; from quantshift.cli.app import main; main()"
    lines = {name: [*python, command, *words.split()] for name, words in COMMANDS.items()}
    lines["GuardedSLD"] = [*python, ESTIMATOR]
    print(f"{'':12}{'unset':>8}{'one':>8}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder, options.rows)
        for what, line in lines.items():
            seconds(line, folder, one)  # compiles
            times = [
                min(seconds(line, folder, environment) for _ in range(options.repeats))
                for environment in (unset, one)
            ]
            print(f"{what:12}{times[0]:8.1f}{times[1]:8.1f}{times[0] / times[1]:8.2f}")


if __name__ == "__main__":
    main()
