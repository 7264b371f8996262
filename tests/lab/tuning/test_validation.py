import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift import CC, MLPE, PACC
from quantshift.errors import UserError
from quantshift.items import Items
from quantshift.lab.tuning.validation import draw_validation, validation_errors

CODES = np.repeat([0, 1], [70, 30])


def samples(**changes):
    options = {"n_prevalences": 11, "repeats": 10, "size": 50, "seed": 0}
    return draw_validation(CODES, **{**options, **changes})


def shown(posteriors):
    """The items as each setting of a classifier shows them."""
    return [Items(posteriors=of_setting) for of_setting in posteriors]


def test_the_grid_of_prevalences_times_repeats():
    drawn = samples()
    assert drawn.index.shape == (110, 50)
    assert_allclose(drawn.p_true[:, 1], CODES[drawn.index].mean(axis=1))
    assert_allclose(np.unique(drawn.p_true[:, 1]), np.arange(11) / 10)
    assert drawn.smoothing == 1 / 100


def test_replacement_only_where_a_class_is_too_small():
    drawn = samples()
    for row, p in zip(drawn.index, drawn.p_true[:, 1], strict=True):
        for code, available in ((0, 70), (1, 30)):
            chosen = row[CODES[row] == code]
            if len(chosen) <= available:
                assert len(set(chosen.tolist())) == len(chosen)
            else:
                assert p > 0.6
                assert len(set(chosen.tolist())) < len(chosen)


def test_a_class_without_items_is_named():
    """It was numpy's `a cannot be empty unless no samples are taken`."""
    options = {"n_prevalences": 3, "repeats": 1, "size": 5, "seed": 0}
    with pytest.raises(UserError, match="class 1 has no item for validation: draw larger training"):
        draw_validation(np.zeros(20, dtype=int), **options)


def test_draws_depend_on_the_seed_and_on_nothing_before_them():
    assert (samples().index == samples().index).all()
    assert (samples().index != samples(seed=1).index).any()
    few = samples(repeats=3).index.reshape(11, 3, 50)
    assert (few == samples().index.reshape(11, 10, 50)[:, :3]).all()


def test_errors_are_those_of_the_quantifier_under_each_setting():
    rng = np.random.default_rng(0)
    drawn = samples(repeats=2)

    def posteriors(noise):
        positive = np.clip(0.5 + 0.4 * (2 * CODES - 1) + noise * rng.normal(size=100), 0, 1)
        return np.stack([1 - positive, positive], axis=1)

    known = np.stack([posteriors(0.05), posteriors(0.8)])
    new = np.stack([posteriors(0.05), posteriors(0.8)])
    errors = validation_errors(PACC(), shown(known), CODES, shown(new), drawn)
    for setting in (0, 1):
        fitted = PACC().fit_posteriors(known[setting], CODES, classes=[0, 1])
        p_hat = [fitted.aggregate(new[setting][row])[1] for row in drawn.index]
        assert_allclose(errors[setting], np.abs(p_hat - drawn.p_true[:, 1]).mean())
    assert errors[0] < errors[1]
    squared = validation_errors(CC(), shown(known), CODES, shown(new), drawn, measure="se")
    assert squared.shape == (2,)
    assert (squared < validation_errors(CC(), shown(known), CODES, shown(new), drawn)).all()


def test_the_quantifier_given_stays_unfitted():
    quantifier = MLPE()
    items = shown(np.full((1, 100, 2), 0.5))
    errors = validation_errors(quantifier, items, CODES, items, samples())
    assert_allclose(errors, np.abs(np.arange(11) / 10 - 0.3).mean())
    assert not hasattr(quantifier, "prior_")


def test_three_classes_get_prevalences_from_all_over_the_simplex():
    codes = np.repeat([0, 1, 2], [60, 30, 30])
    drawn = draw_validation(codes, n_prevalences=11, repeats=10, size=50, seed=0, n_classes=3)
    assert drawn.index.shape == (110, 50)
    shares = np.stack([(codes[drawn.index] == code).mean(axis=1) for code in range(3)], axis=1)
    assert_allclose(drawn.p_true, shares)
    # Uniform on the simplex: each share has the mean 1/3 and the variance 1/18.
    assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.08)
    assert_allclose(shares.var(axis=0), 1 / 18, atol=0.02)
    again = draw_validation(codes, n_prevalences=11, repeats=10, size=50, seed=0, n_classes=3)
    assert (again.index == drawn.index).all()


def test_given_prevalences_are_those_of_the_samples():
    codes = np.repeat([0, 1, 2], [60, 30, 30])
    points = np.array([[0.5, 0.5, 0.0], [0.0, 0.2, 0.8]])
    drawn = draw_validation(
        codes, n_prevalences=11, repeats=10, size=50, seed=0, n_classes=3, points=points
    )
    assert_allclose(drawn.p_true, points)
    shares = np.stack([(codes[drawn.index] == code).mean(axis=1) for code in range(3)], axis=1)
    assert_allclose(shares, points)
