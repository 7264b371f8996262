"""`judge` and `example` work without the packages of any extra; the others name it in a line."""

import ast
import copy
import gzip
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quantshift.base.extras import EXTRA_OF
from tests.tables.formats.test_evaluations import (
    DEEPEVAL,
    HARNESS,
    INSPECT,
    LANGSMITH,
    PROMPTFOO,
)

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
    judged = [
        {
            "item": i,
            "judge": "good" if i % 10 < 7 else "bad",
            "other": "good" if i % 7 < 5 else "bad",
            "score": (i % 13) / 13,
            "size": i * 37 % 101 + 1,
            "human": None,
            "second": None if i % 6 else "good" if i % 5 else "bad",
            "first": "good" if i % 3 else "bad",
            "topic": "abc"[i % 7 % 3],
            "question": i // 4,
            "views": 1 + i % 5,
            "answer": "word " * (i % 17),
            "spam_judge": i % 10 < 4,
            "spam": None if i % 3 else int(i % 10 < 5),
            "tags_judge": "spam; abuse" if i % 4 == 0 else "spam" if i % 4 < 3 else "",
            "tags": None if i % 3 else "spam" if i % 4 < 3 else "none",
        }
        for i in range(200)
    ]
    for i in range(0, 200, 3):
        judged[i]["human"] = "good" if i % 10 < 6 else "bad"
    return judged


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    frame = pl.DataFrame(rows())
    frame.write_csv(tmp_path / "verdicts.csv")
    frame.write_ndjson(tmp_path / "verdicts.jsonl")
    frame.write_parquet(tmp_path / "verdicts.parquet")
    return tmp_path


ASKED = ("--verdict", "judge", "--label", "human", "--labels", "random")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_judge_needs_no_extra(tables, ending):
    small = run(COMMAND, "judge", f"verdicts.{ending}", *ASKED, folder=tables)
    whole = run(COMMAND, "judge", f"verdicts.{ending}", *ASKED, folder=tables, blocked={"nothing"})
    assert small.stderr == ""
    assert small.stdout == whole.stdout
    assert small.stdout.startswith("good: ")


FORMS = (
    "--json",
    "--by topic --compare all",
    "--by topic --summary",
    "--history kept --at 2026-01-05T06:00",
    "--history kept --at 2026-01-06T06:00",
    "--cluster question --weights views",
    "--errors-by answer,topic,question,views",
    "--id item --misjudged misjudged.csv --csv answer.csv --markdown answer.md",
    "--junit answer.xml --fail-if good<0.9",
    "--labels elsewhere --labelled labelled.csv",
    "--labels random --id item --labelled by-id.csv",
)
SEVERAL = (
    "judge verdicts.csv --pairs spam_judge=spam --labels random",
    "judge verdicts.csv --verdict tags_judge --label tags --separator ; --labels random",
    "judge verdicts.csv --pairs spam_judge=spam --labels random --history labels --at 2026-01-05",
    "history show kept",
    "history export kept --as json",
    "judge verdicts.csv --verdict judge --label human",
    "judge verdicts.csv --verdict judge --label human --labels by-verdict --insist",
    "judge verdicts.csv --verdict judge --label human --labels by-label --insist",
    "judge verdicts.csv --verdict judge --label human --labels picked",
    "judge verdicts.csv --verdict judge --label human,second --labels random",
    f"judge verdicts.csv {' '.join(ASKED)} --wins good,bad --first first",
    "judge verdicts.csv --verdict judge --label human --labelled labelled.csv --assume rates",
    "judge verdicts.csv --verdict judge --sensitivity 0.9,0.85-0.94 --specificity 0.8",
    "judge verdicts.csv --score score --label human --labels random --cut agreement",
    "judge verdicts.csv --score size --label human --labels random --cluster question",
    "judge plan verdicts.csv --verdict judge --label human --precision 0.1",
    "judge plan verdicts.csv --verdict judge --label new --cluster question --n-labels 40",
    "judge plan verdicts.csv --verdict judge --label new --how by-verdict --n-labels 40 -o new.csv",
    "judge plan verdicts.csv --verdict judge --label new --n-labels 40 --out new.tsv",
    "judge inspect.json --verdict score.model_graded_qa --label metadata.human --labels random",
    "judge deepeval.json --verdict success --label metadata.human --labels random",
    "judge promptfoo.json --verdict success --label vars.human --labels random",
    "judge harness.jsonl --verdict exact_match --label doc.human --labels random",
    "judge langsmith.jsonl --verdict feedback.correct --label inputs.human --labels random",
    "judge part* --verdict judge --label human --labels random",
    "judge verdicts.tsv.gz --verdict judge --label human --labels random --json",
    "judge verdicts.arff --verdict judge --label human --labels random",
)
EVERY_FORM = f"""{BLOCKED}
import contextlib, csv, io, json
from pathlib import Path
from quantshift.cli.app import main

def answered(form):
    text, sys.argv = io.StringIO(), ["quantshift", *form.split()]
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            main()
        except SystemExit as error:
            print(error.code)
    return text.getvalue()

forms = json.loads(sys.argv.pop(1))
answers = {{form: answered(form) for form in forms}}
with open("new.csv", newline="") as file:
    header, *sheet = csv.reader(file)
for number, row in enumerate(sheet):
    row[1] = row[header.index("judge")] if number % 5 else "bad"
with open("filled.csv", "w", newline="") as file:
    csv.writer(file).writerows([header, *sheet])
form = "judge verdicts.csv --verdict judge --label new --labelled filled.csv"
answers[form] = answered(form)
for path in sorted(Path().iterdir()):
    if path.name.startswith(("answer.", "misjudged.", "new.")):
        answers[path.name] = path.read_text()
assert not BLOCKED & {{name for name, module in sys.modules.items() if module is not None}}
print(json.dumps(answers))
"""


