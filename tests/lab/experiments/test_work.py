from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from threadpoolctl import threadpool_info

from quantshift.errors import UserError
from quantshift.lab.experiments import work
from quantshift.lab.experiments.planning import Task, cells_of
from quantshift.lab.experiments.runner import Run, describe
from quantshift.lab.experiments.work import Job, perform
from quantshift.lab.results import ResultStore


def prepared(experiment, source, path: Path, cell: int = 0):
    """A store for the experiment, and the job of one of its cells."""
    run = Run((experiment,), {experiment.name: [source]}, path)
    store = ResultStore.create(path, describe(run))
    chosen = cells_of(experiment.name, source.name, experiment.shift)[cell]
    return store, Job(experiment, Task(chosen, experiment.methods), source, path)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


def test_rows_of_the_cell_are_stored(small, small_source, cell_rows, tmp_path):
    experiment = small()
    store, job = prepared(experiment, small_source, tmp_path / "out", cell=1)
    report = perform(job)
    assert report.name == job.name == f"prior synthetic {job.task.cell.key}"
    assert report.failures == ()
    assert report.seconds > 0
    assert_frame_equal(store.read().collect(), cell_rows(experiment))
    assert store.finished("prior", "synthetic", job.task.cell.key) == experiment.signatures()


def test_what_is_there_is_left_alone(small, small_source, tmp_path):
    _, job = prepared(small(), small_source, tmp_path / "out")
    perform(job)
    before = contents(tmp_path / "out")
    assert perform(job).failures == ()
    assert contents(tmp_path / "out") == before


def test_a_method_that_raises_costs_no_other(written, lab, small_source, tmp_path):
    methods = f'["CC", "{lab.module}:Raising", "SLD"]'
    experiment = written(methods=methods)
    store, job = prepared(experiment, small_source, tmp_path / "out")
    report = perform(job)
    assert report.failures == ("Raising: RuntimeError: no luck at 0.3 second line",)
    assert set(store.finished("prior", "synthetic", job.task.cell.key)) == {"CC", "SLD"}
    (failure,) = store.failures("prior", "synthetic", job.task.cell.key)
    assert set(failure.methods) == {"Raising"}
    assert failure.error == "RuntimeError"
    assert "in _solve" in failure.traceback
    # The others have the rows they would have without it.
    kept, other = prepared(written(), small_source, tmp_path / "other")
    perform(other)
    wanted = kept.read(methods=["CC", "SLD"]).collect().sort("method", maintain_order=True)
    there = store.read().collect().sort("method", maintain_order=True)
    assert_frame_equal(there, wanted.select(there.columns))
    lab.mend()
    assert perform(job).failures == ()
    assert store.failures("prior", "synthetic", job.task.cell.key) == ()
    assert set(store.finished("prior", "synthetic", job.task.cell.key)) == {"CC", "Raising", "SLD"}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Bare", "estimate_items returned ndarray: expected an Estimate; override predict or "),
        ("Blank", "estimate_items returned no prevalences: expected an array of shape ("),
    ],
)
def test_an_estimate_that_is_none_costs_no_other_method(
    written, lab, small_source, tmp_path, name, said
):
    """It was an AttributeError that ended the run of all methods."""
    experiment = written(methods=f'["{lab.module}:{name}", "CC"]')
    store, job = prepared(experiment, small_source, tmp_path / "out")
    (line,) = perform(job).failures
    assert line.startswith(f"{name}: DataError: {name}.{said}")
    assert set(store.finished("prior", "synthetic", job.task.cell.key)) == {"CC"}
    alone = written(methods=f'["{lab.module}:{name}"]')
    _, job = prepared(alone, small_source, tmp_path / "alone")
    assert perform(job).failures == (line,)


def test_a_failure_is_recorded_alike_whether_alone_or_in_company(
    written, lab, small_source, tmp_path
):
    records = []
    for name, methods in (("a", f'["CC", "{lab.module}:Raising"]'), ("b", None)):
        experiment = written(methods=methods or f'["{lab.module}:Raising"]')
        store, job = prepared(experiment, small_source, tmp_path / name)
        perform(job)
        (failure,) = store.failures("prior", "synthetic", job.task.cell.key)
        records.append((failure.error, failure.message, failure.traceback))
    assert records[0] == records[1]


def test_one_error_of_many_methods_is_one_line(small, small_source, tmp_path):
    experiment = small({"shift.train_prevalences": [0.01], "shift.train_size": 100})
    _, job = prepared(experiment, small_source, tmp_path / "out")
    (line,) = perform(job).failures
    assert line.startswith("CC, ACC, PCC, PACC, HDy, DyS, SMM, SLD: ")


def test_one_thread_while_it_computes(small, small_source, tmp_path, monkeypatch):
    seen = []

    def spy(*args, **options):
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        return original(*args, **options)

    original = work.compute_cell
    monkeypatch.setattr(work, "compute_cell", spy)
    _, job = prepared(small(), small_source, tmp_path / "out")
    perform(job)
    assert seen
    assert set(seen) == {1}


def test_a_store_that_is_not_there_stops_the_run(small, small_source, tmp_path):
    _, job = prepared(small(), small_source, tmp_path / "out")
    lost = Job(job.experiment, job.task, job.source, tmp_path / "elsewhere")
    with pytest.raises(UserError, match="holds no results"):
        perform(lost)


def test_rows_are_the_same_bytes_wherever_they_are_made(small, small_source, tmp_path):
    for name in ("a", "b"):
        _, job = prepared(small(), small_source, tmp_path / name)
        perform(job)
    a, b = (contents(tmp_path / name) for name in ("a", "b"))
    assert {name: content for name, (content, _) in a.items()} == {
        name: content for name, (content, _) in b.items()
    }
    assert isinstance(ResultStore.open(tmp_path / "a").read().collect(), pl.DataFrame)
