"""Numbers of verdicts and labels that point to a design."""

import numpy as np

from quantshift.judging.designs.parts.label_evidence import LabelEvidence, are_round, even
from tests.judging.made import coded


def test_three_classes_as_even_as_they_can_be():
    assert even(np.array([17, 17, 16]))
    assert not even(np.array([18, 16, 16]))
    assert not even(np.array([50]))


def test_numbers_that_somebody_may_have_chosen():
    assert are_round(np.array([30, 45]))
    assert are_round(np.array([33, 32]))
    assert not are_round(np.array([30, 44]))


def test_labels_from_elsewhere_have_no_others_to_differ_from(judging):
    from quantshift.judging.items.judged_items import ExternalLabels

    other = ExternalLabels(judging.y[:50], judging.verdicts[:50])
    found = LabelEvidence.of(coded(judging.verdicts, np.full(2000, -1), external=other))
    assert found.p_value == 1
    assert found.label_counts.tolist() == np.bincount(judging.y[:50]).tolist()
