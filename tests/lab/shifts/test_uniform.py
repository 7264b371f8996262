"""Uniform prevalence: each sample at a point of the simplex of its own."""

import numpy as np
import pytest
from scipy.stats import kstest

from quantshift.errors import UserError
from quantshift.lab.shifts import PriorShift, UniformPrevalence
from quantshift.lab.shifts.uniform import jaggedness
from quantshift.prevalence.simplex import whole_counts

Y = np.repeat(["neg", "pos"], 600)


def test_samples_have_the_counts_of_their_nominal_prevalence():
    draws = list(
        UniformPrevalence(test_size=100, test_repeats=50).samples(Y, train={"p_train": 0.5})
    )
    assert len({draw.coordinates["p_test"] for draw in draws}) == 50
    for draw in draws:
        p = draw.coordinates["p_test"]
        assert (draw.labels == "pos").sum() == whole_counts([1 - p, p], 100)[1]
        assert draw.indices.size == np.unique(draw.indices).size == 100
        assert draw.degree == pytest.approx(round(p - 0.5, 1), abs=1e-9)


def test_binary_prevalences_are_uniform():
    shift = UniformPrevalence(test_size=10, test_repeats=1000)
    values = [draw.coordinates["p_test"] for draw in shift.samples(Y)]
    assert kstest(values, "uniform").pvalue > 0.001


def test_ternary_prevalences_are_uniform_on_the_simplex():
    y = np.array(["a", "b", "c"] * 20)
    draws = list(UniformPrevalence(test_size=10, test_repeats=1000).samples(y))
    for rank in range(3):
        # A coordinate of the uniform law on a triangle has distribution 1 - (1 - p)^2.
        values = np.array([draw.coordinates["p_test"][rank] for draw in draws])
        assert kstest(1 - (1 - values) ** 2, "uniform").pvalue > 0.001


def test_every_training_set_meets_the_same_prevalences_in_other_samples():
    shift = UniformPrevalence(test_size=20, test_repeats=5, train_size=100, train_repeats=2)
    first, second = shift.train_test(Y)
    for one, other in zip(first.tests, second.tests, strict=True):
        assert one.coordinates["p_test"] == other.coordinates["p_test"]
        assert one.indices.tolist() != other.indices.tolist()


def test_training_sets_are_natural():
    y = np.repeat([0, 1], [900, 300])
    shift = UniformPrevalence(train_size=200, train_repeats=200)
    draws = list(shift.training_sets(y))
    assert {draw.coordinates["p_train"] for draw in draws} == {0.25}
    positives = np.array([draw.labels.sum() for draw in draws])
    assert positives.std() > 0
    assert positives.mean() == pytest.approx(50, abs=4 * np.sqrt(200 * 0.1875 / 200))


LEVELS = np.repeat(np.arange(5), 400)
FIRST_POINT = (0.095485538, 0.319223042, 0.295786536, 0.280595411, 0.008909473)
FIRST_INDICES = [82, 519, 554, 795, 1043, 1076, 1116, 1212, 1350, 1541]


def jagged(p):
    """The definition by hand: squared second differences, summed."""
    return sum((-p[k - 1] + 2 * p[k] - p[k + 1]) ** 2 for k in range(1, len(p) - 1))


def test_the_smoothest_are_the_smoothest_of_the_plain_draws():
    plain = UniformPrevalence(test_size=100, test_repeats=50)
    smooth = UniformPrevalence(test_size=100, test_repeats=10, smoothest=0.2)
    drawn = [draw.coordinates["p_test"] for draw in plain.samples(LEVELS)]
    kept = [draw.coordinates["p_test"] for draw in smooth.samples(LEVELS)]
    limit = sorted(map(jagged, drawn))[9]
    assert kept == [p for p in drawn if jagged(p) <= limit]
    for p in kept:
        assert jaggedness(np.array(p)) == pytest.approx(jagged(p), abs=1e-12)


def test_all_of_them_are_those_of_before():
    told = UniformPrevalence(test_repeats=5, smoothest=1.0, concentration=1.0)
    assert told == UniformPrevalence(test_repeats=5)
    first = next(UniformPrevalence(test_size=10, test_repeats=1).samples(LEVELS))
    # Drawn before there were these options.
    assert first.coordinates["p_test"] == FIRST_POINT
    assert first.indices.tolist() == FIRST_INDICES


