"""How far the evidence lets a classifier be corrected."""

import numpy as np
import pytest
from scipy.special import expit

from quantshift.adapting import Adaptation, Correction
from quantshift.adapting.adaptation import (
    NO_LONGER,
    PARTIAL,
    SELECTION,
    SENTENCES,
    STRONG,
    label_shift_weight,
    strength_of,
)
from quantshift.quantifiers.base import guarding


@pytest.mark.parametrize(
    ("reason", "strength"),
    [
        (guarding.DECLARED, 1.0),
        (guarding.EVIDENCE, STRONG),
        (guarding.AGREEMENT, 0.0),
        (guarding.REFUTED, 0.0),
        (guarding.NEITHER, 0.0),
        (guarding.COVARIATE, 0.0),
        (guarding.NO_EVIDENCE, 0.0),
    ],
)
def test_the_reason_decides_the_strength(reason, strength):
    assert strength_of(reason) == strength
    assert SENTENCES[reason]


def test_weak_evidence_adapts_the_less_the_weaker_it_is():
    p_values = [0.004, 0.005, 0.01, 0.03, NO_LONGER, 0.5]
    found = [strength_of(guarding.NO_EVIDENCE, p) for p in p_values]
    assert found[0] == found[1] == PARTIAL
    assert found[1] > found[2] > found[3] > found[4] == found[5] == 0.0


def test_the_weight_of_label_shift_follows_the_evidence():
    assert label_shift_weight(guarding.DECLARED) == label_shift_weight(guarding.EVIDENCE) == 1
    assert label_shift_weight(guarding.REFUTED) == label_shift_weight(guarding.COVARIATE) == 0
    assert label_shift_weight(guarding.NO_EVIDENCE) == pytest.approx(expit(-SELECTION))


@pytest.mark.parametrize("reason", [guarding.AGREEMENT, guarding.NO_EVIDENCE])
def test_without_evidence_the_weight_is_the_probability_of_label_shift(reason):
    # Bayes' rule for two hypotheses, the second e^SELECTION times as likely before.
    before = np.array([1.0, np.exp(SELECTION)])
    likelihood = np.array([0.3, 0.1])
    after = before * likelihood / (before * likelihood).sum()
    assert label_shift_weight(reason, np.log(0.3) - np.log(0.1)) == pytest.approx(after[0])
    assert label_shift_weight(reason, SELECTION) == 0.5
    assert label_shift_weight(reason, -1000.0) == 0.0


def test_an_adaptation_says_what_was_done():
    correction = Correction(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
    refuted = Adaptation(np.array(["no", "yes"]), correction, guarding.REFUTED)
    assert "as trained: more than the shares" in repr(refuted)
    assert "yes 75.0%" in repr(refuted)
