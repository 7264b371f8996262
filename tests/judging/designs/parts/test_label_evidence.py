"""Numbers of verdicts and labels that point to a design."""

import numpy as np
import pytest
from scipy import stats

from quantshift.judging.designs.parts.label_evidence import (
    LabelEvidence,
    _pattern_effect,
    _pattern_p_value,
    are_round,
    even,
)
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


@pytest.mark.parametrize(("n_clusters", "within"), [(2, 1), (5, 4)])
def test_labels_in_few_clusters_have_the_tail_of_f(n_clusters, within):
    """The degrees of freedom of the clusters are their number less one."""
    verdicts = np.repeat([0, 1, 0, 1], [15, 25, 60, 60])
    labels = np.where(np.arange(160) < 40, verdicts, -1)
    clusters = np.arange(160) % n_clusters
    statistic = stats.chi2_contingency([[15, 25], [60, 60]], correction=False).statistic
    effect = _pattern_effect(np.eye(2)[verdicts[:40]], np.bincount(verdicts), clusters[:40])
    found = _pattern_p_value(coded(verdicts, labels, clusters=clusters), verdicts)
    assert found == pytest.approx(stats.f.sf(statistic / effect, 1, within))
