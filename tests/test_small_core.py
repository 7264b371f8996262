"""`judge` works without the packages of any extra; what needs one says so in a line."""

import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from quantshift.base.extras import EXTRA_OF

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
OPTIONAL = frozenset(EXTRA_OF) | {"pandas"}

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


def run(
    code: str, *arguments: str, folder: Path, blocked: frozenset[str] | set[str] = OPTIONAL
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, ",".join(sorted(blocked)), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
    )


def rows() -> list[dict[str, object]]:
    judged: list[dict[str, object]] = [
        {
            "item": i,
            "judge": "good" if i % 10 < 7 else "bad",
            "other": "good" if i % 7 < 5 else "bad",
            "score": (i % 13) / 13,
            "size": i * 37 % 101 + 1,
            "group": "AB"[i % 2],
            "question": i // 4,
            "views": 1 + i % 5,
            "first": "good" if i % 3 else "bad",
            "judge_yes": "yes" if i % 10 < 7 else "no",
            "other_yes": "yes" if i % 7 < 5 else "no",
            "human": None,
            "second": None,
            "human_yes": None,
            "second_yes": None,
        }
        for i in range(200)
    ]
    for i in range(0, 200, 3):
        judged[i]["human"] = "good" if i % 10 < 6 else "bad"
        judged[i]["second"] = "good" if i % 11 < 7 else "bad"
        judged[i]["human_yes"] = "yes" if i % 10 < 6 else "no"
        judged[i]["second_yes"] = "yes" if i % 11 < 7 else "no"
    return judged


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    frame = pl.DataFrame(rows())
    frame.write_csv(tmp_path / "verdicts.csv")
    frame.write_ndjson(tmp_path / "verdicts.jsonl")
    frame.write_parquet(tmp_path / "verdicts.parquet")
    frame.drop("human", "second", "human_yes", "second_yes").write_csv(tmp_path / "new.csv")
    return tmp_path


ASKED = ("--verdict", "judge", "--label", "human", "--labels", "random")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_judge_needs_no_extra(tables, ending):
    small = run(COMMAND, "judge", f"verdicts.{ending}", *ASKED, folder=tables)
    whole = run(COMMAND, "judge", f"verdicts.{ending}", *ASKED, folder=tables, blocked={"nothing"})
    assert small.stderr == ""
    assert small.stdout == whole.stdout
    assert small.stdout.startswith("good: ")


@pytest.mark.parametrize("verdicts", ["--verdict judge,other", "--score score"])
def test_several_judges_and_scores_need_no_extra(tables, verdicts):
    asked = ["judge", "verdicts.csv", *verdicts.split(), "--label", "human", "--labels", "random"]
    small = run(COMMAND, *asked, folder=tables)
    assert small.stderr == ""
    assert small.stdout == run(COMMAND, *asked, folder=tables, blocked={"nothing"}).stdout


JUDGED = "judge verdicts.csv --verdict judge --label human --labels"


@pytest.mark.parametrize(
    "asked",
    [
        f"{JUDGED} random --by group --compare A,B",
        f"{JUDGED} random --cluster question",
        f"{JUDGED} random --errors-by score,group",
        f"{JUDGED} random --weights views --of population",
        f"{JUDGED} random --verdict judge,other --json",
        f"{JUDGED} by-verdict --insist",
        f"{JUDGED} by-label --insist",
        f"{JUDGED} picked",
        "judge verdicts.csv --verdict judge --label human",
        "judge verdicts.csv --verdict judge --label human,second --labels random",
        "judge new.csv --verdict judge --label human --labelled verdicts.csv --labels elsewhere",
        "judge new.csv --verdict judge --label human --labelled verdicts.csv --assume rates",
        "judge verdicts.csv --score score --label human --labels random --cut agreement",
        "judge verdicts.csv --score size --label human --labels random",
        "judge verdicts.csv --score size --label human --labels random --cluster question",
        "judge new.csv --verdict judge --sensitivity 0.9,0.85-0.94 --specificity 0.8",
        "judge verdicts.csv --pairs judge_yes=human_yes,other_yes=second_yes --labels random",
        f"{JUDGED} random --wins good,bad --first first",
        "judge plan verdicts.csv --verdict judge --label human --precision 0.1",
        "judge plan new.csv --score score --n-labels 40 --out sheet.csv",
        "judge plan new.csv --verdict judge --cluster question --n-labels 40",
    ],
)
def test_judge_needs_no_extra_in_any_form(tables, asked):
    small = run(COMMAND, *asked.split(), folder=tables)
    (tables / "sheet.csv").unlink(missing_ok=True)
    whole = run(COMMAND, *asked.split(), folder=tables, blocked={"nothing"})
    assert (small.returncode, small.stderr) == (whole.returncode, "")
    assert small.stdout == whole.stdout != ""


