"""`performance` without labels, against the truth of Gaussian classes and against labels."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from quantshift import ShiftedClassifier, performance
from quantshift.claims import WIDEST, Kind, Reason
from quantshift.errors import UserError
from quantshift.measuring import MEASURES, LabelledScores
from quantshift.measuring.adapting.adaptation import SELECTION
from quantshift.measuring.estimate import PerformanceEstimator, Sample, Use
from tests.claims.made import BY_COVARIATE, FACTS
from tests.measuring.adapting.test_shifted_classifier import gaussian


@pytest.fixture(scope="module")
def declared():
    return ShiftedClassifier(assume="prior").fit(*gaussian(2000, 0.5, 0))


@pytest.mark.parametrize("p", [0.1, 0.8])
def test_measures_are_those_of_gaussian_classes(declared, p):
    """The classifier predicts by the sign of the first column: everything has a closed form."""
    X, _ = gaussian(4000, p, 1)
    found = performance(declared, X, n_bootstrap=40)
    assert found.kind is Kind.CONDITIONAL
    hit = norm.cdf(1)
    precision = p * hit / (p * hit + (1 - p) * (1 - hit))
    expected = {
        ("accuracy", None): hit,
        ("recall", 1): hit,
        ("specificity", 1): hit,
        ("precision", 1): precision,
        ("f1", 1): 2 * precision * hit / (precision + hit),
        ("auc", 1): norm.cdf(2 / np.sqrt(2)),
        ("balanced_accuracy", None): hit,
    }
    for (measure, label), value in expected.items():
        each = found.of(measure, label)
        assert each.estimate == pytest.approx(value, abs=0.03), measure
        assert each.low <= each.estimate <= each.high
    border = np.log((1 - p) / p) / 2
    best = (1 - p) * norm.cdf(border + 1) + p * norm.cdf(1 - border)
    assert found.of("accuracy", corrected=True).estimate == pytest.approx(best, abs=0.02)
    np.testing.assert_allclose(found.confusion.sum(), 1)
    np.testing.assert_allclose(found.confusion.sum(axis=1), [1 - p, p], atol=0.03)


def test_the_table_names_the_class_that_a_measure_is_of(declared):
    """The recall of all classes together is not that of the positive one."""
    X, _ = gaussian(600, 0.3, 4)
    found = performance(declared, X, measures=["accuracy", "recall"], n_bootstrap=20)
    lines = {line.split("  ")[0]: line for line in found.to_text().splitlines()[1:-1]}
    assert lines.keys() == {"accuracy", "recall of 1"}
    assert f"{found.of('recall', 1).estimate:.1%}" in lines["recall of 1"]
    named = ShiftedClassifier(positive=0).fit(*gaussian(600, 0.5, 0))
    of_named = performance(named, X, measures=["recall"], n_bootstrap=20).to_text()
    assert of_named.splitlines()[1].startswith("recall of 0 ")
    three = replace(found, classes=np.array([0, 1, 2]))
    lines = {line.split("  ")[0]: line for line in three.to_text().splitlines()[1:-1]}
    assert lines.keys() == {"accuracy", "mean recall"}
    assert f"{found.of('recall').estimate:.1%}" in lines["mean recall"]


@pytest.mark.slow
def test_intervals_cover_the_measures_on_the_rows(declared):
    names = ["accuracy", "precision", "recall", "auc", "log_loss", "brier"]
    covered = dict.fromkeys(names, 0)
    n = 30
    for seed in range(n):
        X, y = gaussian(300, [0.15, 0.5, 0.8][seed % 3], 100 + seed)
        found = performance(declared, X, measures=names, n_bootstrap=60)
        raw = declared.predict_proba(X)
        items = LabelledScores.of_labels(raw, raw.argmax(axis=1), y)
        for name in names:
            measure = MEASURES[name]
            label = None if measure.of_classes is None else 1
            truth = measure.overall(items) if label is None else measure.of_classes(items)[1]
            each = found.of(name, label)
            covered[name] += each.low <= truth <= each.high
    assert min(covered.values()) >= 0.85 * n, covered


def test_groups_are_estimated_on_their_own(declared):
    X, _ = gaussian(1000, 0.5, 2)
    groups = np.where(np.arange(1000) < 600, "north", "south")
    found = performance(declared, X, groups=groups, measures=["accuracy"], n_bootstrap=20)
    assert list(found.groups) == ["north", "south"]
    assert [part.n_items for part in found.groups.values()] == [600, 400]
    alone = performance(declared, X[:600], measures=["accuracy"], n_bootstrap=20)
    assert found.groups["north"].of("accuracy").estimate == pytest.approx(
        alone.of("accuracy").estimate, abs=1e-6
    )
    assert set(found.to_frame()["group"].dropna()) == {"north", "south"}


def test_weights_are_repeated_rows(declared):
    X, _ = gaussian(300, 0.3, 3)
    weights = 1 + np.arange(300) % 2
    weighted = performance(declared, X, sample_weight=weights, measures=["recall"], n_bootstrap=20)
    repeated = performance(
        declared, np.repeat(X, weights, axis=0), measures=["recall"], n_bootstrap=20
    )
    assert weighted.of("recall", 1).estimate == pytest.approx(
        repeated.of("recall", 1).estimate, abs=1e-6
    )


def test_without_evidence_the_limits_are_a_range_that_reaches_both_assumptions(declared):
    trained = declared.examiner_.plain
    X, _ = gaussian(500, 0.8, 4)
    raw = declared.predict_proba(X)
    shares = trained.aggregate(raw)
    estimator = PerformanceEstimator(
        trained, [MEASURES["accuracy"]], classes=[0, 1], n_replicates=20
    )
    use = Use(raw, raw.argmax(axis=1))
    training = estimator.in_training(
        Use(trained.held_out_posteriors_, trained.held_out_posteriors_.argmax(axis=1))
    )

    def measured(facts):
        sample = Sample(raw, shares, facts, support=SELECTION)
        return sample.grounds.kind, estimator.of(sample, [use], training)[0].measured[0]

    _, prior = measured(FACTS[Reason.EVIDENCE])
    _, covariate = measured(BY_COVARIATE)
    kind, neither = measured(FACTS[Reason.NO_EVIDENCE])
    assert kind is Kind.RANGE
    assert neither.estimate == pytest.approx((prior.estimate + covariate.estimate) / 2)
    assert neither.low == min(prior.low, covariate.low)
    assert neither.high == max(prior.high, covariate.high)
    kind, refuted = measured(FACTS[Reason.REFUTED])
    assert kind is Kind.RANGE
    assert refuted.estimate == covariate.estimate
    assert (refuted.low, refuted.high) == (neither.low, neither.high)


def test_a_range_that_allows_too_much_has_no_estimate(declared):
    X, _ = gaussian(500, 0.5, 4)
    raw = declared.predict_proba(X)
    measures = [MEASURES["precision"], MEASURES["log_loss"]]
    estimator = PerformanceEstimator(
        declared.examiner_.plain, measures, classes=[0, 1], n_replicates=20
    )
    use = Use(raw, raw.argmax(axis=1))
    for reason, is_known in ((Reason.NO_EVIDENCE, False), (Reason.EVIDENCE, True)):
        sample = Sample(raw, np.array([0.98, 0.02]), FACTS[reason])
        estimated = estimator.of(sample, [use], np.zeros(4))[0].measured
        precision = next(each for each in estimated if each.label == 1)
        assert np.isnan(precision.estimate) != is_known
        assert precision.high - precision.low > WIDEST  # as wide as this an interval may be
        log_loss = next(each for each in estimated if each.measure == "log_loss")
        assert not np.isnan(log_loss.estimate)  # it has no scale on which a range is wide


def test_any_fitted_classifier_with_held_out_rows():
    X, y = gaussian(1200, 0.5, 0)
    model = LogisticRegression().fit(X[:600], y[:600])
    new, y_new = gaussian(1000, 0.8, 5)
    found = performance(
        model, new, held_out=(X[600:], y[600:]), assume="prior", costs=[[0, 1], [3, 0]]
    )
    predicted = model.predict(new)
    cost = np.mean(np.where(y_new == 1, 3 * (predicted == 0), predicted == 1))
    assert found.of("cost").estimate == pytest.approx(cost, abs=0.08)
    text = found.to_text()
    assert "95% interval" in text
    assert "cost of an item" in text


def test_refusals_are_one_line(declared):
    X, _ = gaussian(100, 0.5, 0)
    with pytest.raises(UserError, match="give held_out"):
        performance(LogisticRegression(), X)
    with pytest.raises(UserError, match="its own held-out items"):
        performance(declared, X, assume="covariate")
    with pytest.raises(UserError, match="3 groups do not fit 100 rows"):
        performance(declared, X, groups=["a", "b", "c"])
    with pytest.raises(UserError, match="at least 20 bootstrap replicates"):
        performance(declared, X, n_bootstrap=5)
    found = performance(declared, X, measures=["accuracy"], n_bootstrap=20)
    with pytest.raises(UserError, match="there is no measure 'recall'"):
        found.of("recall", 1)


def test_costs_are_those_of_the_classifier_unless_others_are_given():
    costs = [[0, 1], [3, 0]]
    X, y = gaussian(600, 0.5, 0)
    own = ShiftedClassifier(assume="prior", costs=costs).fit(X, y)
    plain = ShiftedClassifier(assume="prior").fit(X, y)
    new, _ = gaussian(300, 0.3, 1)
    asked = {"measures": ["cost"], "n_bootstrap": 20}
    found = performance(own, new, **asked).of("cost").estimate
    dearer = performance(own, new, **asked, costs=[[0, 2], [6, 0]]).of("cost").estimate
    assert dearer == pytest.approx(2 * found)
    given = performance(plain, new, **asked, costs=[[0, 2], [6, 0]]).of("cost").estimate
    assert given > 0
    with pytest.raises(UserError):
        performance(plain, new, **asked)
