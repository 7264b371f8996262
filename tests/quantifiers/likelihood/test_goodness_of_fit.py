"""When a model of the sample is refuted."""

import pytest

from quantshift.quantifiers.likelihood.goodness_of_fit import Fit


def test_the_explained_share_is_that_of_the_area_above_one_half():
    assert Fit("prior", auc=0.6, z=5.0, auc_before=0.9).explained == pytest.approx(0.75)
    assert Fit("prior", auc=0.45, z=-1.0, auc_before=0.7).explained == 1.0
    assert Fit("prior", auc=0.8, z=9.0, auc_before=0.7).explained == 0.0
    assert Fit("prior", auc=0.6, z=5.0, auc_before=0.5).explained == 0.0


@pytest.mark.parametrize(
    ("auc", "z", "auc_before", "refuted", "in_doubt"),
    [
        (0.55, 4.0, 0.9, True, True),  # prior shift explains nearly everything
        (0.55, 6.0, 0.9, True, False),  # ... but the rest is beyond doubt
        (0.75, 9.0, 0.8, True, False),  # ... and hardly anything
        (0.60, 4.0, 0.5, True, False),  # what the model says is what differs
        (0.60, 2.9, 0.6, False, False),  # may be chance
        (0.51, 4.0, 0.5, False, False),  # too small to matter
    ],
)
def test_prior_shift_that_explains_half_may_be_in_doubt(auc, z, auc_before, refuted, in_doubt):
    fit = Fit("prior", auc, z, auc_before)
    assert (fit.refuted, fit.in_doubt) == (refuted, in_doubt)
    fit = Fit("subclasses", auc, z, auc_before)
    assert (fit.refuted, fit.in_doubt) == (refuted, False)
