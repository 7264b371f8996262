"""Results of version 1 become results of version 2, with nothing lost on the way."""

import hashlib
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from quantshift.cli.migrate import migrate as migrate_command
from quantshift.errors import DataError, UserError
from quantshift.results import ResultStore, foreign_files, migrate, status, verify
from quantshift.results.parts import part_name
from quantshift.results.version_1 import COLUMNS

FIXTURE = Path(__file__).parent / "store_v1"
CELL = "p_train=0.1,train_repeat=0"


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def old_rows(folder: Path) -> pl.DataFrame:
    frames = [
        pl.read_parquet(path, hive_partitioning=False)
        for path in sorted(folder.glob("*/*/*.parquet"))
    ]
    return pl.concat(frames)


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    """A copy of the store that the first version of the format wrote."""
    shutil.copytree(FIXTURE, tmp_path / "runs")
    return tmp_path / "runs"


def write_v1(folder: Path, experiments: dict[str, Any]) -> None:
    """A store of version 1: experiment -> description and rows by cell."""
    folder.mkdir()
    described = {}
    for name, (description, cells) in experiments.items():
        methods = {"CC": "1"}
        described[name] = description | {"methods": [{"name": "CC", "signature": "1"}]}
        for cell, rows in cells.items():
            place = folder / name / cell
            place.mkdir(parents=True)
            columns = {k: [row.get(k) for row in rows] for k in COLUMNS}
            frame = pl.DataFrame(columns, schema=dict(COLUMNS)).with_columns(
                experiment=pl.lit(name), cell=pl.lit(cell), method=pl.lit("CC"), size=pl.lit(500)
            )
            frame = frame.select(pl.col(k).cast(kind) for k, kind in COLUMNS.items())
            data = place / f"{part_name(methods)}.parquet"
            frame.write_parquet(data)
            content = data.read_bytes()
            marker = {"schema": 1, "rows": len(frame), "bytes": len(content), "methods": methods}
            marker["sha256"] = hashlib.sha256(content).hexdigest()
            data.with_suffix(".json").write_text(json.dumps(marker))
    head = {"format": "quantshift-results", "version": 1, "quantshift": "0.1.0"}
    (folder / "store.json").write_text(json.dumps(head | {"experiments": described}))


def row(p: float = 0.25, **columns: Any) -> dict[str, Any]:
    return {"p_true": p, "p_hat": p / 3, "train_repeat": 0, **columns}


def test_the_fixture_gives_the_same_rows(v1, rows):
    migrated = migrate(v1)
    assert (migrated.parts, migrated.rows) == (2, 12)
    assert migrated.left_out == migrated.foreign == []
    store = ResultStore.open(v1)
    assert verify(store) == []
    assert foreign_files(store) == []
    old, new = old_rows(FIXTURE), store.read().collect()
    keys = ["cell", "method", "repeat"]
    old, new = old.sort(keys), new.sort(keys)
    for name in ("p_true", "p_hat"):
        assert new[name].list.last().equals(old[name])
        assert new[name].to_list() == [[1 - p, p] for p in old[name]]
    same = [name for name in new.columns if name in COLUMNS and name not in ("p_true", "p_hat")]
    assert set(same) >= {"p_train", "p_test", "repeat", "iterations", "converged", "size"}
    assert new.select(same).equals(old.select(pl.col(n).cast(new.schema[n]) for n in same))
    gone = [name for name in COLUMNS if name not in new.columns]
    assert all(old[name].null_count() == len(old) for name in gone)
    first = new.filter(pl.col("cell") == CELL, pl.col("method") == "CC")
    assert first["p_hat"].to_list() == rows(CELL, ["CC"], 4)["p_hat"].to_list()
    assert first["sample"].to_list() == [0, 1, 2, 3]
    assert new.select("cell", "stratum").unique().sort("cell")["stratum"].to_list() == [1, 5]
    for name, value in (("shift", "prior"), ("dataset", "data"), ("facet", "")):
        assert set(new[name]) == {value}


