"""What methods declare, and what is refused rather than ignored."""

from dataclasses import replace

import pytest

from quantshift import ACC, CC, MLPE, PACC, DyS
from quantshift.errors import UserError
from quantshift.quantifiers import PQ, AbstractAggregative, Median, OrdinalACC, Reading, Tags
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.tags import tags_for_reading


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"sees": {"posterior"}}, "unknown part of items 'posterior'; did you mean 'posteriors'?"),
        ({"sees": "features"}, '`sees` is a set of names: write frozenset({"features"})'),
        ({"reads": "jont"}, "unknown reading of posteriors 'jont'; did you mean 'joint'?"),
    ],
)
def test_what_is_misspelt_is_refused(declared, message):
    with pytest.raises(UserError) as caught:
        Tags(**declared)
    assert str(caught.value) == message


def test_any_set_and_plain_text_will_do():
    tags = Tags(sees={"features"}, reads="one against rest")
    assert tags.sees == frozenset({"features"})
    assert tags.reads is Reading.ONE_AGAINST_REST


def test_a_tag_outside_of_the_tags_is_refused():
    with pytest.raises(UserError, match=r"Mine.adjusts would be ignored: write it as tags = Tags"):
        type("Mine", (PACC,), {"adjusts": False})


def test_a_subclass_inherits_tags_or_replaces_some():
    assert type("Mine", (ACC,), {}).tags is ACC.tags
    mine = type("Mine", (ACC,), {"tags": replace(ACC.tags, ordered=True)})
    assert (mine.tags.ordered, mine.tags.crisp, ACC.tags.ordered) == (True, True, False)


def test_hard_predictions_are_a_way_of_reading():
    crisp = {name for name, cls in catalogue.quantifiers().items() if cls.tags.crisp}
    assert crisp == {"ACC", "BBSEHard", "BayesianCC", "CC", "OrdinalACC"}
    assert not OrdinalACC.tags.has_borders  # cells never mix predictions
    assert DyS.tags.has_borders
    assert not MLPE.tags.has_borders
    assert Tags().has_borders  # unless a method says otherwise


def test_every_method_on_posteriors_says_what_it_reads():
    for name, cls in catalogue.quantifiers().items():
        if cls.tags.sees == {"posteriors"}:
            assert cls.tags.reads is not None, name
            assert tags_for_reading(cls) is cls.tags, name
    assert Median.tags.reads == Reading.MEMBERS
    assert PQ.tags.reads == Reading.PREDICTED


def test_tags_of_a_base_do_not_speak_for_functions_of_a_subclass():
    def replaced(self, *arguments):
        """Something else."""

    for name in ("_represent", "_solve"):
        undeclared = tags_for_reading(type("Mine", (PACC,), {name: replaced}))
        assert undeclared == replace(PACC.tags, reads=None, smooth=False)
        declared = type("Mine", (PACC,), {name: replaced, "tags": PACC.tags})
        assert tags_for_reading(declared) is PACC.tags
        # Neither does a subclass of it that adds nothing.
        assert tags_for_reading(type("Other", (declared,), {})) is PACC.tags
    assert tags_for_reading(type("Mine", (CC,), {"more": replaced})) is CC.tags
    # A function that the base only declares is not replaced.
    own = type("Mine", (AbstractAggregative,), {"_solve": replaced, "_represent": replaced})
    assert tags_for_reading(own) is AbstractAggregative.tags


def test_plain_words_are_shown_where_there_are_any():
    assert Tags(assumption="P(Y|X)", plain_assumption="alike").in_words == "alike"
    assert Tags(assumption="P(Y|X)").in_words == "P(Y|X)"
    assert Tags().in_words == "not stated"
