"""The share among the items of a sample: narrower than the population's, and right as often."""

import numpy as np
import pytest
from scipy.special import expit

from quantshift import ACC, CC, PACC, PCC, SLD, BayesianCC, SubclassSLD
from quantshift.errors import UserError
from quantshift.intervals.predictive import label_draws, share_draws
from quantshift.items.simulation import ClassMembers

FAST = {"n_bootstrap": 200}


def items(n_negative, n_positive, rng, *, apart=4.0):
    """Labels, and posteriors of normal scores at equal shares; an AUC of .998 if 4 apart."""
    y = np.repeat([0, 1], [n_negative, n_positive])
    score = rng.normal(size=len(y)) + apart * y
    positive = expit(apart * (score - apart / 2))
    return np.stack([1 - positive, positive], axis=1), y


def three_classes(counts, rng):
    y = np.repeat(np.arange(3), counts)
    logits = 4.0 * np.eye(3)[y] + rng.normal(size=(len(y), 3)) * 1.4
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(axis=1, keepdims=True), y


def test_certain_posteriors_leave_nothing_to_draw():
    certain = np.repeat([[1.0, 0.0], [0.0, 1.0]], [30, 70], axis=0)
    rng = np.random.default_rng(0)
    replicates = rng.dirichlet([30, 70], 100)
    shares = share_draws(certain, np.array([0.5, 0.5]), replicates, rng)
    assert shares == pytest.approx(np.tile([0.3, 0.7], (100, 1)))


def test_useless_posteriors_leave_the_prevalence_and_the_labels():
    n, prior = 200, np.array([0.4, 0.6])
    rng = np.random.default_rng(1)
    replicates = np.tile([0.25, 0.75], (4000, 1))
    shares = share_draws(np.tile(prior, (n, 1)), prior, replicates, rng)
    assert shares.mean(axis=0) == pytest.approx([0.25, 0.75], abs=0.003)
    assert shares.std(axis=0) == pytest.approx(np.sqrt(0.25 * 0.75 / n), rel=0.05)


def test_draws_of_two_classes_have_one_share_between_them():
    rng = np.random.default_rng(8)
    q = rng.uniform(0.1, 0.9, 50)
    posteriors = np.stack([1 - q, q], axis=1)
    draws = [
        share_draws(posteriors, np.array([0.5, 0.5]), rng.dirichlet([30, 70], 100), rng),
        label_draws(posteriors.mean(axis=0), posteriors, 100, rng),
    ]
    for shares in draws:
        assert shares.sum(axis=1) == pytest.approx(np.ones(100))


def test_weights_are_shares_of_the_items():
    rng = np.random.default_rng(2)
    posteriors = np.array([[1.0, 0.0], [0.0, 1.0]])
    weighted = share_draws(
        posteriors, np.array([0.5, 0.5]), np.full((5, 2), 0.5), rng, np.array([3.0, 1.0])
    )
    assert weighted == pytest.approx(np.tile([0.75, 0.25], (5, 1)))


def test_labels_alone_have_the_variance_of_independent_ones():
    rng = np.random.default_rng(3)
    q = rng.uniform(0.1, 0.9, 50)
    posteriors = np.stack([1 - q, q], axis=1)
    shares = label_draws(posteriors.mean(axis=0), posteriors, 20_000, rng)
    assert shares[:, 1].std() == pytest.approx(np.sqrt((q * (1 - q)).sum()) / 50, rel=0.03)


def test_exact_samples_have_the_prevalence_they_were_drawn_at():
    members = ClassMembers(np.repeat([0, 1, 2], [20, 30, 50]), 3)
    prevalences = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    rows = members.draw(prevalences, 40, 25, np.random.default_rng(0), exact=True)
    codes = np.repeat([0, 1, 2], [20, 30, 50])[rows]
    shares = np.eye(3)[codes].mean(axis=1).reshape(2, 25, 3)
    assert np.abs(shares - prevalences[:, np.newaxis]).max() <= 1 / 40 + 1e-12


@pytest.mark.parametrize("method", [SLD, PACC, ACC, CC, PCC, BayesianCC])
def test_of_the_items_is_nowhere_wider_than_of_the_population(method):
    rng = np.random.default_rng(4)
    quantifier = method().fit_posteriors(*items(500, 500, rng))
    pool, y = items(90, 210, rng)
    by = {of: quantifier.aggregate_interval(pool, of=of, **FAST) for of in ("items", "population")}
    assert (by["items"].low >= by["population"].low - 0.01).all()
    assert (by["items"].high <= by["population"].high + 0.01).all()
    width = {of: found.high[1] - found.low[1] for of, found in by.items()}
    assert width["items"] < width["population"] / 2
    assert by["items"].low[1] - 0.01 <= y.mean() <= by["items"].high[1] + 0.01


