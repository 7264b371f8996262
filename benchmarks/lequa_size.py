"""A LeQua task of full size from its folder to the score: time, memory and disk space.

    python -m benchmarks.lequa_size FOLDER                        # T1 of 2024, all 6,000 samples
    python -m benchmarks.lequa_size FOLDER --dev 200 --test 1000  # fewer samples
    python -m benchmarks.lequa_size FOLDER --task T1A

Makes a folder in the layout of the task with made-up numbers: 5,000 training items, samples of 250
items, 256 columns (T1A: 300). Then it runs the commands that a user would run, each in a process of
its own: `data import`, `bench` with the methods of `--methods`, and `report --predictions`. Printed
for each: processor time (user and system), peak memory, and the size of what it wrote. Memory
includes pages of mapped files, which the system can reclaim. Last come the scores of the
predictions by the measures of the challenge, with their standard errors over samples. FOLDER is a
new folder; delete it afterwards.
"""

import argparse
import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import polars as pl

from quantshift import metrics

COLUMNS = {"T1": 256, "T1A": 300}
SUITES = {"T1": "lequa2024", "T1A": "lequa2022"}
SIZE, PER_CLASS = 250, 2500


def folder_maker() -> ModuleType:
    """The maker of folders that the tests use."""
    path = Path(__file__).parents[1] / "tests" / "data" / "lequa_folders.py"
    spec = importlib.util.spec_from_file_location("lequa_folders", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def run(what: str, written: Path, *words: str) -> None:
    """Run a command of quantshift, and print what it took."""
    command = [sys.executable, "-m", "quantshift", *words]
    process = os.spawnv(os.P_NOWAIT, sys.executable, command)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{what} failed")
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6
    print(
        f"{what}: {seconds:.1f} s of processor time, {memory:.2f} GB of memory at most, wrote "
        f"{bytes_of(written) / 1e9:.2f} GB",
        flush=True,
    )


def bytes_of(folder: Path) -> int:
    """Size of all files in the folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def print_scores(truth: Path, predictions: Path) -> None:
    """MAE and MRAE of every file of predictions."""
    p_true = pl.read_csv(truth).drop("id").to_numpy()
    for path in sorted(predictions.rglob("*.txt")):
        p_hat = pl.read_csv(path).drop("id").to_numpy()
        scores = []
        for name, measure in (("MAE", "ae"), ("MRAE", "rae")):
            errors = metrics.measure(measure, p_true, p_hat, smoothing=1 / (2 * SIZE))
            spread = errors.std() / len(errors) ** 0.5
            scores.append(f"{name} {errors.mean():.4f} ± {spread:.4f}")
        print(f"{path.stem}, {len(p_hat)} samples: {', '.join(scores)}")


def main() -> None:
    """Make, import, run, score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--task", choices=list(COLUMNS), default="T1")
    parser.add_argument("--dev", type=int, default=1000, help="development samples (1000)")
    parser.add_argument("--test", type=int, default=5000, help="test samples (5000)")
    parser.add_argument("--methods", default="CC,ACC,PACC,KDEyML,SLD")
    options = parser.parse_args()
    folder, task = options.folder, options.task
    folder.mkdir(parents=True)
    maker, started = folder_maker(), time.process_time()
    public = maker.make_task(
        folder / "record",
        task,
        n_dev=options.dev,
        n_test=options.test,
        per_class=PER_CLASS,
        task=maker.Task(2024, 2, SIZE, COLUMNS[task]),
    )
    seconds = time.process_time() - started
    print(f"made: {seconds:.1f} s, {bytes_of(public) / 1e9:.2f} GB", flush=True)
    data, runs, predictions = folder / task, folder / "runs", folder / "predictions"
    run("import", data, "data", "import", str(public), "--out", str(data))
    once = ("--jobs", "1", "--out", str(runs), "--methods", options.methods)
    run("bench", runs, "bench", SUITES[task], "--data", str(data), *once)
    run("predictions", predictions, "report", str(runs), "--predictions", str(predictions))
    print_scores(public / "test_prevalences.txt", predictions)


if __name__ == "__main__":
    main()
