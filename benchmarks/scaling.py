"""How the time of a cell grows, how a run scales with workers, and how much memory a worker needs.

    python benchmarks/scaling.py [--reviews DIR] [--train-size 5000] [--cells 12] [--small]

Cells are those of the prior experiment at the paper's sizes (5,000 training documents, 550 test
samples, nine methods, 12 settings) unless a line says otherwise; on imported reviews,
or on 60,000 synthetic ones. Cells are timed in this process, in one thread, the
best of three; a run includes everything: worker processes start, open the data, compute and write.
The model of a run's wall time is

    start + cells x seconds per cell / workers

with the start and the seconds per cell taken from runs with one worker; its prediction for two is
printed next to the measurement. Memory is that of the worker processes, polled: RSS counts the
pages of the memory-mapped counts, which all workers of a machine share; USS does not. The machine
must be idle.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from threadpoolctl import threadpool_limits

from quantshift.lab.data import AbstractSource, open_source
from quantshift.lab.experiments.cell import run_cell
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import ProcessExecutor
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import population_of
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.experiments.sources import sources_of

N_DOCUMENTS = 60_000
POLL_SECONDS = 0.2
GROWTH: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "methods": [
        ("CC", {"quantifiers": ["CC"]}),
        ("CC ACC PCC", {"quantifiers": ["CC", "ACC", "PCC"]}),
        ("the six", {"quantifiers": ["CC", "ACC", "PCC", "PACC", "DyS", "SLD"]}),
        ("all nine", {}),
    ],
    "test samples": [
        (f"{11 * repeats:,}", {"shift.test_repeats": repeats}) for repeats in (10, 50, 250, 1000)
    ],
    "training documents": [
        (f"{size:,}", {"shift.train_size": size}) for size in (1250, 2500, 5000, 10_000)
    ],
    "settings": [
        ("1", {"selection.enabled": False}),
        ("6", {"classifier.grid.class_weight": ["none"]}),
        ("12", {}),
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--reviews", type=Path, help="imported ones (default: synthetic)")
    parser.add_argument(
        "--train-size", type=int, default=5000, help="for all lines that do not vary it"
    )
    parser.add_argument("--cells", type=int, default=12, help="cells of the runs with workers")
    parser.add_argument("--small", action="store_true", help="a trial: a tenth of every size")
    options = parser.parse_args()
    shrink = 10 if options.small else 1
    train_size, n_cells = options.train_size // shrink, max(options.cells // shrink, 2)
    base = {"shift.train_size": train_size, "shift.train_prevalences": [0.5]}
    folders = [options.reviews] if options.reviews else []
    (source,) = sources_of(load_experiment("prior"), folders, n_documents=N_DOCUMENTS // shrink)
    print(f"{source.title}, {train_size} training documents")
    cell_seconds(source, base)  # Compiles, or loads the cache.
    for axis, points in GROWTH.items():
        print(f"\n{axis:<22}{'seconds per cell':>18}")
        for label, changes in points:
            if options.small and "shift.train_size" in changes:
                continue
            print(f"{label:<22}{cell_seconds(source, {**base, **changes}):>18.3f}")
    report_runs(source, base, n_cells)


def cell_seconds(source: AbstractSource, overrides: Mapping[str, Any], repeats: int = 3) -> float:
    experiment = load_experiment("prior", overrides=overrides)
    dataset = open_source(source)
    population = population_of(experiment, dataset)
    cell = cells_of(experiment.name, source.name, experiment.shift)[0]
    times = []
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            begun = time.perf_counter()
            run_cell(experiment, cell, experiment.methods, dataset, population)
            times.append(time.perf_counter() - begun)
    return min(times)


def report_runs(source: AbstractSource, base: Mapping[str, Any], n_cells: int) -> None:
    few = timed_run(source, base, 1, n_workers=1)[0]
    print(f"\n{'workers':<10}{'cells':>7}{'seconds':>10}{'model':>8}{'RSS MB':>9}{'USS MB':>9}")
    print(f"{1:<10}{1:>7}{few:>10.2f}")
    one, rss, uss = timed_run(source, base, n_cells, n_workers=1)
    per_cell = (one - few) / (n_cells - 1)
    start = few - per_cell
    print(f"{1:<10}{n_cells:>7}{one:>10.2f}{'':>8}{rss:>9.0f}{uss:>9.0f}")
    two, rss, uss = timed_run(source, base, n_cells, n_workers=2)
    predicted = start + n_cells * per_cell / 2
    print(f"{2:<10}{n_cells:>7}{two:>10.2f}{predicted:>8.2f}{rss:>9.0f}{uss:>9.0f}")
    print(f"start {start:.2f} s, {per_cell:.3f} s per cell")


def timed_run(
    source: AbstractSource, base: Mapping[str, Any], n_cells: int, *, n_workers: int
) -> tuple[float, float, float]:
    """Seconds of the run, and the largest RSS and USS of a worker in MB."""
    experiment = load_experiment("prior", overrides={**base, "shift.train_repeats": n_cells})
    with tempfile.TemporaryDirectory() as out, memory_of_children() as peaks:
        run = Run((experiment,), {experiment.name: [source]}, Path(out))
        begun = time.perf_counter()
        summary = run_experiments(run, ProcessExecutor(n_workers))
        seconds = time.perf_counter() - begun
    if summary.done != n_cells or summary.failures:
        raise RuntimeError(f"{summary.done} of {n_cells} cells, failures: {summary.failures}")
    return seconds, peaks["rss"] / 1e6, peaks["uss"] / 1e6


@contextmanager
def memory_of_children() -> Iterator[dict[str, int]]:
    """The largest RSS and USS of any child process inside the block, in bytes."""
    peaks, ended = {"rss": 0, "uss": 0}, threading.Event()

    def poll() -> None:
        while not ended.wait(POLL_SECONDS):
            for child in psutil.Process().children(recursive=True):
                try:
                    found = child.memory_full_info()
                except psutil.Error:
                    continue
                peaks["rss"] = max(peaks["rss"], found.rss)
                peaks["uss"] = max(peaks["uss"], found.uss)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    main()
