import pytest

from quantshift import __version__
from quantshift.errors import UserError
from quantshift.lab.data import DataFile, FileSource, open_source
from quantshift.lab.experiments.executors import (
    MAX_DEATHS,
    DaskExecutor,
    Gathered,
    ProcessExecutor,
    SerialExecutor,
    executor,
    problem_of_worker,
)
from quantshift.lab.experiments.planning import Task, cells_of
from quantshift.lab.experiments.runner import Run, describe
from quantshift.lab.experiments.work import Job, JobReport
from quantshift.lab.results import ResultStore, verify


@pytest.fixture
def prepare(small_source, tmp_path):
    """A store for an experiment, and the jobs of all its cells."""

    def make(experiment, name="out"):
        path = tmp_path / name
        run = Run((experiment,), {experiment.name: [small_source]}, path)
        store = ResultStore.create(path, describe(run))
        cells = cells_of(experiment.name, small_source.name, experiment.shift)
        tasks = [Task(cell, experiment.methods) for cell in cells]
        return store, [Job(experiment, task, small_source, path) for task in tasks]

    return make


def tree(store):
    files = [path for path in store.path.rglob("*") if path.is_file()]
    return {str(path.relative_to(store.path)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_serial_and_processes_do_the_same(small, prepare):
    experiment = small({"shift.train_prevalences": [0.3, 0.4, 0.5, 0.6]})
    one, jobs = prepare(experiment, "one")
    assert [report.name for report in SerialExecutor().run(jobs)] == [job.name for job in jobs]
    two, jobs = prepare(experiment, "two")
    reports = list(ProcessExecutor(2).run(jobs))
    assert sorted(report.name for report in reports) == sorted(job.name for job in jobs)
    assert tree(one) == tree(two)


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(written, lab, prepare):
    experiment = written(methods=f'["CC", "{lab.module}:DeadlyOnce"]')
    store, jobs = prepare(experiment)
    reports = list(ProcessExecutor(2).run(jobs))
    assert lab.deaths() == 1
    assert sorted(report.name for report in reports) == sorted(job.name for job in jobs)
    assert all(report.failures == () for report in reports)
    assert all(len(store.finished("prior", "synthetic", job.task.cell.key)) == 2 for job in jobs)


@pytest.mark.slow
def test_a_method_that_kills_its_workers_is_given_up_and_no_other(written, lab, prepare):
    """Before, the results of the other methods of the cell were lost too."""
    experiment = written(methods=f'["CC", "{lab.module}:Deadly"]', train="[0.3, 0.35, 0.4, 0.5]")
    store, jobs = prepare(experiment)
    reports = {report.name: report for report in ProcessExecutor(2).run(jobs)}
    assert len(reports) == len(jobs) == 4
    assert [name for name, report in reports.items() if report.failures] == [jobs[0].name]
    # The first death may have been beside others; then it was tried alone, and without CC.
    assert lab.deaths() == MAX_DEATHS + 1
    (failure,) = store.failures("prior", "synthetic", jobs[0].task.cell.key)
    assert failure.error == "WorkerDiedError"
    assert set(failure.methods) == {"Deadly"}
    assert set(store.finished("prior", "synthetic", jobs[0].task.cell.key)) == {"CC"}
    for job in jobs[1:]:
        assert set(store.finished("prior", "synthetic", job.task.cell.key)) == {"CC", "Deadly"}
    assert verify(store) == []


def test_a_job_in_parts_has_one_report(small, prepare):
    _, (job, *_) = prepare(small())
    names = [method.name for method in job.task.methods]
    gathered = Gathered()
    suspect, others = reversed(gathered.cut(job, deadly={names[2]}))
    assert [method.name for method in suspect.task.methods] == [names[2]]
    halves = gathered.cut(others)
    assert [m.name for half in halves for m in half.task.methods] == [
        name for name in names if name != names[2]
    ]
    assert [*gathered.add(JobReport(job.name, 1.0, ("died",)))] == []
    assert [*gathered.add(JobReport(job.name, 2.0, (), {"shared": 1, "methods": {"A": 1}}))] == []
    last = JobReport(job.name, 3.0, (), {"shared": 2, "methods": {"B": 2}})
    (report,) = gathered.add(last)
    times = {"shared": 1, "methods": {"A": 1, "B": 2}}
    assert report == JobReport(job.name, 6.0, ("died",), times)


@pytest.mark.slow
def test_an_error_of_the_store_stops_the_run(small, prepare):
    store, jobs = prepare(small())
    (store.path / "store.json").unlink()
    with pytest.raises(UserError, match="holds no results"):
        list(ProcessExecutor(2).run(jobs))


def test_which_executor():
    assert executor(1) == SerialExecutor()
    assert executor(3) == ProcessExecutor(3)
    # With `os._exit` in an added method, `bench --jobs 1` ended without a word.
    assert executor(1, apart=True) == ProcessExecutor(1)
    assert executor(3, "tcp://10.0.0.1:8786") == DaskExecutor("tcp://10.0.0.1:8786")
    assert (executor(1).n_workers, executor(3).n_workers) == (1, 3)
    with pytest.raises(UserError, match="at least 1"):
        executor(0)


def test_a_fit_worker_takes_part(small, small_source, prepare):
    store, _ = prepare(small())
    hashes = {small_source: open_source(small_source).hash}
    assert problem_of_worker(store.path, hashes, __version__) == ""


def test_an_unfit_worker_says_why(small, small_source, prepare, tmp_path):
    store, _ = prepare(small())
    known = open_source(small_source).hash
    other_version = problem_of_worker(store.path, {}, "99.0")
    assert f"has quantshift {__version__}, this is 99.0" in other_version
    blind = problem_of_worker(tmp_path / "nowhere", {small_source: known}, __version__)
    assert f"does not see {tmp_path / 'nowhere'}" in blind
    assert "put the results on a path that all workers share" in blind
    stale = problem_of_worker(store.path, {small_source: "another hash"}, __version__)
    assert "sees other data" in stale
    nothing = FileSource(None, None, DataFile(tmp_path / "y.npy"), None)
    lost = problem_of_worker(store.path, {nothing: known}, __version__)
    assert "cannot read the data" in lost