def test_the_fixture_keeps_its_signatures_failures_and_description(v1):
    migrate(v1)
    store = ResultStore.open(v1)
    other = "p_train=0.5,train_repeat=1"
    assert store.cells("prior", "data") == (CELL, other)
    assert store.finished("prior", "data", CELL) == {
        "CC": "signature-of-CC",
        "SLD": "signature-of-SLD",
    }
    assert store.finished("prior", "data", other) == {"CC": "signature-of-CC"}
    assert store.failed("prior", "data", other) == {"SLD": "signature-of-SLD"}
    (failure,) = store.failures("prior", "data", other)
    assert (failure.error, failure.message) == ("ValueError", "no separation")
    planned = {"prior": {"data": [(c, store.methods("prior")) for c in (CELL, other)]}}
    assert status(store, planned).select("done", "failed", "to_do").row(0) == (3, 1, 0)
    old = json.loads((FIXTURE / "store.json").read_bytes())
    for key in ("corpus", "seed", "quantshift"):
        assert store.description[key] == old[key]
    there, before = store.description["experiments"]["prior"], old["experiments"]["prior"]
    assert {key: there[key] for key in before} == before
    about = store.about("prior")
    assert (about.shift, about.datasets) == ("prior", {"data": ("0", "1")})
    assert [c.name for c in about.coordinates] == ["p_train", "p_test", "repeat"]
    assert about.diagnostics == {"iterations": "int", "converged": "bool"}
    assert about.words.degree.startswith("$p_U - p_L$")


def test_the_old_results_are_kept_and_the_log_moves_along(v1):
    (v1 / "log").mkdir()
    (v1 / "log" / "runs.jsonl").write_text('{"cells": 3}\n')
    (v1 / "notes.txt").write_text("mine")
    before = tree(v1)
    migrated = migrate(v1)
    assert migrated.kept == v1.with_name("runs.v1")
    assert tree(migrated.kept) == before
    assert [path.name for path in migrated.foreign] == ["notes.txt"]
    assert ResultStore.open(v1).log.records() == [{"cells": 3}]
    assert sorted(path.name for path in v1.parent.iterdir()) == ["runs", "runs.v1"]


def test_results_that_are_up_to_date_stay_as_they_are(v1):
    migrate(v1)
    before = tree(v1.parent)
    assert migrate(v1) is None
    assert tree(v1.parent) == before


def test_what_is_kept_is_never_overwritten(v1):
    v1.with_name("runs.v1").mkdir()
    before = tree(v1.parent)
    with pytest.raises(
        UserError, match=r"runs\.v1, where .* exists already; move it and run the same"
    ):
        migrate(v1)
    assert tree(v1.parent) == before
    assert not list(v1.parent.glob(".*"))


def test_what_cannot_be_migrated_is_refused(tmp_path, v1, store):
    with pytest.raises(DataError, match="does not exist"):
        migrate(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"has no store\.json"):
        migrate(tmp_path / "empty")
    path = v1 / "store.json"
    for version, message in ((3, "upgrade quantshift"), (0, "make the results again")):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"version": version}))
        with pytest.raises(DataError, match=message):
            migrate(v1)
    assert sorted(p.name for p in v1.parent.iterdir()) == ["empty", "runs", "store"]


def test_damaged_files_are_left_out_and_told(v1):
    data = next((v1 / "prior" / CELL).glob("*.parquet"))
    data.write_bytes(data.read_bytes()[:-1])
    (v1 / "prior" / "p_train=0.5,train_repeat=1" / "failure.json").write_text("{")
    migrated = migrate(v1)
    assert sorted(problem.kind for problem in migrated.left_out) == ["failure", "truncated"]
    store = ResultStore.open(v1)
    assert verify(store) == []
    assert (migrated.parts, migrated.rows, len(store.read().collect())) == (1, 4, 4)
    assert store.finished("prior", "data", CELL) == {}


def test_a_run_goes_on_in_migrated_results(v1):
    old = json.loads((v1 / "store.json").read_bytes())
    migrate(v1)
    migrated = ResultStore.open(v1).description["experiments"]["prior"]
    run = migrated | {
        "datasets": {"data": {"items": "new", "source": "x", "classes": ["no", "yes"]}},
        "diagnostics": {"clipped": "bool"},
    }
    wanted = {"corpus": old["corpus"], "seed": old["seed"], "experiments": {"prior": run}}
    with pytest.raises(UserError, match="data set 'data' had other items"):
        ResultStore.create(v1, wanted)
    del run["datasets"]["data"]["items"]
    store = ResultStore.create(v1, wanted)
    assert store.about("prior").datasets == {"data": ("no", "yes")}
    assert set(store.finished("prior", "data", CELL)) == {"CC", "SLD"}
    assert verify(store) == []


# -- what version 1 did not store

COVARIATE = {"kind": "covariate", "train_alphas": [0.5, 0.0], "train_prevalences": [0.75, 0.25]}


