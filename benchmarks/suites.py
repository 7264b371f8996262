"""The suites on their embedded data at the quick profile: the mean errors shown on the pages.

    python -m benchmarks.suites                    # all but the paper's whose data are here
    python -m benchmarks.suites knock-out noise    # some of them
    python -m benchmarks.suites multiclass --splits 10

Prints a table for each suite: a row per method, a column per experiment and data set, the mean
error (normalised match distance for ordered classes, else absolute error) times 1,000 and, after ±,
its Monte Carlo error over the samples. Seed 0. There are few training sets: differences between
methods of a few Monte Carlo errors may vanish with other training sets. With `--splits`, for suites
that split their data, the number after ± is the standard error over the splits.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from quantshift import metrics
from quantshift.errors import UserError
from quantshift.lab.experiments import (
    Run,
    SerialExecutor,
    load_experiment,
    run_experiments,
    sources_of,
    suites,
)
from quantshift.lab.results import ResultStore

ELSEWHERE = ("paper", "lequa2022", "lequa2024")


def table(suite: str, out: Path, n_splits: int | None) -> str:
    """Run the suite; its errors as a Markdown table."""
    overrides = {} if n_splits is None else {"shift.splits": n_splits}
    experiments = tuple(
        load_experiment(name, profile="quick", overrides=overrides) for name in suites()[suite]
    )
    sources = {e.name: sources_of(e, (), n_documents=1) for e in experiments}
    summary = run_experiments(Run(experiments, sources, out), SerialExecutor())
    if summary.failures:
        raise SystemExit("\n".join(summary.failures))
    frame = ResultStore.open(out).read().collect()
    measure = "nmd" if suite == "ordinal" else "ae"
    columns: dict[str, dict[str, str]] = {}
    for (experiment, dataset, method), rows in frame.group_by(
        "experiment", "dataset", "method", maintain_order=True
    ):
        error = _errors(rows, measure)
        title = f"{experiment}, {dataset}"
        if n_splits is None:
            spread = error.std() / np.sqrt(len(error))
        else:
            by_split = [error[(rows["cell"] == cell).to_numpy()].mean() for cell in _cells(rows)]
            spread = np.std(by_split, ddof=1) / np.sqrt(n_splits)
        columns.setdefault(title, {})[str(method)] = (
            f"{1e3 * error.mean():.1f} ± {1e3 * spread:.1f}"
        )
    methods = list(dict.fromkeys(m for column in columns.values() for m in column))
    lines = [
        f"| {measure.upper()} x 1,000 | {' | '.join(columns)} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    lines += [
        f"| {method} | {' | '.join(column.get(method, '') for column in columns.values())} |"
        for method in methods
    ]
    return "\n".join(lines)


def _cells(rows: pl.DataFrame) -> list[str]:
    return rows["cell"].unique(maintain_order=True).to_list()


def _errors(rows: pl.DataFrame, measure: str) -> np.ndarray:
    p_true, p_hat = (np.array(rows[name].to_list()) for name in ("p_true", "p_hat"))
    return metrics.measure(measure, p_true, p_hat, smoothing=0.001)


def main() -> None:
    """Print the tables of the named suites, or of all whose data are on this machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", nargs="*")
    parser.add_argument("--splits", type=int, help="of every data set (those of the quick profile)")
    options = parser.parse_args()
    for suite in options.suite or [name for name in suites() if name not in ELSEWHERE]:
        began = time.process_time()
        try:
            with tempfile.TemporaryDirectory() as folder:
                markdown = table(suite, Path(folder) / "out", options.splits)
        except UserError as error:
            if options.suite:
                raise SystemExit(f"{suite}: {error}") from None
            print(f"\n{suite}: left out, {error}", flush=True)
            continue
        print(
            f"\n{suite}: {time.process_time() - began:.0f} s of CPU time\n\n{markdown}", flush=True
        )


if __name__ == "__main__":
    main()
