"""Densities of real posteriors, which differ by seventy orders of magnitude within a sample."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.published import draw
from quantshift import KDEyML
from quantshift.classify.folds import stratified_folds
from quantshift.classify.learners import LogisticLearner
from quantshift.texts import MatrixView


@pytest.mark.slow
def test_a_class_that_single_items_demand_is_not_put_at_zero(tables_dir: Path) -> None:
    # The step that did so left curvatures of 1e33, and one of these estimates was NaN.
    frame = pl.read_csv(tables_dir / "uci_abalone.csv")
    frame = frame.filter(pl.len().over("label") >= 100)
    codes = np.unique(frame["label"], return_inverse=True)[1].astype(np.int64)
    rows, _ = train_test_split(
        np.arange(len(codes)), train_size=0.7, stratify=codes, random_state=0
    )
    X = StandardScaler().fit_transform(frame.drop("label").to_numpy()[rows].astype(np.float64))
    codes = codes[rows]
    folds = stratified_folds(codes, 5, seed=0)
    models = LogisticLearner().learn(
        MatrixView(X), np.arange(len(X)), codes, [{"C": 10.0}], folds, int(codes.max()) + 1
    )
    (posteriors,) = models.out_of_fold
    parts = stratified_folds(codes, 3, seed=1)
    known, tried = np.flatnonzero(parts != 1), np.flatnonzero(parts == 1)
    samples = draw(codes[tried], 30, 500, seed=0, smooth=False, part=1)
    fitted = KDEyML(bandwidth=0.05).fit_posteriors(posteriors[known], codes[known])
    estimate = fitted.aggregate(posteriors[tried], samples.index)
    assert np.isfinite(estimate).all()
    assert np.abs(estimate - samples.p_true).mean() < 0.2
