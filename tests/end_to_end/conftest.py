"""The command in processes of its own, to be killed, starved and interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.end_to_end.frozen import Frozen


def pytest_addoption(parser: pytest.Parser) -> None:
    """For tests of this folder that are named on the command line."""
    parser.addoption("--write-frozen", action="store_true", help="store what they compare anew")


@pytest.fixture(scope="session")
def frozen(request: pytest.FixtureRequest) -> Frozen:
    """What the library gave when it was last stored."""
    write = request.config.getoption("--write-frozen", default=False)
    if write and "PYTEST_XDIST_WORKER" in os.environ:
        raise pytest.UsageError("--write-frozen needs -n 0: two workers would write one file")
    return Frozen(write=write)


SIZES: Mapping[str, str] = {
    "shift.train_prevalences": "[0.2, 0.3, 0.4, 0.5, 0.6, 0.7]",
    "shift.test_prevalences": "[0.0, 0.5, 1.0]",
    "shift.train_size": "150",
    "shift.train_repeats": "1",
    "shift.test_size": "50",
    "shift.test_repeats": "2",
    "classifier.grid.C": "[0.1, 10.0]",
    "selection.prevalences": "3",
    "selection.repeats": "2",
    "selection.size": "40",
}
N_CELLS = 6


@dataclass(frozen=True)
class Command:
    """A way to call `quantshift run prior` on a small corpus, with variations."""

    experiment: str = "prior"
    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def line(self, out: Path, *more: str, jobs: int = 2) -> list[str]:
        sizes = {} if self.experiment.endswith(".toml") else {**SIZES, **self.options}
        settings = [f"--set={key}={value}" for key, value in sizes.items()]
        parallel = [] if "--cluster" in more else [f"--jobs={jobs}"]
        verb = ["run", self.experiment, "--documents=1500", *settings, *parallel]
        return line(*verb, "--out", str(out), *more)

    def start(self, out: Path, *more: str, jobs: int = 2) -> "subprocess.Popen[str]":
        """In a process group of its own, so that signals to the group spare the tests."""
        return subprocess.Popen(
            self.line(out, *more, jobs=jobs),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **self.environment},
        )

    def run(self, out: Path, *more: str, jobs: int = 2) -> "subprocess.CompletedProcess[str]":
        process = self.start(out, *more, jobs=jobs)
        said, wrong = process.communicate(timeout=300)
        return subprocess.CompletedProcess(process.args, process.returncode, said, wrong)


def line(*arguments: str) -> list[str]:
    """The command with these arguments, to be run in a process of its own."""
    return [sys.executable, "-c", "from quantshift.cli.app import main; main()", *arguments]


def call(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        line(*arguments), capture_output=True, text=True, timeout=300, check=False
    )


def tree(out: Path) -> dict[str, bytes]:
    """Every file of the results but the diary."""
    files = [p for p in out.rglob("*") if p.is_file() and p.relative_to(out).parts[0] != "log"]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def n_done(out: Path) -> int:
    return len([p for p in out.glob("*/*/*/*.json") if p.name != "failure.json"])


def wait_for(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """What the condition returns as soon as it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"nothing in {seconds} s")


def kill_group(process: "subprocess.Popen[str]", number: int = signal.SIGKILL) -> None:
    os.killpg(process.pid, number)


def workers_of(process: "subprocess.Popen[str]") -> Sequence[psutil.Process]:
    """The worker processes of a run that have begun to work."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [c for c in children if "spawn_main" in " ".join(c.cmdline())]
    except psutil.NoSuchProcess:
        return []


@dataclass(frozen=True)
class Tools:
    """The functions above, for test modules, which cannot import one another."""

    command: Command = field(default_factory=Command)
    n_cells: int = N_CELLS

    line = staticmethod(line)
    call = staticmethod(call)
    tree = staticmethod(tree)
    n_done = staticmethod(n_done)
    wait_for = staticmethod(wait_for)
    kill_group = staticmethod(kill_group)
    workers_of = staticmethod(workers_of)
    make_command = staticmethod(Command)


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools()


@pytest.fixture(scope="session")
def undisturbed(tools: Tools, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a run with one worker that nothing disturbed."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    done = tools.command.run(out, jobs=1)
    assert done.returncode == 0, done.stderr
    assert n_done(out) == N_CELLS
    return out


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with a quota, and how to enlarge it."""
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        pytest.skip("needs root on Linux to mount a small file system")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a tmpfs here: {mounted.stderr.decode().strip()}")

    def enlarge() -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)

    yield place, enlarge
    subprocess.run(["umount", "--lazy", str(place)], check=True)
