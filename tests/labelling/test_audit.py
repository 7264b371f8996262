"""The audit: closed forms, coverage whatever the posteriors are worth, plans."""

import numpy as np
import pytest
from scipy import stats

from quantshift.errors import DataError, PoolTooSmallError, UserError
from quantshift.labelling.audit import (
    FEWEST_LABELS,
    _spread_of_residuals,
    audit_interval,
    count_interval,
    labelled_shares,
    plan_audit,
    reweigh,
)

Z = 1.959963984540054
TARGETS = ("sample", "population")


def world(p, separation, bias, shape, seed):
    """Labels (n_samples, n_items) and posteriors of a classifier, right or biased."""
    rng = np.random.default_rng(seed)
    y = (rng.random(shape) < p).astype(np.int64)
    score = rng.normal(size=shape) + separation * (y - 0.5) + bias
    positive = 1 / (1 + np.exp(-separation * score))
    return y, np.stack([1 - positive, positive], axis=-1)


def textbook(f, y, k):
    """PPI++ for a mean with its plain normal interval, as ppi-python computes it."""
    own, rest, labels = f[:k, 1], f[k:, 1], y[:k].astype(float)
    n, N = k, len(rest)
    weight = np.cov(labels, own)[0, 1] / ((1 + n / N) * f[:, 1].var(ddof=1))
    weight = float(np.clip(weight, 0, 1))
    estimate = weight * rest.mean() + (labels - weight * own).mean()
    variance = weight**2 * rest.var() / N + (labels - weight * own).var() / n
    return estimate, Z * np.sqrt(variance)


def hard(y, sensitivity, specificity, seed):
    """Posteriors of 0 and 1 with these rates."""
    u = np.random.default_rng(seed).random(y.shape)
    verdict = np.where(y == 1, u < sensitivity, u >= specificity).astype(float)
    return np.stack([1 - verdict, verdict], axis=-1)


def over_confident(posteriors):
    odds = (posteriors[..., 1] / posteriors[..., 0]) ** 4
    return np.stack([1 / (1 + odds), odds / (1 + odds)], axis=-1)


def exact_width(positives, k, level=0.95):
    limits = stats.binomtest(int(positives), int(k)).proportion_ci(level)
    return limits.high - limits.low


def test_it_is_prediction_powered_inference_in_another_form():
    y, f = world(0.4, 2.0, 0.5, 20_000, 0)
    found = audit_interval(f, np.arange(5000), y[:5000])
    estimate, half = textbook(f, y, 5000)
    assert found.prevalence[1] == pytest.approx(estimate, abs=1e-3)
    assert (found.high[1] - found.low[1]) / 2 == pytest.approx(half, rel=0.02)


def test_the_textbook_interval_is_too_short_for_few_labels():
    """Why the limits are not estimate +- 1.96 standard errors."""
    p, k, covered = 0.03, 50, {"textbook": [], "ours": []}
    labels, posteriors = world(p, 2.0, 0.0, (600, 500), 1)
    for y, f in zip(labels, posteriors, strict=True):
        estimate, half = textbook(f, y, k)
        covered["textbook"].append(abs(estimate - p) <= half)
        found = audit_interval(f, np.arange(k), y[:k])
        covered["ours"].append(found.low[1] <= p <= found.high[1])
    assert np.mean(covered["textbook"]) < 0.9
    assert 0.93 <= np.mean(covered["ours"]) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "separation", "bias"),
    [(0.5, 2.0, 0.0), (0.3, 2.0, 2.0), (0.1, 0.5, 0.0), (0.5, 4.0, 1.5), (0.7, -2.0, 0.0)],
    ids=["good", "biased", "useless", "sure but wrong", "inverted"],
)
@pytest.mark.parametrize("k", [50, 200])
def test_it_covers_whatever_the_posteriors_are_worth(p, separation, bias, k):
    labels, posteriors = world(p, separation, bias, (500, 500), 2)
    found = [
        audit_interval(f, np.arange(k), y[:k]) for y, f in zip(labels, posteriors, strict=True)
    ]
    assert 0.925 <= np.mean([a.low[1] <= p <= a.high[1] for a in found]) <= 0.985


