"""Runs in this process: what is computed, what is left alone, what is refused."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.errors import PoolTooSmallError, UserError
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import SerialExecutor
from quantshift.lab.experiments.runner import Run, RunProgress, run_experiments
from quantshift.lab.experiments.sources import sources_of
from quantshift.lab.results import ResultStore, verify

SERIAL = SerialExecutor()


@pytest.fixture
def run_of(small_source, tmp_path):
    def make(*experiments, out="out"):
        return Run(experiments, {e.name: [small_source] for e in experiments}, tmp_path / out)

    return make


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the diary."""
    files = [p for p in folder.rglob("*") if p.is_file() and p.parent.name != "log"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def times(folder: Path) -> dict[str, int]:
    return {str(p): p.stat().st_mtime_ns for p in folder.rglob("*") if p.suffix == ".parquet"}


def data_files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


def test_the_first_cell_of_a_worker_says_nothing_of_the_time_left():
    # Two workers that compile for 30 s and then do a cell a second each.
    assert RunProgress(3, 102, (), 31.0, 2, (2, 30.0)).seconds_left is None
    assert RunProgress(22, 102, (), 40.0, 2, (2, 30.0)).seconds_left == pytest.approx(40.0)


def test_a_run_computes_everything_and_the_next_nothing(small, run_of):
    run = run_of(small())
    seen: list[RunProgress] = []
    summary = run_experiments(run, SERIAL, progress=seen.append)
    assert (summary.done, summary.failures, summary.repaired) == (2, (), ())
    assert [(p.done, p.total, p.n_workers) for p in seen] == [(1, 2, 1), (2, 2, 1)]
    assert [p.seconds_left for p in seen] == [None, 0]
    store = ResultStore.open(run.out)
    assert len(store.read().collect()) == 2 * 6 * 9
    assert verify(store) == []
    before = tree(run.out), times(run.out)
    assert run_experiments(run, SERIAL).done == 0
    assert (tree(run.out), times(run.out)) == before
    # A run that had nothing to do leaves no line in the diary.
    (record,) = store.log.records()
    assert (record["cells"], record["cells_planned"], record["workers"]) == (2, 2, 1)


def test_an_added_method_computes_only_itself(small, run_of):
    run_experiments(run_of(small({"quantifiers": ["CC", "SLD"]})), SERIAL)
    out = run_of(small()).out
    before, stamps = tree(out), times(out)
    summary = run_experiments(run_of(small({"quantifiers": ["CC", "PACC", "SLD"]})), SERIAL)
    assert summary.done == 2
    after = tree(out)
    described = ("store.json", "prior/about.json")
    assert {name: after[name] for name in before if name not in described} == {
        name: content for name, content in before.items() if name not in described
    }
    assert {name: stamp for name, stamp in times(out).items() if name in stamps} == stamps
    added = [path for path in data_files(out) if str(path) not in stamps]
    assert [pl.read_parquet(path)["method"].unique().to_list() for path in added] == [["PACC"]] * 2
    # And its rows are those of a run that had it from the beginning.
    whole = run_of(small({"quantifiers": ["CC", "PACC", "SLD"]}), out="whole")
    run_experiments(whole, SERIAL)
    order = ["cell", "method", "p_test", "repeat"]
    both = [ResultStore.open(p).read().collect().sort(order) for p in (out, whole.out)]
    assert both[0].equals(both[1].select(both[0].columns))


def test_fewer_methods_leave_the_others_where_they_are(small, run_of):
    run_experiments(run_of(small({"quantifiers": ["CC", "SLD"]})), SERIAL)
    out = run_of(small()).out
    before = tree(out)
    assert run_experiments(run_of(small({"quantifiers": ["SLD"]})), SERIAL).done == 0
    assert tree(out) == before


def test_redo_one_method(small, run_of):
    run = run_of(small({"quantifiers": ["CC", "PACC", "SLD"]}))
    run_experiments(run, SERIAL)
    store = ResultStore.open(run.out)
    order = ["cell", "method", "p_test", "repeat"]
    before = store.read().collect().sort(order)
    assert run_experiments(run, SERIAL, redo="PACC").done == 2
    assert store.read().collect().sort(order).equals(before)
    parts = [pl.read_parquet(path)["method"].unique().to_list() for path in data_files(run.out)]
    assert parts.count(["PACC"]) == 2


def test_redo_all_begins_afresh_and_ends_alike(small, run_of):
    run = run_of(small({"quantifiers": ["CC", "SLD"]}))
    run_experiments(run, SERIAL)
    before, stamps = tree(run.out), times(run.out)
    assert run_experiments(run, SERIAL, redo="all").done == 2
    assert tree(run.out) == before
    assert all(times(run.out)[name] != stamp for name, stamp in stamps.items())


def test_redo_all_may_change_what_the_results_are_of(small, run_of):
    run_experiments(run_of(small({"quantifiers": ["CC"]})), SERIAL)
    other = run_of(small({"quantifiers": ["CC"], "seed": 1}))
    with pytest.raises(UserError, match="or redo all"):
        run_experiments(other, SERIAL)
    assert run_experiments(other, SERIAL, redo="all").done == 2
    assert ResultStore.open(other.out).description["experiments"]["prior"]["seed"] == 1


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"seed": 1}, "experiments.prior.seed is 0 there and 1 here"),
        ({"shift.train_size": 210}, "shift.train_size is 200 there and 210 here"),
        ({"shift.test_repeats": 3}, "shift.test_repeats"),
        ({"classifier.grid.C": [1.0]}, "classifier.grid.C"),
    ],
)
def test_results_of_two_kinds_do_not_mix(change, key, small, run_of):
    run = run_of(small({"quantifiers": ["CC"]}))
    run_experiments(run, SERIAL)
    before = tree(run.out)
    with pytest.raises(UserError) as error:
        run_experiments(run_of(small({"quantifiers": ["CC"], **change})), SERIAL)
    assert key in str(error.value)
    assert "\n" not in str(error.value)
    assert tree(run.out) == before


