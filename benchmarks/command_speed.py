"""Processor time of the command as users run it: one process, including imports.

    python benchmarks/command_speed.py [--repeats 3] [--only start]

start: Python alone, the import of the package, --version and --help, each with its limit. texts:
3,000 labelled texts and 500 new ones, drawn from the synthetic corpus. classes: 1,000 labelled and
500 new rows of two numbers, of 2, 5 and 10 classes. Prints the lowest processor seconds (user and
system) of the repeats; the first run of all, which may have to compile, does not count.
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quantshift.lab.data.embedded.synthetic import generate

COMMAND = "from quantshift.cli.app import main; main()"
STARTS = (
    ("python -c pass", ("-c", "pass"), None),
    ("import quantshift", ("-c", "import quantshift"), 0.30),
    ("quantshift --version", ("-m", "quantshift", "--version"), 0.25),
    ("quantshift --help", ("-m", "quantshift", "--help"), 0.40),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["start", "texts", "classes"])
    options = parser.parse_args()
    if options.only in (None, "start"):
        for name, call, limit in STARTS:
            used = [seconds(call) for _ in range(options.repeats + 1)]
            allowed = "" if limit is None else f"   at most {limit:.2f} s"
            print(f"{name:32} {min(used[1:]):6.2f} s{allowed}")
    with tempfile.TemporaryDirectory() as place:
        cases = {}
        if options.only in (None, "texts"):
            cases["3,000 texts, 500 new"] = texts(Path(place), 3000, 500)
        if options.only in (None, "classes"):
            for n_classes in (2, 5, 10):
                name = f"{n_classes} classes, 1,000 rows, 500 new"
                cases[name] = classes(Path(place), n_classes, 1000, 500)
        for name, arguments in cases.items():
            used = [
                seconds(["-c", COMMAND, "quantify", *arguments]) for _ in range(options.repeats + 1)
            ]
            print(f"{name:32} {min(used[1:]):6.2f} s")


def seconds(arguments: Sequence[str]) -> float:
    """Processor seconds of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def texts(place: Path, n_train: int, n_new: int) -> list[str]:
    """Texts of the synthetic corpus: negative up to two stars, positive from four."""
    corpus = generate(2 * (n_train + n_new))
    kept = np.flatnonzero(corpus.stars != 3)[: n_train + n_new]
    rows = [
        (corpus.text(i), "positive" if corpus.stars[i] > 3 else "negative") for i in kept.tolist()
    ]
    return [*tables(place, "texts", ["text", "label"], rows, n_train), "--text", "text"]


def classes(place: Path, n_classes: int, n_train: int, n_new: int) -> list[str]:
    """Two numbers, normal around the mean of the class."""
    rng = np.random.default_rng(0)
    centres = rng.normal(0, 2.5, (n_classes, 2))
    codes = rng.integers(n_classes, size=n_train + n_new)
    values = centres[codes] + rng.normal(size=(len(codes), 2))
    rows = [(*map(str, row), f"class {code}") for row, code in zip(values, codes, strict=True)]
    return tables(place, f"{n_classes} classes", ["a", "b", "label"], rows, n_train)


def tables(
    place: Path, name: str, header: list[str], rows: list[tuple[str, ...]], n_train: int
) -> list[str]:
    """Write the labelled and the new rows; the arguments that name them."""
    paths = place / f"{name} labelled.csv", place / f"{name} new.csv"
    parts = (header, rows[:n_train]), (header[:-1], [row[:-1] for row in rows[n_train:]])
    for path, (names, part) in zip(paths, parts, strict=True):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(part)
    return ["--train", str(paths[0]), "--sample", str(paths[1]), "--label", "label"]


if __name__ == "__main__":
    main()