@pytest.mark.parametrize("k", [50, 200])
def test_about_the_sample_itself_it_is_shorter_and_covers(k):
    labels, posteriors = world(0.4, 2.0, 0.5, (500, 400), 3)
    covered, widths = [], []
    for y, f in zip(labels, posteriors, strict=True):
        own = audit_interval(f, np.arange(k), y[:k], target="sample")
        source = audit_interval(f, np.arange(k), y[:k])
        covered.append(own.low[1] <= y.mean() <= own.high[1])
        widths.append((own.high[1] - own.low[1]) / (source.high[1] - source.low[1]))
    assert 0.925 <= np.mean(covered) <= 0.985
    assert np.mean(widths) < 0.95


def test_with_all_items_labelled_the_sample_is_known():
    y, f = world(0.4, 1.0, 0.0, 60, 4)
    found = audit_interval(f, np.arange(60), y, target="sample")
    assert found.prevalence[1] == found.low[1] == found.high[1] == pytest.approx(y.mean())


def test_useful_posteriors_shorten_it_and_useless_ones_do_not_hurt():
    y, good = world(0.4, 3.0, 0.0, 1000, 5)
    useless = np.random.default_rng(0).dirichlet([1, 1], 1000)
    counted = count_interval(y[:100], 2)
    width = counted.high[1] - counted.low[1]
    powered = audit_interval(good, np.arange(100), y[:100])
    assert powered.high[1] - powered.low[1] < 0.7 * width
    assert powered.weight > 0.7
    blind = audit_interval(useless, np.arange(100), y[:100])
    assert blind.high[1] - blind.low[1] < 1.06 * width


@pytest.mark.parametrize("positives", [0, 1, 40, 60])
@pytest.mark.parametrize("constant", [0.0, 0.1, 0.5])
def test_constant_posteriors_are_plain_counting(positives, constant):
    y = np.repeat([0, 1], [60 - positives, positives])
    found = audit_interval(np.tile([1 - constant, constant], (500, 1)), np.arange(60), y)
    counted = count_interval(y, 2)
    assert found.weight == 0
    assert found.prevalence.tolist() == counted.prevalence.tolist()
    np.testing.assert_allclose([found.low, found.high], [counted.low, counted.high], rtol=1e-12)


def test_it_is_no_wider_than_the_exact_interval_where_a_class_is_rare():
    labels, posteriors = world(0.01, 2.0, -4.6, (200, 1000), 8)
    widths = [
        (found.high[1] - found.low[1]) / exact_width(y[:100].sum(), 100)
        for y, f in zip(labels, posteriors, strict=True)
        for found in [audit_interval(f, np.arange(100), y[:100])]
    ]
    assert max(widths) <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "sensitivity", "specificity", "k"),
    [(0.5, 0.9, 1.0, 35), (0.5, 1.0, 0.93, 50), (0.2, 0.8, 1.0, 50), (0.02, 0.8, 0.995, 200)],
)
def test_verdicts_without_an_error_among_the_labels_may_still_err(p, sensitivity, specificity, k):
    rng = np.random.default_rng(9)
    labels = (rng.random((600, 3000)) < p).astype(np.int64)
    covered = [
        found.low[1] <= p <= found.high[1]
        for y, f in zip(labels, hard(labels, sensitivity, specificity, 10), strict=True)
        for found in [audit_interval(f, np.arange(k), y[:k])]
    ]
    assert np.mean(covered) >= 0.93


def test_perfect_verdicts_leave_the_doubt_of_the_labels_not_seen():
    y = np.tile([0, 1], 50)
    verdicts = np.eye(2)[np.tile([0, 1], 5000)]
    found = audit_interval(verdicts, np.arange(100), y)
    assert found.prevalence[1] == pytest.approx(0.5)
    # An error rate of 2.8 / k is unseen among k labels in 6% of audits.
    assert found.high[1] - 0.5 == pytest.approx(2.8 / 100, rel=0.1)
    assert 0.5 - found.low[1] == pytest.approx(2.8 / 100, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.01, 0.12, 0.5])