def test_other_data_of_the_same_shape_are_refused(small, run_of, small_source):
    run = run_of(small({"quantifiers": ["CC"]}))
    run_experiments(run, SERIAL)
    source = type(small_source)(small_source.n_documents, seed=1)
    with pytest.raises(UserError, match="items"):
        run_experiments(Run(run.experiments, {"prior": [source]}, run.out), SERIAL)


def test_an_unknown_method_to_redo_is_refused_before_anything(small, run_of):
    run = run_of(small({"quantifiers": ["CC", "SLD"]}))
    with pytest.raises(UserError, match=r"redo='sld' is neither 'failed' nor 'all' .*\(CC, SLD\)"):
        run_experiments(run, SERIAL, redo="sld")
    assert not run.out.exists()


def test_a_pool_that_is_too_small_is_refused_before_anything(small, run_of):
    run = run_of(small({"shift.train_size": 5000}))
    with pytest.raises(PoolTooSmallError):
        run_experiments(run, SERIAL)
    assert not run.out.exists()


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 7)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def spoil_marker(path: Path) -> None:
    path.with_suffix(".json").write_text("{")


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink, spoil_marker])
def test_a_damaged_file_is_named_and_redone(damage, small, run_of):
    run = run_of(small({"quantifiers": ["CC"]}))
    run_experiments(run, SERIAL)
    before = tree(run.out)
    victim = data_files(run.out)[1]
    damage(victim)
    (problem,) = verify(ResultStore.open(run.out))
    assert problem.path.stem == victim.stem
    summary = run_experiments(run, SERIAL)
    assert summary.done == 1
    assert summary.repaired == (str(problem),)
    assert tree(run.out) == before


