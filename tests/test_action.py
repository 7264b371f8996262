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

GH = """#!/usr/bin/env bash
# Stands for GitHub's program: comments are lines "ID FIRST-LINE" of the file `comments`.
[ "$1" = api ] || exit 9
case "$2 $3" in
  "--paginate repos/owner/name/issues/7/comments")
    mark="$(sed 's/.*startswith("\\(.*\\)")).*/\\1/' <<< "$5")"
    grep -F "$mark" "$RUNNER_TEMP/comments" | cut -d ' ' -f 1 ;;
  "--method POST"|"--method PATCH")
    echo "$3 $4" >> "$RUNNER_TEMP/calls"
    cp "${6#body=@}" "$RUNNER_TEMP/comment"
    if [ "$3" = POST ]; then echo "31 $(head -n 1 "${6#body=@}")" >> "$RUNNER_TEMP/comments"; fi ;;
  *) exit 9 ;;
esac
"""


@pytest.fixture
def gate(tmp_path):
    """Run the steps with some inputs: the exit code, the summary of the job and the outputs."""
    drawn(verdicts()).write_csv(tmp_path / "verdicts.csv")
    for name in ("summary", "output", "calls", "comments"):
        (tmp_path / name).touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH)
    (tmp_path / "bin" / "gh").chmod(0o755)

    def run(**given):
        inputs = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
        inputs |= {"version": "", "table": "verdicts.csv", "verdict": "judge", "label": "human"}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        surroundings = {
            **os.environ,
            "PATH": os.pathsep.join(
                [str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "GITHUB_REPOSITORY": "owner/name",
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
        }
        code = 0
        for step in ACTION["runs"]["steps"]:
            if "if" in step:
                # The only condition is that of the comment.
                if not inputs["token"]:
                    continue
            elif code:
                continue
            known = {f"inputs.{name}": value for name, value in inputs.items()}
            known["github.event.pull_request.number"] = "7"
            known["steps.judge.outputs.markdown"] = str(tmp_path / "quantshift.md")
            filled = {
                name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda m, known=known: known[m[1]], value)
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
            code = code or done.returncode
        outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().split())
        return code, (tmp_path / "summary").read_text("utf-8"), outputs

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
def test_labels_of_which_nobody_says_how_they_were_chosen_gate_nothing(gate):
    code, summary, outputs = gate(fail_if="pass.low<0.5")
    assert code == 4
    assert "How were the 80 labelled items chosen? Say it with --labels: random (at" in summary
    assert "<skipped message=" in Path(outputs["junit"]).read_text()
    assert gate(fail_if="pass.low<0.5", options="--labels random")[0] == 0


@pytest.mark.slow
def test_what_was_not_written_is_no_output(gate):
    code, _, outputs = gate(label="nothing")
    assert code == 2
    assert outputs == {}


@pytest.mark.slow
def test_the_comment_is_written_once_and_then_replaced(gate, tmp_path):
    for _ in range(2):
        code, summary, _ = gate(fail_if="pass.low<0.9", options="--labels=random", token="t")
        assert code == 3
    code, _, _ = gate(verdict="system", options="--labels=random", token="t")
    assert (tmp_path / "calls").read_text().splitlines() == [
        "POST repos/owner/name/issues/7/comments",
        "PATCH repos/owner/name/issues/comments/31",
        "POST repos/owner/name/issues/7/comments",
    ]
    mark, *lines = (tmp_path / "comment").read_text("utf-8").splitlines()
    assert re.fullmatch(r"<!-- quantshift \d+ -->", mark)
    assert lines[0] == "<!-- quantshift -->"
    assert "\n".join(lines) in summary + (tmp_path / "summary").read_text("utf-8")


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