@pytest.mark.parametrize("k", [20, 60, 250])
@pytest.mark.parametrize(
    "kind", ["calibrated", "over-confident", "inverted", "misses", "false alarms", "both", "random"]
)
def test_coverage_from_rare_to_even(p, k, kind):
    rates = {"misses": (0.85, 1.0), "false alarms": (1.0, 0.96), "both": (0.9, 0.98)}
    labels, posteriors = world(p, 2.0, np.log(p / (1 - p)) / 2, (1000, 800), 11)
    if kind in rates:
        posteriors = hard(labels, *rates[kind], 12)
    elif kind == "over-confident":
        posteriors = over_confident(posteriors)
    elif kind == "inverted":
        posteriors = posteriors[..., ::-1]
    elif kind == "random":
        posteriors = np.random.default_rng(13).dirichlet([1, 1], labels.shape)
    covered = {"population": [], "sample": []}
    for y, f in zip(labels, posteriors, strict=True):
        for target, truth in (("population", p), ("sample", y.mean())):
            found = audit_interval(f, np.arange(k), y[:k], target=target)
            covered[target].append(found.low[1] <= truth <= found.high[1])
    # .93 less its standard error.
    assert np.mean(covered["population"]) >= 0.922
    assert np.mean(covered["sample"]) >= 0.922


def test_several_classes_sum_to_one():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=400, p=[0.2, 0.3, 0.5])
    f = 0.5 * np.eye(3)[y] + 0.5 * rng.dirichlet(np.ones(3), 400)
    found = audit_interval(f, np.arange(80), y[:80])
    assert found.prevalence.sum() == pytest.approx(1)
    assert np.all((found.low < found.prevalence) & (found.prevalence < found.high))


def test_labels_all_alike_still_leave_doubt():
    found = audit_interval(np.full((300, 2), 0.5), np.arange(50), np.ones(50, int))
    assert found.prevalence.tolist() == [0, 1]
    assert 0.02 < found.high[0] < 0.15
    assert found.low[0] == 0


@pytest.mark.parametrize("k", [10, 37, 80])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_counting_lies_within_the_exact_interval(k, level):
    """Clopper and Pearson's, to which it is equal where no label of a class is seen."""
    for positives in range(k + 1):
        found = count_interval(np.repeat([0, 1], [k - positives, positives]), 2, level=level)
        exact = stats.binomtest(positives, k).proportion_ci(level)
        assert exact.low - 1e-9 <= found.low[1] <= found.prevalence[1] <= found.high[1]
        assert found.high[1] <= exact.high + 1e-9
        if positives in (0, k):
            assert (found.low[1], found.high[1]) == pytest.approx((exact.low, exact.high))


def test_counting_covers_by_enumeration():
    prevalences = np.linspace(0.01, 0.5, 99)
    for k in (20, 50, 100, 200, 500):
        found = [count_interval(np.repeat([0, 1], [k - x, x]), 2) for x in range(k + 1)]
        low, high = (np.array([getattr(f, side)[1] for f in found]) for side in ("low", "high"))
        inside = (low[:, np.newaxis] <= prevalences) & (prevalences <= high[:, np.newaxis])
        chances = stats.binom.pmf(np.arange(k + 1)[:, np.newaxis], k, prevalences)
        assert (chances * inside).sum(axis=0).min() > 0.93


def test_the_plan_gives_the_precision_it_promises():
    y, f = world(0.4, 2.0, 0.0, 4000, 6)
    plan = plan_audit(f, 0.04)
    assert plan.n_labels < plan.n_counting
    assert len(plan.items) == plan.n_labels == len(np.unique(plan.items))
    found = audit_interval(f, plan.items, y[plan.items])
    assert (found.high[1] - found.low[1]) / 2 == pytest.approx(0.04, rel=0.12)
    assert plan_audit(f, 0.02).n_labels > 3 * plan.n_labels


