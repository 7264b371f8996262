import sys

import pytest

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
    '--set=quantifiers=["CC", "PACC", "SLD"]',
)


@pytest.fixture
def results(quantshift, tmp_path):
    """A finished run of two cells and three methods."""
    assert quantshift("run", "prior", *SMALL, "--out", tmp_path / "out")[0] == 0
    return tmp_path / "out"


def test_status_of_a_finished_run(quantshift, results):
    code, said, _ = quantshift("status", results)
    assert code == 0
    lines = said.splitlines()
    assert lines[0] == f"Results in {results}"
    assert lines[2].split() == ["prior", "synthetic", "2", "2", "0", "0", "6", "0"]
    assert lines[3].startswith("last run: 2 cells in ")
    assert "with 1 worker" in lines[3]
    assert "left" not in lines[3]


def test_status_of_half_a_run(quantshift, results):
    next(results.rglob("*.parquet")).with_suffix(".json").unlink()
    code, said, _ = quantshift("status", results)
    assert code == 0
    assert said.splitlines()[2].split() == ["prior", "synthetic", "2", "1", "0", "1", "3", "3"]
    assert "minutes left at that rate" in said


def test_status_tells_failures_in_one_line_each(quantshift, tmp_path):
    few = ("--set", "shift.train_prevalences=[0.005, 0.5]")
    assert quantshift("run", "prior", *SMALL, *few, "--out", tmp_path / "out")[0] == 1
    code, said, _ = quantshift("status", tmp_path / "out")
    assert code == 0
    assert said.splitlines()[2].split() == ["prior", "synthetic", "2", "1", "1", "0", "3", "3"]
    failed = [line for line in said.splitlines() if line.startswith("failed: ")]
    assert len(failed) == 3
    assert all("a class has only 1 training item" in line for line in failed)


def test_verify_a_sound_run(quantshift, results):
    code, said, _ = quantshift("verify", results)
    assert (code, said) == (0, "6 results, 0 damaged, 0 missing or failed\n")


def test_verify_finds_damage_and_a_run_mends_it(quantshift, results):
    before = {path: path.read_bytes() for path in sorted(results.glob("prior/*/*/*"))}
    victim = sorted(results.rglob("*.parquet"))[1]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    code, said, _ = quantshift("verify", results)
    assert code == 1
    lines = said.splitlines()
    assert lines[0].startswith(f"{victim} has changed since it was written")
    assert lines[1].endswith("1 damaged, 0 missing or failed")
    code, said, _ = quantshift("run", "prior", *SMALL, "--out", results)
    assert code == 0
    assert f"damaged and computed again: {victim}" in said
    assert quantshift("verify", results)[0] == 0
    after = {path: path.read_bytes() for path in sorted(results.glob("prior/*/*/*"))}
    assert after == before


def test_verify_repairs_when_asked(quantshift, results):
    victim = next(results.rglob("*.parquet"))
    victim.unlink()
    code, said, _ = quantshift("verify", results, "--repair")
    assert code == 1
    assert "1 damaged file removed" in said
    code, said, _ = quantshift("verify", results)
    assert (code, said) == (1, "3 results, 0 damaged, 3 missing or failed\n")


@pytest.mark.parametrize("verb", ["status", "verify"])
def test_no_results_are_one_line(verb, quantshift, tmp_path):
    code, said, wrong = quantshift(verb, tmp_path / "nothing")
    assert (code, said) == (2, "")
    assert wrong.startswith("error: ")
    assert wrong.count("\n") == 1
    assert "holds no results" in wrong


def test_a_damaged_store_json_is_rebuilt(quantshift, results):
    before = (results / "store.json").read_bytes()
    (results / "store.json").write_bytes(before[:100])
    code, _, wrong = quantshift("status", results)
    assert code == 2
    assert "--repair" in wrong
    assert quantshift("verify", results, "--repair")[0] == 0
    assert (results / "store.json").read_bytes() == before


@pytest.mark.slow
def test_status_imports_no_method_of_the_results(quantshift, tmp_path, monkeypatch):
    """Results of a stranger name Python classes; to look at them must not run their code."""
    package = tmp_path / "strange_lab.py"
    package.write_text("from quantshift import CC\n\nclass Mine(CC):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nquantifiers = ["strange_lab:Mine"]\n[shift]\nkind = "natural"\n'
        "train_size = 60\ntest_size = 20\ntrain_repeats = 1\ntest_repeats = 1\n"
        "[selection]\nenabled = false\n"
    )
    out = tmp_path / "out"
    code, _, wrong = quantshift(
        "run", tmp_path / "mine.toml", "--out", out, "--jobs", 1, "--documents", 500
    )
    assert (code, wrong) == (0, "")
    package.write_text("raise RuntimeError('imported')\n")
    del sys.modules["strange_lab"]
    for verb in ("status", "verify", "report"):
        code, _, wrong = quantshift(verb, out)
        assert (code, wrong) == (0, ""), verb
    assert "strange_lab" not in sys.modules
