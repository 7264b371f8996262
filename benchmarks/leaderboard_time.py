"""The time of one cell of a suite with quantshift and with QuaPy, and of a whole leaderboard.

    python benchmarks/leaderboard_time.py [--suite multiclass] [--data wine] [--most 20] [--seed 0]

One training set of the suite's first experiment (quick profile) on a data set. The classifier is
learnt and the test items are classified once, by us; QuaPy's methods get the same posteriors, so
that only the methods are compared: `aggregation_fit` on the out-of-fold posteriors, then
`aggregate` sample by sample, as QuaPy does it. The methods that both have are timed, with the
libraries' default options; --most limits QuaPy's samples (extrapolated to all of them, which is
fair: it has no batches). Processor seconds, one thread, the best of two rounds for ours (the first
may compile), one round for QuaPy's. The error is the standard error of QuaPy's mean time per
sample.

Printed: milliseconds per sample of each method (ours with its share of fitting; QuaPy's without),
how many times as long QuaPy takes for the whole cell, then how long the suite would take with
either, for these methods alone. That is an extrapolation from one cell, with the same time for the
classifier, although QuaPy's users train it again for every method.

    python benchmarks/leaderboard_time.py --costs DIR... > costs.csv

prints the costs from which `bench --dry-run` estimates its duration
(`src/quantshift/lab/leaderboard/costs.csv`), from the logs of result folders: per experiment and
for all together. Only data that come with the package count, because `bench` runs on these by
default.
And

    python benchmarks/leaderboard_time.py --dearest DIR...

prints what took most of the time there, by experiment and data set.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from parts.library_methods import METHODS, QUAPY, Method
from quantshift.base.seeding import generator
from quantshift.base.text_tables import Table, text_table
from quantshift.lab.data import EMBEDDED
from quantshift.lab.data.sources import SyntheticSource, open_source
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import open_population
from quantshift.lab.experiments.shared_work import bench_of
from quantshift.lab.leaderboard.benchmark import plan_benchmark
from quantshift.lab.leaderboard.duration import ANY, measured_costs
from quantshift.lab.leaderboard.method_times import method_times
from quantshift.lab.results import ResultStore

SYNTHETIC = SyntheticSource(1, 0).name


@dataclass(frozen=True, eq=False)
class Timed:
    """Posteriors of a cell's labelled items and of the pool; its samples are rows of the pool."""

    known: np.ndarray
    codes: np.ndarray
    pool: np.ndarray
    samples: list[np.ndarray]
    n_cells: int
    shared: float


def cell_of(suite: str, data: str, seed: int) -> Timed:
    """The first training set of the suite on the data, classified with its first setting."""
    run = plan_benchmark([suite], Path("unused"), data=[data], overrides={"seed": seed}).run
    experiment = run.experiments[0]
    (source,) = run.sources[experiment.name]
    population, dataset = open_population(experiment, source), open_source(source)
    cell = cells_of(experiment.name, source.name, population.protocol)[0]
    begun = time.process_time()
    bench, _ = bench_of(experiment, cell, dataset, population)
    bench.validation_models  # noqa: B018 - computed, as for methods that choose a setting
    models, pool = bench.models_of([bench.settings[0]])
    shared = time.process_time() - begun
    n_cells = sum(len(part.cells) for part in run.plan().experiments)
    return Timed(
        models.out_of_fold[0], bench.training.codes, pool[0], bench.samples, n_cells, shared
    )


def ours(method: Method, timed: Timed) -> tuple[float, float]:
    """Seconds to fit, and per sample."""
    rounds = []
    for _ in range(2):
        begun = time.process_time()
        quantifier = method.ours().fit_posteriors(timed.known, timed.codes)
        fitted = time.process_time()
        quantifier.aggregate(timed.pool, timed.samples)
        rounds.append((fitted - begun, (time.process_time() - fitted) / len(timed.samples)))
    return min(rounds, key=sum)


def theirs(method: Method, timed: Timed, chosen: list[np.ndarray]) -> tuple[float, float, float]:
    """Seconds to fit, per sample, and the standard error of that."""
    begun = time.process_time()
    estimate = method.peers[QUAPY](timed.known, timed.codes)
    fit = time.process_time() - begun
    each = np.array([seconds_of(lambda s=s: estimate(timed.pool[s])) for s in chosen])
    return fit, each.mean(), each.std(ddof=1) / np.sqrt(len(each))


