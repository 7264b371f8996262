"""What people are told, to the letter."""

import dataclasses

import numpy as np
import pytest

from quantshift.answers.shares import Share
from quantshift.claims import Alternative, Assumption, Explanation, Reason, decide
from quantshift.quantifiers import EoQ
from quantshift.quantifiers.base import catalogue
from quantshift.quantifying.estimating.unlabelled import facts_of_chosen_method
from quantshift.quantifying.findings import Advice, BatchFindings
from quantshift.quantifying.output import advice, verdicts
from quantshift.quantifying.result import Audited, SequentialProgress, Shift
from tests.claims.made import BY_COVARIATE, EVIDENT, GROUNDS
from tests.quantifying.made import ASSUMPTIONS, SHARES, SHIFTED


def about(
    shift=None,
    alternatives=ASSUMPTIONS,
    lead="pos",
    *,
    grounds=None,
    audit=None,
    name="pos",
    topics=True,
):
    return verdicts.Explained(
        grounds=grounds or decide(facts_of_chosen_method(shift)),
        shift=shift,
        alternatives=tuple(alternatives),
        audit=audit,
        lead=lead,
        name=name,
        topics=topics,
        untrained=False,
        assumption="A",
    )


def verdict(*given, used=None, **options):
    return verdicts.verdict(about(*given, **options), "", used)


def advised(shares=SHARES, *given, can_be_estimated=True, n_items=500, **options):
    return list(
        advice.advice(
            shares,
            about(*given, **options),
            can_be_estimated=can_be_estimated,
            recode=(),
            n_items=n_items,
            level=0.95,
        )
    )


UNTOLD, CONTRADICTED = GROUNDS[Reason.NO_EVIDENCE], GROUNDS[Reason.REFUTED]
UNREFUTED = Shift(False, Explanation.PRIOR, 0.43, auc=0.51, explained=0.9, p_doubles=0.002)
REFUTED = Shift(True, Explanation.UNEXPLAINED, 0.003, auc=0.62, explained=0.25, p_doubles=0.002)
TWO = (
    Alternative(Assumption.PRIOR, "SLD", {"neg": 0.59, "pos": 0.41}),
    Alternative(Assumption.COVARIATE, "PCC", {"neg": 0.64, "pos": 0.36}),
)


def test_the_verdict_says_what_the_items_show_and_what_they_cannot():
    fits = "The items fit a change of the shares of the classes alone"
    assert verdict(UNREFUTED, TWO, grounds=EVIDENT).startswith(
        f"{fits}, and the usual changes in the mix of items would look different (p = 0.002). "
        "Share of 'pos' if only the shares of the classes changed 41.0%; if only the mix of items "
        "changed 36.0%."
    )
    assert verdict(UNREFUTED, TWO, grounds=UNTOLD).startswith(
        f"{fits}, but with a changed mix of items the sample could look the same. Share"
    )
    agreed = GROUNDS[Reason.AGREEMENT]
    assert f"{fits}; if the mix of items changed instead, the share would be similar." in verdict(
        UNREFUTED, TWO, grounds=agreed
    )
    assert verdict(REFUTED, TWO, grounds=CONTRADICTED).startswith(
        "The new items differ from the training items in a way that changed shares of the classes "
        "cannot explain (p = 0.003). These shares explain 25% of the difference; allowing for "
        "that, a classifier still tells new items from training items with an AUC of 0.62 (0.5 is "
        "chance)."
    )


def test_what_an_estimate_rests_on_is_no_more_than_is_known():
    def rests_on(shift, grounds):
        return verdicts.basis(about(shift, TWO, grounds=grounds))

    assert "the items support that" in rests_on(UNREFUTED, EVIDENT)
    said = rests_on(UNREFUTED, UNTOLD)
    assert said.startswith(
        "the items cannot tell what has changed: 41.0% if only the shares of the classes, 36.0% if "
        "only the mix of items."
    )
    ending = "it is not a confidence interval. This holds only if labels still mean the same"
    assert said.endswith(ending)
    said = rests_on(REFUTED, CONTRADICTED)
    assert "cannot explain. The estimate assumes instead that items that look alike" in said
    ending = "it is not a confidence interval. This holds only if labels still mean the same"
    assert said.endswith(ending)
    declared = decide(BY_COVARIATE)
    assert rests_on(Shift(False, Explanation.ASSUMED, 1.0), declared).startswith(
        "assumes, as you declared,"
    )
    for shift, grounds in ((UNREFUTED, UNTOLD), (UNREFUTED, EVIDENT), (REFUTED, CONTRADICTED)):
        for word in ("ruled out", "fits", "proved"):
            assert word not in rests_on(shift, grounds)
            assert word not in verdict(shift, TWO, grounds=grounds)


