"""Three walks through the package: which functions a command calls, in which rooms.

    python benchmarks/walks.py [FOLDER] [--revision REVISION ...]

FOLDER is another checkout; each REVISION of this one, a commit or tag, becomes a row beside it.
Counted are functions of the package that are called at least once (not those that run while modules
are imported, and no compiled ones, which Python does not see), their modules (beside those that are
imported), the rooms (folders at the top of the package) that they are in, and, in the order of the
first calls, how often the next function is in another room or module. *Depth*: the most functions
of the package that wait for each other.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src") / "quantshift"

FUNCTION = 0x1
"""Flag of the code of functions, which the bodies of classes and modules do not have."""

WALKS = {
    "quantify": "quantify --train a.csv --sample b.csv --label y",
    "run": "run prior --out runs --profile quick --jobs 1 "
    "--set shift.train_prevalences=[0.5] --set shift.train_repeats=1 --set quantifiers=['SLD']",
    "judge": "judge j.csv --verdict judge --label human --labels random",
}


class Walk:
    """The first calls of functions of the package, in their order."""

    def __init__(self, package: Path) -> None:
        self.package = f"{package.resolve().as_posix()}/"
        self.functions: dict[CodeType, str] = {}
        self.depth = self.deepest = self.importing = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What Python calls before and after each function."""
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self.package):
            return
        change = 1 if event == "call" else -1
        if code.co_name == "<module>":
            self.importing += change
        elif not self.importing and code.co_flags & FUNCTION and not code.co_name.startswith("<"):
            self.depth += change
            self.deepest = max(self.deepest, self.depth)
            self.functions.setdefault(code, code.co_filename.removeprefix(self.package))

    def figures(self) -> dict[str, int]:
        """The row of the table."""
        modules = list(self.functions.values())
        rooms = [module.partition("/")[0] for module in modules]
        loaded = [name for name in sys.modules if name.partition(".")[0] == "quantshift"]
        return {
            "functions": len(modules),
            "modules": len(set(modules)),
            "imported": len(loaded),
            "rooms": len(set(rooms)),
            "switches of room": switches(rooms),
            "switches of module": switches(modules),
            "depth": self.deepest,
        }


def switches(places: list[str]) -> int:
    """How often the next place is another one."""
    return sum(a != b for a, b in pairwise(places))


def tables() -> None:
    """The files that the commands read, in the working directory."""
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.4
    frame = pl.DataFrame(
        {
            "x": rng.normal(2.0 * y, 1.0).round(3),
            "plan": np.where(rng.random(600) < 0.3 + 0.4 * y, "basic", "plus"),
            "y": np.where(y, "yes", "no"),
            "judge": np.where(rng.random(600) < 0.2 + 0.6 * y, "yes", "no"),
        }
    )
    frame.select("x", "plan", "y").head(400).write_csv("a.csv")
    frame.select("x", "plan").tail(200).write_csv("b.csv")
    human = pl.when(pl.int_range(pl.len()) < 150).then("y").alias("human")
    frame.select("judge", human).write_csv("j.csv")


def walk(name: str, package: Path) -> None:
    """Call the command twice, the second time traced, and print the figures."""
    from quantshift.cli.app import main as command

    tables()
    for traced in (False, True):
        sys.argv = ["quantshift", *WALKS[name].replace("runs", f"runs-{traced}").split()]
        steps = Walk(package)
        sys.setprofile(steps if traced else None)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                command()
            except SystemExit as ended:
                if ended.code:
                    raise
            finally:
                sys.setprofile(None)
    print(json.dumps(steps.figures()))


def measured(checkout: Path) -> Iterator[dict[str, Any]]:
    """The figures of each walk in a process of its own."""
    package = checkout.resolve() / PACKAGE
    for name in WALKS:
        with tempfile.TemporaryDirectory() as folder:
            paths = [package.parent, Path(__file__).parent]
            result = subprocess.run(
                [sys.executable, Path(__file__).resolve(), package, "--walk", name],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
                cwd=folder,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        yield {"walk": name, **json.loads(result.stdout.splitlines()[-1])}


def unpacked(revision: str, folder: Path) -> Path:
    """The package as it was at a revision of this checkout."""
    archive = subprocess.run(
        ["git", "archive", revision, PACKAGE.as_posix()], cwd=ROOT, check=True, capture_output=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def main() -> None:
    """Print a row for each walk and checkout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT)
    parser.add_argument("--revision", action="append", default=[])
    parser.add_argument("--walk", choices=list(WALKS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.walk:
        walk(options.walk, options.folder)
        return
    rows = []
    for revision in options.revision:
        with tempfile.TemporaryDirectory() as folder:
            checkout = unpacked(revision, Path(folder))
            rows += [{"at": revision, **row} for row in measured(checkout)]
    rows += [{"at": "now", **row} for row in measured(options.folder)]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True):
        print(pl.DataFrame(rows))


if __name__ == "__main__":
    main()
