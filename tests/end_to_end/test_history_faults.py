"""Faults of `quantify --history`, for real: killed commands, two at once, a disk without room."""

import random
import signal
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import History
from quantshift.errors import UserError
from tests.history.made import days, filled, time_of, tree

DAYS = [str(date(2026, 3, 2) + timedelta(i)) for i in range(4)]


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> Path:
    """A file of posteriors a day."""
    folder = tmp_path_factory.mktemp("samples")
    rng = np.random.default_rng(0)
    for day in DAYS:
        pl.DataFrame({"spam": rng.beta(1, 9, 200)}).write_csv(folder / f"posts-{day}.csv")
    return folder


def start(samples: Path, day: str, history: Path) -> subprocess.Popen:
    call = "from quantshift.cli.app import main; main()"
    return subprocess.Popen(
        [
            *(sys.executable, "-c", call, "quantify", "--posteriors", "spam", "--method", "PCC"),
            *("--sample", samples / f"posts-{day}.csv", "--replicates", "100"),
            *("--history", history, "--at", f"{day}T06:00", "--summary"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ends_well(process: subprocess.Popen) -> None:
    said, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    assert said.startswith("DECLARED posts-")


def append_all(history: History, answers, first: int) -> None:
    for i in range(first, len(answers)):
        history.append(answers[i], at=time_of(i))


@pytest.fixture(scope="module")
def quiet(samples, tmp_path_factory) -> dict[str, bytes]:
    """The files of a history that nobody disturbed."""
    folder = tmp_path_factory.mktemp("quiet") / "h"
    for day in DAYS:
        ends_well(start(samples, day, folder))
    return tree(folder)


@pytest.mark.slow
def test_commands_that_were_killed_and_run_again_leave_the_same_bytes(samples, quiet, tmp_path):
    moments = random.Random(3)
    folder = tmp_path / "h"
    killed = 0
    for day in DAYS:
        for attempt in range(4):
            process = start(samples, day, folder)
            if attempt % 2:
                time.sleep(moments.uniform(0, 2))
            else:  # while something is written
                while process.poll() is None and not list(folder.rglob(".tmp-*")):
                    time.sleep(0.0005)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                killed += 1
            process.communicate()
        ends_well(start(samples, day, folder))
    assert killed > 4
    assert tree(folder) == quiet


@pytest.mark.slow
def test_commands_at_once_leave_the_same_bytes(samples, quiet, tmp_path):
    """All days at once, and each of them twice."""
    folder = tmp_path / "h"
    for process in [start(samples, day, folder) for day in (*DAYS, *DAYS)]:
        ends_well(process)
    assert tree(folder) == quiet


@pytest.mark.slow
def test_a_full_disk_loses_nothing(small_disk, tmp_path):
    place, enlarge = small_disk
    answers = days(60)
    history = History.open(place / "h")
    with pytest.raises(UserError, match="no space left on the disk of "):
        append_all(history, answers, 0)
    n_kept = len(history.calls())
    assert 1 < n_kept < 60
    kept = tree(filled(tmp_path / "kept", answers[:n_kept]).path)
    assert tree(history.path) == kept
    enlarge()
    append_all(history, answers, n_kept)
    assert tree(history.path) == tree(filled(tmp_path / "all", answers).path)
