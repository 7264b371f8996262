"""Processor time of starting the command, compared with starting Python.

    python benchmarks/startup.py [--repeats 5]

Prints the lowest processor seconds (user and system) of the repeats, each a new process, and the
limit of each; the first run, which writes bytecode, does not count.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence

CASES = (
    ("python -c pass", ("-c", "pass"), None),
    ("import quantshift", ("-c", "import quantshift"), 0.30),
    ("quantshift --version", ("-m", "quantshift", "--version"), 0.25),
    ("quantshift --help", ("-m", "quantshift", "--help"), 0.40),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for name, arguments, limit in CASES:
        lowest = min([seconds(arguments) for _ in range(repeats + 1)][1:])
        allowed = "" if limit is None else f"   at most {limit:.2f} s"
        print(f"{name:22} {lowest:5.2f} s{allowed}")


def seconds(arguments: Sequence[str]) -> float:
    """Processor seconds of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
