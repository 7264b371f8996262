"""`quantshift run` as its users call it: exit codes, plain lines, one line per error."""

import re

import pytest

from quantshift.cli.commands.research import run as verb
from quantshift.cli.commands.research.run import resume_command
from quantshift.lab.data import ReviewFile, import_reviews
from quantshift.lab.results import ResultStore

SMALL = (
    "--documents=2000",
    "--jobs=1",
    "--set=shift.train_prevalences=[0.3, 0.5]",
    "--set=shift.test_prevalences=[0.0, 1.0]",
    "--set=shift.train_size=150",
    "--set=shift.train_repeats=1",
    "--set=shift.test_size=50",
    "--set=shift.test_repeats=1",
    "--set=selection.enabled=false",
)


def test_a_run_and_then_nothing_to_do(quantshift, tmp_path):
    out = tmp_path / "results of mine"
    code, said, wrong = quantshift("run", "prior", *SMALL, "--out", out)
    assert (code, wrong) == (0, "")
    # A line per few seconds comes first where loops have yet to be compiled.
    progress, summary = said.splitlines()[-2:]
    assert progress.startswith("2/2 cells, ")
    assert progress.endswith(" cells/s, 0:00 left, 1 worker")
    assert re.match(r"2 cells in \d+:\d\d; ", summary)
    assert summary.endswith(f"; results in {out}")
    assert "\x1b" not in said
    assert len(ResultStore.open(out).read().collect()) == 2 * 2 * 9
    code, said, _ = quantshift("run", "prior", *SMALL, "--out", out)
    assert code == 0
    assert re.fullmatch(rf"0 cells in 0:0\d; results in {re.escape(str(out))}\n", said)


def test_dry_run_prints_the_plan_and_writes_nothing(quantshift, tmp_path):
    out = tmp_path / "out"
    code, said, _ = quantshift("run", "prior", "local", "--out", out, "--dry-run")
    assert code == 0
    assert not out.exists()
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines()[2:]}
    assert rows["prior"] == ["synthetic", "22", "1,210", "9", "10,890", "22", "10,890"]
    assert rows["local"] == ["synthetic", "2", "220", "9", "1,980", "2", "1,980"]
    assert rows["total"][0] == "24"


def test_dry_run_knows_what_is_there(quantshift, tmp_path):
    quantshift("run", "prior", *SMALL, "--out", tmp_path / "out", "--set", 'quantifiers=["CC"]')
    before = sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*"))
    code, said, _ = quantshift("run", "prior", *SMALL, "--out", tmp_path / "out", "--dry-run")
    assert code == 0
    assert said.splitlines()[2].split() == ["prior", "synthetic", "2", "4", "9", "36", "2", "32"]
    assert sorted((p, p.stat().st_mtime_ns) for p in tmp_path.rglob("*")) == before


def test_the_paper_s_sizes_for_reviews(quantshift, tmp_path):
    lines = [f"{1 + i % 5}\ttext number {i % 7}\n" for i in range(60)]
    (tmp_path / "a.txt").write_text("".join(lines))
    reviews = tmp_path / "reviews"
    import_reviews([ReviewFile("A", tmp_path / "a.txt")], reviews, min_chars=0, workers=1)
    code, said, _ = quantshift(
        "run", "prior", "--data", reviews, "--out", tmp_path / "out", "--dry-run"
    )
    assert code == 0
    assert "reviews    110   60,500" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prio"], "unknown experiment 'prio'; did you mean 'prior'?"),
        (["nothing.toml"], "nothing.toml: cannot be read"),
        (["prior", "--set", "shift.train_sise=5"], "did you mean 'train_size'?"),
        (["prior", "--set", "shift.train_size"], "is not of the form key=value"),
        (["prior", "--set", 'quantifiers=["PAC"]'], "did you mean"),
        (["prior", "--data", "nowhere"], "nowhere"),
        (["prior", *SMALL, "--redo", "Pacc"], "redo='Pacc' is neither 'failed' nor 'all'"),
        (["prior", "--set", "shift.train_size=500000"], "asks for 490000 items"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, message, quantshift, tmp_path):
    code, said, wrong = quantshift("run", *arguments, "--out", tmp_path / "out")
    assert code == 2
    assert said == ""
    assert wrong.startswith("error: ")
    assert wrong.count("\n") == 1
    assert message in wrong
    assert not (tmp_path / "out").exists()


def test_wrong_options_are_exit_code_2(quantshift, tmp_path):
    assert quantshift("run", "prior")[0] == 2
    assert quantshift("run", "prior", "--out", tmp_path, "--jobs", 0)[0] == 2
    assert quantshift("run", "prior", "--out", tmp_path, "--profile", "huge")[0] == 2


def test_a_folder_of_something_else_is_refused(quantshift, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    code, _, wrong = quantshift("run", "prior", *SMALL, "--out", tmp_path)
    assert code == 2
    assert "is not empty and holds no results" in wrong
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_changed_sizes_on_existing_results_are_refused(quantshift, tmp_path):
    quantshift("run", "prior", *SMALL, "--out", tmp_path / "out")
    more = ("--set", "shift.test_size=40")
    code, _, wrong = quantshift("run", "prior", *SMALL, *more, "--out", tmp_path / "out")
    assert code == 2
    assert wrong.count("\n") == 1
    assert wrong.endswith(
        "shift.test_size is 50 there and 40 here; choose another folder, or redo all "
        "(--out, --redo)\n"
    )


def test_failures_are_exit_code_1_until_they_are_mended(quantshift, tmp_path):
    too_few = ("--set", "shift.train_prevalences=[0.005, 0.5]", "--out", tmp_path / "out")
    code, said, _ = quantshift("run", "prior", *SMALL, *too_few)
    assert code == 1
    failed = [line for line in said.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 1
    assert "CC, ACC, PCC, PACC, HDy, DyS, SMM, SLD: UserError: a class has only 1" in failed[0]
    assert "the same command with --redo failed" in said
    assert len(ResultStore.open(tmp_path / "out").read().collect()) == 2 * (9 + 1)
    code, said, _ = quantshift("run", "prior", *SMALL, *too_few)
    assert code == 1
    assert "8 results failed in an earlier run" in said


def test_stopped_by_ctrl_c(quantshift, tmp_path, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(verb, "run_experiments", interrupt)
    out = tmp_path / "my results"
    code, said, wrong = quantshift("run", "prior", "--out", out, "--redo", "all")
    assert (code, wrong) == (130, "")
    assert said.splitlines()[-1] == (
        f"stopped; nothing is lost. To resume: quantshift run prior --out '{out}'"
    )


@pytest.mark.parametrize(
    ("arguments", "redo", "resumed"),
    [
        (["run", "prior", "--out", "a"], None, "quantshift run prior --out a"),
        (["run", "prior", "--redo=SLD", "--out", "a"], "SLD", "quantshift run prior --out a"),
        (["run", "--redo", "SLD", "prior", "--out", "a"], "SLD", "quantshift run prior --out a"),
        (
            ["run", "prior", "--redo", "failed", "--out", "a"],
            "failed",
            "quantshift run prior --redo failed --out a",
        ),
    ],
)
def test_the_command_that_goes_on(arguments, redo, resumed):
    assert resume_command(arguments, redo) == resumed


def test_help_teaches(quantshift):
    code, said, _ = quantshift("run", "--help")
    assert code == 0
    text = " ".join(said.split())
    for words in ("quantshift run prior local --out runs/first", "--redo", "--cluster", "Ctrl-C"):
        assert words in text
    assert "130" in text
    assert "an experiment file is code, so run only those you trust" in text