def test_two_numbers_come_with_the_question_that_decides():
    labels, question = advised(SHARES, UNREFUTED, TWO, grounds=UNTOLD)
    assert question.code is Advice.DECLARE_COLUMNS
    assert (labels.code, labels.numbers["why"]) == (Advice.LABEL_SOME, "cannot_tell")
    (calm,) = advised(SHARES, UNREFUTED, TWO, grounds=EVIDENT)
    assert calm.code is Advice.AUDIT_WOULD_CONFIRM


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
        "classes changed 41.0% (contradicted); if only the mix of items changed 36.0% (for "
        "comparison); if topics changed within a class 44.0% (used)."
    )
    assert "perhaps none of the assumptions holds for this batch" in verdict(SHIFTED)
    calm = verdict(Shift(False, Explanation.PRIOR, 0.43))
    assert calm.startswith("Only the shares of the classes seem to have changed (p = 0.43). Share")
    untold = verdict(None)
    assert untold.startswith("Not tested for changes beyond the shares of the classes. Share of")


def test_the_estimate_that_counts_is_marked_or_said():
    assert verdict(None, used=0.41).count("(used)") == 1
    assert verdict(None, used=0.42).endswith("; used: 42.0%, their mean weighted by the evidence.")
    same = [ASSUMPTIONS[0], dataclasses.replace(ASSUMPTIONS[0], assumption=Assumption.LOCAL)]
    assert verdict(None, same, used=0.41).endswith("; used: 41.0%.")


def test_a_p_value_near_the_level_is_said_with_care():
    near = Shift(True, Explanation.OUTSIDE, 0.042, p_floor=0.002)
    assert verdict(near).startswith(
        "Perhaps the items are unlike the training items (p = 0.042; one sample in twenty looks "
        "like this by chance)."
    )
    said = verdicts.basis(about(near, topics=False))
    assert said.startswith("the items are perhaps unlike the training items: the range covers")
    assert "perhaps" not in verdicts.basis(about(dataclasses.replace(near, p_value=0.002)))


def test_one_of_many_batches_may_be_chance():
    chance = Shift(True, Explanation.OUTSIDE, 0.042, p_floor=0.002, p_adjusted=0.17, n_tested=4)
    assert not chance.is_significant
    assert "among 4 batches one such result may well be chance (adjusted" in verdict(chance)
    (said,) = advised(SHARES, chance)
    assert said.code is Advice.AUDIT_WOULD_CONFIRM
    assert dataclasses.replace(chance, p_adjusted=0.04).is_significant
    # The true size of a p-value at the floor is unknown.
    assert dataclasses.replace(chance, p_value=0.002, p_adjusted=0.2).is_significant


def test_assumptions_are_said_without_formulas():
    for cls in catalogue.quantifiers().values():
        assert "P(" not in cls.tags.in_words
        assert "^" not in cls.tags.in_words
    assert EoQ.tags.in_words == "that of its members"


def test_advice_follows_the_findings():
    def said(*given, **options):
        (found,) = advised(*given, **options)
        return found.code, found.numbers.get("why")

    assert said(SHARES, SHIFTED) == (Advice.LABEL_SOME, "refuted")
    unshifted = Shift(False, Explanation.PRIOR, 0.5)
    assert said(SHARES, unshifted) == (Advice.AUDIT_WOULD_CONFIRM, None)
    assert said() == (Advice.LABEL_SOME, "apart")
    wide = (Share("pos", 0.5, 0.2, 0.8),)
    assert said(wide, None, ASSUMPTIONS[:1]) == (Advice.NARROWER, None)
    agreed = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    assert said(audit=agreed) == (Advice.AUDIT_AGREES, None)
    contradicted = dataclasses.replace(agreed, contradicts=True)
    assert said(audit=contradicted) == (Advice.AUDIT_CONTRADICTS, None)


