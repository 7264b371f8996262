"""The accuracy of the classifier on a batch: what is said, and when nothing is."""

import json

import numpy as np
import polars as pl
import pytest

from quantshift import quantify
from quantshift.adapting.adaptation import SELECTION
from quantshift.answers.kinds import INTERVAL, RANGE
from quantshift.quantifying.estimating.accuracy import accuracy_sentence, methods_for
from quantshift.quantifying.estimating.decision import Decision


def table(n: int, p: float, seed: int, *, moved: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) < n * p)
    a = rng.normal(2.0 * y, np.where(y, 0.6, 1.4), n) + moved
    return pl.DataFrame({"a": a, "b": rng.normal(size=n), "label": np.where(y, "yes", "no")})


@pytest.fixture(scope="module")
def answer():
    sample = table(400, 0.3, 1)
    found = quantify(
        sample.drop("label"),
        train=table(1200, 0.7, 0),
        label="label",
        method="SLD",
        classifier="logistic",
        replicates=100,
    )
    return found, sample


def test_the_truth_is_within_the_limits(answer) -> None:
    found, sample = answer
    (batch,) = found.batches
    accuracy = batch.accuracy
    assert accuracy.method == "LEAP"
    assert accuracy.training == pytest.approx(found.training.accuracy, abs=0.02)
    # The best cut of one column is about what logistic regression does.
    cut = (sample["a"].to_numpy() > 0.9) == (sample["label"] == "yes").to_numpy()
    assert accuracy.low - 0.03 < cut.mean() < accuracy.high + 0.03
    assert accuracy.estimate < accuracy.training


def test_it_is_said_in_text_and_json(answer) -> None:
    found, _ = answer
    sentence = found.batches[0].accuracy.sentence
    assert sentence.startswith("The accuracy of the classifier on this sample is about ")
    assert sentence.endswith("in training).")
    assert sentence in found.to_text()
    assert json.loads(found.to_json())["batches"][0]["accuracy"]["sentence"] == sentence


def test_sentences() -> None:
    assert accuracy_sentence(
        0.841, 0.8, 0.88, 0.911, 0.95, Decision(INTERVAL, "evidence", "prior")
    ) == (
        "The accuracy of the classifier on this sample is about 84% (95% interval 80 to 88%; "
        "91% in "
        "training)."
    )
    refuted = Decision(RANGE, "refuted", "covariate")
    assert "(range 70 to 90%, not a confidence interval; 90% in" in accuracy_sentence(
        0.8, 0.7, 0.9, 0.9, 0.95, refuted
    )
    assert accuracy_sentence(None, 0.41, 0.93, 0.9, 0.95, refuted) == (
        "The accuracy of the classifier on this sample cannot be estimated without labels: the "
        "assumptions allow 41 to 93% (90% in training)."
    )
    declared = Decision(INTERVAL, "declared", "covariate")
    assert accuracy_sentence(0.8, 0.7, 0.9, 0.9, 0.95, declared).endswith(
        "judging by its own confidence."
    )


def test_the_evidence_decides_the_estimator() -> None:
    every = ("leap", "confidence", "atc")
    both = {"leap": 0.5, "confidence": 0.5}
    for decision, expected in (
        (Decision(INTERVAL, "evidence", "prior"), ({"leap": 1}, ("leap",))),
        (Decision(INTERVAL, "declared", "prior"), ({"leap": 1}, ("leap",))),
        (Decision(INTERVAL, "declared", "covariate"), ({"confidence": 1}, ("confidence", "atc"))),
        (Decision(RANGE, "refuted", "covariate"), ({"confidence": 1}, every)),
        (Decision(RANGE, "no evidence", "prior"), (both, every)),
        (Decision(INTERVAL, "agreement", "prior"), (both, every)),
    ):
        assert methods_for(decision, SELECTION) == expected


def test_weak_evidence_counts_by_its_strength() -> None:
    decision = Decision(RANGE, "no evidence", "prior")
    found, _ = methods_for(decision, SELECTION + np.log(3))
    assert found == pytest.approx({"leap": 0.75, "confidence": 0.25})
    assert methods_for(decision, -50.0)[0]["leap"] < 1e-9


def test_nothing_is_said_without_labelled_rows() -> None:
    posteriors = pl.DataFrame({"p": np.linspace(0.1, 0.9, 50)})
    found = quantify(posteriors, posteriors=["p"], replicates=10)
    assert found.batches[0].accuracy is None