def test_a_lost_marker_is_a_lost_result(small, run_of):
    run = run_of(small({"quantifiers": ["CC"]}))
    run_experiments(run, SERIAL)
    before = tree(run.out)
    data_files(run.out)[0].with_suffix(".json").unlink()
    assert run_experiments(run, SERIAL).done == 1
    assert tree(run.out) == before


def test_a_failure_is_counted_once_and_remembered(written, lab, run_of):
    experiment = written(methods=f'["CC", "{lab.module}:Raising"]')
    run = run_of(experiment)
    first = run_experiments(run, SERIAL)
    assert (first.done, first.failed_before) == (2, 0)
    assert len(first.failures) == 1
    assert first.failures[0].endswith(": Raising: RuntimeError: no luck at 0.3 second line")
    # By default what has failed is not tried again, and not forgotten either.
    second = run_experiments(run, SERIAL)
    assert (second.done, second.failures, second.failed_before) == (0, (), 1)
    third = run_experiments(run, SERIAL, redo="failed")
    assert (third.done, len(third.failures), third.failed_before) == (1, 1, 0)
    lab.mend()
    mended = run_experiments(run, SERIAL, redo="failed")
    assert (mended.done, mended.failures, mended.failed_before) == (1, (), 0)
    store = ResultStore.open(run.out)
    assert len(store.read().collect()) == 2 * 2 * 6
    assert not list(run.out.rglob("failure.json"))


def test_stopped_in_the_middle_it_goes_on_where_it_was(small, run_of):
    experiment = small({"shift.train_prevalences": [0.3, 0.4, 0.5]})

    def stop(progress: RunProgress) -> None:
        raise KeyboardInterrupt

    run = run_of(experiment)
    with pytest.raises(KeyboardInterrupt):
        run_experiments(run, SERIAL, progress=stop)
    store = ResultStore.open(run.out)
    assert len(store.cells("prior", "synthetic")) == 1
    assert verify(store) == []
    (record,) = store.log.records()
    assert (record["cells"], record["cells_planned"]) == (1, 3)
    assert run_experiments(run, SERIAL).done == 2
    whole = run_of(experiment, out="whole")
    run_experiments(whole, SERIAL)
    assert tree(run.out) == tree(whole.out)


def test_two_experiments_share_a_store(small, run_of):
    concept = load_experiment(
        "concept",
        profile="quick",
        overrides={
            "quantifiers": ["CC"],
            "shift.train_size": 100,
            "shift.train_repeats": 1,
            "shift.test_size": 40,
            "shift.test_repeats": 1,
            "selection.enabled": False,
        },
    )
    run = run_of(small({"quantifiers": ["CC"]}), concept)
    assert run_experiments(run, SERIAL).done == 2 + 4
    counts = ResultStore.open(run.out).read().collect().group_by("experiment").len()
    assert dict(counts.iter_rows()) == {"prior": 12, "concept": 16}


def test_two_experiments_of_one_name_are_refused(small, run_of):
    run = run_of(small(), small({"seed": 1}))
    with pytest.raises(UserError, match="two experiments are called 'prior'"):
        run_experiments(run, SERIAL)
    assert not run.out.exists()


def test_given_samples_need_data_that_have_some(written, run_of):
    experiment = written(kind="given", sizes="train_size = 200\ntrain_repeats = 1")
    with pytest.raises(UserError, match="data set 'synthetic' has none"):
        run_of(experiment).plan()


def test_an_experiment_with_its_own_items_refuses_other_data(written, tmp_path):
    for name, values in (("x", np.zeros((9, 1))), ("y", np.array(["a", "b", "b"] * 3))):
        np.save(tmp_path / f"{name}.npy", values)
    experiment = written(data='features = "x.npy"\nlabels = "y.npy"')
    with pytest.raises(UserError, match="has items of its own"):
        sources_of(experiment, [tmp_path], n_documents=10)
