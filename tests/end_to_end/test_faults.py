"""Faults, for real: processes are killed, disks are full, files are damaged."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

LAB = """
from pathlib import Path
from quantshift import CC

class Mine(CC):
    def _solve(self, representation, index):
        if abs(self.prior_[1] - 0.3) < 1e-9 and not Path(__file__).with_name("mended").exists():
            raise RuntimeError("this method cannot do 0.3")
        return super()._solve(representation, index)
"""
MINE = """
name = "mine"
quantifiers = ["CC", "my_lab.methods:Mine"]
[data]
cut_point = 3
[shift]
kind = "prior"
train_prevalences = [0.3, 0.5]
test_prevalences = [0.0, 0.5, 1.0]
train_size = 150
train_repeats = 1
test_size = 50
test_repeats = 2
"""


def kill_and_resume(tools, undisturbed, out: Path, kills: int, seed: int) -> None:
    """Kill the whole process group at random moments, then let a run end."""
    moments = random.Random(seed)
    killed = 0
    while killed < kills:
        process = tools.command.start(out)
        before = tools.n_done(out)
        # In turn: while results are written, while workers are at work, anywhere.
        if killed % 3 == 0:
            _wait(tools, process, lambda done=before: tools.n_done(out) > done)
            time.sleep(moments.uniform(0, 0.05))
        elif killed % 3 == 1:
            _wait(tools, process, (out / "store.json").exists)
            time.sleep(moments.uniform(0, 3))
        else:
            time.sleep(moments.uniform(0, 6))
        ended = process.poll() is not None
        if not ended:
            tools.kill_group(process)
        process.communicate()
        killed += not ended
        if tools.n_done(out) == tools.n_cells and killed < kills:
            # Nothing is left to be killed at.
            assert tools.tree(_resumed(tools, out)) == tools.tree(undisturbed)
            shutil.rmtree(out)
    assert tools.tree(_resumed(tools, out)) == tools.tree(undisturbed)


def _wait(tools, process, condition) -> None:
    tools.wait_for(lambda: condition() or process.poll() is not None)


def _resumed(tools, out: Path) -> Path:
    done = tools.command.run(out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.slow
def test_killed_and_resumed_the_bytes_are_the_same(tools, undisturbed, tmp_path):
    kill_and_resume(tools, undisturbed, tmp_path / "out", kills=3, seed=1)


@pytest.mark.slow
def test_killed_many_times(tools, undisturbed, tmp_path):
    kill_and_resume(tools, undisturbed, tmp_path / "out", kills=24, seed=2)


@pytest.mark.slow
def test_a_killed_worker_is_replaced(tools, undisturbed, tmp_path):
    process = tools.command.start(tmp_path / "out")
    tools.wait_for(lambda: tools.n_done(tmp_path / "out") >= 1)
    workers = tools.workers_of(process)
    assert workers
    workers[0].send_signal(signal.SIGKILL)
    _, wrong = process.communicate(timeout=300)
    assert process.returncode == 0, wrong
    assert tools.tree(tmp_path / "out") == tools.tree(undisturbed)


@pytest.mark.slow
def test_no_worker_outlives_a_killed_run(tools, tmp_path):
    process = tools.command.start(tmp_path / "out")
    workers = tools.wait_for(lambda: len(found := tools.workers_of(process)) == 2 and found)
    process.kill()
    process.communicate(timeout=60)
    tools.wait_for(lambda: not any(_alive(worker) for worker in workers), seconds=60)


def _alive(process) -> bool:
    return process.is_running() and process.status() != "zombie"


@pytest.mark.slow
def test_ctrl_c_leaves_whole_results_and_says_how_to_go_on(tools, undisturbed, tmp_path):
    out = tmp_path / "out"
    process = tools.command.start(out)
    tools.wait_for(lambda: tools.n_done(out) >= 1)
    tools.kill_group(process, signal.SIGINT)
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 130
    assert wrong == ""
    last = said.splitlines()[-1]
    assert last.startswith("stopped; nothing is lost. To resume: quantshift run prior ")
    assert last.endswith(f"--out {out}")
    assert not [name for name in tools.tree(out) if ".tmp-" in name]
    checked = tools.call("verify", str(out))
    assert " 0 damaged" in checked.stdout
    assert tools.tree(_resumed(tools, out)) == tools.tree(undisturbed)


@pytest.mark.parametrize("seconds", [0.0, pytest.param(0.5, marks=pytest.mark.slow)])
def test_ctrl_c_while_workers_start_is_one_line(seconds, tools, tmp_path):
    process = tools.command.start(tmp_path / "out")
    tools.wait_for(lambda: tools.workers_of(process))
    time.sleep(seconds)
    tools.kill_group(process, signal.SIGINT)
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 130
    assert wrong == ""
    assert said.splitlines()[-1].startswith("stopped; nothing is lost. To resume: quantshift run")


@pytest.mark.slow
def test_ctrl_c_in_a_report_is_one_line_and_leaves_nothing(tools, undisturbed, tmp_path):
    out = tmp_path / "report"
    process = subprocess.Popen(
        tools.line("report", str(undisturbed), "--out", str(out)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # As soon as there is a second process, a figure is being saved; with one core, in this one.
    tools.wait_for(lambda: tools.workers_of(process) or list(out.glob(".report-*/figures/*")))
    tools.kill_group(process, signal.SIGINT)
    _, wrong = process.communicate(timeout=60)
    assert process.returncode == 130
    assert wrong == "stopped\n"
    assert list(out.iterdir()) == []


@pytest.mark.slow
def test_two_runs_on_one_store(tools, undisturbed, tmp_path):
    runs = [tools.command.start(tmp_path / "out") for _ in range(2)]
    for process in runs:
        _, wrong = process.communicate(timeout=300)
        assert process.returncode == 0, wrong
    assert tools.tree(tmp_path / "out") == tools.tree(undisturbed)
    assert tools.call("verify", str(tmp_path / "out")).returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(
    jobs, small_disk, tools, undisturbed
):
    place, enlarge = small_disk
    out = place / "out"
    done = tools.command.run(out, jobs=jobs)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: no space left on the disk of ")
    assert "run the same command again" in done.stderr
    assert " 0 damaged" in tools.call("verify", str(out)).stdout
    enlarge()
    assert tools.tree(_resumed(tools, out)) == tools.tree(undisturbed)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


def nest(path: Path) -> None:
    path.with_suffix(".json").write_text("[" * 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink, nest])
def test_a_damaged_file_is_detected_named_and_redone(damage, tools, undisturbed, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(undisturbed, out)
    victim = sorted(out.rglob("*.parquet"))[2]
    damage(victim)
    checked = tools.call("verify", str(out))
    assert checked.returncode == 1
    assert str(victim.with_suffix("")) in checked.stdout
    done = tools.command.run(out, jobs=1)
    assert done.returncode == 0
    assert f"damaged and computed again: {victim.with_suffix('')}." in done.stdout
    assert "1 cell in " in done.stdout
    assert tools.call("verify", str(out)).returncode == 0
    assert tools.tree(out) == tools.tree(undisturbed)


@pytest.fixture
def mine(tools, tmp_path):
    """A user's experiment with a quantifier that raises at one training prevalence."""
    package = tmp_path / "my_lab"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "methods.py").write_text(LAB)
    (tmp_path / "mine.toml").write_text(MINE)
    command = tools.make_command(
        experiment=str(tmp_path / "mine.toml"), environment={"PYTHONPATH": str(tmp_path)}
    )
    return command, package