def test_the_advice_tells_what_a_few_labels_give():
    # 1.96 sqrt(.25 / 50): the share may be anything between .2 and .8.
    wide = (Share("pos", 0.3, 0.2, 0.8),)
    (said,) = advised(wide, SHIFTED)
    assert (said.numbers["which_labels"], said.numbers["n_labels"]) == ("some", 50)
    assert said.numbers["half_width"] == pytest.approx(1.96 * np.sqrt(0.25 / 50), abs=1e-4)
    rare = (Share("pos", 0.02, 0.0, 0.1),)
    (said,) = advised(rare, SHIFTED)
    assert said.numbers["half_width"] == pytest.approx(1.96 * np.sqrt(0.09 / 50), abs=1e-4)
    (said,) = advised(wide, SHIFTED, n_items=40)
    assert (said.numbers["which_labels"], said.numbers["n_labels"]) == ("all", 40)
    (said,) = advised(wide, SHIFTED, n_items=1)
    assert said.numbers["which_labels"] == "only"


def test_an_audit_with_many_looks_says_when_to_stop():
    progress = SequentialProgress(precision=0.05, half_width=0.08, reached=False, n_needed=210)
    audit = Audited(100, 0.8, SHARES, SHARES, contradicts=False, progress=progress)
    more, _ = advised(audit=audit)
    reach = {"half_width": 0.08, "precision": 0.05}
    assert more == Advice.AUDIT_GOES_ON.found(n_more=110).with_numbers(**reach)
    done = dataclasses.replace(progress, half_width=0.049, reached=True, n_needed=100)
    stop, _ = advised(audit=dataclasses.replace(audit, progress=done))
    assert (stop.code, stop.numbers["half_width"]) == (Advice.AUDIT_CAN_STOP, 0.049)


def test_classes_that_are_not_told_apart_are_named():
    told = advice.batch_findings(
        n_items=500, n_labelled=0, audit_given=False, audited=False, confused=["neg", "pos"]
    )
    assert list(told) == [BatchFindings.CONFUSED_CLASSES.found(classes=("neg", "pos"))]


def test_what_is_refuted_is_called_so():
    refuted = [dataclasses.replace(ASSUMPTIONS[0], refuted=True), *ASSUMPTIONS[1:]]
    told = verdict(SHIFTED, refuted)
    assert (
        "classes changed 41.0% (contradicted); if only the mix of items changed 36.0%; if" in told
    )


def test_without_texts_there_are_subgroups_instead_of_topics():
    def said(kind, topics):
        shift = dataclasses.replace(SHIFTED, kind=kind)
        return verdict(shift, topics=topics)

    assert said(Explanation.COVARIATE, True).startswith("The mix of topics has changed")
    assert said(Explanation.COVARIATE, False).startswith("The mix of subgroups has changed")
    assert said(Explanation.LOCAL, False).startswith(
        "The mix of subgroups within a class has changed"
    )


@pytest.mark.parametrize(
    ("p_value", "said"), [(0.002, "p <= 0.002"), (0.004, "p = 0.004"), (0.31, "p = 0.31")]
)
def test_a_p_value_at_the_floor_is_at_most_that(p_value, said):
    assert verdicts.p_text(Shift(True, Explanation.PRIOR, p_value, p_floor=0.002)) == said


def test_a_p_value_of_0_is_below_what_can_be_told():
    assert verdicts.p_text(Shift(True, Explanation.PRIOR, 0.0)) == "p < 1e-300"


def test_the_verdict_speaks_of_the_headline_as_it_is_shown():
    told = verdict(None, lead="neg", name="mood = neg")
    assert "Share of 'mood = neg' if only the shares of the classes changed 59.0%" in told


def test_advice_where_nothing_can_be_estimated():
    nothing = (Share("neg", None, 0.0, 1.0), Share("pos", None, 0.0, 1.0))
    (told,) = advised(
        nothing, None, (), can_be_estimated=False, grounds=GROUNDS[Reason.UNINFORMATIVE]
    )
    assert told.code is Advice.ADD_COLUMNS_OR_LABEL
