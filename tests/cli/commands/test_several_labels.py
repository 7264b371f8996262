"""The commands with several labels."""

import json
from pathlib import Path
from unittest import mock

import pytest

from quantshift.cli.app import main
from tests.quantifying.targets.made import labelled, unlabelled


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    labelled(300, seed=1).drop("month").write_csv("labelled.csv")
    unlabelled(labelled(200, seed=2, spam=0.6), ["month"]).write_csv("new.csv")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], command: str) -> tuple[int, str, str]:
    """The exit code of a command, what it prints, and its errors."""
    code = 0
    with mock.patch("sys.argv", ["quantshift", *command.split()]):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


QUANTIFY = "quantify --sample new.csv --replicates 100"
TRAINED = f"{QUANTIFY} --train labelled.csv --classifier logistic"


@pytest.mark.slow
def test_one_line_and_the_files(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{TRAINED} --label spam,abuse,hate --parents hate=abuse --summary"
    outputs = "--csv out.csv --html out.html --history h --fail-if spam>1%"
    code, out, _ = run(capsys, f"{command} {outputs}")
    assert code == 3
    assert out.startswith("CONDITION new.csv, 200 items: spam ")
    assert out.count("\n") == 1
    assert sorted(path.name for path in (tables / "h").iterdir()) == ["abuse", "hate", "spam"]
    assert (tables / "out.csv").read_text().startswith("batch,items,left_out,class,estimate,low,")
    assert "--parents hate=abuse" in (tables / "out.html").read_text()
    assert run(capsys, "history show h/spam")[0] == 0


@pytest.mark.slow
def test_a_model_of_several_labels_is_trained_once(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "train --train labelled.csv --label spam,abuse,hate --classifier logistic --out m"
    code, out, _ = run(capsys, command)
    assert code == 0
    assert "300 labelled rows, 3 labels" in out
    assert "models in m" in out
    _, at_once, _ = run(capsys, f"{TRAINED} --label spam,abuse,hate --json")
    code, later, _ = run(capsys, f"{QUANTIFY} --model m --json")
    assert json.loads(later)["batches"] == json.loads(at_once)["batches"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--label spam,abuse,hat", "hat"),
        ("--label spam,abuse --parents hate=abuse --drop hate", "unknown label 'hate'"),
        ("--label spam --parents hate=abuse", "--parents"),
        ("--label spam,abuse --separator ;", "--separator"),
        ("--label spam,abuse --audit new.csv", "--audit"),
        ("--label spam,abuse --fail-if hate>1%", "unknown label 'hate'"),
        ("--label x0 --separator ;", "x0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    tables: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    code, out, err = run(capsys, f"{TRAINED} {options}")
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert (code, out) == (2, "")
    assert len(errors) == 1
    assert message in errors[0]
    assert "Traceback" not in err


def test_judges_of_several_labels(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["1,0,yes,no", "0,1,no,yes", "1,0,no,no", "1,0,,", "0,1,,", "1,0,,"] * 20
    Path("judged.csv").write_text("\n".join(["spam_judge,abuse_judge,spam,abuse", *rows]))
    command = "judge judged.csv --pairs spam_judge=spam,abuse_judge=abuse --labels random"
    code, out, _ = run(capsys, f"{command} --history h --summary --fail-if spam>1%")
    assert code == 3
    assert out.startswith("CONDITION judged.csv, 120 items: spam ")
    assert sorted(path.name for path in (tables / "h").iterdir()) == ["abuse", "spam"]
    code, out, _ = run(capsys, f"{command} --json --html out.html")
    assert code == 0
    assert json.loads(out)["targets"] == ["spam", "abuse"]
    assert "--pairs spam_judge=spam,abuse_judge=abuse" in Path("out.html").read_text()
    code, _, err = run(capsys, "judge judged.csv --pairs spam_judge")
    assert code == 2
    assert "'spam_judge' is not a pair; write VERDICT=LABEL (--pairs)" in " ".join(err.split())


def test_a_data_set_with_several_labels_is_imported_and_described(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "data import --layout labels labelled.csv --label spam,abuse,hate --out sets/posts"
    code, out, _ = run(capsys, command)
    assert code == 0
    assert out.startswith("posts: 3 labels, ")
    assert run(capsys, "data describe sets/posts")[1] in out
    code, out, _ = run(capsys, "data list sets --format json")
    assert [(entry["name"], entry["kind"]) for entry in json.loads(out)] == [("posts", "labels")]
    code, _, err = run(capsys, "data import labelled.csv --label spam --separator ; --out sets/no")
    assert code == 2
    assert "--separator cannot be used here" in " ".join(err.split())


def test_the_suite_is_listed_and_planned(
    tables: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "multilabel-app" in run(capsys, "list experiments")[1]
    for verb in ("bench", "run"):
        code, out, _ = run(capsys, f"{verb} multilabel --dry-run --out runs")
        assert code == 0
        assert out.splitlines()[-1].split() == ["tickets", "1,000", "1,000", "5", "7"]
        assert not Path("runs").exists()
        code, _, err = run(capsys, f"{verb} multilabel --classifier logistic --out runs")
        assert code == 2
        assert "the suite multilabel cannot do that" in " ".join(err.split())


@pytest.mark.slow
def test_the_suite_is_run_and_has_a_leaderboard(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "bench multilabel --methods MLPE,TiltedLabelSets --out runs"
    code, out, _ = run(capsys, command)
    assert code == 0
    assert "multilabel: 2 methods on 1 data set; results in runs" in out
    assert "TiltedLabelSets" in Path("runs/leaderboard.tex").read_text()
    assert run(capsys, "status runs")[0] == 0
