"""A task of LeQua from its folder to predictions in the format of its own evaluation."""

import numpy as np
import polars as pl
import pytest

from quantshift import metrics
from quantshift.analysis import with_errors
from quantshift.results import ResultStore
from tests.data.lequa_folders import TASKS, make_task

EXPERIMENT = """
name = "lequa"
quantifiers = ["CC", "PACC"]
[data]
sets = ["sets/{name}"]
[shift]
kind = "given"
part = "test"
[classifier.options]
C = 1.0
"""


@pytest.mark.parametrize("name", ["T1", "T3", "T2A"])
def test_import_run_and_write_predictions(name, quantshift, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = TASKS[name]
    public = make_task(tmp_path, name, n_test=12)
    assert quantshift("data", "import", str(public), "--out", f"sets/{name}")[0] == 0
    (tmp_path / "e.toml").write_text(EXPERIMENT.replace("{name}", name))
    assert quantshift("run", "e.toml", "--out", "runs", "--jobs", "1")[0] == 0
    code, out, _ = quantshift("report", "runs", "--predictions", "p", "--methods", "PACC")
    assert (code, out) == (0, "1 file of predictions in p\n")
    written = pl.read_csv(tmp_path / "p" / "lequa" / name / "PACC-test.txt")
    assert written.columns == ["id", *map(str, range(task.n_classes))]
    assert written["id"].to_list() == list(range(12))
    truth = pl.read_csv(public / "test_prevalences.txt").drop("id").to_numpy()
    p_hat = written.drop("id").to_numpy()
    assert np.abs(p_hat.sum(axis=1) - 1).max() < 1e-9
    rows = ResultStore.open("runs").read(methods=["PACC"]).collect()
    assert rows["given"].to_list() == [f"test/{i}" for i in range(12)]
    np.testing.assert_array_equal(np.array(rows["p_hat"].to_list()), p_hat)

    # The challenge's measures by hand, of the files it would evaluate; the files have six digits.
    eps, n = 1 / (2 * task.size), task.n_classes
    smooth_true, smooth_hat = ((p + eps) / (1 + n * eps) for p in (truth, p_hat))
    by_hand = np.mean(np.abs(smooth_true - smooth_hat) / smooth_true)
    ours = with_errors(rows, measure="rae")["error"].mean()
    assert ours == pytest.approx(by_hand, rel=1e-3)
    steps = [np.abs(np.cumsum(p - q)[:-1]).sum() for p, q in zip(truth, p_hat, strict=True)]
    by_hand = np.mean(steps) / (n - 1)
    assert with_errors(rows, measure="nmd")["error"].mean() == pytest.approx(by_hand, rel=1e-3)

    code, _, err = quantshift("report", "runs", "--predictions", "p")
    assert (code, err.count("\n")) == (2, 1)
    assert "exists; choose another folder for predictions" in err


def test_predictions_are_of_one_training_set_and_of_given_samples(
    quantshift, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert quantshift("data", "import", make_task(tmp_path, "T1"), "--out", "sets/T1")[0] == 0
    (tmp_path / "e.toml").write_text(EXPERIMENT.replace("{name}", "T1"))
    twice = ("--set", "shift.train_size=20", "--set", "shift.train_repeats=2")
    assert quantshift("run", "e.toml", "--out", "runs", "--jobs", "1", *twice)[0] == 0
    code, _, err = quantshift("report", "runs", "--predictions", "p")
    assert code == 2
    assert "has 2 training sets, each with estimates of its own" in err
    (tmp_path / "n.toml").write_text(
        'name = "n"\nquantifiers = ["MLPE"]\n[data]\nsets = ["iris"]\n[shift]\nkind = "natural"\n'
        "train_size = 50\ntest_size = 20\ntrain_repeats = 1\ntest_repeats = 1\n"
    )
    assert quantshift("run", "n.toml", "--out", "other", "--jobs", "1")[0] == 0
    code, _, err = quantshift("report", "other", "--predictions", "p")
    assert code == 2
    assert "no experiment in other took given samples" in err
    assert not (tmp_path / "p").exists()


def test_macro_nmd_is_the_mean_of_the_bins_of_the_mean_star():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.full(5, 0.3), 200), rng.dirichlet(np.full(5, 0.3), 200)
    stars = p @ np.arange(1, 6)
    distances = np.abs(np.cumsum(p - q, axis=1)[:, :-1]).sum(axis=1) / 4
    bins = [(stars >= low) & (stars < low + 1) for low in (1, 2, 3)] + [stars >= 4]
    expected = np.mean([distances[own].mean() for own in bins])
    assert metrics.macro_nmd(p, q) == pytest.approx(expected, rel=1e-12)
    # Few samples of few stars count as much as many of many.
    assert metrics.macro_nmd(p, q) != pytest.approx(distances.mean(), rel=1e-3)
