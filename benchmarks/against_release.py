"""Times of the main commands, beside those of the last release.

    python benchmarks/against_release.py [--old quantshift] [--repeats 5] [--small]

--old is what pip installs for comparison: a requirement, or the path of another clone. Both
versions are installed in environments of their own, and their commands run in turn,
so that a busy machine slows both. The smallest time of each is compared. Exits with 1 if a command
takes more than 1.5 times as long as before.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORST = 1.5
NOT_SEEN = 0.05
"""Seconds: smaller differences are those of the machine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", default="quantshift")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small tables")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_tables(folder, n=300 if given.small else 3000)
        old = installed(given.old, folder / "old")
        new = installed(str(ROOT), folder / "new")
        return compare([old, new], folder, given.repeats)


def installed(what: str, folder: Path) -> Path:
    """The programs of an environment with this version."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", what], check=True)
    return programs


def write_tables(folder: Path, n: int) -> None:
    draw = random.Random(0)
    for name, share in (("train", 0.6), ("new", 0.3)):
        with (folder / f"{name}.csv").open("w") as file:
            file.write("size,weight,place,label\n")
            for _ in range(n):
                y = draw.random() < share
                size, weight = draw.gauss(1.5 * y, 1), draw.gauss(y, 1)
                file.write(f"{size:.3f},{weight:.3f},{draw.choice('abc')},{['no', 'yes'][y]}\n")
    with (folder / "verdicts.csv").open("w") as file:
        file.write("judge,human\n")
        for _ in range(10 * n):
            y = draw.random() < 0.7
            verdict = y ^ (draw.random() < 0.1)
            label = "" if draw.random() < 0.9 else ["bad", "good"][y]
            file.write(f"{['bad', 'good'][verdict]},{label}\n")


COMMANDS = {
    "import quantshift": ("python", "-c", "import quantshift"),
    "import quantshift.SLD": ("python", "-c", "from quantshift import SLD"),
    "judge": (
        *("quantshift", "judge", "verdicts.csv"),
        *("--verdict", "judge", "--label", "human", "--labels", "random", "--json"),
    ),
    "quantify": (
        *("quantshift", "quantify", "--train", "train.csv"),
        *("--sample", "new.csv", "--label", "label", "--json"),
    ),
}


def compare(programs: Sequence[Path], folder: Path, repeats: int) -> int:
    """Print a line for each command; 1 if one is slower."""
    slower = []
    for name, (program, *arguments) in COMMANDS.items():
        times: list[list[float]] = [[], []]
        for _ in range(repeats + 1):  # the first compiles
            for i, place in enumerate(programs):
                start = time.perf_counter()
                subprocess.run(
                    [place / program, *arguments], cwd=folder, check=True, capture_output=True
                )
                times[i].append(time.perf_counter() - start)
        before, now = (min(each[1:]) for each in times)
        print(f"{name:24} {before:7.3f} s -> {now:7.3f} s   x {now / before:.2f}", flush=True)
        if is_slower(before, now):
            slower.append(name)
    if slower:
        print(f"slower than before: {', '.join(slower)}", file=sys.stderr)
    return int(bool(slower))


def is_slower(before: float, now: float) -> bool:
    """Whether a time has grown by more than the machine's noise."""
    return now > WORST * before and now - before > NOT_SEEN


if __name__ == "__main__":
    sys.exit(main())
