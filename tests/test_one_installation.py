"""`pip install quantshift` is enough; what needs a package of an extra names it in one line."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from quantshift.base.extras import EXTRA_OF

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Blocker())
"""
COMMAND = f"{BLOCKED}\nfrom quantshift.cli.app import main\nmain()"

SMALL = (
    *("--documents=2000", "--jobs=1", '--set=quantifiers=["CC", "SLD"]'),
    *("--set=shift.train_prevalences=[0.5]", "--set=shift.test_prevalences=[0.2, 0.8]"),
    *("--set=shift.train_size=150", "--set=shift.train_repeats=1", "--set=shift.test_size=50"),
    *("--set=shift.test_repeats=1", "--set=selection.enabled=false"),
)


def run(code: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """With the packages of all extras hidden, and pandas, which nothing requires."""
    return subprocess.run(
        [sys.executable, "-c", code, ",".join(sorted({*EXTRA_OF, "pandas"})), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )


JUDGE = "judge verdicts.csv --verdict judge --label human --labels random"
QUANTIFY = "quantify --train customers.csv --sample new-customers.csv --label left"


@pytest.mark.slow
def test_one_installation_answers_keeps_histories_runs_experiments_and_writes_pages(tmp_path):
    for words in (
        ["example", "--out", "."],
        [*JUDGE.split(), "--html", "judge.html", "--history", "judged", "--at", "2026-01-05"],
        [*QUANTIFY.split(), "--columns", "causes", "--html", "quantify.html"],
        ["train", "--train", "customers.csv", "--label", "left", "--out", "model"],
        [*["quantify", "--model", "model", "--sample", "new-customers.csv", "--history", "kept"]],
        [*["history", "page", "kept", "--html", "history.html"]],
        [*["data", "import", "customers.csv", "--label", "left", "--out", "customers"]],
        ["run", "prior", "--out", "runs", *SMALL],
        ["report", "runs", "--out", "report"],
    ):
        answer = run(COMMAND, *words, folder=tmp_path)
        assert answer.returncode in (0, 4), (words, answer.stderr)
    pages = ("judge.html", "quantify.html", "history.html", "report/report.html")
    for page in pages:
        assert "vega" in (tmp_path / page).read_text(encoding="utf-8"), page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "judge verdicts.xlsx --verdict judge --label human",
            "verdicts.xlsx: reading Excel needs fastexcel; install it with: pip install "
            "'quantshift[excel]', or save the sheet as CSV",
        ),
        (
            "judge duckdb:///a.db?table=t --verdict judge --label human",
            "duckdb:///a.db?table=t: reading from a database needs its driver; install it with: "
            "pip install 'quantshift[warehouse]'",
        ),
        (
            "data fetch reviews --out downloaded",
            "downloads need pooch, which is not installed: pip install 'quantshift[fetch]'",
        ),
    ],
)
def test_what_needs_an_extra_names_it_in_a_line(tmp_path, arguments, message):
    (tmp_path / "verdicts.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tmp_path / "a.db").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    answer = run(COMMAND, *arguments.split(), folder=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == f"error: {message}\n"


def test_python_users_see_the_same_line(tmp_path):
    code = (
        f"{BLOCKED}\nimport quantshift\n"
        "answer = quantshift.judge(verdict=[True, False] * 20, label=[True, None] * 20)\n"
        "try:\n    answer.plot()\n"
        "except ImportError as error:\n    assert isinstance(error, ValueError)\n    print(error)"
    )
    answer = run(code, folder=tmp_path)
    assert answer.stderr == ""
    assert answer.stdout == (
        "plots need matplotlib, which is not installed: pip install 'quantshift[report]'\n"
    )


def test_each_package_is_in_the_extra_that_the_errors_name():
    for package, extra in EXTRA_OF.values():
        assert package in {re.split("[<>=]", each)[0] for each in EXTRAS[extra]}
    in_all = re.split(r"[\[\],]", EXTRAS["all"][0])[1:-1]
    # Tables of other packages are for those who ask for them.
    assert set(in_all) == EXTRAS.keys() - {"all", "datasets", "docs", "test"}


def test_every_package_that_the_code_imports_is_declared():
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    third_party = imported - set(sys.stdlib_module_names) - {"quantshift"}
    needed = {re.split("[<>=]", each)[0] for each in PROJECT["dependencies"]}
    owners = importlib.metadata.packages_distributions()
    undeclared = {
        name
        for name in third_party - set(EXTRA_OF)
        if not {owner.lower().replace("_", "-") for owner in owners.get(name, [name])} & needed
    }
    # pydantic brings pydantic_core, scikit-learn joblib, numba llvmlite, pooch requests; a user
    # who has pandas frames has pandas.
    brought = {"joblib", "llvmlite", "pydantic_core", "requests"}
    assert undeclared <= {"_typeshed", "pandas", *brought}
