"""The examples in examples/ops, as far as they can be checked without GitHub, Airflow and Docker.

The steps of the workflow are run by bash, with a repository of their own to push to; the DAG is run
against stand-ins for Airflow, and its commands for real; and every `quantshift` command in them is
one that the command line knows.
"""

import ast
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import polars as pl
import pytest
import typer
from typer.main import get_command

from quantshift.cli.app import app_with

OPS = Path(__file__).parents[1] / "examples" / "ops"


def check_command(line: str) -> None:
    """Refuse options that the verb does not have."""
    words = shlex.split(line)
    assert words[0] == "quantshift"
    command = get_command(app_with([words[1]]))
    for word in words[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    known = {option for parameter in command.params for option in parameter.opts}
    unknown = [word for word in words if word.startswith("--") and word not in known]
    assert unknown == []
    assert isinstance(app_with([words[1]]), typer.Typer)


def test_the_workflow_is_read_and_its_commands_are_known():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    told = yaml.safe_load((OPS / "github-actions.yml").read_text())
    # YAML 1.1 reads the key `on` as a truth value.
    assert told[True]["schedule"] == [{"cron": "0 6 * * *"}]
    steps = told["jobs"]["estimate"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    scripts = [step["run"] for step in steps if "run" in step]
    for script in scripts:
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    lines = "\n".join(scripts).replace("\\\n", " ").splitlines()
    called = [
        line.split(">")[0].strip() for line in lines if line.strip().startswith("quantshift ")
    ]
    assert len(called) == 2
    for line in called:
        check_command(line)
    # The history is pushed before the run fails.
    names = [step.get("name") for step in steps]
    assert names.index("Keep the history") < names.index("Alarm")


def executable(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """`quantshift` as an installed command, and a `pip` that has nothing to do."""
    folder = tmp_path / "bin"
    folder.mkdir()
    executable(folder / "quantshift", f'exec {sys.executable} -m quantshift "$@"')
    executable(folder / "pip", 'test "$*" = "install quantshift"')
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    return folder


def write_scores(path: Path, share: float, *, n: int = 400, seed: int = 0) -> None:
    """Scores of items, and their labels."""
    rng = np.random.default_rng(seed)
    spam = (rng.random(n) < share).astype(int)
    scores = 1 / (1 + np.exp(-(1.5 * (2 * spam - 1) + rng.normal(size=n))))
    pl.DataFrame({"p": scores, "spam": spam}).write_csv(path)


def trained(folder: Path) -> None:
    """A model in the folder `model`."""
    write_scores(folder / "labelled.csv", 0.3, n=600)
    told = ["train", "--train", "labelled.csv", "--label", "spam", "--posteriors", "p"]
    done = subprocess.run(
        ["quantshift", *told, "--out", "model"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_steps_of_the_workflow_run_and_push_the_history(programs, tmp_path, monkeypatch):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    steps = yaml.safe_load((OPS / "github-actions.yml").read_text())["jobs"]["estimate"]["steps"]
    work = tmp_path / "work"
    work.mkdir()
    trained(work)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "tester")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "tester@example.org")
    # As the comment at its top makes the branch, and as actions/checkout would have it.
    branch = "prevalence-history"
    git = ["git", "-c", f"init.defaultBranch={branch}"]
    for command in (
        [*git, "init", "-q", "--bare", "origin.git"],
        [*git, "clone", "-q", "origin.git", "work/kept"],
        [*git, "-C", "work/kept", "commit", "-q", "--allow-empty", "-m", "Begin"],
        [*git, "-C", "work/kept", "push", "-q", "-u", "origin", "HEAD"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    write_scores(work / "today.csv", 0.3, seed=1)
    executable(work / "fetch-scores.sh", "cat today.csv")
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    ran = []
    for step in steps:
        outputs = dict(
            line.split("=", 1) for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines()
        )
        if "run" not in step or ("if" in step and outputs["code"] == "0"):
            continue
        script = step["run"].replace("${{ steps.estimate.outputs.code }}", outputs.get("code", ""))
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        ran.append(step.get("name"))
    assert ran == [
        None,
        "Fetch the scores of today",
        "Estimate, append, compare",
        "Keep the history",
    ]
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text().startswith("ok posts-")
    assert "<html" in (work / "page.html").read_text()
    pushed = subprocess.run(
        ["git", "--git-dir", "origin.git", "ls-tree", "-r", "--name-only", branch],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "history/history.json" in pushed
    assert pushed.count("history/calls/") == 1


@pytest.mark.slow
def test_the_commands_of_the_dag_and_of_the_image_run(dag, programs, tmp_path):
    """The tasks with the folder of the test in place of theirs; nothing else is replaced."""
    trained(tmp_path)
    write_scores(tmp_path / "posts-2026-03-02.csv", 0.3, seed=1)
    dag.module.FOLDER = str(tmp_path)
    assert dag.made["estimate"].run("2026-03-02").startswith("ok posts-2026")
    dag.made["page"].run()
    assert "<html" in (tmp_path / "history.html").read_text()
    with pytest.raises(dag.exceptions.AirflowException, match="posts-2026-03-03"):
        dag.made["estimate"].run("2026-03-03")
    text = re.sub(r"\\\n#\s*", " ", (OPS / "Dockerfile").read_text())
    (shown,) = re.findall(r"docker run .*? (quantshift quantify .*)", text)
    done = subprocess.run(shlex.split(shown), cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "ok"), done.stderr


@pytest.fixture
def dag(monkeypatch):
    """The DAG with stand-ins for Airflow: tasks are functions, and the order is noted."""
    order, made = [], {}

    class Called:
        def __init__(self, name):
            self.name = name

        def __rshift__(self, other):
            order.append((self.name, other.name))
            return other

    def task(function=None, **options):
        def named(function):
            made[function.__name__] = SimpleNamespace(run=function, **options)

            def call(*arguments):
                asked[function.__name__] = arguments
                return Called(function.__name__)

            return call

        return named if function is None else named(function)

    def dag(**options):
        made["options"] = options
        return lambda function: function

    asked = made["asked"] = {}
    sdk, exceptions = ModuleType("airflow.sdk"), ModuleType("airflow.sdk.exceptions")
    sdk.dag, sdk.task = dag, task
    sdk.teardown = partial(task, teardown=True)
    exceptions.AirflowException = type("AirflowException", (Exception,), {})
    exceptions.AirflowFailException = type("AirflowFailException", (Exception,), {})
    for module in (ModuleType("airflow"), sdk, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("ops_dag", OPS / "airflow_dag.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return SimpleNamespace(order=order, made=made, exceptions=exceptions, module=module)


def test_the_dag_compiles_runs_and_tells_an_alarm_from_an_error(dag, monkeypatch):
    ast.parse((OPS / "airflow_dag.py").read_text())
    assert dag.order == [("estimate", "page")]
    assert dag.made["options"]["max_active_runs"] == 1
    # A teardown runs after an alarm too, and does not make the run a success.
    assert dag.made["page"].teardown
    # `ds` is the day before the run in Airflow 2 alone.
    assert dag.made["asked"]["estimate"] == ("{{ macros.ds_add(data_interval_end | ds, -1) }}",)
    asked = []
    ends = {"code": 0}

    def run(arguments, **options):
        asked.append(arguments)
        check_command(shlex.join(arguments))
        return SimpleNamespace(returncode=ends["code"], stdout="ok 2026-03-02\n", stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    estimate = dag.made["estimate"].run
    assert estimate("2026-03-02") == "ok 2026-03-02"
    assert "/srv/posts/posts-2026-03-02.csv" in asked[0]
    ends["code"] = 3
    with pytest.raises(dag.exceptions.AirflowFailException, match="ok 2026"):
        estimate("2026-03-02")
    ends["code"] = 2
    with pytest.raises(dag.exceptions.AirflowException):
        estimate("2026-03-02")
    dag.made["page"].run()


def test_the_dockerfile_has_an_image_a_user_and_the_command():
    text = (OPS / "Dockerfile").read_text()
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    instructions = [line.split(maxsplit=1) for line in lines if line.strip()]
    names = [name for name, _ in instructions]
    assert names == ["FROM", "RUN", "ENV", "USER", "RUN", "WORKDIR", "ENTRYPOINT", "CMD"]
    told = dict(instructions)
    assert told["FROM"] == "python:3.11-slim"
    assert told["USER"] == "quantshift"
    assert json.loads(told["ENTRYPOINT"]) == ["quantshift"]
    assert json.loads(told["CMD"]) == ["--help"]
    comments = "\n".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    (shown,) = re.findall(r"docker run .*? (quantshift quantify .*)", comments.replace("\\\n", " "))
    check_command(shown)
