"""Verdicts, scores and labels as arrays: checked, subset, and what is strange about them."""

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.judging.items.judged_items import ExternalLabels, KnownDraw, _mean_one
from tests.judging.made import coded


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": np.full(1999, 1)}, "1999 labels"),
        ({"labels": np.full(2000, 2)}, "from 0 to 1"),
        ({"verdicts": np.full(2000, -1)}, "codes"),
        ({"verdicts": np.full(2000, 0.5)}, "codes"),
        ({"verdicts": None}, "verdicts of a judge or a score"),
        ({"score": np.full(2000, np.nan)}, "2000 scores"),
        ({"n_classes": 1}, "two classes"),
        ({"external": ExternalLabels([0, 1, 1], [0, 1])}, "elsewhere"),
        ({"external": ExternalLabels([0, 1], [[0, 1], [1, 1]])}, "the same judges"),
        ({"external": ExternalLabels([0, 2], [0, 1])}, "from 0 to 1"),
        ({"says": [[0, 1], [0, 1]]}, "verdicts of 1 judges, and meanings of those of 2"),
    ],
)
def test_bad_input_is_one_clear_line(judging, change, said):
    given = {"verdicts": judging.verdicts, "labels": judging.random(50), "n_classes": 2} | change
    with pytest.raises(UserError, match=said) as error:
        coded(**given)
    assert "\n" not in str(error.value)


def test_some_of_the_items_keep_what_belongs_to_them(judging):
    inclusion = np.linspace(0.1, 1, 2000)
    items = coded(
        judging.verdicts,
        judging.random(300),
        score=judging.score,
        drawn=KnownDraw(inclusion),
        external=ExternalLabels(judging.y[:50], score=judging.score[:50]),
    )
    chosen = np.arange(2000) % 4 == 0
    part = items.take(chosen)
    assert len(part) == 500
    assert part.labels.tolist() == items.labels[chosen].tolist()
    assert part.score.tolist() == items.score[chosen].tolist()
    assert part.drawn.inclusion.tolist() == inclusion[chosen].tolist()
    assert part.n_labelled == items.n_labelled == 50
    assert part.without_external().n_labelled == (items.labels[chosen] >= 0).sum()
    assert not part.without_labels().is_labelled.any()


def test_items_unlike_all_labelled_ones(judging):
    v = np.where(np.arange(2000) < 40, 2, judging.verdicts)
    labels = np.where(np.arange(2000) < 40, -1, judging.random(200))
    items = coded(v, labels, says=[[0, 1, -1]])
    assert items.verdicts_without_labels().tolist() == (v == 2).tolist()
    score = np.where(np.arange(2000) < 40, 9.0, np.linspace(0, 1, 2000))
    top = coded(None, np.where(score < 0.4, judging.y, -1), score=score)
    unlike = top.scores_without_labels()
    assert unlike[:40].all()
    assert not unlike[score < 0.4].any()


def test_weights_have_the_mean_one_unless_all_are_nothing():
    assert _mean_one(np.array([1.0, 2.0, 6.0])).tolist() == [1 / 3, 2 / 3, 2.0]
    assert _mean_one(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