def test_a_plan_for_hard_verdicts_alone_is_that_of_counting():
    y, _ = world(0.3, 1.0, 0.0, 4000, 14)
    plan = plan_audit(hard(y, 0.9, 0.9, 15), 0.05)
    assert plan.n_labels == plan.n_counting
    assert plan.n_counting == pytest.approx((Z / 0.05) ** 2 * 0.34 * 0.66, rel=0.05)


@pytest.mark.parametrize("kind", ["calibrated", "hard", "nearly right", "over-confident"])
@pytest.mark.parametrize("precision", [0.03, 0.1])
def test_an_audit_comes_out_as_planned_from_held_out_items(kind, precision):
    def posteriors(y, f, seed):
        rates = {"hard": (0.9, 0.8), "nearly right": (0.97, 0.98)}
        if kind in rates:
            return hard(y, *rates[kind], seed)
        return over_confident(f) if kind == "over-confident" else f

    ratios = []
    for repeat in range(12):
        known, f_known = world(0.5, 2.0, 0.0, 800, 100 + repeat)
        y, f = world(0.3, 2.0, 0.0, 5000, 200 + repeat)
        own = posteriors(y, f, repeat)
        held_out = posteriors(known, f_known, 300 + repeat)
        plan = plan_audit(own, precision, held_out=(held_out, known), seed=repeat)
        assert plan.n_labels < plan.n_counting
        found = audit_interval(own, plan.items, y[plan.items])
        ratios.append((found.high[1] - found.low[1]) / 2 / precision)
    assert 0.75 <= np.mean(ratios) <= 1.25


def test_a_plan_takes_the_prevalence_to_expect():
    known, held_out = world(0.5, 2.0, 0.0, 2000, 16)
    _, f = world(0.1, 2.0, 0.0, 4000, 17)
    found = plan_audit(f, 0.05, held_out=(held_out, known))
    given = plan_audit(f, 0.05, held_out=(held_out, known), prevalence=[0.9, 0.1])
    even = plan_audit(f, 0.05, held_out=(held_out, known), prevalence=[0.5, 0.5])
    assert found.n_counting == pytest.approx(given.n_counting, rel=0.2)
    assert even.n_counting > 2 * given.n_counting
    # Posteriors that tell nothing: the held-out items' prevalence, not a guess from noise.
    blind = np.random.default_rng(18).dirichlet([1, 1], 2000)
    assert plan_audit(f, 0.05, held_out=(blind, known)).n_counting == pytest.approx(385, rel=0.1)


def test_a_plan_for_several_classes():
    rng = np.random.default_rng(19)
    y = rng.choice(3, size=3000, p=[0.2, 0.3, 0.5])
    verdict = np.where(rng.random(3000) < 0.85, y, rng.integers(3, size=3000))
    f = np.eye(3)[verdict]
    plan = plan_audit(f[1000:], 0.05, held_out=(f[:1000], y[:1000]))
    found = audit_interval(f[1000:], plan.items, y[1000:][plan.items])
    assert plan.n_labels < plan.n_counting
    assert (found.high - found.low).max() / 2 == pytest.approx(0.05, rel=0.25)


def test_a_plan_says_what_cannot_be_had():
    _, f = world(0.5, 2.0, 0.0, 100, 7)
    plan = plan_audit(f, 0.01)
    assert plan.n_labels == 100
    assert plan.attainable == pytest.approx(Z * 0.05, rel=0.05)
    assert plan_audit(f, 0.5).n_labels == FEWEST_LABELS
    assert plan_audit(f, 0.01, target="sample").n_labels < 100


def test_reweighing_is_bayes_rule():
    f = reweigh([[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]], [0.5, 0.5], [0.1, 0.9])
    np.testing.assert_allclose(f, [[0.1, 0.9], [0.02 / 0.74, 0.72 / 0.74], [1, 0]])
    kept = reweigh([[1.0, 0.0]], [0.5, 0.5], [0.0, 1.0])
    np.testing.assert_allclose(kept, [[1, 0]])


