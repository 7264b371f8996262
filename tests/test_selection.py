import numpy as np
from numpy.testing import assert_allclose

from quantshift import CC, MLPE, PACC
from quantshift.selection import draw_validation, validation_errors

CODES = np.repeat([0, 1], [70, 30])


def samples(**changes):
    options = {"n_prevalences": 11, "repeats": 10, "size": 50, "seed": 0}
    return draw_validation(CODES, **{**options, **changes})


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
    errors = validation_errors(PACC(), known, CODES, new, drawn)
    for setting in (0, 1):
        fitted = PACC().fit_posteriors(known[setting], CODES, classes=[0, 1])
        p_hat = [fitted.aggregate(new[setting][row])[1] for row in drawn.index]
        assert_allclose(errors[setting], np.abs(p_hat - drawn.p_true[:, 1]).mean())
    assert errors[0] < errors[1]
    squared = validation_errors(CC(), known, CODES, new, drawn, measure="se")
    assert squared.shape == (2,)
    assert (squared < validation_errors(CC(), known, CODES, new, drawn)).all()


def test_the_quantifier_given_stays_unfitted():
    quantifier = MLPE()
    posteriors = np.full((1, 100, 2), 0.5)
    errors = validation_errors(quantifier, posteriors, CODES, posteriors, samples())
    assert_allclose(errors, np.abs(np.arange(11) / 10 - 0.3).mean())
    assert not hasattr(quantifier, "prior_")