def test_a_filled_sheet_needs_no_extra(tables):
    planned = "judge plan new.csv --verdict judge --n-labels 40 --out sheet.csv"
    assert run(COMMAND, *planned.split(), folder=tables).returncode == 0
    sheet = pl.read_csv(tables / "sheet.csv")
    sheet.with_columns(label=pl.col("judge")).write_csv(tables / "filled.csv")
    asked = "judge new.csv --verdict judge --label label --labelled filled.csv"
    small = run(COMMAND, *asked.split(), folder=tables)
    assert (small.returncode, small.stderr) == (0, "")
    assert small.stdout.startswith("good: ")


@pytest.mark.parametrize("verb", ["--help", "judge --help", "doctor", "sketch --help", "example"])
def test_other_commands_of_the_core(tmp_path, verb):
    answer = run(COMMAND, *verb.split(), folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "quantify --train a.csv --sample b.csv --label y",
            "quantshift quantify needs scikit-learn, which is not installed: pip install "
            "'quantshift[quantify]'",
        ),
        (
            f"judge verdicts.parquet {' '.join(ASKED)}",
            "Parquet files need pyarrow, which is not installed: pip install 'quantshift[parquet]'",
        ),
        (
            f"judge verdicts.csv {' '.join(ASKED)} --html page.html",
            "this needs jinja2, which is not installed: pip install 'quantshift[report]'",
        ),
        (
            f"judge verdicts.xlsx {' '.join(ASKED)}",
            "verdicts.xlsx: reading Excel needs fastexcel; install it with: pip install "
            "'quantshift[excel]', or save the sheet as CSV",
        ),
        (
            f"judge duckdb:///a.db?table=t {' '.join(ASKED)}",
            "duckdb:///a.db?table=t: reading from a database needs its driver; install it with: "
            "pip install 'quantshift[warehouse]'",
        ),
        (
            "run all",
            "quantshift run needs pyarrow, which is not installed: pip install 'quantshift[all]'",
        ),
    ],
)
def test_what_needs_an_extra_names_it_in_a_line(tables, arguments, message):
    (tables / "verdicts.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tables / "a.db").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    answer = run(COMMAND, *arguments.split(), folder=tables)
    assert answer.returncode == 2
    assert answer.stderr == f"error: {message}\n"


@pytest.mark.parametrize(
    ("blocked", "statement", "message"),
    [
        ("sklearn", "from quantshift import SLD", "SLD needs scikit-learn.*quantshift.quantify"),
        ("numba", "from quantshift.quantifiers import KDEyML", "KDEyML needs numba.*.quantify"),
        (
            "pyarrow",
            "from quantshift.tables.reading import open_table; open_table(frame)",
            "data frames of other libraries than polars need pyarrow.*quantshift.parquet",
        ),
        (
            "pooch",
            "from quantshift.data.fetching import list_record; list_record('https://nowhere/1')",
            "downloads need pooch.*quantshift.fetch",
        ),
    ],
)
def test_python_users_see_the_same_line(tmp_path, blocked, statement, message):
    code = (
        f"{BLOCKED}\nclass frame:\n    __arrow_c_stream__ = None\nframe = frame()\n"
        f"try:\n    {statement}\n"
        "except ImportError as error:\n    assert isinstance(error, ValueError)\n    print(error)"
    )
    answer = run(code, folder=tmp_path, blocked={blocked})
    assert answer.stderr == ""
    assert re.fullmatch(message + r"\]'\n", answer.stdout)


def test_each_package_is_in_the_extra_that_the_errors_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, extra in EXTRA_OF.values():
        assert package in {re.split("[<>=]", each)[0] for each in extras[extra]}
    in_all = re.split(r"[\[\],]", extras["all"][0])[1:-1]
    # Tables of other packages are for those who ask for them.
    assert set(in_all) == extras.keys() - {"all", "datasets", "docs", "neural", "test"}


def test_every_package_that_the_code_imports_is_declared():
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    third_party = imported - set(sys.stdlib_module_names) - {"quantshift"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split("[<>=]", each)[0] for each in project["dependencies"]}
    owners = importlib.metadata.packages_distributions()
    undeclared = {
        name
        for name in third_party - set(EXTRA_OF)
        if not {owner.lower().replace("_", "-") for owner in owners.get(name, [name])} & needed
    }
    # pydantic brings pydantic_core, pooch requests; a user who has pandas frames has pandas.
    assert undeclared <= {"_typeshed", "pandas", "pydantic_core", "requests"}
