"""The comparison with published results: what is chosen, what is averaged, what is counted."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from benchmarks.published import BEST, MEAN, UCI, Problem, best_of, compare, draw, summary
from quantshift import SLD
from quantshift.classify.learners import LogisticLearner, SklearnLearner


def test_best_candidates_come_first_and_failed_ones_never():
    tried = np.array([[0.3, np.inf], [0.1, 0.2]])
    everything = np.ones((2, 2), dtype=bool)
    assert best_of(tried, everything, 4) == [(1, 0), (1, 1), (0, 0)]
    assert best_of(tried, np.array([[True, True], [False, False]]), 1) == [(0, 0)]


def test_samples_have_the_prevalences_that_are_drawn():
    codes = np.repeat([0, 1, 2], [5, 50, 500])
    samples = draw(codes, 20, 40, seed=0, smooth=False)
    shares = np.stack([np.bincount(codes[rows], minlength=3) for rows in samples.index]) / 40
    np.testing.assert_array_equal(shares, samples.p_true)
    for rows in samples.index:
        large = rows[codes[rows] == 2]
        assert len(np.unique(large)) == len(large)  # only classes with too few items are repeated


def test_the_mean_is_of_the_best_of_each_classifier(capsys):
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=600)
    features = np.eye(3)[codes] * 2 + rng.normal(size=(600, 3))
    found = compare(
        Problem("made-up", features, codes, 400),
        [
            (LogisticLearner(), [{"C": 0.1}, {"C": 1.0}, {"C": 10.0}]),
            (SklearnLearner(LogisticRegression(C=1e-6)), [{}]),
        ],
        {"SLD(prior=1)": SLD(calibration="none"), "SLD(prior=9)": SLD(calibration="none", prior=9)},
        n_samples=20,
        size=50,
        n_validation=5,
        measure="ae",
        kinds={"uniform": False},
        n_splits=1,
        seed=0,
    )
    lines = {line[21:38].strip(): line for line in capsys.readouterr().out.splitlines()}
    averaged = lines[MEAN]
    assert averaged.count("SLD(prior=") == BEST + 2  # the second classifier has two candidates
    assert averaged.count("'C'") == BEST
    assert f"{found['uniform', MEAN]:.4f}" in averaged


def test_the_count_is_of_the_means_over_seeds(capsys):
    tables, theirs = UCI[:3], [0.10, 0.20, 0.30]
    frame = pl.DataFrame({"dataset": tables, "method": ["EMQ"] * 3, "value": theirs})
    by_seed = [
        dict(zip(tables, errors, strict=True)) for errors in ([0.1, 0.1, 0.2], [0.1, 0.4, 0.2])
    ]
    summary("ours", by_seed, frame)
    *rows, last = capsys.readouterr().out.splitlines()
    assert rows[1] == f"ours: {tables[1]:12} 0.2500 ± 0.1500 (over seeds)"
    assert last == "ours: mean of 3 0.1833, EMQ 0.2000 (ratio 0.92); at most theirs on 2 of 3"
    summary("one", by_seed[:1], frame)
    (only,) = capsys.readouterr().out.splitlines()
    assert only.endswith("at most theirs on 3 of 3")


@pytest.mark.parametrize("size", [10, 100])
def test_all_samples_have_the_same_size(size):
    samples = draw(np.repeat([0, 1], 60), 3, size, seed=1, smooth=False)
    assert samples.index.shape == (3, size)
