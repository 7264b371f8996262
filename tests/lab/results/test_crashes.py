"""Killed at any instant, with one or more writers, the store holds whole results only."""

import os
import random
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from quantshift.base.storage.files import locked
from quantshift.lab.results import ResultStore, verify

WRITER = """
import runpy, sys
builders = runpy.run_path(sys.argv[1])
from quantshift.lab.results import ResultStore
store = ResultStore.create(sys.argv[2], builders["description"]())
methods = builders["signatures"](["CC", "SLD"])
frames = {cell: builders["rows"](cell, n=200) for cell in builders["CELLS"]}
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    for cell, frame in frames.items():
        store.write_failure("prior", "reviews", cell, methods, ValueError("not yet"))
        store.write_part("prior", "reviews", cell, methods, frame)
        store.drop("prior", "reviews", cell, "SLD")
        store.write_part("prior", "reviews", cell, methods, frame)
"""


def start(builders: Path, store: Path, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(builders), str(store), str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def go(*writers: subprocess.Popen[str]) -> None:
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()


def end(writer: subprocess.Popen[str]) -> int:
    writer.communicate()
    return writer.returncode


def check_kills(builders: Path, path: Path, fill, seed: int, kills: int) -> None:
    whole = fill(path.with_name("whole"), n=200)
    expected = whole.read().collect().sort("cell", "method", "sample")
    moments = random.Random(seed)
    for _ in range(kills):
        writer = start(builders, path, 1000)
        go(writer)
        time.sleep(moments.uniform(0, 0.3))
        writer.kill()
        assert end(writer) == -9
        store = ResultStore.open(path)
        assert verify(store) == []
        found = store.read().collect()
        keys = found.select("cell", "method").unique()
        wanted = expected.join(keys, on=["cell", "method"], how="semi")
        assert found.sort("cell", "method", "sample").equals(wanted)
    resumed = fill(path, n=200)
    for cell in resumed.cells("prior", "reviews"):
        for part in list((path / "prior" / "reviews" / cell).glob("*.json")):
            assert part.with_suffix(".parquet").exists()
    assert resumed.read().collect().sort("cell", "method", "sample").equals(expected)
    assert not list(path.rglob(".tmp-*"))


@pytest.mark.slow
def test_kill_9_leaves_a_readable_store(builders, tmp_path, fill):
    check_kills(builders, tmp_path / "store", fill, seed=1, kills=2)


@pytest.mark.slow
def test_kill_9_at_many_moments(builders, tmp_path, fill):
    check_kills(builders, tmp_path / "store", fill, seed=2, kills=40)


@pytest.mark.slow
def test_two_processes_writing_the_same_cells(builders, tmp_path, fill):
    path = tmp_path / "store"
    writers = [start(builders, path, 3), start(builders, path, 3)]
    go(*writers)
    assert [end(writer) for writer in writers] == [0, 0]
    store = ResultStore.open(path)
    assert verify(store) == []
    store.clean()
    alone = fill(tmp_path / "alone", n=200)
    assert (
        store.read()
        .collect()
        .sort("cell", "method", "sample")
        .equals(alone.read().collect().sort("cell", "method", "sample"))
    )


class Recorder:
    """Copies the store before every change of a file: the states a kill could leave behind."""

    def __init__(self, store: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.copies, self.states = store, copies, []
        for owner, name in ((Path, "replace"), (Path, "unlink"), (os, "fsync")):
            monkeypatch.setattr(owner, name, self.recorded(getattr(owner, name)))

    def recorded(self, action):
        def act(*args, **kwargs):
            copy = self.copies / str(len(self.states))
            shutil.copytree(self.store, copy)
            self.states.append(copy)
            return action(*args, **kwargs)

        return act


def observed(states: list[Path], cell: str) -> list[tuple[list[str], float]]:
    """The distinct contents of a cell as the states go by: methods and sum of estimates."""
    seen: list[tuple[list[str], float]] = []
    for state in states:
        store = ResultStore.open(state)
        assert verify(store) == []
        frame = store.read().filter(pl.col("cell") == cell).collect()
        assert sorted(store.finished("prior", "reviews", cell)) == sorted(set(frame["method"]))
        content = (sorted(set(frame["method"])), round(frame["p_hat"].list.last().sum(), 6))
        if not seen or seen[-1] != content:
            seen.append(content)
    return seen


def total(frame: pl.DataFrame) -> float:
    return round(frame["p_hat"].list.last().sum(), 6)


def test_every_state_while_writing_is_before_or_after(
    store, rows, signatures, tmp_path, monkeypatch
):
    cell = "p_train=0.9,train_repeat=0"
    recorder = Recorder(store.path, tmp_path / "copies", monkeypatch)
    store.write_part("prior", "reviews", cell, signatures(["CC", "SLD"]), rows(cell))
    monkeypatch.undo()
    assert len(recorder.states) > 5
    assert observed([*recorder.states, store.path], cell) == [
        ([], 0.0),
        (["CC", "SLD"], total(rows(cell))),
    ]


def test_every_state_while_replacing_is_old_nothing_or_new(
    store, rows, signatures, cells, tmp_path, monkeypatch
):
    new = rows(cells[0]).with_columns(p_hat=pl.concat_list(pl.lit(0.5), pl.lit(0.5)))
    recorder = Recorder(store.path, tmp_path / "copies", monkeypatch)
    store.write_part("prior", "reviews", cells[0], signatures(["CC", "SLD"]), new)
    monkeypatch.undo()
    assert observed([*recorder.states, store.path], cells[0]) == [
        (["CC", "SLD"], total(rows(cells[0]))),
        ([], 0.0),
        (["CC", "SLD"], 20.0),
    ]


def test_every_state_while_dropping_keeps_the_neighbours(store, rows, cells, tmp_path, monkeypatch):
    recorder = Recorder(store.path, tmp_path / "copies", monkeypatch)
    store.drop("prior", "reviews", cells[0], "CC")
    monkeypatch.undo()
    assert observed([*recorder.states, store.path], cells[0]) == [
        (["CC", "SLD"], total(rows(cells[0]))),
        (["SLD"], total(rows(cells[0]).filter(pl.col("method") == "SLD"))),
    ]


def test_every_state_while_the_description_grows_can_be_opened(
    store, description, tmp_path, monkeypatch
):
    recorder = Recorder(store.path, tmp_path / "copies", monkeypatch)
    ResultStore.create(store.path, description(["CC", "SLD", "DyS"]))
    monkeypatch.undo()
    grown = [list(ResultStore.open(s).methods("prior")) for s in [*recorder.states, store.path]]
    assert grown[0] == ["CC", "SLD"]
    assert grown[-1] == ["CC", "SLD", "DyS"]
    for state in recorder.states:
        assert verify(ResultStore.open(state)) == []
        (state / "store.json").unlink()
        rebuilt = ResultStore.rebuild(state)
        assert list(rebuilt.methods("prior"))[:2] == ["CC", "SLD"]
        assert rebuilt.read().collect().equals(store.read().collect())


def test_every_state_while_a_store_is_made_is_nothing_or_whole(tmp_path, description, monkeypatch):
    path = tmp_path / "s"
    path.mkdir()
    recorder = Recorder(path, tmp_path / "copies", monkeypatch)
    made = ResultStore.create(path, description())
    monkeypatch.undo()
    assert len(recorder.states) > 3
    for state in recorder.states:
        again = ResultStore.create(state, description())
        assert again.description == made.description
        assert verify(again) == []


def test_a_change_waits_for_the_lock_of_the_cell(store, rows, signatures, cells):
    both = signatures(["CC", "SLD"])
    changes = {
        "write": lambda: store.write_part("prior", "reviews", cells[0], both, rows(cells[0])),
        "fail": lambda: store.write_failure("prior", "reviews", cells[0], both, ValueError("x")),
        "drop": lambda: store.drop("prior", "reviews", cells[0]),
    }
    with ThreadPoolExecutor(1) as pool:
        for change in changes.values():
            with locked(store.path / "prior" / "reviews" / cells[0]):
                waiting = pool.submit(change)
                with pytest.raises(TimeoutError):
                    waiting.result(timeout=0.1)
            waiting.result(timeout=60)
    assert store.finished("prior", "reviews", cells[0]) == {}


def test_experiments_added_at_the_same_time_are_all_there(tmp_path, description):
    names = [f"mine-{i}" for i in range(12)]
    experiment = description()["experiments"]["prior"]

    def add(name: str) -> ResultStore:
        return ResultStore.create(tmp_path / "s", description(experiments={name: experiment}))

    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(add, names))
    assert sorted(ResultStore.open(tmp_path / "s").experiments) == sorted(names)