def test_dirichlet_prevalences_have_its_mean_and_variance():
    alpha, n = 0.3, 4000
    shift = UniformPrevalence(test_size=10, test_repeats=n, concentration=alpha, replace=True)
    p = np.array([draw.coordinates["p_test"] for draw in shift.samples(LEVELS)])
    variance = 0.2 * 0.8 / (5 * alpha + 1)
    assert p.mean(axis=0) == pytest.approx(np.full(5, 0.2), abs=5 * np.sqrt(variance / n))
    # A variance of n draws is known within a few of its own errors, about 10% here.
    assert p.var(axis=0) == pytest.approx(np.full(5, variance), rel=0.15)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"smoothest": 0.0}, "smoothest=0.0 must be above 0 and at most 1"),
        ({"smoothest": 1e-9}, "is too small a share"),
        ({"concentration": 0.0}, "concentration=0.0 must be above 0"),
    ],
)
def test_options_out_of_range_are_refused(options, problem):
    with pytest.raises(UserError, match=problem):
        next(UniformPrevalence(test_size=10, **options).samples(LEVELS))


def test_two_classes_have_no_smoothness():
    with pytest.raises(UserError, match="three ordered classes or more, found 2"):
        next(UniformPrevalence(test_size=10, smoothest=0.5).samples(Y))


def test_the_whole_pool_is_trained_on_once():
    pool = np.arange(0, 2000, 3)
    shift = UniformPrevalence(test_size=10, test_repeats=2, whole_pool=True, replace=True)
    (draw,) = shift.training_sets(LEVELS, pool=pool)
    assert sorted(draw.indices.tolist()) == pool.tolist()
    assert shift.count_training_sets() == 1
    assert shift.training_points() == [{"train_repeat": 0}]


def test_validation_prevalences_follow_the_rule_of_the_test_samples_and_are_others():
    shift = UniformPrevalence(test_size=10, test_repeats=200, smoothest=0.2)
    drawn = shift.drawn_prevalences(200, 5, seed=3)
    tests = np.array([draw.coordinates["p_test"] for draw in shift.samples(LEVELS)])
    assert drawn.shape == (200, 5)
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    # Both are the smoothest fifth of uniform draws; 200 of them tell the mean to about 5%.
    plain = UniformPrevalence(test_size=10).drawn_prevalences(200, 5, seed=3)
    means = [jaggedness(points).mean() for points in (drawn, tests, plain)]
    assert means[0] == pytest.approx(means[1], rel=0.25)
    assert means[0] < 0.5 * means[2]
    assert not np.isclose(drawn[:, None], tests).all(axis=2).any()
    np.testing.assert_array_equal(drawn, shift.drawn_prevalences(200, 5, seed=3))
    assert (drawn != shift.drawn_prevalences(200, 5, seed=4)).any()
    # Dirichlet(0.1): nearly every sample is of one class.
    few = UniformPrevalence(test_size=10, concentration=0.1).drawn_prevalences(200, 5, seed=0)
    assert (few.max(axis=1) > 0.6).mean() > 0.7
    assert PriorShift().drawn_prevalences(3, 2, seed=0) is None


@pytest.mark.parametrize(
    ("options", "title", "summary"),
    [
        ({}, "Uniform prevalence", "drawn uniformly from all possible ones."),
        (
            {"concentration": 0.3},
            "Dirichlet prevalence (concentration 0.3)",
            "concentration 0.3, which are dominated by fewer classes than uniform ones.",
        ),
        (
            {"smoothest": 0.2},
            "Uniform prevalence, the smoothest 20%",
            "all possible ones, and the smoothest 20% of them are kept.",
        ),
    ],
)
def test_words_say_how_prevalences_were_drawn(options, title, summary):
    """Before, Dirichlet draws were captioned as uniform ones, on the page and in LaTeX."""
    words = UniformPrevalence(**options).words()
    assert words.title == title
    assert words.summary.endswith(summary)
