"""The shift test: its null, its power, what it names, and what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from quantshift.classify.calibration.curves import fit_penalised
from quantshift.classify.clusters.clusters import Clusters
from quantshift.classify.scores import class_scores, platt_targets
from quantshift.diagnosis.which_shift import (
    INVISIBLE,
    NullModel,
    min_p_values,
    shift_test,
    shift_tests,
)
from quantshift.errors import DataError, UserError
from quantshift.items.items import Items
from quantshift.quantifiers.likelihood.subclass_sld import SubclassSLD

Counts = dict[tuple[int, int], int]

TRAIN: Counts = {(0, 0): 500, (1, 0): 1000, (0, 1): 1000, (1, 1): 500}
PRIOR: Counts = {(0, 0): 60, (1, 0): 200, (0, 1): 120, (1, 1): 100}
GLOBAL: Counts = {(0, 0): 120, (1, 0): 240, (0, 1): 90, (1, 1): 45}
LOCAL: Counts = {(0, 0): 80, (1, 0): 80, (0, 1): 160, (1, 1): 180}


def items(counts: Counts, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes; keys are (class, group), the groups far apart on the first axis."""
    rng = np.random.default_rng(seed)
    y = np.repeat([label for label, _ in counts], list(counts.values()))
    group = np.repeat([group for _, group in counts], list(counts.values()))
    X = rng.normal(size=(len(y), 3)) + np.column_stack([8.0 * group, 2.0 * y, np.zeros(len(y))])
    return X, y


@pytest.fixture(scope="module")
def quantifier() -> SubclassSLD:
    return SubclassSLD(n_clusters=2).fit(*items(TRAIN, 0))


@pytest.mark.parametrize(
    ("counts", "kind"), [(PRIOR, "prior"), (GLOBAL, "covariate"), (LOCAL, "local")]
)
def test_the_kind_of_shift_is_named(quantifier: SubclassSLD, counts: Counts, kind: str) -> None:
    result = shift_test(quantifier, items(counts, 1)[0], n_bootstrap=400)
    assert result.kind == kind
    assert (result.p_value < 0.05) == (kind != "prior")
    assert (result.p_global is None) == (kind == "prior")
    assert not result.out_of_support
    assert list(result.prevalence) == ["prior", "covariate", "mixed", "local"]
    assert sum(result.weight.values()) == pytest.approx(1)
    assert str(result).startswith(f"{kind}: ")
    assert str(result).endswith(INVISIBLE)


def test_equal_weights_are_none(quantifier: SubclassSLD) -> None:
    X = items(LOCAL, 1)[0]
    plain, same = (
        shift_test(quantifier, X, n_bootstrap=50, sample_weight=weights)
        for weights in (None, np.full(len(X), 3.0))
    )
    assert str(plain) == str(same)
    assert plain.statistic == same.statistic


def test_items_of_almost_no_weight_are_as_if_they_were_not_there(quantifier: SubclassSLD) -> None:
    X, others = items(PRIOR, 1)[0], items(LOCAL, 2)[0]
    weights = np.repeat([1.0, 1e-9], [len(X), len(others)])
    alone = shift_test(quantifier, X, n_bootstrap=100)
    beside = shift_test(quantifier, np.vstack([X, others]), n_bootstrap=100, sample_weight=weights)
    assert beside.kind == alone.kind == "prior"
    assert beside.p_value == pytest.approx(alone.p_value, abs=0.1)
    for name, p in alone.prevalence.items():
        assert beside.prevalence[name] == pytest.approx(p, abs=1e-4)


@pytest.mark.slow
def test_weights_can_make_a_shift_and_undo_one(quantifier: SubclassSLD) -> None:
    """Items drawn as under local shift, weighted back to a change of prevalence; and reversed."""
    for counts, other, kind in ((LOCAL, PRIOR, "prior"), (PRIOR, LOCAL, "local")):
        X, _ = items(counts, 1)
        factor = np.array([other[key] / counts[key] for key in counts])
        weights = np.repeat(factor, list(counts.values()))
        assert shift_test(quantifier, X, n_bootstrap=400).kind != kind
        assert shift_test(quantifier, X, n_bootstrap=400, sample_weight=weights).kind == kind


@pytest.mark.slow
def test_weights_alone_raise_no_alarm(quantifier: SubclassSLD) -> None:
    """Weights without a meaning cost items, and that is allowed for."""
    rng = np.random.default_rng(0)
    p_values = []
    for seed in range(12):
        X, _ = items(PRIOR, 100 + seed)
        weights = rng.exponential(size=len(X)) ** 2
        p_values.append(shift_test(quantifier, X, n_bootstrap=100, sample_weight=weights).p_value)
    # Uniform: 12 p-values below .1 more than four times has a probability of .4%.
    assert np.sum(np.array(p_values) < 0.1) <= 4
    assert np.mean(p_values) > 0.25