def with_labels(documents: list[dict[str, object]], places: Sequence[str]) -> None:
    """Give every third of the documents a label, at this place within it."""
    for i, document in enumerate(documents):
        inner: Any = document
        for place in places[:-1]:
            inner = inner[place]
        inner[places[-1]] = ("fail" if i % 5 == 0 else "pass") if i % 3 == 0 else None


def write_evaluations(folder: Path) -> None:
    cases = [copy.deepcopy(DEEPEVAL["testCases"][1]) for _ in range(60)]
    results = [copy.deepcopy(PROMPTFOO["results"]["results"][1]) for _ in range(60)]
    for i in range(60):
        cases[i]["success"] = results[i]["success"] = i % 4 > 0
    with_labels(cases, ["metadata", "human"])
    with_labels(results, ["vars", "human"])
    documents = {
        "inspect": INSPECT,
        "deepeval": {**DEEPEVAL, "testCases": cases},
        "promptfoo": {"results": {**PROMPTFOO["results"], "results": results}},
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    samples = [copy.deepcopy(HARNESS) for _ in range(60)]
    runs = [copy.deepcopy(LANGSMITH) for _ in range(60)]
    for i in range(60):
        samples[i]["exact_match"] = float(i % 4 > 0)
        samples[i]["doc"]["human"] = None if i % 3 else i % 5 > 0
        runs[i]["feedback"][0]["score"] = int(i % 4 > 0)
        runs[i]["inputs"]["human"] = None if i % 3 else int(i % 5 > 0)
    for name, lines in (("harness", samples), ("langsmith", runs)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)


@pytest.fixture
def every_table(tables: Path) -> Path:
    frame = pl.DataFrame(rows())
    frame.head(90).write_csv(tables / "part1.csv")
    frame.tail(110).write_ndjson(tables / "part2.jsonl")
    with gzip.open(tables / "verdicts.tsv.gz", "wb") as file:
        frame.write_csv(file, separator="\t")
    labelled = frame.drop_nulls("human")
    labelled.select("judge", "human").write_csv(tables / "labelled.csv")
    labelled.select("item", "human").write_csv(tables / "by-id.csv")
    lines = ["@relation t", "@attribute judge {good,bad}", "@attribute human string", "@data"]
    lines += [f"{row['judge']},{row['human'] or '?'}" for row in rows()]
    (tables / "verdicts.arff").write_text("\n".join(lines) + "\n")
    write_evaluations(tables)
    return tables


def test_every_form_of_judge_needs_no_extra(every_table, tmp_path_factory):
    forms = [f"judge verdicts.csv {' '.join(ASKED)} {form}" for form in FORMS]
    forms = json.dumps([*forms, *SEVERAL])
    other = tmp_path_factory.mktemp("whole")
    shutil.copytree(every_table, other, dirs_exist_ok=True)
    small = run(EVERY_FORM, forms, folder=every_table)
    whole = run(EVERY_FORM, forms, folder=other, blocked={"nothing"})
    assert (small.stderr, whole.stderr) == ("", "")
    answers, expected = json.loads(small.stdout), json.loads(whole.stdout)
    for form in expected:
        assert answers[form] == expected[form], form
        assert "error" not in answers[form].partition("\n")[0], form
    assert answers.keys() == expected.keys()


VALUES = f"""{BLOCKED}
import pandas as pd
import quantshift
verdicts, truth = [i % 10 < 7 for i in range(90)], [i % 10 < 6 for i in range(90)]
labels = [t if i % 3 == 0 else None for i, t in enumerate(truth)]
days = pd.date_range("2026-01-01", periods=3).repeat(30)
frame = pd.DataFrame({{"v": verdicts, "l": labels, "day": days, "n": pd.array(labels, "boolean")}})
frame["c"] = pd.Categorical(["yes" if v else "no" for v in verdicts])
for call in (
    dict(verdict=verdicts, label=labels),
    dict(verdict={{"one": verdicts, "other": truth}}, label=labels),
    dict(verdict=frame["v"], label=frame["n"]),
    dict(table=frame, verdict="v", label="l", by="day"),
    dict(table=frame, verdict="c", label="n", map={{"yes": True, "no": False}}),
    dict(score=[float(v) + 0.1 * t for v, t in zip(verdicts, truth)], label=labels),
):
    print(quantshift.judge(labels="random", **call).to_json())
"""


def test_values_and_pandas_frames_need_no_extra(tmp_path):
    small = run(VALUES, folder=tmp_path, blocked=OPTIONAL - {"pandas"})
    whole = run(VALUES, folder=tmp_path, blocked={"nothing"})
    assert (small.stderr, whole.stderr) == ("", "")
    assert small.stdout == whole.stdout != ""


@pytest.mark.parametrize("verdicts", ["--verdict judge,other", "--score score"])
def test_several_judges_and_scores_need_no_extra(tables, verdicts):
    asked = ["judge", "verdicts.csv", *verdicts.split(), "--label", "human", "--labels", "random"]
    small = run(COMMAND, *asked, folder=tables)
    assert small.stderr == ""
    assert small.stdout == run(COMMAND, *asked, folder=tables, blocked={"nothing"}).stdout


def test_the_example_of_a_judge_needs_no_extra(tmp_path):
    other = tmp_path / "whole"
    other.mkdir()
    small = run(COMMAND, "example", folder=tmp_path)
    whole = run(COMMAND, "example", folder=other, blocked={"nothing"})
    assert (small.stderr, whole.stderr) == ("", "")
    for file in (tmp_path / "examples").iterdir():
        assert file.read_bytes() == (other / "examples" / file.name).read_bytes(), file.name
    lines = small.stdout.splitlines()
    installed = [line for line in lines if "pip install" in line]
    assert [line for line in lines if line not in installed] == whole.stdout.splitlines()
    assert [line.split()[2] for line in installed] == [
        "'quantshift[quantify]'",
        "'quantshift[quantify]'",
        "'quantshift[parquet,quantify,report]'",
    ]
    (command,) = (line for line in lines if "quantshift judge" in line)
    answer = run(COMMAND, *command.split()[1:], folder=tmp_path)
    assert answer.stderr == ""
    assert answer.stdout.startswith("good: 67.8% of the 2,000 items in verdicts.csv")


@pytest.mark.parametrize("verb", ["--help", "judge --help", "doctor", "sketch --help"])
def test_other_commands_of_the_core(tmp_path, verb):
    answer = run(COMMAND, *verb.split(), folder=tmp_path)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "quantify --train a.csv --sample b.csv --label y",
            "quantshift quantify needs scipy, which is not installed: pip install "
            "'quantshift[quantify]'",
        ),
        (
            f"judge verdicts.parquet {' '.join(ASKED)}",
            "Parquet files need pyarrow, which is not installed: pip install 'quantshift[parquet]'",
        ),
        (
            f"judge verdicts.csv {' '.join(ASKED)} --html page.html",
            "--html needs jinja2, which is not installed: pip install 'quantshift[report]'",
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
            "quantshift run needs polars, which is not installed: pip install 'quantshift[all]'",
        ),
    ],
)
def test_what_needs_an_extra_names_it_in_a_line(tables, arguments, message):
    (tables / "verdicts.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    (tables / "a.db").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    answer = run(COMMAND, *arguments.split(), folder=tables)
    assert (answer.returncode, answer.stdout) == (2, "")
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
