"""How much `pip install quantshift` puts on a disk, with each extra, in a fresh environment each.

    python benchmarks/install_size.py [--extras "" report all]

The size is that of site-packages (what `du` counts, byte code included) without pip and setuptools,
which come with the environment. The largest packages are printed beside it. In each environment
`judge` and `quantify` are run on CSV files. Exits with 1 if a command fails, or the installation
without extras has grown beyond `MOST`.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("", "report", "all")
MOST = {"": 1050}
"""Megabytes that an installation may have."""
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extras", nargs="*", default=EXTRAS)
    kept = []
    for extra in parser.parse_args().extras:
        with tempfile.TemporaryDirectory() as folder:
            kept.append(measure(extra, Path(folder)))
    return int(not all(kept))


def measure(extra: str, folder: Path) -> bool:
    """Install, measure and try one extra; whether it is small enough and its commands answer."""
    start = time.perf_counter()
    venv.create(folder / "env", with_pip=True)
    wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
    programs = folder / "env" / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", wanted], check=True)
    seconds = time.perf_counter() - start
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    sizes = {
        path.name: disk_usage(path) for path in packages.iterdir() if not is_left_out(path.name)
    }
    largest = sorted(sizes, key=lambda name: -sizes[name])[:8]
    shown = ", ".join(f"{name} {sizes[name] / 2**20:.0f}" for name in largest)
    name = f"quantshift[{extra}]" if extra else "quantshift"
    total = sum(sizes.values()) / 2**20
    print(f"{name}: {total:.0f} MB in {seconds:.0f} s ({shown})", flush=True)
    is_kept = total <= MOST.get(extra, total)
    if not is_kept:
        print(f"  more than {MOST[extra]} MB", flush=True)
    for arguments in commands(folder):
        answer = subprocess.run(
            [programs / "quantshift", *arguments], capture_output=True, text=True, cwd=folder
        )
        lines = (answer.stdout if answer.returncode == 0 else answer.stderr).splitlines()
        print(f"  {' '.join(arguments[:2])}: exit code {answer.returncode}, {lines[0]}", flush=True)
        is_kept = is_kept and answer.returncode == 0
    return is_kept


def disk_usage(path: Path) -> int:
    """Bytes of the blocks that a file or folder takes, as `du` counts them."""
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return sum(file.lstat().st_blocks * 512 for file in files)


def is_left_out(name: str) -> bool:
    return any(name == known or name.startswith(f"{known}-") for known in NOT_OURS)


def commands(folder: Path) -> list[list[str]]:
    """What is tried, on tables that are written to the folder."""
    draw = random.Random(0)
    rows = [(draw.random() < 0.7, draw.random() < 0.85, draw.random() < 0.4) for _ in range(500)]
    named = {True: "good", False: "bad"}
    (folder / "verdicts.csv").write_text(
        "verdict,human\n"
        + "".join(
            f"{named[good == right]},{named[good] if labelled else ''}\n"
            for good, right, labelled in rows
        )
    )
    for name in ("train", "new"):
        lines = [f"{draw.gauss(1.5 * good, 1):.3f},{named[good]}\n" for good, _, _ in rows]
        (folder / f"{name}.csv").write_text("score,label\n" + "".join(lines))
    judge = ["judge", "verdicts.csv", "--verdict", "verdict", "--label", "human"]
    quantify = ["quantify", "--train", "train.csv", "--sample", "new.csv", "--label", "label"]
    return [judge, quantify]


if __name__ == "__main__":
    sys.exit(main())
