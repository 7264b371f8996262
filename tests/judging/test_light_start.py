"""`judge` starts without the libraries that it does not need."""

import subprocess
import sys

import pytest

from tests.judging.made import drawn, verdicts

HEAVY = ("numba", "sklearn", "pandas", "vl_convert", "matplotlib", "duckdb", "jinja2")

COMMAND = """
import sys
for name in {heavy!r}:
    sys.modules[name] = None
sys.argv = ["quantshift", "judge", "verdicts.csv", "--verdict", "judge", "--label", "human"]
sys.argv += {more!r}
from quantshift.cli.app import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        ["--labels", "random"],
        ["--labels", "by-label", "--insist"],
        ["--labels", "random", "--json"],
    ],
    ids=["random", "by label", "json"],
)
def test_the_command_answers_without_them(more, tmp_path):
    drawn(verdicts()).write_csv(tmp_path / "verdicts.csv")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND.format(heavy=HEAVY, more=more)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "pass" in done.stdout