def test_weighted_training_items_are_the_training_set(quantifier: SubclassSLD) -> None:
    """Half of the items of two subclasses at twice the weight stand for all of them."""
    half = {key: n // 2 if key[0] == key[1] else n for key, n in TRAIN.items()}
    X, y = items(half, 0)
    weights = np.repeat([1.0 + (key[0] == key[1]) for key in half], list(half.values()))
    weighted = SubclassSLD(n_clusters=2).fit(X, y, weights)
    assert_allclose(weighted.prior_, quantifier.prior_)
    assert_allclose(np.sort(weighted.model_.shares), np.sort(quantifier.model_.shares), atol=0.02)
    for counts, kind in ((PRIOR, "prior"), (LOCAL, "local")):
        assert shift_test(weighted, items(counts, 1)[0], n_bootstrap=400).kind == kind


def test_items_unlike_training_are_reported(quantifier: SubclassSLD) -> None:
    X = items(PRIOR, 1)[0] + np.array([0.0, 0.0, 15.0])
    result = shift_test(quantifier, X, n_bootstrap=100)
    assert result.out_of_support
    assert "Out of support" in str(result)


def test_the_same_seed_gives_the_same_answer(quantifier: SubclassSLD) -> None:
    X = items(PRIOR, 2)[0]
    first = shift_test(quantifier, X, n_bootstrap=100, random_state=3)
    assert shift_test(quantifier, X, n_bootstrap=100, random_state=3).p_value == first.p_value
    shuffled = np.random.default_rng(0).permutation(X)
    assert (
        shift_test(quantifier, shuffled, n_bootstrap=100, random_state=3).p_value == first.p_value
    )


def test_posteriors_and_clusters_serve_as_well_as_features(quantifier: SubclassSLD) -> None:
    X = items(LOCAL, 1)[0]
    assert quantifier.partition_ is not None
    clusters = quantifier.partition_.locate(X)
    posteriors = quantifier.classifier_.predict_proba(X)
    committee = [model.predict_proba(X) for model in quantifier.committee_]
    by_features = shift_test(quantifier, X, n_bootstrap=100)
    known = Items(posteriors, np.stack(committee), clusters)
    (by_posteriors,) = shift_tests(quantifier, known, [np.arange(len(X))], n_bootstrap=100)
    assert by_posteriors.p_value == by_features.p_value
    assert_allclose(by_posteriors.statistic, by_features.statistic)
    assert_allclose(by_posteriors.prevalence["local"], by_features.prevalence["local"])


def test_samples_tested_together_and_alone_are_the_same(quantifier: SubclassSLD) -> None:
    samples = [items(PRIOR, 1)[0], items(LOCAL, 1)[0], items(PRIOR, 2)[0][:100]]
    borders = np.cumsum([len(X) for X in samples])
    rows = np.split(np.arange(borders[-1]), borders[:-1])
    together = shift_tests(
        quantifier, quantifier.items(np.concatenate(samples)), rows, n_bootstrap=100
    )
    for X, test in zip(samples, together, strict=True):
        alone = shift_test(quantifier, X, n_bootstrap=100)
        assert (test.p_value, test.p_global, test.kind) == (
            alone.p_value,
            alone.p_global,
            alone.kind,
        )
        assert_allclose(test.prevalence["mixed"], alone.prevalence["mixed"])


def test_three_classes() -> None:
    rng = np.random.default_rng(0)

    def drawn(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = np.concatenate([np.repeat([0, 1, 2], row) for row in counts])
        group = np.repeat([0, 1], counts.sum(axis=1))
        X = np.column_stack([3 * np.eye(3)[y] + rng.normal(size=(len(y), 3)), 9.0 * group])
        return X, y

    group = np.repeat([0, 1], 900)
    quantifier = SubclassSLD().fit(*drawn(np.full((2, 3), 300)), groups=group)
    same = shift_test(
        quantifier, drawn(np.array([[40, 80, 120], [40, 80, 120]]))[0], n_bootstrap=200
    )
    local = shift_test(
        quantifier, drawn(np.array([[150, 80, 20], [20, 80, 150]]))[0], n_bootstrap=200
    )
    assert same.kind == "prior"
    assert local.kind == "local"


def test_replicates_of_the_calibration_have_the_spread_of_refits() -> None:
    rng = np.random.default_rng(0)
    n = 2000
    clusters = rng.integers(2, size=n)
    scores = rng.normal(0, 1.5, n)
    codes = (rng.random(n) < expit(scores + 0.5 * clusters)).astype(np.int64)
    posteriors = np.column_stack([1 - expit(scores), expit(scores)])
    quantifier = SubclassSLD().fit_posteriors(posteriors, codes, clusters=clusters)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=60)
    quick = quantifier.model_.calibration.one_step(posteriors, codes, clusters, weights)
    exact = np.empty_like(quick)
    curve = quantifier.model_.calibration.curves[0]
    design = curve.design(class_scores(posteriors)[:, 0], clusters)
    targets = platt_targets(codes, 2)[:, 0]
    for r, weight in enumerate(weights):
        theta, _, _ = fit_penalised(design, targets, curve.penalty, curve.theta, weight)
        exact[r, :, 1] = expit(design @ theta)
    inside = np.abs(scores) < 3
    difference = logit(quick[:, inside, 1]) - logit(exact[:, inside, 1])
    spread = logit(exact[:, inside, 1]).std(axis=0)
    assert np.abs(difference).mean() < 0.15 * spread.mean()


def test_null_samples_have_the_shares_asked_for(quantifier: SubclassSLD) -> None:
    null = NullModel.of(quantifier, n_bootstrap=50, seed=0)
    shares = np.array([[0.1, 0.2], [0.3, 0.4]])
    rows = null._items(shares, (50, 400), np.random.default_rng(0))
    cell = null.clusters[rows] * 2 + null.codes[rows]
    assert_allclose(np.bincount(cell.ravel()) / rows.size, shares.ravel(), atol=0.01)


def test_min_p_is_uniform_under_the_null_whatever_the_dependence() -> None:
    rng = np.random.default_rng(0)
    common = rng.normal(size=(4000, 1))
    values = np.hstack([common, 0.8 * common + 0.6 * rng.normal(size=(4000, 1))])
    p = min_p_values(values[:2000], values[2000:])
    assert_allclose(np.quantile(p, [0.05, 0.5, 0.95]), [0.05, 0.5, 0.95], atol=0.02)
    assert min_p_values(np.array([[9.0, 0.0]]), values)[0] < 0.002


def test_min_p_of_a_few_replicates_by_hand() -> None:
    """The smallest p-value of each replicate is .25, .25, .5 and 1; a tie is as small."""
    null = np.array([[4.0, 1.0], [3.0, 4.0], [2.0, 2.0], [1.0, 1.0]])
    observed = np.array([[5.0, 0.0], [4.0, 0.0], [0.0, 3.0], [0.0, 2.0], [1.0, 1.0]])
    assert_allclose(min_p_values(observed, null), [1 / 5, 3 / 5, 3 / 5, 4 / 5, 1.0])


def test_what_cannot_be_tested_is_refused(quantifier: SubclassSLD) -> None:
    X = items(PRIOR, 1)[0]
    with pytest.raises(UserError, match="level of a test must be between 0 and 1"):
        shift_test(quantifier, X, level=5)
    alone = SubclassSLD(n_clusters=1).fit(*items(TRAIN, 0))
    with pytest.raises(DataError, match="single cluster"):
        shift_test(alone, X)
    plain = SubclassSLD().fit_posteriors(np.full((4, 2), 0.5), [0, 1, 0, 1])
    known = Items(np.full((4, 2), 0.5), None, Clusters.known([0, 0, 0, 0]))
    with pytest.raises(DataError, match="single cluster"):
        shift_tests(plain, known, [np.arange(4)])


@pytest.mark.slow
def test_false_alarms_and_power() -> None:
    """Small training sets, whose own uncertainty matters: 10 of 600 items, 60 samples of 300."""
    alarms, found = [], []
    for training in range(10):
        train = {key: n // 5 for key, n in TRAIN.items()}
        quantifier = SubclassSLD(n_clusters=2).fit(*items(train, 1000 + training))
        rng = np.random.default_rng(training)
        for sample in range(60):
            p = rng.uniform(0.2, 0.8)
            n_positive = rng.binomial(300, p)
            in_first = rng.binomial(n_positive, 2 / 3), rng.binomial(300 - n_positive, 1 / 3)
            counts = {
                (1, 0): in_first[0],
                (1, 1): n_positive - in_first[0],
                (0, 0): in_first[1],
                (0, 1): 300 - n_positive - in_first[1],
            }
            X = items(counts, 10_000 * training + sample)[0]
            alarms.append(shift_test(quantifier, X, n_bootstrap=300).p_value < 0.05)
        X = items(LOCAL, 500 + training)[0]
        found.append(shift_test(quantifier, X, n_bootstrap=300).p_value < 0.05)
    # Four standard errors of 600 samples: .036.
    assert 0.015 < np.mean(alarms) < 0.086
    assert np.mean(found) >= 0.9


def test_a_p_value_equal_to_the_level_is_no_rejection(quantifier: SubclassSLD) -> None:
    X = items(LOCAL, 1)[0]
    p_value = shift_test(quantifier, X, n_bootstrap=50).p_value
    assert shift_test(quantifier, X, n_bootstrap=50, level=p_value).kind == "prior"
    assert shift_test(quantifier, X, n_bootstrap=50, level=1.01 * p_value).kind != "prior"
