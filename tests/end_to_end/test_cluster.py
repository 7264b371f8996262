"""A real Dask scheduler with real workers on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, contextmanager

import pytest

distributed = pytest.importorskip("distributed", reason="needs quantshift[dask]")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def dask(*arguments: str, log, environment=None):
    """A `dask` process, ended with its children."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=log,
        stderr=log,
        start_new_session=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def cluster(tmp_path):
    """Starts a scheduler with workers; returns its address and the processes, its own first."""
    with ExitStack() as stack, (tmp_path / "dask.log").open("wb") as log:

        def start(n_workers=2, *, n_threads=1, environment=None):
            port = free_port()
            address = f"tcp://127.0.0.1:{port}"
            scheduler = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
            processes = [stack.enter_context(dask("scheduler", *scheduler, log=log))]
            options = ("--nthreads", str(n_threads), "--no-nanny", "--no-dashboard")
            space = ("--local-directory", str(tmp_path / "space"))
            processes += [
                stack.enter_context(
                    dask("worker", address, *options, *space, log=log, environment=environment)
                )
                for _ in range(n_workers)
            ]
            with distributed.Client(address, timeout=60) as client:
                if n_workers:
                    client.wait_for_workers(n_workers, timeout=60)
            return address, processes

        yield start


@pytest.mark.slow
def test_a_cluster_writes_the_same_bytes_though_a_worker_is_killed(
    cluster, tools, undisturbed, tmp_path
):
    address, (_, first, _) = cluster(2)
    out = tmp_path / "out"
    run = tools.command.start(out, "--cluster", address)
    tools.wait_for(lambda: tools.n_done(out) >= 1 or run.poll() is not None)
    os.killpg(first.pid, signal.SIGKILL)
    said, wrong = run.communicate(timeout=300)
    assert run.returncode == 0, wrong
    assert "6 cells in " in said
    # Nothing lost, nothing twice: one part for every cell, of the same bytes.
    found = {name: data for name, data in tools.tree(out).items() if ".tmp-" not in name}
    assert found == tools.tree(undisturbed)
    record = json.loads((out / "log" / "runs.jsonl").read_text().splitlines()[-1])
    assert (record["executor"], record["workers"], record["cells"]) == ("DaskExecutor", 2, 6)
    assert tools.call("verify", str(out)).returncode == 0
    # Resuming on the cluster that is left: nothing to do.
    again = tools.command.run(out, "--cluster", address)
    assert again.returncode == 0, again.stderr
    assert "0 cells in 0:0" in again.stdout


def refused(done) -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.slow
def test_no_scheduler_is_one_line(tools, tmp_path):
    address = f"tcp://127.0.0.1:{free_port()}"
    done = tools.command.run(tmp_path / "out", "--cluster", address)
    line = refused(done)
    assert done.stderr.count("\n") == 1
    assert f"no Dask scheduler answers at {address}" in line
    assert "`dask scheduler`" in line


@pytest.mark.slow
def test_no_workers_is_one_line(cluster, tools, tmp_path):
    address, _ = cluster(0)
    line = refused(tools.command.run(tmp_path / "out", "--cluster", address))
    assert "the cluster has no workers" in line


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused(cluster, tools, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import quantshift\nquantshift.__version__ = '0.0.1'\n"
    )
    address, _ = cluster(1, environment={"PYTHONPATH": str(tmp_path)})
    line = refused(tools.command.run(tmp_path / "out", "--cluster", address))
    assert "has quantshift 0.0.1" in line
    assert "install the same version" in line


@pytest.mark.slow
def test_a_worker_without_quantshift_is_refused(cluster, tools, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['quantshift'] = None\n")
    address, _ = cluster(1, environment={"PYTHONPATH": str(tmp_path)})
    line = refused(tools.command.run(tmp_path / "out", "--cluster", address))
    assert "cannot run quantshift" in line


@pytest.mark.slow
def test_a_worker_with_several_threads_is_refused(cluster, tools, tmp_path):
    address, _ = cluster(1, n_threads=2)
    line = refused(tools.command.run(tmp_path / "out", "--cluster", address))
    assert "has 2 threads" in line
    assert "--nthreads 1" in line


@pytest.mark.slow
def test_a_worker_that_does_not_see_the_store_is_refused(cluster, tools, tmp_path):
    # A worker on another machine: the same address, another file system behind the path.
    hidden = "import pathlib\nreal = pathlib.Path.is_file\n"
    hidden += "pathlib.Path.is_file = lambda p: 'unshared' not in str(p) and real(p)\n"
    (tmp_path / "sitecustomize.py").write_text(hidden)
    address, _ = cluster(1, environment={"PYTHONPATH": str(tmp_path)})
    line = refused(tools.command.run(tmp_path / "unshared", "--cluster", address))
    assert "does not see" in line
    assert "put the results on a path that all workers share" in line


@pytest.mark.slow
def test_ctrl_c_on_a_cluster(cluster, tools, undisturbed, tmp_path):
    address, _ = cluster(2)
    out = tmp_path / "out"
    run = tools.command.start(out, "--cluster", address)
    tools.wait_for(lambda: tools.n_done(out) >= 1 or run.poll() is not None)
    tools.kill_group(run, signal.SIGINT)
    said, wrong = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in wrong
    assert said.splitlines()[-1].startswith("stopped; nothing is lost. To resume: quantshift run")
    # To go on without the cluster is as good.
    assert tools.command.run(out).returncode == 0
    assert tools.tree(out) == tools.tree(undisturbed)


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_said(cluster, tools, undisturbed, tmp_path):
    address, (scheduler, *_) = cluster(2)
    out = tmp_path / "out"
    run = tools.command.start(out, "--cluster", address)
    tools.wait_for(lambda: tools.n_done(out) >= 1 or run.poll() is not None)
    os.killpg(scheduler.pid, signal.SIGKILL)
    _, wrong = run.communicate(timeout=120)
    assert run.returncode == 2
    assert wrong.count("\n") == 1, wrong
    assert wrong.startswith(f"error: the Dask scheduler at {address} stopped responding")
    assert wrong.endswith("run the same command again\n")
    assert tools.command.run(out).returncode == 0
    assert tools.tree(out) == tools.tree(undisturbed)