def test_covariate_shift_has_facets_and_strata_in_the_order_of_its_grid(tmp_path):
    cells = {
        f"p_train-{p},alpha_train-{alpha},train_repeat-{repeat}": [
            row(p_train=p, p_test=q, alpha_train=alpha, alpha_test=0.5, train_repeat=repeat)
            for q in (0.25, 0.25 + 1e-12, 0.5)
        ]
        for p in (0.25, 0.75)
        for alpha in (0, 0.5)
        for repeat in (0, 1)
    }
    write_v1(tmp_path / "s", {"covariate": ({"shift": COVARIATE}, cells)})
    migrate(tmp_path / "s")
    found = ResultStore.open(tmp_path / "s").read().collect()
    strata = dict(found.select("cell", "stratum").unique().iter_rows())
    points = [(0.75, 0.5), (0.25, 0.5), (0.75, 0), (0.25, 0)]
    assert strata == {
        f"p_train-{p},alpha_train-{alpha},train_repeat-{repeat}": number
        for number, (p, alpha) in enumerate(points)
        for repeat in (0, 1)
    }
    facets = found.select("p_train", "sample", "facet").unique().sort("p_train", "sample")
    assert facets["facet"].to_list() == ["pure", "pure", "mixed", "mixed", "mixed", "mixed"]


def test_the_control_of_local_shift_is_a_facet(tmp_path):
    rows = [row(p_train=0.5, p_test=0.5, control=control) for control in (False, True, None)]
    cells = {"p_train-0.5,train_repeat-0": rows}
    write_v1(tmp_path / "s", {"mine": ({"shift": {"kind": "local", "with_control": True}}, cells)})
    migrate(tmp_path / "s")
    found = ResultStore.open(tmp_path / "s").read().collect()
    assert found["facet"].to_list() == ["", "control", ""]
    assert set(found["shift"]) == {"local"}


@pytest.mark.parametrize(
    "shift", [{"kind": "odd"}, {"kind": "prior", "grown": 1}, {"kind": "prior"}]
)
def test_without_a_grid_strata_are_the_sorted_points(tmp_path, shift):
    cells = {
        f"p_train-{p},train_repeat-{repeat}": [row(p_train=float(p), degree=float("nan"))]
        for p in ("0.05", "0.1", "1e-05")  # the first and the last are not in the default grid
        for repeat in (10, 9)
    }
    write_v1(tmp_path / "s", {"mine": ({"shift": shift, "title": "Mine"}, cells)})
    migrate(tmp_path / "s")
    store = ResultStore.open(tmp_path / "s")
    found = store.read().collect()
    strata = {
        float(cell.split("-", 1)[1].split(",")[0]): s
        for cell, s in found.select("cell", "stratum").rows()
    }
    assert strata == {1e-05: 0, 0.05: 1, 0.1: 2}
    assert found["degree"].null_count() == 6
    about = store.about("mine")
    assert about.shift == shift["kind"]
    assert "p_train" in [c.name for c in about.coordinates]


def test_cells_of_any_name_are_strata_of_their_own(tmp_path):
    write_v1(tmp_path / "s", {"mine": ({"shift": {"kind": "odd"}}, {"b": [row()], "a": [row()]})})
    migrate(tmp_path / "s")
    found = ResultStore.open(tmp_path / "s").read().collect()
    assert found.select("cell", "stratum").rows() == [("a", 0), ("b", 1)]


def test_repeats_of_natural_prevalence_are_one_stratum(tmp_path):
    cells = {f"train_repeat-{r}": [row(p_train=0.3, train_repeat=r)] for r in range(3)}
    write_v1(tmp_path / "s", {"mine": ({"shift": {"kind": "natural"}}, cells)})
    migrate(tmp_path / "s")
    found = ResultStore.open(tmp_path / "s").read().collect()
    assert found["stratum"].to_list() == [0, 0, 0]
    assert found["train_repeat"].to_list() == [0, 1, 2]


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ({}, "data"),
        ({"source": "Bank churn (2019)"}, "Bank-churn-2019"),
        ({"source": "reviews.v2"}, "reviews.v2"),
        ({"source": "items.csv.gz", "data": {"features": "items.csv.gz"}}, "items"),
        ({"source": "synthetic reviews (20,000 documents)"}, "synthetic"),
        ({"source": "../.."}, "data"),
    ],
)
def test_the_data_set_is_called_after_its_source(tmp_path, description, name):
    cells = {"p_train-0.5,train_repeat-0": [row()]}
    described = description | {"shift": {"kind": "prior"}, "items": "c0ffee"}
    write_v1(tmp_path / "s", {"mine": (described, cells)})
    migrate(tmp_path / "s")
    store = ResultStore.open(tmp_path / "s")
    assert store.datasets("mine") == (name,)
    record = store.description["experiments"]["mine"]["datasets"][name]
    assert (record["items"], record.get("source")) == ("c0ffee", description.get("source"))
    assert "items" not in store.description["experiments"]["mine"]
    assert len(store.read().collect()) == 1


