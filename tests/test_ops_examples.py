"""The examples in examples/ops, as far as they can be checked without GitHub, Airflow and Docker.

YAML is read, the DAG is run against stand-ins for Airflow, and every `quantshift` command in them
is one that the command line knows.
"""

import ast
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

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
            return lambda *arguments: Called(function.__name__)

        return named if function is None else named(function)

    def dag(**options):
        made["options"] = options
        return lambda function: function

    decorators, exceptions = ModuleType("airflow.decorators"), ModuleType("airflow.exceptions")
    decorators.dag, decorators.task = dag, task
    exceptions.AirflowException = type("AirflowException", (Exception,), {})
    exceptions.AirflowFailException = type("AirflowFailException", (Exception,), {})
    for module in (ModuleType("airflow"), decorators, exceptions):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("ops_dag", OPS / "airflow_dag.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return SimpleNamespace(order=order, made=made, exceptions=exceptions)


def test_the_dag_compiles_runs_and_tells_an_alarm_from_an_error(dag, monkeypatch):
    ast.parse((OPS / "airflow_dag.py").read_text())
    assert dag.order == [("estimate", "page")]
    assert dag.made["options"]["max_active_runs"] == 1
    assert dag.made["page"].trigger_rule == "all_done"
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
    assert names == ["FROM", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    told = dict(instructions)
    assert told["FROM"] == "python:3.11-slim"
    assert told["USER"] == "quantshift"
    assert json.loads(told["ENTRYPOINT"]) == ["quantshift"]
    assert json.loads(told["CMD"]) == ["--help"]
    comments = "\n".join(line.lstrip("# ") for line in text.splitlines() if line.startswith("#"))
    (shown,) = re.findall(r"docker run .*? (quantshift quantify .*)", comments.replace("\\\n", " "))
    check_command(shown)