def test_more_classes_than_two():
    rng = np.random.default_rng(8)
    quantifier = SLD().fit_posteriors(*three_classes([300, 300, 300], rng))
    pool, y = three_classes([200, 80, 20], rng)
    of_items = quantifier.aggregate_interval(pool, of="items", **FAST)
    population = quantifier.aggregate_interval(pool, **FAST)
    assert (of_items.high - of_items.low < population.high - population.low).all()
    truth = np.bincount(y) / len(y)
    assert ((of_items.low <= truth) & (truth <= of_items.high)).all()


@pytest.mark.parametrize("method", [SLD, SubclassSLD, PACC, BayesianCC])
def test_no_limit_of_several_classes_is_beyond_that_of_the_population(method):
    rng = np.random.default_rng(9)
    quantifier = method().fit_posteriors(*three_classes([100, 100, 100], rng))
    pools = [three_classes(counts, rng)[0] for counts in ([60, 40, 0], [98, 1, 1], [30, 30, 40])]
    samples = np.arange(300).reshape(3, 100)
    of_items, population = (
        quantifier.aggregate_interval(np.concatenate(pools), samples, of=of, n_bootstrap=60)
        for of in ("items", "population")
    )
    assert (of_items.low >= population.low).all()
    assert (of_items.high <= population.high).all()
    assert (of_items.high - of_items.low < population.high - population.low).mean() > 0.5
    assert (of_items.low <= of_items.prevalence).all()
    assert (of_items.prevalence <= of_items.high).all()


def test_methods_beyond_prior_shift_allow_for_the_training_side_in_the_items_too():
    """From the same posteriors, limits of SubclassSLD are about as wide as those of SLD."""
    rng = np.random.default_rng(12)
    training = three_classes([60, 60, 60], rng)
    pool = three_classes([400, 300, 300], rng)[0]
    found = [
        method().fit_posteriors(*training).aggregate_interval(pool, of="items", n_bootstrap=300)
        for method in (SubclassSLD, SLD)
    ]
    width, as_sld = (interval.high - interval.low for interval in found)
    assert width.mean() == pytest.approx(as_sld.mean(), rel=0.25)


def test_an_unknown_whole_is_refused():
    quantifier = SLD().fit_posteriors(*items(50, 50, np.random.default_rng(6)))
    with pytest.raises(UserError, match="unknown value of `of` 'rows'"):
        quantifier.aggregate_interval(np.array([[0.5, 0.5]]), of="rows")


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_coverage_among_the_items(n_classes):
    covered, narrower = [], []
    for number in range(60):
        rng = np.random.default_rng([7, number])
        if n_classes == 2:
            training = items(400, 400, rng)
            n_positive = rng.integers(10, 190)
            pool, y = items(200 - n_positive, n_positive, rng)
        else:
            training = three_classes([300, 300, 300], rng)
            pool, y = three_classes(rng.multinomial(300, rng.dirichlet(np.ones(3) * 2)), rng)
        quantifier = SLD().fit_posteriors(*training)
        found = quantifier.aggregate_interval(pool, of="items", **FAST)
        population = quantifier.aggregate_interval(pool, **FAST)
        truth = np.bincount(y, minlength=n_classes) / len(y)
        covered.append((found.low[1] <= truth[1]) & (truth[1] <= found.high[1]))
        narrower.append((found.high - found.low)[1] / (population.high - population.low)[1])
    assert np.mean(covered) >= 0.9
    assert np.mean(narrower) < 0.9


@pytest.mark.parametrize("apart", [2.66, 4.37])
def test_with_many_training_items_the_width_is_that_of_known_posteriors(apart):
    """Equal shares, AUC .97 and .999.

    With p the posteriors of the items, pi their mean and rho the mean of p (1 - p) divided by
    pi (1 - pi), the variance of SLD is pi (1 - pi) / n / (1 - rho), and that of the share among the
    items minus SLD is rho times as large.
    """
    score, n = np.linspace(-8, 8 + apart, 10_001), 400
    density = np.exp(-(score**2) / 2) + np.exp(-((score - apart) ** 2) / 2)
    p = expit(apart * (score - apart / 2))
    rho = 4 * (density * p * (1 - p)).sum() / density.sum()
    population = 2 * 1.96 * np.sqrt(0.25 / n / (1 - rho))
    quantifier = SLD().fit_posteriors(*items(5000, 5000, np.random.default_rng(10), apart=apart))
    widths = {"items": [], "population": []}
    for number in range(4):
        pool, _ = items(n // 2, n // 2, np.random.default_rng([11, number]), apart=apart)
        for of, found in widths.items():
            interval = quantifier.aggregate_interval(pool, of=of, random_state=number, **FAST)
            found.append(interval.high[1] - interval.low[1])
    assert np.mean(widths["population"]) == pytest.approx(population, rel=0.12)
    assert np.mean(widths["items"]) == pytest.approx(np.sqrt(rho) * population, rel=0.12)