def seconds_of(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def compared(
    timed: Timed, most: int, seed: int
) -> Iterator[tuple[str, float, float, float, float]]:
    """Name, seconds of a whole cell with ours and with QuaPy, QuaPy's ms per sample, its error."""
    few = generator(seed, purpose="samples").permutation(len(timed.samples))[:most]
    chosen = [timed.samples[i] for i in few]
    n = len(timed.samples)
    for method in METHODS:
        if QUAPY not in method.peers or method.from_features:
            continue
        try:
            fit, each, error = theirs(method, timed, chosen)
        except Exception as problem:  # some methods of QuaPy are for two classes only
            print(f"{method.name}: fails with QuaPy ({type(problem).__name__})")
            continue
        our_fit, our_each = ours(method, timed)
        yield method.name, our_fit + n * our_each, fit + n * each, 1e3 * each, 1e3 * error


def compare(suite: str, data: str, most: int, seed: int) -> None:
    import_module("quapy.method.aggregative")  # imports are not timed
    timed = cell_of(suite, data, seed)
    rows, total = [], np.zeros(2)
    for name, our_seconds, quapy_seconds, quapy_ms, error in compared(timed, most, seed):
        total += (our_seconds, quapy_seconds)
        our_ms = 1e3 * our_seconds / len(timed.samples)
        rows.append(
            (
                name,
                f"{our_ms:.3f}",
                f"{quapy_ms:.2f} ± {error:.2f}",
                f"{quapy_seconds / our_seconds:.0f}",
            )
        )
    n = len(timed.samples)
    head = ("method", "ours, ms", "QuaPy, ms", "times")
    print(text_table(Table(f"{suite} on {data}: per sample, {n} samples", head, tuple(rows))))
    print(f"classifier of the cell, counted for both: {timed.shared:.2f} s")
    for library, seconds in zip(("ours", "QuaPy"), total, strict=True):
        whole = timed.n_cells * (seconds + timed.shared) / 60
        print(
            f"{library}: {seconds:.2f} s for {len(rows)} methods on a cell; {timed.n_cells} cells "
            f"of the suite on this data set: {whole:.2f} minutes of one core, extrapolated"
        )


def logged_times(folders: list[Path]) -> pl.DataFrame:
    return pl.concat([method_times(ResultStore.open(folder)) for folder in folders])


def print_costs(folders: list[Path]) -> None:
    times = logged_times(folders).filter(pl.col("dataset").is_in([*EMBEDDED, SYNTHETIC]))
    print("experiment,method,cell_ms,sample_ms")
    for name, part_times in (
        (ANY, times),
        *((e, _of(times, e)) for e in times["experiment"].unique(maintain_order=True)),
    ):
        for method, (cell, sample) in sorted(measured_costs(part_times).items()):
            print(f"{name},{method},{cell:.3g},{sample:.3g}")
    middle = np.median(np.array(list(measured_costs(times).values())), axis=0)
    print(f"{ANY},{ANY},{middle[0]:.3g},{middle[1]:.3g}")


def _of(times: pl.DataFrame, experiment: str) -> pl.DataFrame:
    return times.filter(pl.col("experiment") == experiment)


def print_dearest(folders: list[Path], most: int = 5) -> None:
    """Processor seconds by experiment and data set: the total, then the slowest methods."""
    spent: dict[tuple[str, str], Counter[str]] = {}
    cells: Counter[tuple[str, str]] = Counter()
    for folder in folders:
        for record in ResultStore.open(folder).times.records():
            place = (record["experiment"], record["dataset"])
            cells[place] += 1
            by_method = spent.setdefault(place, Counter())
            by_method["shared"] += record["shared"]
            for method, seconds in record["methods"].items():
                by_method[method] += sum(seconds)
    everything: Counter[str] = Counter()
    for place, by_method in spent.items():
        everything.update(by_method)
        print(_spent_line(f"{' on '.join(place)}, {cells[place]} cells", by_method, most))
    print(_spent_line(f"all, {cells.total()} cells", everything, 3 * most))


def _spent_line(name: str, seconds: Counter[str], most: int) -> str:
    slowest = ", ".join(f"{method} {value:.1f}" for method, value in seconds.most_common(most))
    return f"{name}: {seconds.total():.1f} s; {slowest}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of a leaderboard, here and with QuaPy.")
    parser.add_argument("--suite", default="multiclass")
    parser.add_argument("--data", default="wine")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--costs", type=Path, nargs="+")
    parser.add_argument("--dearest", type=Path, nargs="+")
    options = parser.parse_args()
    if options.costs:
        print_costs(options.costs)
        return
    if options.dearest:
        print_dearest(options.dearest)
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(options.suite, options.data, options.most, options.seed)


if __name__ == "__main__":
    main()
