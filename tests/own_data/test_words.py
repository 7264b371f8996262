"""What people are told, to the letter."""

import dataclasses

from quantshift.own_data import words
from quantshift.own_data.rendering import render_text
from quantshift.own_data.result import (
    Assumption,
    Audited,
    Batch,
    Quantification,
    Share,
    Shift,
    TrainingSide,
)

LABELS = ("neg", "pos")
ASSUMPTIONS = (
    Assumption("prior shift", "SubclassSLD", {"neg": 0.59, "pos": 0.41}, 0.1),
    Assumption("covariate shift", "SubclassSLD", {"neg": 0.64, "pos": 0.36}, 0.0),
    Assumption("local shift", "SubclassSLD", {"neg": 0.56, "pos": 0.44}, 0.9),
)
SHARES = (Share("neg", 0.57, 0.5, 0.625), Share("pos", 0.43, 0.375, 0.5))
SHIFTED = Shift(rejected=True, kind="covariate", p_value=0.002)

BATCH = Batch(
    name="new.csv",
    n_items=500,
    shares=SHARES,
    unaudited=SHARES,
    assumptions=ASSUMPTIONS,
    shift=SHIFTED,
    audit=None,
    change=(),
    scores={},
    verdict="V.",
    warnings=("W",),
    advice=("A.",),
)
FOUND = Quantification(
    classes=LABELS,
    level=0.95,
    simultaneous=False,
    method="SLD",
    reason="R",
    assumption="S",
    training=TrainingSide("t.csv", 1000, {"neg": 0.5, "pos": 0.5}, "logistic", 0.9, {}),
    batches=(BATCH,),
    warnings=("T",),
)


def test_the_verdict_names_the_change_and_the_estimates():
    told = words.verdict(SHIFTED, ASSUMPTIONS, LABELS, untrained=False)
    assert told == (
        "The mix of topics has changed (p = 0.002); estimates that assume prior shift may be off: "
        "share of 'pos' under prior shift 41.0 %, covariate shift 36.0 %, local shift 44.0 %."
    )
    calm = words.verdict(Shift(False, "prior", 0.43), ASSUMPTIONS, LABELS, untrained=False)
    assert calm.startswith("Nothing but the prevalence seems to have changed (p = 0.43): share of")
    untold = words.verdict(None, ASSUMPTIONS, LABELS, untrained=False)
    assert untold.startswith("Not tested for changes other than of prevalence: share of 'pos'")


def test_advice_follows_the_findings():
    def advice(shares=SHARES, assumptions=ASSUMPTIONS, shift=None, audit=None):
        return " ".join(words.advice(shares, assumptions, shift, audit, untrained=False))

    assert "because more than the prevalence has changed" in advice(shift=SHIFTED)
    assert advice(shift=Shift(False, "prior", 0.5)).startswith("Nothing to do.")
    assert "far apart" in advice()
    assert "narrower" in advice((Share("pos", 0.5, 0.2, 0.8),), ASSUMPTIONS[:1])
    agreed = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    assert advice(audit=agreed).startswith("The audit agrees")
    assert "contradicts" in advice(audit=dataclasses.replace(agreed, contradicts=True))


def test_one_batch_in_a_terminal():
    assert render_text(FOUND) == "\n".join(
        [
            "new.csv: 500 items",
            "",
            "         share  95 % interval",
            "  neg   57.0 %   50.0 to 62.5 %  ████████████▒▒▒·········",
            "  pos   43.0 %   37.5 to 50.0 %  █████████▒▒▒············",
            "",
            "Shift    V.",
            "Next     A.",
            "Warning  W",
            "",
            "Method   SLD: R",
            "         assumes: S",
            "Trained  on 1,000 rows of t.csv (neg 50.0 %, pos 50.0 %)",
            "         logistic, right on 90.0 % of unseen rows",
            "Warning  T",
        ]
    )


def test_several_batches_in_a_terminal():
    other = dataclasses.replace(BATCH, name="b", shift=None, change=("pos",), warnings=())
    told = render_text(dataclasses.replace(FOUND, batches=(BATCH, other))).splitlines()
    assert told[:8] == [
        "batch    items     pos    pos interval",
        "new.csv    500  43.0 %  37.5 to 50.0 %  shift",
        "b          500  43.0 %  37.5 to 50.0 %  changed",
        "",
        "Note     by chance alone one batch in twenty is marked `shift`",
        "Shift    new.csv: V.",
        "Next     A.",
        "Warning  new.csv: W",
    ]


def test_an_audit_in_a_terminal():
    audit = Audited(50, 0.8, SHARES, SHARES, contradicts=False)
    told = render_text(
        dataclasses.replace(FOUND, batches=(dataclasses.replace(BATCH, audit=audit),))
    )
    assert "Audited  with 50 labels; counting them alone gives:" in told
    assert "the method alone (SLD) gives:" in told


def test_with_more_than_two_classes_the_reader_learns_what_the_intervals_hold_for():
    assert "intervals hold" not in render_text(FOUND)
    three = dataclasses.replace(FOUND, classes=("a", "neg", "pos"))
    assert "intervals hold for each class on its own" in render_text(three)
    joint = dataclasses.replace(three, simultaneous=True)
    assert "intervals hold for all classes at once" in render_text(joint)


def test_classes_that_are_not_told_apart_are_named():
    told = words.batch_warnings(
        n_items=500, n_labelled=0, asked=False, audited=False, confused=["neg", "pos"]
    )
    assert list(told) == [
        "on unseen rows the classifier tells 'neg' and 'pos' apart no better than chance: the "
        "items say nothing about their shares"
    ]
