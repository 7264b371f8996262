"""The quick tests on every other Python of this machine that the package promises to support.

    python tests/pythons.py [--except 3.11] [--only 3.13] [options and files for pytest]

Looks for `python3.N` on the PATH and for the versions of pyenv, makes an environment for each in
`.cache/pythons`, installs the package with the pinned versions and runs the quick tests.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".cache" / "pythons"
OLDEST = (3, 11)
NEWEST_TRIED = 20

Version = tuple[int, int]


def candidates() -> list[Path]:
    """Programs that may be interpreters, those on the PATH first."""
    names = [f"python{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST_TRIED)]
    found = [Path(program) for name in names if (program := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [*found, *sorted(pyenv.glob("versions/3.*/bin/python"))]


def version_of(program: Path) -> Version | None:
    """Major and minor version; None if the program does not run (such as a shim of pyenv)."""
    asked = subprocess.run(
        [program, "-c", "import sys, venv; print(*sys.version_info[:2])"],
        capture_output=True,
        text=True,
    )
    if asked.returncode:
        return None
    major, minor = map(int, asked.stdout.split())
    return major, minor


def interpreters(programs: Sequence[Path], leave_out: Sequence[Version]) -> dict[Version, Path]:
    """The first program of each version that the package supports, in the order of versions."""
    found: dict[Version, Path] = {}
    for program in programs:
        version = version_of(program)
        if version is not None and version >= OLDEST and version not in leave_out:
            found.setdefault(version, program)
    return dict(sorted(found.items()))


def run_tests(version: Version, program: Path, options: Sequence[str]) -> bool:
    """Whether the package can be installed and its quick tests pass."""
    environment = ENVIRONMENTS / name_of(version)
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([program, "-m", "venv", environment], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "-c", "constraints.txt", "-e", ".[test]"], cwd=ROOT)
    if installed.returncode:
        return False
    tested = subprocess.run(
        [python, "-m", "pytest", "-n", "auto", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    return tested.returncode == 0


def name_of(version: Version) -> str:
    """3.13."""
    return ".".join(map(str, version))


def version_named(name: str) -> Version:
    """The version that a name such as 3.13 stands for."""
    major, minor = map(int, name.split("."))
    return major, minor


def main() -> int:
    """Run the tests; the exit code is 1 if they fail on some version."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--except", dest="leave_out", type=version_named, action="append", default=[]
    )
    parser.add_argument("--only", type=version_named, action="append")
    arguments, options = parser.parse_known_args()
    found = interpreters(candidates(), arguments.leave_out)
    if arguments.only:
        found = {version: found[version] for version in arguments.only if version in found}
    if not found:
        print("no other Python of 3.11 or newer on the PATH or in pyenv: nothing to test")
        return 0
    passed = {}
    for version, program in found.items():
        print(f"== Python {name_of(version)} ({program})", flush=True)
        passed[version] = run_tests(version, program, options)
    for version, good in passed.items():
        print(f"Python {name_of(version)}: {'passed' if good else 'FAILED'}")
    return 0 if all(passed.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
