"""What people are told, to the letter."""

import dataclasses

import pytest

from quantshift import EoQ
from quantshift.answers.shares import Share
from quantshift.quantifiers.base import catalogue
from quantshift.quantifying.output import advice, verdicts
from quantshift.quantifying.output.result import Audited, Looked, Shift
from tests.quantifying.made import ASSUMPTIONS, SHARES, SHIFTED


def verdict(shift, assumptions=ASSUMPTIONS, lead="pos", *, name="pos", topics=True, used=None):
    return verdicts.verdict(
        shift, assumptions, lead, name=name, untrained=False, topics=topics, used=used
    )


def test_the_verdict_names_the_change_and_the_estimates():
    prior, covariate, local = ASSUMPTIONS
    told = verdict(
        SHIFTED,
        (
            dataclasses.replace(prior, refuted=True),
            dataclasses.replace(covariate, for_comparison=True),
            local,
        ),
        used=0.44,
    )
    assert told == (
        "The mix of topics has changed (p = 0.002). Share of 'pos' if only the shares of the "
        "classes changed 41.0% (ruled out); if only the mix of items changed 36.0% (for "
        "comparison); if topics changed within a class 44.0% (used)."
    )
    assert "perhaps none of the assumptions holds for this batch" in verdict(SHIFTED)
    calm = verdict(Shift(False, "prior", 0.43))
    assert calm.startswith("Only the shares of the classes seem to have changed (p = 0.43). Share")
    untold = verdict(None)
    assert untold.startswith("Not tested for changes beyond the shares of the classes. Share of")


def test_the_estimate_that_counts_is_marked_or_said():
    assert verdict(None, used=0.41).count("(used)") == 1
    assert verdict(None, used=0.42).endswith("; used: 42.0%, their mean weighted by the evidence.")
    same = [ASSUMPTIONS[0], dataclasses.replace(ASSUMPTIONS[0], name="local shift")]
    assert verdict(None, same, used=0.41).endswith("; used: 41.0%.")


def test_a_p_value_near_the_level_is_said_with_care():
    near = Shift(True, "outside", 0.042, p_floor=0.002)
    assert verdict(near).startswith(
        "Perhaps the items are unlike the training items (p = 0.042; one sample in twenty looks "
        "like this by chance)."
    )
    options = {"assumption": "A", "guarded": True, "untrained": False, "topics": False}
    said = verdicts.carried(near, None, **options)
    assert said.startswith("the items are perhaps unlike the training items: the interval covers")
    assert "perhaps" not in verdicts.carried(
        dataclasses.replace(near, p_value=0.002), None, **options
    )


def test_one_of_many_batches_may_be_chance():
    chance = Shift(True, "outside", 0.042, p_floor=0.002, p_adjusted=0.17, n_tested=4)
    assert not chance.stands_out
    assert "among 4 batches one such result may well be chance (adjusted" in verdict(chance)
    told = {"untrained": False, "n_items": 500, "level": 0.95}
    (said,) = advice.advice(SHARES, ASSUMPTIONS, chance, None, **told)
    assert said.startswith("No action needed.")
    assert dataclasses.replace(chance, p_adjusted=0.04).stands_out
    # The true size of a p-value at the floor is unknown.
    assert dataclasses.replace(chance, p_value=0.002, p_adjusted=0.2).stands_out


def test_assumptions_are_said_without_formulas():
    for cls in catalogue.quantifiers().values():
        assert "P(" not in cls.tags.in_words
        assert "^" not in cls.tags.in_words
    assert EoQ.tags.in_words == "that of its members"


def test_advice_follows_the_findings():
    def advised(shares=SHARES, assumptions=ASSUMPTIONS, shift=None, audit=None):
        told = {"untrained": False, "n_items": 500, "level": 0.95}
        return " ".join(advice.advice(shares, assumptions, shift, audit, **told))

    assert "because more has changed than the shares of the classes" in advised(shift=SHIFTED)
    assert advised(shift=Shift(False, "prior", 0.5)).startswith("No action needed.")
    assert "far apart" in advised()
    assert "narrower" in advised((Share("pos", 0.5, 0.2, 0.8),), ASSUMPTIONS[:1])
    agreed = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    assert advised(audit=agreed).startswith("The audit agrees")
    assert "contradicts" in advised(audit=dataclasses.replace(agreed, contradicts=True))


