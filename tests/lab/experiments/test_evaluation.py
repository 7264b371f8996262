import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from quantshift import (
    PACC,
    PCC,
    SLD,
    ConceptShift,
    CovariateShift,
    NaturalPrevalence,
    PriorShift,
    UniformPrevalence,
    evaluate,
    metrics,
)
from quantshift.errors import UserError
from quantshift.prevalence import binarise, simplex

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 2_000)
X = RNG.normal(Y[:, None] * 1.5, 1.0, (2_000, 3))
TRAIN, POOL = np.arange(1_000), np.arange(1_000, 2_000)


@pytest.mark.parametrize(
    "labels", [Y, Y == 1, np.array(["no", "yes"])[Y]], ids=["int", "bool", "str"]
)
def test_a_row_per_sample(labels: np.ndarray) -> None:
    quantifier = SLD().fit(X[TRAIN], labels[TRAIN])
    protocol = PriorShift(test_prevalences=(0.1, 0.5, 0.9), test_size=100, test_repeats=4)
    frame = evaluate(quantifier, protocol, X, labels, pool=POOL)
    assert frame.height == 12
    assert frame["p_test"].to_list() == pytest.approx(frame["p_true"].to_list())
    assert frame["size"].unique().to_list() == [100]
    expected = (frame["p_test"] - quantifier.prior_[1]).round(1)
    assert frame["degree"].to_list() == pytest.approx(expected.to_list())
    assert frame["ae"].to_list() == pytest.approx(
        (frame["p_true"] - frame["p_hat"]).abs().to_list()
    )
    assert frame["ae"].mean() < 0.1
    assert frame["converged"].all()


def test_estimates_are_those_of_predict() -> None:
    quantifier = PACC().fit(X[TRAIN], Y[TRAIN])
    protocol = NaturalPrevalence(test_size=50, test_repeats=3)
    frame = evaluate(quantifier, protocol, X, Y, pool=POOL)
    draws = list(protocol.samples(Y, pool=POOL, train={"p_train": quantifier.prior_[1]}))
    for row, draw in zip(frame.iter_rows(named=True), draws, strict=True):
        assert row["p_hat"] == pytest.approx(quantifier.predict(X[draw.indices])[1])
        assert row["p_true"] == pytest.approx(Y[draw.indices].mean())


def test_posteriors_in_place_of_features() -> None:
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    posteriors = model.predict_proba(X)
    quantifier = PCC().fit_posteriors(posteriors[TRAIN], Y[TRAIN])
    protocol = PriorShift(test_size=50, test_repeats=2)
    frame = evaluate(quantifier, protocol, posteriors, Y, pool=POOL, posteriors=True)
    same = evaluate(PCC(LogisticRegression()).fit(X[TRAIN], Y[TRAIN]), protocol, X, Y, pool=POOL)
    assert frame.equals(same)


def test_measures_and_smoothing() -> None:
    quantifier = PCC().fit(X[TRAIN], Y[TRAIN])
    protocol = PriorShift(test_prevalences=(0.0,), test_size=50, test_repeats=1)
    row = evaluate(quantifier, protocol, X, Y, pool=POOL).row(0, named=True)
    p_hat = simplex.of_positive(row["p_hat"])
    assert row["rae"] == pytest.approx(float(metrics.rae([1, 0], p_hat, smoothing=1 / 100)))
    fixed = evaluate(quantifier, protocol, X, Y, pool=POOL, measures=["kld"], smoothing=0.01)
    assert fixed["kld"][0] == pytest.approx(float(metrics.kld([1, 0], p_hat, smoothing=0.01)))
    assert "ae" not in fixed.columns
    with pytest.raises(UserError, match="unknown error measure 'nkl'; did you mean 'nkld'"):
        evaluate(quantifier, protocol, X, Y, measures=["nkl"])


def test_several_classes() -> None:
    labels = np.array(["ant", "bee", "cat"])[np.digitize(X[:, 0] + X[:, 1], [0.5, 2.5])]
    quantifier = PACC().fit(X[TRAIN], labels[TRAIN])
    frame = evaluate(
        quantifier, UniformPrevalence(test_size=60, test_repeats=5), X, labels, pool=POOL
    )
    assert frame.height == 5
    for side in ("p_true", "p_hat"):
        total = frame.select(pl.sum_horizontal(f"{side}:{c}" for c in ("ant", "bee", "cat")))
        assert total.to_series().to_list() == pytest.approx([1] * 5)


def test_categories_and_coordinates_of_the_training_set() -> None:
    categories = np.array(["A", "B"])[RNG.integers(0, 2, 2_000)]
    protocol = CovariateShift(
        test_alphas=(0.0, 1.0), test_prevalences=(0.5,), test_size=50, test_repeats=2
    )
    quantifier = PCC().fit(X[TRAIN], Y[TRAIN])
    frame = evaluate(quantifier, protocol, X, Y, categories, pool=POOL, train={"alpha_train": 0.5})
    assert frame["degree"].to_list() == [0.5, 0.5, -0.5, -0.5]


def test_concept_shift_takes_the_ordinal_column() -> None:
    stars = np.clip(np.round(X[:, 0] + 2.5), 1, 5).astype(int)
    labels, kept = binarise(stars[TRAIN], 2.5)
    quantifier = PCC().fit(X[TRAIN][kept], labels)
    protocol = ConceptShift(test_cuts=(2.5, 3.5), test_size=50, test_repeats=2)
    frame = evaluate(quantifier, protocol, X, stars, pool=POOL, train={"cut_train": 2.5})
    assert frame["degree"].to_list() == [0, 0, -1, -1]
    assert frame["p_true"].to_list() == pytest.approx([0.6, 0.6, 0.4, 0.4])


def test_weights_count_in_truth_and_estimate() -> None:
    """Items drawn as they are, weighed by a factor of their class: as if the class were larger."""
    quantifier = PCC().fit(X[TRAIN], Y[TRAIN])
    protocol = NaturalPrevalence(test_size=200, test_repeats=3)
    weights = np.where(Y == 1, 3.0, 1.0)
    plain = evaluate(quantifier, protocol, X, Y, pool=POOL)
    frame = evaluate(quantifier, protocol, X, Y, pool=POOL, sample_weight=weights)
    share = plain["p_true"].to_numpy()
    np.testing.assert_allclose(frame["p_true"], 3 * share / (1 + 2 * share))
    draws = list(protocol.samples(Y, pool=POOL, train={"p_train": quantifier.prior_[1]}))
    posteriors = quantifier.items(X).posteriors[:, 1]
    for p_hat, draw in zip(frame["p_hat"], draws, strict=True):
        rows = draw.indices
        assert p_hat == pytest.approx(np.average(posteriors[rows], weights=weights[rows]))
    same = evaluate(quantifier, protocol, X, Y, pool=POOL, sample_weight=np.full(len(Y), 7))
    assert same.equals(plain)
    by_posteriors = evaluate(
        quantifier,
        protocol,
        quantifier.items(X).posteriors,
        Y,
        pool=POOL,
        posteriors=True,
        sample_weight=weights,
    )
    np.testing.assert_allclose(by_posteriors["p_hat"], frame["p_hat"])
    with pytest.raises(UserError, match="at least 0: that of item 0 is not"):
        evaluate(quantifier, protocol, X, Y, sample_weight=-weights)
