"""The commands with several labels."""

import json
from pathlib import Path
from unittest import mock

import pytest
from threadpoolctl import threadpool_limits

from quantshift.cli.app import main
from tests.quantifying.labels.made_labels import labelled, unlabelled


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    labelled(300, seed=1).drop("month").write_csv("labelled.csv")
    unlabelled(labelled(200, seed=2, spam=0.6), ["month"]).write_csv("new.csv")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], command: str) -> tuple[int, str, str]:
    """The exit code of a command, what it prints, and its errors."""
    code = 0
    with mock.patch("sys.argv", ["quantshift", *command.split()]), threadpool_limits(1):
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
