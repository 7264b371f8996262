"""How far the evidence lets a classifier be corrected."""

import numpy as np
import pytest
from scipy.special import expit

from quantshift.claims import Reason, decide
from quantshift.measuring import Adaptation, Correction
from quantshift.measuring.adapting.adaptation import (
    AS_TRAINED,
    NO_LONGER,
    PARTIAL,
    SELECTION,
    SENTENCES,
    STRONG,
    label_shift_weight,
    strength_of,
)
from tests.claims.made import BY_COVARIATE, FACTS, GROUNDS


@pytest.mark.parametrize(
    ("reason", "strength"),
    [
        (Reason.DECLARED, 1.0),
        (Reason.EVIDENCE, STRONG),
        (Reason.AGREEMENT, 0.0),
        (Reason.REFUTED, 0.0),
        (Reason.UNINFORMATIVE, 0.0),
        (Reason.NO_EVIDENCE, 0.0),
    ],
)
def test_the_reason_decides_the_strength(reason, strength):
    assert strength_of(GROUNDS[reason]) == strength
    assert SENTENCES[reason]


def test_a_declared_change_of_the_mix_corrects_nothing():
    assert strength_of(decide(BY_COVARIATE)) == 0.0
    assert label_shift_weight(decide(BY_COVARIATE)) == 0.0


def test_weak_evidence_adapts_the_less_the_weaker_it_is():
    p_values = [0.004, 0.005, 0.01, 0.03, NO_LONGER, 0.5]
    found = [strength_of(GROUNDS[Reason.NO_EVIDENCE], p) for p in p_values]
    assert found[0] == found[1] == PARTIAL
    assert found[1] > found[2] > found[3] > found[4] == found[5] == 0.0


def test_the_weight_of_label_shift_follows_the_evidence():
    weights = {reason: label_shift_weight(grounds) for reason, grounds in GROUNDS.items()}
    assert weights[Reason.DECLARED] == weights[Reason.EVIDENCE] == 1
    assert weights[Reason.REFUTED] == 0
    assert weights[Reason.NO_EVIDENCE] == pytest.approx(expit(-SELECTION))


@pytest.mark.parametrize("reason", [Reason.AGREEMENT, Reason.NO_EVIDENCE])
def test_without_evidence_the_weight_is_the_probability_of_label_shift(reason):
    # Bayes' rule for two hypotheses, the second e^SELECTION times as likely before.
    before = np.array([1.0, np.exp(SELECTION)])
    likelihood = np.array([0.3, 0.1])
    after = before * likelihood / (before * likelihood).sum()
    assert label_shift_weight(GROUNDS[reason], np.log(0.3) - np.log(0.1)) == pytest.approx(after[0])
    assert label_shift_weight(GROUNDS[reason], SELECTION) == 0.5
    assert label_shift_weight(GROUNDS[reason], -1000.0) == 0.0


def test_an_adaptation_says_what_was_done():
    correction = Correction(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
    refuted = Adaptation(np.array(["no", "yes"]), correction, FACTS[Reason.REFUTED])
    assert "as trained: more than the shares" in repr(refuted)
    assert "yes 75.0%" in repr(refuted)


def test_a_declared_change_of_the_mix_is_what_the_sentence_says():
    correction = Correction(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
    declared = Adaptation(np.array(["no", "yes"]), correction, BY_COVARIATE)
    assert declared.sentence == AS_TRAINED
    assert AS_TRAINED not in SENTENCES.values()