# -- older files among new ones


def test_older_files_in_a_new_store_are_brought_up_to_date(v1):
    migrate(v1)
    shutil.rmtree(v1.with_name("runs.v1"))
    store = ResultStore.open(v1)
    whole, sound = store.read().collect(), tree(v1)
    for cell in store.cells("prior", "data"):
        for path in (FIXTURE / "prior" / cell).iterdir():
            shutil.copy(path, v1 / "prior" / "data" / cell)
    assert {problem.kind for problem in verify(store)} == {"older"}
    before = tree(v1)
    migrated = migrate(v1)
    assert tree(migrated.kept) == before
    assert tree(v1) == sound
    assert ResultStore.open(v1).read().collect().equals(whole)


# -- killed, or called twice


class Recorder:
    """Copies a folder before every change in it: the states a kill could leave behind."""

    def __init__(self, folder: Path, copies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.copies, self.states = folder, copies, []
        for owner, name in (
            (Path, "replace"),
            (Path, "rename"),
            (Path, "unlink"),
            (Path, "mkdir"),
            (os, "fsync"),
        ):
            monkeypatch.setattr(owner, name, self.recorded(getattr(owner, name)))
        self.busy = False

    def recorded(self, action):
        def act(*args, **kwargs):
            if not self.busy:
                self.busy = True
                copy = self.copies / str(len(self.states))
                shutil.copytree(self.folder, copy)
                self.states.append(copy)
                self.busy = False
            return action(*args, **kwargs)

        return act


def test_killed_at_any_step_the_same_command_ends_the_work(v1, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    v1.rename(home / "runs")
    (tmp_path / "copies").mkdir()
    before = tree(home / "runs")
    recorder = Recorder(home, tmp_path / "copies", monkeypatch)
    migrate(home / "runs")
    monkeypatch.undo()
    expected = tree(home)
    assert len(recorder.states) > 20
    seen = set()
    for state in recorder.states:
        names = sorted(path.name for path in state.iterdir())
        seen.add(tuple(names))
        kept = state / ("runs" if "runs" in names else "runs.v1")
        if "runs.v1" in names or "runs" in names:
            assert tree(state / "runs.v1" if "runs.v1" in names else kept) == before
        migrated = migrate(state / "runs")
        assert migrated is None or migrated.rows == 12
        assert tree(state) == expected
    # Before, while it is made, between the renames, after.
    assert seen == {
        ("runs",),
        (".runs.migrating", "runs"),
        (".runs.migrating", "runs.v1"),
        ("runs", "runs.v1"),
    }


def test_two_at_once_do_it_once(v1):
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(migrate, [v1, v1])
    assert (first is None) != (second is None)
    assert len(ResultStore.open(v1).read().collect()) == 12


def test_a_link_to_the_results_stays_a_link(v1, tmp_path):
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(v1)
    assert migrate(link).kept == v1.with_name("runs.v1")
    assert link.is_symlink()
    assert len(ResultStore.open(link).read().collect()) == 12


# -- the command


def test_the_command_says_what_it_did(v1):
    (v1 / "notes.txt").write_text("mine")
    (v1 / "prior" / "p_train=0.5,train_repeat=1" / "failure.json").write_text("{")
    app = typer.Typer()
    app.command()(migrate_command)
    first = CliRunner().invoke(app, [str(v1)])
    assert first.exit_code == 0
    assert re.sub(r"\S*/", "", first.stdout) == (
        "runs is up to date: 2 parts, 12 rows\n"
        "left out: failure.json is not a readable failure record\n"
        "run the same experiments again to compute what was left out\n"
        "the old results are kept in runs.v1; delete it when you no longer need it\n"
        "also left there: 1 file not made by quantshift\n"
    )
    again = CliRunner().invoke(app, [str(v1)])
    assert (again.exit_code, re.sub(r"\S*/", "", again.stdout)) == (
        0,
        "runs is up to date; nothing to do\n",
    )
