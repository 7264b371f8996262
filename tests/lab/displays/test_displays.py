"""Displays of estimates: their numbers, what they draw, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift import (
    CC,
    PACC,
    BiasDisplay,
    DiagonalDisplay,
    ErrorByShiftDisplay,
    IntervalDisplay,
    PriorShift,
    RegionDisplay,
    evaluate,
    metrics,
)
from quantshift.errors import DataError, UserError
from quantshift.intervals import region_of

FEW = PriorShift(test_size=20, test_repeats=3, test_prevalences=[0.1, 0.5, 0.9])
OF_SAMPLES = (DiagonalDisplay, BiasDisplay, ErrorByShiftDisplay)


@pytest.fixture(scope="module")
def items():
    y = np.repeat(["ham", "spam"], 200)
    return np.random.default_rng(0).normal(1.5 * (y == "spam"))[:, np.newaxis], y


@pytest.fixture(scope="module")
def fitted(items):
    return PACC(cv=3).fit(*items)


@pytest.fixture(scope="module")
def three():
    y = np.repeat(["bad", "good", "so so"], 60)
    X = np.random.default_rng(0).normal(3.0 * np.eye(3)[np.arange(180) // 60])
    return PACC(cv=3).fit(X, y), X, y


def test_bands_are_means_and_quantiles_of_the_estimates():
    rng = np.random.default_rng(1)
    p_true, p_hat = np.repeat([0.2, 0.7], 50), rng.random(100)
    bands = DiagonalDisplay.from_predictions(p_true, p_hat).bands
    for row, part in enumerate((p_hat[:50], p_hat[50:])):
        quantiles = [bands[name][row] for name in ("q5", "q25", "q75", "q95")]
        assert_allclose(quantiles, np.quantile(part, [0.05, 0.25, 0.75, 0.95]), rtol=1e-12)
        assert_allclose(bands["mean"][row], part.mean(), rtol=1e-12)


def test_boxes_are_of_signed_errors():
    rng = np.random.default_rng(1)
    p_true, p_hat = rng.random((2, 60))
    degree = np.repeat([-0.5, 0.0, 0.5], 20)
    boxes = BiasDisplay.from_predictions(p_true, p_hat, degree=degree).boxes
    errors = (p_hat - p_true).reshape(3, 20)
    assert boxes["degree"].to_list() == [-0.5, 0.0, 0.5]
    assert_allclose(boxes["median"], np.median(errors, axis=1), rtol=1e-12)
    assert_allclose(boxes["highest"], errors.max(axis=1), rtol=1e-12)


def test_mean_errors_have_limits_of_the_mean():
    rng = np.random.default_rng(1)
    p_true, p_hat = rng.random((2, 60))
    degree = np.repeat([0.0, 1.0], 30)
    means = ErrorByShiftDisplay.from_predictions(p_true, p_hat, degree=degree, error="se").means
    both = (np.c_[1 - p_true, p_true], np.c_[1 - p_hat, p_hat])
    errors = metrics.measure("se", *both, smoothing=0.1).reshape(2, 30)
    half = 1.959964 * errors.std(axis=1, ddof=1) / np.sqrt(30)
    assert_allclose(means["mean"], errors.mean(axis=1), rtol=1e-12)
    assert_allclose(means["high"] - means["mean"], half, rtol=1e-6)


@pytest.mark.parametrize("display", OF_SAMPLES)
def test_a_protocol_s_samples_are_those_of_evaluate(display, fitted, items):
    frame = evaluate(fitted, FEW, *items)
    given = {} if display is DiagonalDisplay else {"degree": frame["degree"]}
    same = display.from_predictions(frame["p_true"], frame["p_hat"], **given)
    shown = display.from_protocol(fitted, FEW, *items)
    (numbers,) = {"bands", "boxes", "means"} & vars(shown).keys()
    assert getattr(shown, numbers).equals(getattr(same, numbers))


@pytest.mark.parametrize("display", OF_SAMPLES)
def test_several_are_drawn_on_given_axes(display, fitted, items):
    first = display.from_estimator(fitted, *items)
    n_drawn = len(first.ax_.get_children())
    second = display.from_estimator(CC().fit(*items), *items, ax=first.ax_)
    assert second.figure_ is first.figure_
    assert len(first.ax_.get_children()) > n_drawn
    assert first._repr_png_()[:4] == b"\x89PNG"


def test_classes_are_chosen_by_label(three):
    fitted, X, y = three
    one, other = (
        BiasDisplay.from_estimator(fitted, X, y, label=label) for label in ("bad", "so so")
    )
    assert not one.boxes.equals(other.boxes)
    assert BiasDisplay.from_estimator(fitted, X, y).boxes.equals(other.boxes)
    with pytest.raises(UserError, match="label='ugly' is not one of the classes"):
        BiasDisplay.from_estimator(fitted, X, y, label="ugly")


def test_intervals_of_a_protocol_count_those_that_contain_the_truth(fitted, items):
    display = IntervalDisplay.from_protocol(fitted, FEW, *items, n_bootstrap=50)
    interval, truth = display.interval, np.asarray(display.p_true)[:, 1]
    within = (interval.low[:, 1] <= truth) & (truth <= interval.high[:, 1])
    assert display.ax_.get_title() == (
        f"PACC: {within.sum()} of {len(within)} intervals contain the true share"
    )


def test_limits_of_a_sample_are_drawn_class_by_class(three):
    fitted, X, _ = three
    display = IntervalDisplay.from_estimator(fitted, X[30:90], n_bootstrap=50)
    (bars, *_) = display.ax_.collections
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    assert_allclose(ends, np.c_[display.interval.low, display.interval.high])
    with pytest.raises(DataError, match=r"p_true of shape \(2,\) does not fit"):
        IntervalDisplay.from_predictions(display.interval, [0.5, 0.5])


def test_the_drawn_region_has_the_area_of_the_region(three):
    """Its share of the triangle, on the grid that is drawn, is that of uniform points."""
    from quantshift.lab.displays.region import _grid

    fitted, X, _ = three
    display = RegionDisplay.from_estimator(fitted, X[30:90], n_bootstrap=200)
    (region,) = display.regions
    drawn = region.contains(_grid(3)).mean()
    assert drawn == pytest.approx(region.simplex_share(), abs=0.01)


def test_regions_of_two_classes_are_lines_and_of_four_are_refused(fitted, items):
    X, y = items
    display = RegionDisplay.from_protocol(fitted, FEW, X, y, n_bootstrap=50)
    assert len(display.ax_.collections) == len(display.regions) == 9
    codes = np.arange(200) % 4
    four = PACC(cv=2).fit(3.0 * np.eye(4)[codes], codes)
    with pytest.raises(UserError, match="a region of 4 classes cannot be drawn"):
        RegionDisplay.from_estimator(four, np.eye(4)[codes], n_bootstrap=20)


def test_a_region_between_two_points_of_the_grid_is_drawn(fitted, items):
    """The limits of nothing were an error of NumPy."""
    interval = fitted.predict_interval(items[0], n_bootstrap=50)
    share = 1 / 3 + 1e-6 * np.random.default_rng(0).normal(size=50)
    narrow = replace(
        interval,
        prevalence=np.array([2 / 3, 1 / 3]),
        replicates=np.stack([1 - share, share], axis=1),
        bias=np.zeros(2),
    )
    (line,) = RegionDisplay.from_predictions(region_of(narrow)).ax_.collections
    assert_allclose(line.get_segments()[0][:, 0], 1 / 3, atol=1e-5)


def test_what_does_not_fit_is_one_line():
    with pytest.raises(DataError, match="does not fit p_hat"):
        DiagonalDisplay.from_predictions([0.1, 0.2], [0.1])
    with pytest.raises(UserError, match="interval of IntervalDisplay must be what predict_inter"):
        IntervalDisplay.from_predictions(0.5)
    for nothing in (0.5, []):
        with pytest.raises(UserError, match="regions of RegionDisplay must be what predict_region"):
            RegionDisplay.from_predictions(nothing)
    with pytest.raises(DataError, match="degrees do not fit 2 samples"):
        BiasDisplay.from_predictions([0.1, 0.2], [0.1, 0.2], degree=[0.0])
    with pytest.raises(UserError, match="takes a quantifier"):
        DiagonalDisplay.from_estimator("PACC", [[0.0]], ["a"])