def test_wrong_input_is_one_line():
    f = np.full((50, 2), 0.5)
    with pytest.raises(PoolTooSmallError, match="5 items of the sample are labelled"):
        audit_interval(f, np.arange(5), np.zeros(5, int))
    with pytest.raises(DataError, match="distinct positions from 0 to 49"):
        audit_interval(f, np.zeros(20, int), np.zeros(20, int))
    with pytest.raises(DataError, match="codes of labels must be from 0 to 1"):
        audit_interval(f, np.arange(20), np.full(20, 2))
    with pytest.raises(DataError, match="a label per audited item"):
        audit_interval(f, np.arange(20), np.zeros(19, int))
    with pytest.raises(UserError, match="did you mean 'sample'"):
        audit_interval(f, np.arange(20), np.zeros(20, int), target="samples")
    with pytest.raises(UserError, match="level of an interval"):
        audit_interval(f, np.arange(20), np.zeros(20, int), level=2)
    with pytest.raises(UserError, match="a precision must be between 0 and 1"):
        plan_audit(f, 3)
    with pytest.raises(UserError, match="give held_out too"):
        plan_audit(f, 0.1, prevalence=[0.5, 0.5])
    with pytest.raises(DataError, match="a label each"):
        plan_audit(f, 0.1, held_out=(f, np.zeros(20, int)))
    with pytest.raises(DataError, match="labels of each class, codes 0 to 1"):
        plan_audit(f, 0.1, held_out=(f, np.zeros(50, int)))
    with pytest.raises(DataError, match="3 columns but there are 2 classes"):
        plan_audit(f, 0.1, held_out=(np.full((50, 3), 1 / 3), np.zeros(50, int)))


def test_rows_that_stand_for_several_items_count_as_often():
    """Counts of posteriors are those posteriors repeated."""
    rng = np.random.default_rng(9)
    f, counts = rng.dirichlet([1.0, 2.0], 30), rng.integers(1, 9, 30)
    labels = np.eye(2)[rng.integers(0, 2, 12)]
    given = (labels, f[:12], np.full((12, 1), 1 / 12), 0.7)
    spread = _spread_of_residuals(*given, f, counts.astype(float))
    repeated = _spread_of_residuals(*given, np.repeat(f, counts, axis=0))
    once = _spread_of_residuals(*given, f)
    for end in ("top", "bottom"):
        np.testing.assert_allclose(getattr(spread, end), getattr(repeated, end))
        assert np.abs(getattr(spread, end) - getattr(once, end)).max() > 1e-3


def test_where_the_heaviest_items_are_labelled_little_is_open_about_these_items():
    """60 of 360 items, which have nine tenths of the weight."""
    y, f = world(0.4, 1.0, 0.0, 360, 10)
    rows, weights = np.arange(60), np.where(np.arange(360) < 60, 45.0, 1.0)
    given = {"sample_weight": weights, "label_weights": weights[rows]}
    sample, population = (
        audit_interval(f, rows, y[:60], target=target, **given) for target in TARGETS
    )
    assert ((sample.high - sample.low) < 0.5 * (population.high - population.low)).all()
    equal = audit_interval(f, rows, y[:60], target="sample")
    assert (equal.high - equal.low > sample.high - sample.low).all()


def test_positions_of_audited_items_end_before_the_number_of_items():
    f = np.full((30, 2), 0.5)
    last = np.arange(30 - FEWEST_LABELS, 30)
    codes = np.arange(FEWEST_LABELS) % 2
    assert audit_interval(f, last, codes).prevalence == pytest.approx([0.5, 0.5])
    with pytest.raises(DataError, match="distinct positions from 0 to 29"):
        audit_interval(f, last + 1, codes)


def test_labels_of_unequal_weight_count_for_their_effective_number():
    """6 of 10 by weight are open: 2^2 + 4^2 / (1 + 9) * (1 + 1) of 36."""
    found = labelled_shares(np.zeros(4, int), np.arange(4) < 2, np.array([1.0, 3, 1, 1]))
    assert found == pytest.approx([1 - (4 + 1.6 * 2) / 36])
