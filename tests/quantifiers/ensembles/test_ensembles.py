"""Ensembles equal what their members say, put together by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from quantshift import ACC, PACC, PCC, SLD, DyS, metrics
from quantshift.errors import UserError
from quantshift.quantifiers import ClassifierMedian, EoQ, FusedSLD, HDx, Median
from quantshift.quantifiers.ensembles.ensembles import random_draws
from quantshift.quantifiers.ensembles.medians import median_prevalence


def draw(n: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return 1.5 * np.eye(n_classes)[y] + rng.normal(size=(n, n_classes)), y


@pytest.fixture(scope="module", params=[2, 3, 10])
def problem(request) -> tuple[np.ndarray, ...]:
    X, y = draw(60 * request.param, request.param, 0)
    X_new, _ = draw(200, request.param, 1)
    index = np.random.default_rng(2).integers(200, size=(6, 50))
    return X, y, X_new, index


def test_draws_have_items_of_every_class() -> None:
    codes = np.repeat([2, 0, 1], [100, 80, 12])
    draws = random_draws(codes, 3, 40, 5, seed=0)
    assert draws.shape == (40, 192)
    counts = np.stack([np.bincount(codes[row], minlength=3) for row in draws])
    assert counts.min() >= 5
    # Uniform on the simplex: every class has a third of the items on average.
    assert_allclose(counts.mean(axis=0) / 192, np.full(3, 1 / 3), atol=0.12)
    for row, count in zip(draws, counts, strict=True):
        for k in range(3):
            own = row[codes[row] == k]
            # No item twice while there are others: folds need distinct ones.
            assert len(np.unique(own)) == min(count[k], (codes == k).sum())
    # Whatever the classes are called, the members are trained on the same items.
    assert_array_equal(draws, random_draws((codes + 1) % 3, 3, 40, 5, seed=0))
    tiny = random_draws(np.array([0, 0, 1, 1]), 2, 3, 5, seed=0)
    assert all(np.bincount(np.array([0, 0, 1, 1])[row]).min() == 2 for row in tiny)


@pytest.mark.parametrize("base", [SLD(calibration="none"), PACC(cv=2), PCC()])
def test_the_average_is_that_of_the_members(base, problem) -> None:
    X, y, X_new, index = problem
    ensemble = EoQ(base, n_members=4).fit(X, y)
    by_member = np.stack([member.predict(X_new, index) for member in ensemble.members_])
    estimate = ensemble.estimate(X_new, index)
    assert_allclose(estimate.prevalence, by_member.mean(axis=0), atol=1e-12)
    assert_allclose(estimate.diagnostics["spread"], by_member.std(axis=0).mean(axis=1))
    assert_allclose(ensemble.member_priors_.sum(axis=1), 1)


def test_members_near_in_training_prevalence(problem) -> None:
    X, y, X_new, index = problem
    ensemble = EoQ(PCC(), n_members=6, keep=2, selection="training-prevalence").fit(X, y)
    estimates = [member.predict(X_new, index) for member in ensemble.members_]
    for i, p_hat in enumerate(ensemble.predict(X_new, index)):
        first = np.mean([estimate[i] for estimate in estimates], axis=0)
        away = [((member.prior_ - first) ** 2).sum() for member in ensemble.members_]
        chosen = np.argsort(away)[:2]
        assert_allclose(p_hat, np.mean([estimates[m][i] for m in chosen], axis=0), atol=1e-12)


def test_members_near_in_distribution(problem) -> None:
    X, y, X_new, index = problem
    n_classes = len(np.unique(y))
    ensemble = EoQ(PCC(), n_members=5, keep=2, selection="distribution").fit(X, y)
    posteriors = ensemble.common_.predict_proba(X_new)
    estimates = [member.predict(X_new, index) for member in ensemble.members_]
    for i, p_hat in enumerate(ensemble.predict(X_new, index)):
        own = [
            np.histogram(posteriors[index[i], k], bins=8, range=(0, 1))[0] / 50
            for k in range(n_classes)
        ]
        away = [
            np.mean(
                [
                    np.sqrt(1 - np.sqrt(g * h).sum())
                    for g, h in zip(own, ensemble.histograms_[m], strict=True)
                ]
            )
            for m in range(5)
        ]
        chosen = np.argsort(away)[:2]
        assert_allclose(p_hat, np.mean([estimates[m][i] for m in chosen], axis=0), atol=1e-12)


def test_the_most_accurate_members(problem) -> None:
    X, y, X_new, index = problem
    n_classes = len(np.unique(y))
    ensemble = EoQ(PCC(), n_members=5, keep=3, selection="accuracy", random_state=4).fit(X, y)
    draws = random_draws(y, n_classes, 5, 5, seed=4)
    errors = [
        np.mean(
            [
                metrics.ae(
                    np.bincount(y[row], minlength=n_classes) / len(y), member.predict(X[row])
                )
                for other, row in enumerate(draws)
                if other != m
            ]
        )
        for m, member in enumerate(ensemble.members_)
    ]
    assert_array_equal(ensemble.best_, np.sort(np.argsort(errors)[:3]))
    kept = [ensemble.members_[m].predict(X_new, index) for m in ensemble.best_]
    assert_allclose(ensemble.predict(X_new, index), np.mean(kept, axis=0), atol=1e-12)


def test_one_fused_member_is_sld_at_its_prevalence(problem) -> None:
    """The start of the search differs (all training items); the maximum is found to tol=1e-6."""
    X, y, X_new, index = problem
    fused = FusedSLD(n_members=1, calibration="sigmoid").fit(X, y)
    expected = fused.members_[0].predict(X_new, index)
    assert_allclose(fused.predict(X_new, index), expected, atol=1e-5)


def test_fusion_maximises_the_product_of_likelihoods(problem) -> None:
    X, y, X_new, _ = problem
    fused = FusedSLD(n_members=3, calibration="none").fit(X, y)
    estimate = fused.estimate(X_new)
    p = estimate.prevalence
    assert estimate.diagnostics["converged"]
    ratios = np.concatenate([m.classifier_.predict_proba(X_new) / m.prior_ for m in fused.members_])
    slope = (ratios / (ratios @ p)[:, np.newaxis]).mean(axis=0)
    # The conditions of Karush, Kuhn and Tucker; 1e-6 is ten times what the solver promises.
    assert (slope <= 1 + 1e-6).all()
    assert_allclose(slope[p > 1e-9], 1, atol=1e-6)


def test_median_by_hand(problem) -> None:
    X, y, X_new, index = problem
    members = [PACC(), SLD(calibration="sigmoid"), DyS()]
    median = Median(members).fit(X, y)
    pool = median.items(X_new).posteriors
    alone = [
        type(m)(**m.get_params()).fit_posteriors(median.held_out_posteriors_, y) for m in members
    ]
    by_member = np.stack([m.aggregate(pool, index) for m in alone])
    middle = np.median(by_member, axis=0)
    estimate = median.estimate(X_new, index)
    assert_allclose(estimate.prevalence, middle / middle.sum(axis=1, keepdims=True), atol=1e-12)
    again = Median([PACC()]).fit(X, y).predict(X_new, index)
    assert_allclose(again, PACC().fit(X, y).predict(X_new, index), atol=1e-9)


def test_median_over_classifiers_and_quantifiers() -> None:
    X, y = draw(200, 2, 0)
    X_new, _ = draw(50, 2, 1)
    classifiers = [LogisticRegression(C=c) for c in (1e-3, 1.0, 100.0)]
    found = ClassifierMedian([PACC(), PCC()], classifiers, cv=2).fit(X, y).predict(X_new)
    estimates = [
        quantifier.fit(X, y).predict(X_new)
        for c in classifiers
        for quantifier in (PACC(c, cv=2), PCC(c))
    ]
    assert_allclose(found, np.median(estimates, axis=0), atol=1e-9)
    more = ClassifierMedian([PACC()], classifiers[:2], classifier=classifiers[2], cv=2)
    assert len(more.fit(X, y).medians_) == 3


def test_members_of_three_opinions_have_a_mean() -> None:
    p_hat, told = median_prevalence(np.eye(3)[:, np.newaxis])
    assert_allclose(p_hat, [[1 / 3, 1 / 3, 1 / 3]])
    assert told["spread"].shape == (1,)


def test_intervals() -> None:
    X, y = draw(200, 2, 0)
    interval = Median([PACC(), ACC()]).fit(X, y).predict_interval(X[:60], n_bootstrap=50)
    assert interval.low[1] < interval.prevalence[1] < interval.high[1]
    for quantifier in (EoQ(PCC(), n_members=2), FusedSLD(n_members=1, calibration="none")):
        with pytest.raises(UserError, match="every replicate would fit all members again"):
            quantifier.fit(X, y).predict_interval(X)


@pytest.mark.parametrize(
    ("quantifier", "message"),
    [
        (EoQ(selection="best"), "selection of EoQ must be 'average', "),
        (EoQ(n_members=0), "n_members of EoQ must be a whole number of at least 1"),
        (
            EoQ(n_members=3, keep=4, selection="accuracy"),
            "at most n_members=3, got 4",
        ),
        (Median([HDx()]), "HDx needs more than posteriors"),
        (Median([]), "a median needs at least one quantifier"),
        (ClassifierMedian(classifiers=[]), "needs at least one"),
    ],
)
def test_wrong_options_are_refused(quantifier, message: str) -> None:
    with pytest.raises(UserError, match=message):
        quantifier.fit(*draw(60, 2, 0))


@pytest.mark.parametrize(
    "quantifier",
    [
        EoQ(n_members=5),
        FusedSLD(n_members=3, calibration="sigmoid", cv=2),
        Median([PACC(), SLD(calibration="sigmoid"), DyS()]),
    ],
)
def test_a_large_sample_of_known_prevalence_is_found(quantifier) -> None:
    """6,000 training items and 20,000 of the sample: shares are known to about .01."""
    X, y = draw(6000, 3, 0)
    rng = np.random.default_rng(1)
    p = np.array([0.6, 0.1, 0.3])
    y_new = rng.choice(3, size=20_000, p=p)
    X_new = 1.5 * np.eye(3)[y_new] + rng.normal(size=(20_000, 3))
    truth = np.bincount(y_new) / len(y_new)
    assert_allclose(quantifier.fit(X, y).predict(X_new), truth, atol=0.03)


def test_default_members_are_calibrated() -> None:
    """A timid classifier of few items: without calibration its members' SLD is far off."""
    rng = np.random.default_rng(0)
    y, y_new = np.repeat([0, 1], [300, 300]), np.repeat([0, 1], [800, 200])
    X, X_new = (
        rng.normal(2.0 * codes[:, np.newaxis], 1.0, (len(codes), 1)) for codes in (y, y_new)
    )
    timid = LogisticRegression(C=1e-3)
    calibrated, trusted = (
        EoQ(classifier=timid, n_members=8, calibration=kind).fit(X, y).predict(X_new)[1]
        for kind in ("auto", "none")
    )
    assert abs(trusted - 0.2) > 0.1
    # Eight members of 600 items; the standard error of the sample's own share is .013.
    assert abs(calibrated - 0.2) < 0.06
