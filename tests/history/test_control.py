"""The control chart: closed forms, what it must not answer to, and its rate of false alarms."""

import numpy as np
import pytest
from scipy.stats import t as student

from quantshift.errors import UserError
from quantshift.history import control_chart, level_per_look
from quantshift.history.control import LARGEST_LEVEL, WEIGHT


def chart(values, *, errors=None, sizes=None, n_baseline=10, level=0.01, **options):
    errors = np.full(len(values), 0.01) if errors is None else errors
    sizes = np.full(len(values), 10**6) if sizes is None else sizes
    return control_chart(values, errors, sizes, n_baseline=n_baseline, level=level, **options)


@pytest.fixture
def looks():
    return 0.1 + 0.01 * np.random.default_rng(0).normal(size=40)


def test_weight_1_is_the_prediction_interval_of_a_new_look(looks):
    """A closed form of every textbook: mean plus or minus t s sqrt(1 + 1/n)."""
    found = chart(looks, weight=1.0)
    first = looks[:10]
    reach = student.ppf(0.995, 9) * first.std(ddof=1) * np.sqrt(1 + 1 / 10)
    np.testing.assert_allclose(found.smoothed, looks[10:], rtol=1e-12)
    np.testing.assert_allclose(found.reach, reach, rtol=1e-12)
    assert found.centre == pytest.approx(first.mean())


def test_the_average_and_its_variance_are_the_weighted_sums(looks):
    found = chart(looks)
    first, rest = looks[:10], looks[10:]
    for i in (0, 3, 29):
        weights = WEIGHT * (1 - WEIGHT) ** np.arange(i, -1, -1)
        average = first.mean() + weights @ (rest[: i + 1] - first.mean())
        spread = first.std(ddof=1) * np.sqrt((weights**2).sum() + weights.sum() ** 2 / 10)
        assert found.smoothed[i] == pytest.approx(average, rel=1e-12)
        assert found.reach[i] == pytest.approx(student.ppf(0.995, 9) * spread, rel=1e-12)


def test_a_wider_interval_has_its_variance_added_and_a_narrower_one_is_no_gain(looks):
    errors = np.full(40, 0.01)
    errors[10] = 0.05
    wide = chart(looks, errors=errors, weight=1.0)
    usual = chart(looks, weight=1.0)
    factor = student.ppf(0.995, 9)
    added = (wide.reach[0] / factor) ** 2 - (usual.reach[0] / factor) ** 2
    assert added == pytest.approx(0.05**2 - 0.01**2)
    np.testing.assert_allclose(wide.reach[1:], usual.reach[1:])
    narrow = np.full(40, 0.01)
    narrow[10:] = 0.001
    np.testing.assert_allclose(chart(looks, errors=narrow).reach, chart(looks).reach)


def test_an_error_that_all_looks_share_changes_nothing(looks):
    """Also not if the intervals are wide because of it."""
    wide = chart(looks + 0.2, errors=np.full(40, 0.2))
    np.testing.assert_allclose(wide.reach, chart(looks).reach, rtol=1e-9)
    np.testing.assert_array_equal(wide.alarms, chart(looks).alarms)


def test_estimates_that_never_varied_do_not_alarm_at_the_first_item():
    values = np.zeros(40)
    values[20] = 1 / 1000
    assert not chart(values, sizes=np.full(40, 1000), level=1 / 365).alarms.any()


def test_a_change_alarms_and_goes_on_alarming(looks):
    looks[25:] += 0.05
    found = chart(looks, level=1 / 365)
    assert not found.alarms[:15].any()
    assert found.alarms[18:].all()


def test_looks_alarm_by_chance_as_often_as_asked():
    """800 histories of 60 looks each, within four standard errors.

    Looks of one history share a baseline, so that their number counts for less: the standard error
    is taken over histories.
    """
    rng = np.random.default_rng(3)
    rates = []
    for _ in range(800):
        rates.append(
            chart(0.3 + 0.01 * rng.normal(size=80), n_baseline=20, level=0.02).alarms.mean()
        )
    error = np.std(rates) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - 0.02) < 4 * error
    assert error < 0.003


@pytest.mark.parametrize(
    ("asked", "looks", "charts", "level"),
    [(1, 365, 1, 1 / 365), (2, 52, 1, 2 / 52), (1, 365, 3, 1 / 1095), (1, 4, 1, LARGEST_LEVEL)],
)
def test_the_level_of_a_look(asked, looks, charts, level):
    assert level_per_look(asked, looks, n_charts=charts) == pytest.approx(level)


@pytest.mark.parametrize(("asked", "looks", "name"), [(0, 10, "alarms"), (1, -1, "looks")])
def test_rates_are_positive(asked, looks, name):
    with pytest.raises(UserError, match=f"{name} per year are more than 0"):
        level_per_look(asked, looks)


@pytest.mark.parametrize("n_baseline", [1, 41])
def test_a_baseline_within_the_series(looks, n_baseline):
    with pytest.raises(UserError, match=f"a baseline of {n_baseline} looks of 40"):
        chart(looks, n_baseline=n_baseline)