@pytest.mark.slow
def test_a_cell_that_raises_is_recorded_and_the_others_go_on(mine, tools, tmp_path):
    command, package = mine
    out = tmp_path / "out"
    done = command.run(out)
    assert done.returncode == 1
    assert done.stderr == ""
    (failed,) = [line for line in done.stdout.splitlines() if line.startswith("failed: ")]
    assert failed.endswith("Mine: RuntimeError: this method cannot do 0.3")
    assert len(list(out.glob("mine/*/*/failure.json"))) == 1
    status = tools.call("status", str(out))
    counts = ["2", "1", "1", "0", "3", "1"]
    assert status.stdout.splitlines()[2].split() == ["mine", "synthetic", *counts]
    assert command.run(out).returncode == 1
    (package / "mended").touch()
    mended = command.run(out, "--redo", "failed")
    assert mended.returncode == 0
    assert mended.stdout.splitlines()[-1].startswith("1 cell in ")
    assert not list(out.glob("mine/*/*/failure.json"))
    assert tools.call("verify", str(out)).returncode == 0


@pytest.mark.slow
def test_a_module_that_cannot_be_imported_is_one_line(mine, tmp_path):
    command, package = mine
    (package / "methods.py").write_text("import nothing_of_this_name")
    done = command.run(tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot import 'my_lab.methods': ModuleNotFoundError" in done.stderr
