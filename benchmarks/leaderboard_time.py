"""What a cell of a suite costs here and with QuaPy, and what a whole leaderboard would.

    python benchmarks/leaderboard_time.py [--suite multiclass] [--data wine] [--most 20] [--seed 0]

One training set of the suite's first experiment (quick profile) on a data set. The classifier is
learnt and the test items are classified once, by us; QuaPy's methods get the same posteriors, so
that only the methods are compared: `aggregation_fit` on the out-of-fold posteriors, then
`aggregate` sample by sample, as QuaPy does it. Timed are the methods that both have, with the
options of the libraries' own defaults; --most limits QuaPy's samples (extrapolated to all of them,
which is fair: it has no batches). Seconds of the processor, one thread, the best of two rounds for
ours (the first may compile), one round for QuaPy's. The error is the standard error of QuaPy's mean
time per sample over samples.

Printed: milliseconds per sample of each method (ours with its share of fitting; QuaPy's without),
how many times as long QuaPy takes for the whole cell, then what the suite's plan would take with
either, for these methods alone. That is an extrapolation from one cell, with the classifier counted
alike, although QuaPy's users learn it anew for every method.

    python benchmarks/leaderboard_time.py --costs DIR... > costs.csv

prints the costs by which `bench --dry-run` guesses (`src/quantshift/leaderboard/costs.csv`), from
the logs of results in some folders: of every experiment and of all together, and

    python benchmarks/leaderboard_time.py --dearest DIR...

what took most of the time there, by experiment and data set.
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

from library_methods import METHODS, QUAPY, Method
from quantshift.data.sources import open_source
from quantshift.experiments.planning import cells_of
from quantshift.experiments.population import open_population
from quantshift.experiments.shared_work import bench_of
from quantshift.leaderboard.benchmark import plan_benchmark
from quantshift.leaderboard.duration import ANY, measured_costs
from quantshift.leaderboard.method_times import method_times
from quantshift.results import ResultStore
from quantshift.seeding import generator
from quantshift.tables import Table, text_table


@dataclass(frozen=True, eq=False)
class Timed:
    """A cell's posteriors: of labelled items, of the pool, and which of it are the samples."""

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
    bench.validation_models  # noqa: B018 - as methods do that choose a setting
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
    """Name, seconds of a whole cell of ours and of QuaPy's, ms per sample of QuaPy's and error."""
    few = generator(seed, purpose="samples").permutation(len(timed.samples))[:most]
    chosen = [timed.samples[i] for i in few]
    n = len(timed.samples)
    for method in METHODS:
        if QUAPY not in method.peers or method.from_features:
            continue
        try:
            fit, each, error = theirs(method, timed, chosen)
        except Exception as problem:  # methods of QuaPy that are for two classes alone
            print(f"{method.name}: not with QuaPy ({type(problem).__name__})")
            continue
        own_fit, own_each = ours(method, timed)
        yield method.name, own_fit + n * own_each, fit + n * each, 1e3 * each, 1e3 * error


def compare(suite: str, data: str, most: int, seed: int) -> None:
    import_module("quapy.method.aggregative")  # imports are not timed
    timed = cell_of(suite, data, seed)
    rows, total = [], np.zeros(2)
    for name, own, other, each, error in compared(timed, most, seed):
        total += (own, other)
        mine = 1e3 * own / len(timed.samples)
        rows.append((name, f"{mine:.3f}", f"{each:.2f} ± {error:.2f}", f"{other / own:.0f}"))
    n = len(timed.samples)
    head = ("method", "ours, ms", "QuaPy, ms", "times")
    print(text_table(Table(f"{suite} on {data}: per sample, {n} samples", head, tuple(rows))))
    print(f"classifier of the cell, counted alike: {timed.shared:.2f} s")
    for library, seconds in zip(("ours", "QuaPy"), total, strict=True):
        whole = timed.n_cells * (seconds + timed.shared) / 60
        print(
            f"{library}: {seconds:.2f} s for {len(rows)} methods on a cell; {timed.n_cells} cells "
            f"of the suite on this data set: {whole:.2f} minutes of one core, extrapolated"
        )


def logged_times(folders: list[Path]) -> pl.DataFrame:
    return pl.concat([method_times(ResultStore.open(folder)) for folder in folders])


def print_costs(folders: list[Path]) -> None:
    times = logged_times(folders)
    print("experiment,method,cell_ms,sample_ms")
    for name, own in (
        (ANY, times),
        *((e, _of(times, e)) for e in times["experiment"].unique(maintain_order=True)),
    ):
        for method, (cell, sample) in sorted(measured_costs(own).items()):
            print(f"{name},{method},{cell:.3g},{sample:.3g}")
    middle = np.median(np.array(list(measured_costs(times).values())), axis=0)
    print(f"{ANY},{ANY},{middle[0]:.3g},{middle[1]:.3g}")


def _of(times: pl.DataFrame, experiment: str) -> pl.DataFrame:
    return times.filter(pl.col("experiment") == experiment)


def print_dearest(folders: list[Path], most: int = 5) -> None:
    """Seconds of the processor by experiment and data set: all, then the dearest methods."""
    spent: dict[tuple[str, str], Counter[str]] = {}
    cells: Counter[tuple[str, str]] = Counter()
    for folder in folders:
        for record in ResultStore.open(folder).times.records():
            place = (record["experiment"], record["dataset"])
            cells[place] += 1
            own = spent.setdefault(place, Counter())
            own["shared"] += record["shared"]
            for method, seconds in record["methods"].items():
                own[method] += sum(seconds)
    everything: Counter[str] = Counter()
    for place, own in spent.items():
        everything.update(own)
        print(_spent_line(f"{' on '.join(place)}, {cells[place]} cells", own, most))
    print(_spent_line(f"all, {cells.total()} cells", everything, 3 * most))


def _spent_line(name: str, seconds: Counter[str], most: int) -> str:
    dearest = ", ".join(f"{method} {value:.1f}" for method, value in seconds.most_common(most))
    return f"{name}: {seconds.total():.1f} s; {dearest}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of a leaderboard, here and with QuaPy.")
    parser.add_argument("--suite", default="multiclass")
    parser.add_argument("--data", default="wine")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--costs", type=Path, nargs="+")
    parser.add_argument("--dearest", type=Path, nargs="+")
    asked = parser.parse_args()
    if asked.costs:
        print_costs(asked.costs)
        return
    if asked.dearest:
        print_dearest(asked.dearest)
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(asked.suite, asked.data, asked.most, asked.seed)


if __name__ == "__main__":
    main()
