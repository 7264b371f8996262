"""The same cells under two versions of the code, alternately, in one run.

    python benchmarks/cell_before_after.py BEFORE/src AFTER/src [--reviews DIR] [--repeats 5]
        [--experiment prior covariate ...]

BEFORE and AFTER are checkouts of the repository. Each has its own process, which stays alive; the
first run of an experiment in it compiles (or loads the cache) and does not count. Then the two take
turns, and a different one begins each turn, so that whatever else the machine does affects both.
Cells are those of the paper's size in `tests/end_to_end/digests.py` of each checkout (without
--reviews: the quick ones on the embedded corpus), from the drawing of the training set to rows in
the store, in one thread.

Printed for each experiment: the lowest processor seconds of each, which other work on the machine
hardly affects; their ratio; the median of the ratios turn by turn; the same for wall-clock seconds;
and whether the estimates are identical bit by bit. With --limit the exit status is 1 if a median
ratio of processor seconds is above it.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

EXPERIMENTS = ("prior", "covariate", "local", "concept", "concept-forced")
WORKER = "--worker"


def main() -> None:
    if sys.argv[1] == WORKER:
        work(Path(sys.argv[2]), Path(sys.argv[3]) if len(sys.argv) > 3 else None)
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path, help="the src folder of a checkout")
    parser.add_argument("after", type=Path, help="the src folder of the other version")
    parser.add_argument("--reviews", type=Path, help="imported ones")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--experiment", nargs="+", default=EXPERIMENTS, choices=EXPERIMENTS)
    parser.add_argument("--limit", type=float, help="the largest ratio that is not a failure")
    options = parser.parse_args()
    sides = [Side(path.resolve(), options.reviews) for path in (options.before, options.after)]
    print(f"{'':<16}{'before':>9}{'after':>9}{'ratio':>8}{'median':>8}{'clock':>8}  bits")
    ratios = [compare(name, sides, options.repeats) for name in options.experiment]
    for side in sides:
        side.close()
    if options.limit is not None and max(ratios) > options.limit:
        sys.exit(f"slower than allowed: {max(ratios):.3f} > {options.limit}")


def compare(name: str, sides: list["Side"], repeats: int) -> float:
    """Print the line of an experiment; the median ratio of processor seconds."""
    bits = [side.run(name)["estimates"] for side in sides]
    turns = []
    for turn in range(repeats):
        order = sides if turn % 2 == 0 else sides[::-1]
        replies = {id(side): side.run(name) for side in order}
        turns.append([replies[id(side)] for side in sides])
    before, after = (min(turn[k]["processor"] for turn in turns) for k in (0, 1))
    median, clock = (
        statistics.median(turn[1][kind] / turn[0][kind] for turn in turns)
        for kind in ("processor", "clock")
    )
    same = "same" if bits[0] == bits[1] else "DIFFERENT"
    print(
        f"{name:<16}{before:>8.2f}s{after:>8.2f}s{after / before:>8.3f}{median:>8.3f}{clock:>8.3f}"
        f"  {same}",
        flush=True,
    )
    return median


class Side:
    """A process that runs experiments with one version of the code."""

    def __init__(self, source: Path, reviews: Path | None) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, __file__, WORKER, str(source), *([str(reviews)] if reviews else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads, "PYTHONPATH": str(source)},
        )

    def run(self, name: str) -> dict[str, Any]:
        """Seconds and estimates of the experiment's cells."""
        assert self.process.stdin
        assert self.process.stdout
        print(name, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("{"):
                reply: dict[str, Any] = json.loads(line)
                return reply
        raise RuntimeError(f"{name} failed; the error is above")

    def close(self) -> None:
        """Let the process end."""
        self.process.communicate()


def work(source: Path, reviews: Path | None) -> None:
    """Run the experiments named on standard input, one by one."""
    digests = load_digests(source.parent / "tests" / "end_to_end" / "digests.py")
    data = digests.FolderSource(reviews.absolute()) if reviews else digests.SyntheticSource()
    choose = digests.of_paper_size if reviews else digests.quick
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            clock, processor = time.perf_counter(), time.process_time()
            made = digests.fingerprints([choose(line.strip())], data, Path(folder) / "out")
            reply = {
                "clock": time.perf_counter() - clock,
                "processor": time.process_time() - processor,
                "estimates": {
                    key: cell["p_hat"]
                    for experiment in made.values()
                    for key, cell in experiment["cells"].items()
                },
            }
        print(json.dumps(reply), flush=True)


def load_digests(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("digests", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
