"""Tails and quantiles against SciPy, exact sums and closed forms."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from quantshift.statistics import distributions as ours

SHARES = np.array([1e-300, 1e-100, 1e-20, 1e-8, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.975, 0.999])
PARAMETERS = np.array([1e-3, 0.1, 0.5, 1, 2, 5, 9.9, 10, 10.1, 30, 100, 1e3, 1e4, 1e6])

positive = st.floats(math.log(1e-2), math.log(1e6)).map(math.exp)
shares = st.floats(1e-12, 1 - 1e-12)


def largest_error(found, expected, where=True):
    """Relative; of numbers that can be told from zero."""
    found, expected, where = np.broadcast_arrays(found, expected, where)
    seen = where & (np.abs(expected) > 1e-290)
    return float((np.abs(found - expected)[seen] / np.abs(expected)[seen]).max())


def exact_binomial_below(k, n, p):
    """P(X <= k) with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        p = Decimal(p)
        term = total = (1 - p) ** n
        for j in range(k):
            term = term * (n - j) / (j + 1) * p / (1 - p)
            total += term
        return total


def exact_gamma_above(a, x):
    """Q(a, x) of a whole number a, with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        x = Decimal(x)
        term = total = (-x).exp()
        for k in range(1, a):
            term = term * x / k
            total += term
        return total


@np.vectorize
def beta_below(x, a, b):
    """The regularised incomplete beta function, of which tails of other distributions are made."""
    return ours._beta_share(float(x), 1 - float(x), float(a), float(b))


def test_normal():
    z = np.linspace(-37, 37, 300)
    assert largest_error(ours.normal_below(z), special.ndtr(z)) < 1e-12
    assert largest_error(ours.normal_above(z), special.ndtr(-z)) < 1e-12
    assert largest_error(ours.normal_quantile(SHARES), special.ndtri(SHARES), SHARES != 0.5) < 1e-14
    assert ours.normal_quantile([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]


def test_beta_is_scipys():
    a, b = PARAMETERS[:, np.newaxis, np.newaxis], PARAMETERS[:, np.newaxis]
    x = np.clip(a / (a + b) * np.array([0.01, 0.3, 0.9, 1, 1.1]), 0, 1 - 1e-9)
    # SciPy itself is wrong by 2e-11 for (2, 1e6), see the exact sums below.
    assert largest_error(beta_below(x, a, b), special.betainc(a, b, x)) < 1e-10
    few = np.array([0.5, 2, 9.9, 30, 1e3])
    a, b = few[:, np.newaxis, np.newaxis], few[:, np.newaxis]
    found, expected = ours.beta_quantile(SHARES[4:], a, b), stats.beta.ppf(SHARES[4:], a, b)
    assert largest_error(found, expected) < 1e-12


@pytest.mark.parametrize(
    ("x", "a", "b"),
    [
        (2.439212288749965e-06, 2, 10**6),
        (6.9896735139752e-11, 30, 5),
        (0.3, 1000, 2000),
        (0.34, 1000, 2000),
        (0.0001, 3, 10**5),
        (0.99, 10**4, 9),
        (0.0019, 20, 10000),
        (0.7, 3, 4),
    ],
)
def test_beta_is_the_exact_sum(x, a, b):
    if a <= b:
        exact = 1 - exact_binomial_below(a - 1, a + b - 1, Decimal(x))
    else:
        exact = exact_binomial_below(b - 1, a + b - 1, 1 - Decimal(x))
    assert float(beta_below(x, a, b)) == pytest.approx(float(exact), rel=2e-13, abs=0)
    if exact < 1 - 1e-9:
        assert float(ours.beta_quantile(float(exact), a, b)) == pytest.approx(x, rel=1e-12, abs=0)


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.3, 0.999])
@pytest.mark.parametrize("a", [1e-3, 0.5, 1, 7, 1e6])
def test_beta_of_a_power_has_closed_quantiles(a, p):
    assert float(ours.beta_quantile(p, a, 1)) == pytest.approx(p ** (1 / a), rel=1e-11, abs=0)
    expected = -math.expm1(math.log1p(-p) / a)
    assert float(ours.beta_quantile(p, 1, a)) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("a", "x"),
    [(1, 1.0), (1, 700.0), (3, 0.5), (9, 30.0), (10, 9.0), (500, 600.0), (50000, 50500.0)],
)
def test_chi_square_is_the_exact_sum(a, x):
    expected = float(exact_gamma_above(a, x))
    assert float(ours.chi_square_above(2 * x, 2 * a)) == pytest.approx(expected, rel=3e-13, abs=0)


def test_chi_square_is_scipys():
    freedom = np.array([0.002, 0.2, 1, 2, 3, 5, 19, 20, 21, 100, 1e3, 1e6, 1e9])[:, np.newaxis]
    x = freedom * np.array([1e-6, 1e-3, 0.1, 0.5, 0.99, 1, 1.01, 1.1, 2, 5, 100])
    expected = special.gammaincc(freedom / 2, x / 2)
    assert largest_error(ours.chi_square_above(x, freedom), expected) < 1e-12
    assert ours.chi_square_above([-1, 0, np.inf, np.nan], 3)[:3].tolist() == [1, 1, 0]


def test_pearson3_is_scipys():
    skewness = np.array([-3, -1, -0.1, -0.01, 0, 0.01, 0.1, 0.6, 0.64, 1, 2, 5, 10])[:, np.newaxis]
    p = np.array([1e-4, 0.025, 0.3, 0.8, 0.975, 0.9995])
    expected = stats.pearson3.ppf(p, skewness)
    # SciPy subtracts numbers of the size of 2 / skewness.
    assert np.abs(ours.pearson3_quantile(p, skewness) - expected).max() < 1e-11


def test_pearson3_of_skewness_2_is_exponential():
    p = np.array([1e-12, 0.2, 0.975])
    np.testing.assert_allclose(ours.pearson3_quantile(p, 2.0), -np.log1p(-p) - 1, rtol=1e-14)


def test_pearson3_has_no_seam_where_it_becomes_normal():
    z = special.ndtri(0.975)
    for skewness in (1.01e-8, 0.99e-8, 1e-5, -1e-5):
        found = float(ours.pearson3_quantile(0.975, skewness))
        third = (z**3 - 7 * z) * skewness**2 / 144  # Cornish and Fisher
        assert found == pytest.approx(z + (z * z - 1) * skewness / 6 + third, abs=3e-14)


def test_student_is_scipys():
    freedom = np.array([1, 2.5, 3, 7.3, 19, 20, 21, 100, 1e4, 1e6])[:, np.newaxis]
    p = SHARES[3:]
    expected = special.stdtrit(freedom, p)
    assert largest_error(ours.student_quantile(p, freedom), expected, p != 0.5) < 1e-11
    t = np.concatenate([-np.logspace(-2, 2, 12), np.logspace(-2, 3, 25)])
    expected = stats.t.sf(t, freedom)
    assert largest_error(ours.student_above(t, freedom), expected) < 1e-11


@pytest.mark.parametrize("p", [1e-300, 1e-10, 0.01, 0.3, 0.999])
def test_student_has_closed_quantiles(p):
    two = (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    assert float(ours.student_quantile(p, 2)) == pytest.approx(two, rel=1e-13, abs=0)
    one = -1 / math.tan(math.pi * p)
    assert float(ours.student_quantile(p, 1)) == pytest.approx(one, rel=1e-13, abs=0)
    assert float(ours.student_above(-one, 1)) == pytest.approx(p, rel=1e-12, abs=0)
    normal = float(ours.normal_quantile(p))
    assert float(ours.student_quantile(p, np.inf)) == normal


def test_f_and_binomial_are_scipys():
    first, second = np.array([1, 2, 5, 50, 1000]), np.array([1, 3, 50, 1000])[:, np.newaxis]
    for ratio in (0.01, 0.5, 1, 4, 30):
        expected = stats.f.sf(ratio, first, second)
        assert largest_error(ours.f_above(ratio, first, second), expected) < 1e-11
    assert ours.f_above([0, np.inf], 2, 3).tolist() == [1, 0]
    n = np.array([1, 2, 5, 30, 100, 1000])[:, np.newaxis, np.newaxis]
    k = np.floor(n * np.array([0, 0.1, 0.5, 0.8, 1])[:, np.newaxis])
    p = np.array([0, 1e-6, 0.01, 0.3, 0.5, 0.9, 1])
    for name, of_scipy in [("below", "cdf"), ("above", "sf"), ("probability", "pmf")]:
        expected = getattr(stats.binom, of_scipy)(k, n, p)
        assert largest_error(getattr(ours, f"binomial_{name}")(k, n, p), expected) < 1e-11
    assert ours.binomial_below([-1, 3, 4], 3, 0.5).tolist() == [0, 1, 1]
    np.testing.assert_allclose(ours.binomial_above([-1, 3, 1.5], 3, 0.5), [1, 0, 0.5], rtol=1e-14)


def test_ends_and_what_is_no_probability():
    assert ours.beta_quantile([0, 1], 2, 3).tolist() == [0, 1]
    assert ours.student_quantile([0, 0.5, 1], 3).tolist() == [-np.inf, 0, np.inf]
    assert ours.pearson3_quantile([0, 1], 1.0).tolist() == [-2, np.inf]
    assert beta_below([-1, 0, 1, 2], 2, 3).tolist() == [0, 0, 1, 1]
    for quantile in (ours.beta_quantile([-0.1, 1.1, np.nan], 1, 2), ours.normal_quantile([-1, 2])):
        assert np.isnan(quantile).all()


def test_arguments_broadcast():
    assert ours.beta_quantile(0.5, [[1.0], [2.0]], [1.0, 2.0, 3.0]).shape == (2, 3)
    assert ours.normal_quantile(0.5).shape == ()
    assert ours.student_quantile(0.9, np.empty(0)).shape == (0,)


@settings(max_examples=60, deadline=None)
@given(p=shares, a=positive, b=positive)
def test_beta_quantiles_are_inverted(p, a, b):
    x = float(ours.beta_quantile(p, a, b))
    if 1e-200 < x < 1 - 1e-9:  # otherwise the rounding of x moves the tail
        assert float(beta_below(x, a, b)) == pytest.approx(p, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(p=shares, freedom=positive)
def test_student_quantiles_are_inverted_and_symmetric(p, freedom):
    t = float(ours.student_quantile(p, freedom))
    if abs(t) < 1e150 and abs(p - 0.5) > 1e-6:
        assert float(ours.student_above(-t, freedom)) == pytest.approx(p, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(p=shares, q=shares, skewness=st.floats(-10, 10))
def test_quantiles_grow_with_p(p, q, skewness):
    low, high = sorted([p, q])
    found = ours.pearson3_quantile([low, high], skewness)
    assert found[0] <= found[1] + 1e-12 * abs(found[1])
    found = ours.beta_quantile([low, high], abs(skewness) + 0.1, 2.0)
    assert found[0] <= found[1] * (1 + 1e-12)
