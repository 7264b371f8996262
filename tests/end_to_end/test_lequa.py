"""A task of LeQua from its folder to predictions in the format of its own evaluation."""

import numpy as np
import polars as pl
import pytest

from quantshift import metrics
from quantshift.lab.analysis import with_errors
from quantshift.lab.results import ResultStore
from tests.lab.data.lequa_folders import TASKS, make_task

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
    assert "has 2 training sets, each with its own estimates" in err
    (tmp_path / "n.toml").write_text(
        'name = "n"\nquantifiers = ["MLPE"]\n[data]\nsets = ["iris"]\n[shift]\nkind = "natural"\n'
        "train_size = 50\ntest_size = 20\ntrain_repeats = 1\ntest_repeats = 1\n"
    )
    assert quantshift("run", "n.toml", "--out", "other", "--jobs", "1")[0] == 0
    code, _, err = quantshift("report", "other", "--predictions", "p")
    assert code == 2
    assert "no experiment in other has given samples" in err
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


def official_scores(truth_file, prediction_file, sample_size):
    """The scores of the challenges, written anew from the description of their evaluation."""
    truth, predicted = (
        {int(row[0]): np.array(row[1:]) for row in pl.read_csv(path).iter_rows()}
        for path in (truth_file, prediction_file)
    )
    assert sorted(truth) == sorted(predicted) == list(range(len(truth)))
    eps, scores, stars = 1 / (2 * sample_size), {"mae": [], "mrae": [], "nmd": []}, []
    for number, p in truth.items():
        q, n = predicted[number], len(p)
        assert q.min() >= 0
        assert q.max() <= 1
        assert abs(q.sum() - 1) < 1e-3
        scores["mae"].append(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / n)
        smooth = [
            ((a + eps) / (1 + n * eps), (b + eps) / (1 + n * eps))
            for a, b in zip(p, q, strict=True)
        ]
        scores["mrae"].append(sum(abs(a - b) / a for a, b in smooth) / n)
        steps = [abs(sum(p[: k + 1]) - sum(q[: k + 1])) for k in range(n - 1)]
        scores["nmd"].append(sum(steps) / (n - 1))
        stars.append(sum((k + 1) * p[k] for k in range(n)))
    found = {name: np.mean(values) for name, values in scores.items()}
    if n == 5:  # stars: the mean of the bins [1, 2), [2, 3), [3, 4), [4, 5]
        bins, distances = np.minimum(np.floor(stars), 4), np.array(scores["nmd"])
        found["macro_nmd"] = np.mean([distances[bins == b].mean() for b in np.unique(bins)])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("year", [2022, 2024])
def test_all_tasks_from_the_folder_to_the_score_of_the_challenge(
    year, quantshift, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    tasks = {name: task for name, task in TASKS.items() if task.year == year}
    data, suite = [], f"lequa{year}"
    for name in tasks:
        make_task(tmp_path / "record", name, n_dev=5, n_test=40, per_class=40, seed=year)
        code, out, _ = quantshift("data", "import", f"record/{name}", "--out", f"sets/{name}")
        assert code == 0
        assert f"in sets/{name}" in out
        data += ["--data", f"sets/{name}"]
    sizes = ("--jobs", "1", "--profile", "paper", "--set", "selection.enabled=false")
    methods = "CC,PACC,SLD,KDEyML,OrdinalSLD,MLPE"
    asked = ("bench", suite, *data, "--out", "runs", *sizes, "--methods", methods)
    code, out, wrong = quantshift(*asked)
    assert (code, wrong) == (0, "")
    assert "4 cells in" in out
    code, out, _ = quantshift("report", "runs", "--predictions", "p")
    ordered = "T3" in tasks  # the only one that OrdinalSLD suits
    assert (code, out) == (0, f"{20 + ordered} files of predictions in p\n")
    for name, task in tasks.items():
        rows = ResultStore.open("runs").read(datasets=[name]).collect()
        truth = tmp_path / "record" / name / "public" / "test_prevalences.txt"
        for method in rows["method"].unique():
            scores = official_scores(truth, f"p/{suite}/{name}/{method}-test.txt", task.size)
            own = rows.filter(pl.col("method") == method)
            # The files of the truth have six digits, and a relative error divides by small ones.
            for measure, score in {"ae": "mae", "rae": "mrae", "nmd": "nmd"}.items():
                ours = with_errors(own, measure=measure)["error"].mean()
                assert ours == pytest.approx(scores[score], rel=2e-3, abs=1e-5), (name, method)
            if name == "T3":
                p_true, p_hat = (np.array(own[column].to_list()) for column in ("p_true", "p_hat"))
                ours = metrics.macro_nmd(p_true, p_hat)
                assert ours == pytest.approx(scores["macro_nmd"], rel=2e-3)
        if task.n_classes == 28:
            continue  # the made-up texts of so many classes are much alike
        # Whoever looks at the items does better than whoever does not.
        means = with_errors(rows, measure="ae").group_by("method").agg(pl.col("error").mean())
        errors = dict(means.iter_rows())
        assert errors["SLD"] < errors["MLPE"]
