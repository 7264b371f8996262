"""The GitHub action: its steps run as GitHub runs them, and gate by the exit code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.judging.made import drawn, verdicts

ACTION = yaml.safe_load((Path(__file__).parents[1] / "action.yml").read_text("utf-8"))


@pytest.fixture
def gate(tmp_path):
    """Run the steps with some inputs: the exit code, the summary of the job and the outputs."""
    drawn(verdicts()).write_csv(tmp_path / "verdicts.csv")
    for name in ("summary", "output"):
        (tmp_path / name).touch()

    def run(**given):
        inputs = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
        inputs |= {"version": "", "table": "verdicts.csv", "verdict": "judge", "label": "human"}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        surroundings = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
        }
        for step in ACTION["runs"]["steps"]:
            filled = {
                name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], value)
                for name, value in step["env"].items()
            }
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                cwd=tmp_path,
                env={**surroundings, **filled},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            if done.returncode:
                break
        outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().split())
        return done.returncode, (tmp_path / "summary").read_text("utf-8"), outputs

    return run


@pytest.mark.slow
def test_a_rate_that_is_high_enough_passes(gate):
    code, summary, outputs = gate(fail_if="pass.low<0.5\nfail>0.6", options="--labels=random")
    assert code == 0
    assert summary.startswith("<!-- quantshift -->\npass: ")
    assert "No condition of failure holds." in summary
    assert 'failures="0"' in Path(outputs["junit"]).read_text("utf-8")
    assert Path(outputs["markdown"]).read_text("utf-8") == summary


@pytest.mark.slow
def test_a_rate_that_is_too_low_fails_the_job(gate):
    code, summary, outputs = gate(fail_if="pass.low<0.9", options="--labels=random")
    assert code == 3
    assert "**Failed:** verdicts.csv: pass.low&lt;0.9" in summary
    assert '<failure message="verdicts.csv: pass.low&lt;0.9' in Path(outputs["junit"]).read_text()


@pytest.mark.slow
def test_inputs_are_arguments_and_never_commands(gate):
    code, _, _ = gate(fail_if='$(touch "$RUNNER_TEMP/made")', label='human"; touch made; "')
    assert code == 2
    assert not list(Path.cwd().glob("made"))


def test_every_input_is_used_and_described():
    used = {
        m for step in ACTION["runs"]["steps"] for m in re.findall(r"inputs\.([\w-]+)", str(step))
    }
    assert used == set(ACTION["inputs"])
    assert all(about["description"] for about in ACTION["inputs"].values())
