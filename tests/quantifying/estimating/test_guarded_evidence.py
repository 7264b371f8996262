"""Samples that no shift of the method's kinds explains, and what is said of them."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from quantshift.quantifying.estimating.after_refutation import IN_DOUBT, UNEXPLAINED, replicates_of

from quantshift.answers.kinds import RANGE
from quantshift.errors import UserError
from quantshift.quantifying import quantify, train
from quantshift.quantifying.output.advice import FAR

FAST = {"replicates": 100}

DOUBTFUL = 0.1
"""Added to a column: little beside an extreme change of prevalence."""


def causes(n: int, *, move: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """An outcome that follows from two columns, as in most tables: P(Y|X) is always the same."""
    rng = np.random.default_rng(seed)
    income, age = rng.normal(move, 1, n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    relapse = np.where(rng.random(n) < p, "yes", "no")
    return pl.DataFrame({"income": income, "age": age, "relapse": relapse})


def at_prevalence(frame: pl.DataFrame, p: float, n: int, *, seed: int = 0) -> pl.DataFrame:
    """A sample in which only the prevalence is another."""
    rng = np.random.default_rng(seed)
    y = frame["relapse"].to_numpy() == "yes"
    n_yes = round(p * n)
    rows = [rng.choice(np.flatnonzero(y), n_yes), rng.choice(np.flatnonzero(~y), n - n_yes)]
    return frame[np.concatenate(rows)]


@pytest.fixture(scope="module")
def model():
    return train(causes(1500), label="relapse")


def share(batch):
    return next(s for s in batch.shares if s.label == "yes")


def test_what_prior_shift_explains_in_part_is_in_doubt(model):
    sample = at_prevalence(causes(20_000, seed=1), 0.97, 900).unique(maintain_order=True)
    sample = sample.with_columns(pl.col("age") + DOUBTFUL).drop("relapse")
    answer = quantify(sample, model=model, **FAST)
    (batch,) = answer.batches
    assert batch.shift.kind == IN_DOUBT
    assert batch.shift.explained > 0.5
    assert batch.kind == RANGE
    by_prior, by_covariate, _ = batch.assumptions
    assert (by_prior.name, by_covariate.name) == ("prior shift", "covariate shift")
    assert not any(assumption.refuted for assumption in batch.assumptions)
    found = share(batch)
    assert found.estimate == pytest.approx(by_prior.prevalence["yes"])
    for assumption in batch.assumptions:
        assert found.low <= assumption.prevalence["yes"] <= found.high
    text = answer.to_text()
    assert "explains most of the difference from training" in text
    assert "if items that look alike have the label as often" not in text
    assert "if only the shares of the classes have changed" in text or not batch.needs_labels


def test_a_change_of_prevalence_is_left_to_the_method(model):
    sample = at_prevalence(causes(4000, seed=1), 0.7, 800)
    (batch,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
    assert batch.shift.kind != UNEXPLAINED
    assert share(batch).low <= 0.7 <= share(batch).high
    assert "which fits the items" in batch.carried
    assert not batch.needs_labels


def test_after_a_refutation_the_interval_holds_what_the_assumptions_allow(model):
    sample = causes(1000, move=1.2, seed=2)
    truth = float((sample["relapse"] == "yes").mean())
    (batch,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
    assert batch.shift.rejected
    assert batch.shift.kind == UNEXPLAINED
    assert batch.shift.auc > 0.52
    assert 0 <= batch.shift.explained < 0.5
    assert f"explains {batch.shift.explained:.0%} of the difference" in batch.verdict
    told = {a.name: a.prevalence["yes"] for a in batch.assumptions}
    assert share(batch).estimate == pytest.approx(told["covariate shift"])
    assert share(batch).estimate == pytest.approx(truth, abs=0.04)
    for p in told.values():
        assert share(batch).low <= p <= share(batch).high
    assert next(a for a in batch.assumptions if a.name == "prior shift").refuted
    assert "No change in the shares of the classes explains the items" in batch.verdict
    assert "items that look alike have the label as often as in training" in batch.carried


def test_what_is_assumed_can_be_said(model):
    sample = causes(1000, move=1.2, seed=2).drop("relapse")
    found = {
        assume: quantify(sample, model=model, assume=assume, **FAST).batches[0]
        for assume in ("auto", "prior", "covariate")
    }
    assert share(found["covariate"]).estimate == share(found["auto"]).estimate
    width = {name: share(batch).high - share(batch).low for name, batch in found.items()}
    assert 0 < width["covariate"] < width["auto"]
    assert share(found["prior"]).estimate > share(found["auto"]).estimate + 0.03
    assert "as you said" in found["covariate"].carried


def test_what_was_not_asked_is_not_claimed(model):
    sample = at_prevalence(causes(4000, seed=1), 0.7, 800).drop("relapse")
    (batch,) = quantify(sample, model=model, assume="prior", **FAST).batches
    assert batch.carried.startswith(
        "assumes that only the shares of classes and subgroups have changed; "
    )
    assert batch.carried.endswith("was not tested")


def test_the_assumption_of_another_method_is_its_own():
    (batch,) = quantify(
        causes(300, seed=3).drop("relapse"),
        train=causes(300),
        label="relapse",
        method="CC",
        **FAST,
    ).batches
    assert batch.carried == (
        "rests on an untested assumption: the classifier's errors cancel out in the sample. The "
        "interval shows the error of drawing the items, not the bias of the method"
    )


def test_other_methods_and_words_are_refused(model):
    sample = causes(100, seed=3).drop("relapse")
    with pytest.raises(UserError, match="unknown assumption 'priors'; did you mean 'prior'"):
        quantify(sample, model=model, assume="priors", **FAST)
    other = train(causes(300), label="relapse", method="PACC")
    with pytest.raises(UserError, match="PACC makes its own assumption"):
        quantify(sample, model=other, assume="prior", **FAST)


def test_a_wide_range_asks_for_labels_first(model):
    sample = causes(600, move=2.5, seed=4).drop("relapse")
    found = quantify(sample, model=model, **FAST)
    (batch,) = found.batches
    assert share(batch).high - share(batch).low > FAR
    assert batch.needs_labels
    first = found.to_text().splitlines()[0]
    assert "cannot be estimated from these data without labels" in first
    low, high = 100 * share(batch).low, 100 * share(batch).high
    assert f"the assumptions allow {low:.1f} to {high:.1f}%" in first
    assert "50 random labels narrow this to about plus or minus 14 points" in first
    assert "share   95% interval" not in found.to_text()
    assert "95% interval" not in first
    assert "range allowed" in found.to_text()
    assert "range allowed" in repr(found)
    told = json.loads(found.to_json())["batches"][0]
    assert told["needs_labels"]
    assert told["carried"] == batch.carried
    assert told["kind"] == "range of what the assumptions allow"


def test_the_page_promises_no_confidence_after_a_refutation(model):
    found = quantify(causes(1000, move=1.2, seed=2).drop("relapse"), model=model, **FAST)
    (batch,) = found.batches
    page = replace(found, batches=(replace(batch, needs_labels=False),)).page()
    assert "% confidence" not in page
    assert "the assumptions allow" in page
    assert "95% interval" not in re.sub(
        "The accuracy of the classifier on this sample[^<]*", " ", page
    )
    assert "No change in the shares of the classes explains the items" in page


def test_a_wider_level_is_a_wider_interval(model):
    sample = causes(1000, move=1.2, seed=2).drop("relapse")
    usual, wider = (
        share(quantify(sample, model=model, level=level, **FAST).batches[0])
        for level in (0.95, 0.99)
    )
    assert wider.low < usual.low
    assert wider.high >= usual.high
    assert wider.estimate == usual.estimate


def test_the_better_of_two_classifiers_is_taken():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, (1200, 2))
    y = np.where((x[:, 0] * x[:, 1] > 0) ^ (rng.random(1200) < 0.1), "yes", "no")
    made = train(pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y}), label="y")
    assert made.training.classifier == "boosting"
    assert made.training.accuracy > 0.8
    straight = np.where(x[:, 0] + 0.5 * rng.normal(size=1200) > 0, "yes", "no")
    made = train(pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": straight}), label="y")
    assert made.training.classifier == "logistic"


def test_limits_under_assumed_covariate_shift_are_a_range_in_every_output(model):
    sample = causes(400, move=1.2, seed=2).drop("relapse")
    result = quantify(sample, model=model, assume="covariate", **FAST)
    batch = result.batches[0]
    assert batch.kind == RANGE
    assert not batch.needs_labels
    assert batch.carried.endswith("it is not a confidence interval")
    text = result.to_text()
    assert "the assumptions allow" in text
    assert "range allowed" in text
    # The accuracy of the classifier has an interval of its own.
    assert "95% interval" not in text.replace("(95% interval", "")
    assert json.loads(result.to_json())["batches"][0]["kind"] == RANGE
    assert "a range of what the assumptions allow, not a confidence interval" in result.page()


def test_rows_of_uneven_weight_are_fewer_items():
    rng = np.random.default_rng(5)
    known = causes(600).with_columns(w=1.0)
    sample = causes(400, move=1.2, seed=2).drop("relapse")
    heavy = np.where(rng.random(400) < 0.02, 50.0, 1.0)
    widths = [
        share(
            quantify(
                sample.with_columns(w=pl.Series(w)),
                train=known,
                label="relapse",
                weights="w",
                assume="covariate",
                **FAST,
            ).batches[0]
        )
        for w in (np.ones(400), heavy)
    ]
    even, uneven = (found.high - found.low for found in widths)
    assert uneven > 1.3 * even


def test_replicates_of_batches_share_what_the_training_items_add():
    members = np.array([[0.30, 0.70], [0.34, 0.66], [0.38, 0.62], [0.30, 0.70], [0.38, 0.62]])
    alone = np.repeat(members.mean(axis=0, keepdims=True), 5, axis=0)
    p_hat, n = members.mean(axis=0), 100_000
    first, second = (replicates_of(p_hat, members, size, 2000, 0) for size in (n, 2 * n))
    # Of such large samples nearly all of the error is that of training, and it cancels.
    assert np.std(first[:, 0]) == pytest.approx(
        np.sqrt(4 / 5 * np.sum((members[:, 0] - p_hat[0]) ** 2)), rel=0.1
    )
    assert np.std(first[:, 0] - second[:, 0]) < 0.1 * np.std(first[:, 0])
    assert np.std(replicates_of(p_hat, alone, n, 2000, 0)[:, 0]) == pytest.approx(
        np.sqrt(p_hat[0] * p_hat[1] / n), rel=0.1
    )
