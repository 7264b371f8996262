"""Commands of the repository that pages name: they exist, have these options, and run anywhere."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from quantshift.lab.data import write_synthetic
from tests.docs.commands import ROOT, Command, benchmark_commands, named_targets, targets

COMMANDS = benchmark_commands()

PLACES = ("CORPUS", "DIR", "STORE", "OUT", "FOLDER")
"""What stands in a command for a folder of the reader."""

SMALLER = {
    "audit_sequential": "--repeats 20 --widths 2",
    "billion": "--rows 1_000_000 --batches 10 --peer 10_000",
    "binning": "--rows 2_000",
    "count_coverage": "--repeats 2 --sizes 1_000 --methods PACC",
    "coverage": "--trainings 1 --samples 1 --bootstrap 20 --methods SLD",
    "coverage_methods": "--methods PACC --trainings 2",
    "guarded_reviews": "--experiments prior --repeats 5 --test-repeats 1",
    "history_alarms": "--repeats 5",
    "judge_situations": "--repeats 2",
    "judge_transfers": "--pairs 1",
    "judge_unstated": "--repeats 2",
    "rivals": "--small",
    "regions": "--repeats 2 --methods PACC",
    "scaling": "--small",
    "selection": "--small",
    "shift_test": "--repeats 1 --n-bootstrap 20",
}
"""Options that make a benchmark short; the last one of a kind counts."""

COMPARES_STORES = "same_estimates"
"""A benchmark that reads the results of two versions of the code."""

BUDGET_SECONDS = 90
"""A benchmark that has not failed in this time has shown that it runs."""


def options_of(script: Path) -> set[str]:
    """The options that a script declares."""
    calls = (node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.Call))
    return {
        argument.value
        for call in calls
        if getattr(call.func, "attr", "") == "add_argument"
        for argument in call.args
        if isinstance(argument, ast.Constant) and str(argument.value).startswith("--")
    }


def shown(command: Command) -> str:
    return " ".join([command.name, *command.arguments])


def test_pages_name_commands() -> None:
    """The check has something to check."""
    assert len(COMMANDS) > 40


@pytest.mark.parametrize("command", COMMANDS, ids=shown)
def test_a_benchmark_exists_and_has_the_options_that_a_page_names(command: Command) -> None:
    assert command.script.is_file(), command.page
    named = {word for word in command.arguments if word.startswith("--")}
    assert named <= options_of(command.script), command.page


def test_targets_exist_and_so_does_what_they_run() -> None:
    assert named_targets() <= targets()
    (names,) = (
        line.partition(" in ")[2].partition(";")[0].split()
        for line in (ROOT / "Makefile").read_text().splitlines()
        if "for name in" in line
    )
    assert len(names) > 3
    for name in names:
        assert "--small" in options_of(ROOT / "benchmarks" / f"{name}.py")


@pytest.mark.parametrize("name", SMALLER)
def test_the_shorter_run_uses_options_that_exist(name: str) -> None:
    named = {word for word in SMALLER[name].split() if word.startswith("--")}
    assert named <= options_of(ROOT / "benchmarks" / f"{name}.py")


def test_benchmarks_read_real_data_only_from_variables() -> None:
    """They used to look in a folder next to the repository."""
    for script in (ROOT / "benchmarks").rglob("*.py"):
        assert '"shared" /' not in script.read_text(), script.name


@pytest.fixture(scope="module")
def reviews(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands") / "reviews"
    # Enough for training sets of 5,000.
    return write_synthetic(folder, n_documents=120_000).path


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `evidence.py` finds in a few samples, for the script that summarises it."""
    file = tmp_path_factory.mktemp("evidence") / "answers.csv"
    small = "--worlds prior,none --sizes 50 --repeats 1 --samples 2 --bootstrap 30 --csv"
    code, said = run(
        [sys.executable, "benchmarks/evidence.py", *small.split(), str(file)], ROOT, seconds=300
    )
    assert code == 0, said
    return file


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=shown)
def test_a_benchmark_runs_without_real_data(
    command: Command, reviews: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if command.name == COMPARES_STORES:
        pytest.skip("needs the results of two versions of the code")
    folders = dict.fromkeys(PLACES, str(tmp_path / "new")) | dict.fromkeys(
        ("REVIEWS", "DIR"), str(reviews)
    )
    if "FILE" in command.arguments:
        folders["FILE"] = str(request.getfixturevalue("answers"))
        (tmp_path / "docs" / "pictures").mkdir(parents=True)
    arguments = [folders.get(word, word) for word in command.arguments]
    code, said = run(
        [sys.executable, *command.program, *arguments, *SMALLER.get(command.name, "").split()],
        tmp_path,
    )
    if "MissingPackageError" in said:
        pytest.skip(said.strip().splitlines()[-1])
    assert code in (0, None), said
    assert said.strip() or code is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["logistic", "tokenise", "review_import"])
def test_what_make_benchmark_runs_besides(name: str, tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / f"{name}.py"
    code, said = run([sys.executable, str(script), "--small"], tmp_path)
    assert code in (0, None), said


RUN = {"demo": [], "lint": [], "docs": [], "benchmark": ["SIZE=--small"]}
"""Targets that are run here, with what makes them shorter."""

TESTS = {"test", "test-slow", "test-kernels", "test-pythons", "fuzz", "soak", "release-check"}
"""Targets that run tests or try what is released, which takes long and needs other packages."""

REWRITE = {"format", "docs-refresh"}
"""Targets that write the files of the repository anew; tests say if that is due."""


def test_every_target_that_a_page_names_is_run_or_runs_tests() -> None:
    assert named_targets() <= RUN.keys() | TESTS | REWRITE


@pytest.mark.slow
@pytest.mark.parametrize("target", RUN)
def test_a_target_runs_in_a_clone_without_real_data(target: str, tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    # What is installed here serves the clone too.
    installed = [f"-o{sys.prefix}/.installed{kind}" for kind in ("", "-docs", "-test")]
    code, said = run(
        [
            "make",
            target,
            *RUN[target],
            f"VENV={sys.prefix}",
            f"-o{sys.prefix}/bin/python",
            *installed,
        ],
        clone,
        path=clone / "src",
        seconds=900,
    )
    assert code == 0, said


def run(
    command: list[str], folder: Path, *, path: Path = ROOT, seconds: int = BUDGET_SECONDS
) -> tuple[int | None, str]:
    """Exit code (None if the time was not enough) and output, in a folder and without real data.

    path: where Python finds modules before all others.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("QUANTSHIFT_")}
    paths = [str(path), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        said, _ = process.communicate()
        return None, said
    return process.returncode, said