def test_the_advice_tells_what_a_few_labels_give():
    # 1.96 sqrt(.25 / 50): the share may be anything between .2 and .8.
    wide = (Share("pos", 0.3, 0.2, 0.8),)
    told = {"untrained": False, "level": 0.95}
    (said,) = advice.advice(wide, ASSUMPTIONS, SHIFTED, None, n_items=500, **told)
    assert "50 random labels narrow this to about plus or minus 14 points" in said
    rare = (Share("pos", 0.02, 0.0, 0.1),)
    (said,) = advice.advice(rare, ASSUMPTIONS, SHIFTED, None, n_items=500, **told)
    assert "about plus or minus 8 points" in said  # 1.96 sqrt(.1 * .9 / 50)
    (said,) = advice.advice(wide, ASSUMPTIONS, SHIFTED, None, n_items=40, **told)
    assert "labels of all 40 items give the share itself" in said


def test_an_audit_with_many_looks_says_when_to_stop():
    looked = Looked(precision=0.05, half_width=0.08, reached=False, n_needed=210)
    audit = Audited(100, 0.8, SHARES, SHARES, contradicts=False, looked=looked)
    told = {"untrained": False, "n_items": 500, "level": 0.95}
    more, _ = advice.advice(SHARES, ASSUMPTIONS, None, audit, **told)
    assert "plus or minus 8.0 points. For 5.0 label about 110 more" in more
    done = dataclasses.replace(looked, half_width=0.049, reached=True, n_needed=100)
    stop, _ = advice.advice(
        SHARES, ASSUMPTIONS, None, dataclasses.replace(audit, looked=done), **told
    )
    assert stop.startswith("You can stop: the interval is plus or minus 4.9 points")


def test_limits_are_called_what_they_are():
    unexplained = dataclasses.replace(SHIFTED, kind="unexplained")
    audit = Audited(100, 0.8, SHARES, SHARES, contradicts=False)
    assert advice.limits_are(SHIFTED, None) == "confidence interval"
    assert advice.limits_are(unexplained, None) == "range of what the assumptions allow"
    assert advice.limits_are(unexplained, audit) == "confidence interval"
    looked = dataclasses.replace(audit, looked=Looked(0.05, 0.08, False, 210))
    assert advice.limits_are(None, looked).endswith("holds at every look")


def test_classes_that_are_not_told_apart_are_named():
    told = advice.batch_warnings(
        n_items=500, n_labelled=0, asked=False, audited=False, confused=["neg", "pos"]
    )
    assert list(told) == [
        "in cross-validation the classifier cannot tell 'neg' and 'pos' apart better than "
        "chance: the "
        "items say nothing about their shares"
    ]


def test_what_is_refuted_is_called_so():
    refuted = [dataclasses.replace(ASSUMPTIONS[0], refuted=True), *ASSUMPTIONS[1:]]
    told = verdict(SHIFTED, refuted)
    assert "classes changed 41.0% (ruled out); if only the mix of items changed 36.0%; if" in told


def test_without_texts_there_are_subgroups_instead_of_topics():
    def said(kind, topics):
        shift = dataclasses.replace(SHIFTED, kind=kind)
        return verdict(shift, topics=topics)

    assert said("covariate", True).startswith("The mix of topics has changed")
    assert said("covariate", False).startswith("The mix of subgroups has changed")
    assert said("local", False).startswith("The mix of subgroups within a class has changed")


@pytest.mark.parametrize(
    ("p_value", "said"), [(0.002, "p <= 0.002"), (0.004, "p = 0.004"), (0.31, "p = 0.31")]
)
def test_a_p_value_at_the_floor_is_at_most_that(p_value, said):
    assert verdicts.p_text(Shift(True, "prior", p_value, p_floor=0.002)) == said


def test_the_verdict_speaks_of_the_headline_as_it_is_shown():
    told = verdict(None, lead="neg", name="mood = neg")
    assert "Share of 'mood = neg' if only the shares of the classes changed 59.0%" in told


def test_advice_where_nothing_can_be_estimated():
    nothing = (Share("neg", None, 0.0, 1.0), Share("pos", None, 0.0, 1.0))
    (told,) = advice.advice(
        nothing, (), None, None, untrained=False, can_be_estimated=False, n_items=500, level=0.95
    )
    assert told.startswith("Add columns that say something about the label, or label some")
