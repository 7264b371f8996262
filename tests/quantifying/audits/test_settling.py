"""Labels that settle which of two named shares is true."""

import json

import numpy as np
import polars as pl
import pytest

from quantshift.claims import Assumption
from quantshift.quantifying import plan_quantify, quantify, train
from quantshift.quantifying.findings import Advice
from quantshift.quantifying.output.advice import settled_advice
from quantshift.quantifying.result import Settled
from tests.found import codes_of, numbers_of

FAST = {"replicates": 100}
NAMED = (Assumption.PRIOR, Assumption.COVARIATE)


def table(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    income, age = rng.normal(size=n), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(1.5 * income - 0.5 * age - 1)))
    relapse = np.where(rng.random(n) < p, "yes", "no")
    return pl.DataFrame({"income": income, "age": age, "relapse": relapse})


def selected(n: int) -> pl.DataFrame:
    """Rows picked by their score: P(Y|X) is the same, and the share is about that of PCC."""
    pool = table(6000, seed=7)
    score = (1.5 * pool["income"] - 0.5 * pool["age"]).to_numpy()
    chance = np.exp(2.0 * score.argsort().argsort() / len(score))
    rows = np.random.default_rng(2).choice(6000, n, replace=False, p=chance / chance.sum())
    return pool[rows]


def of_more_yes(n: int) -> pl.DataFrame:
    """Only the share of yes is another."""
    pool = table(6000, seed=7)
    yes = pool["relapse"] == "yes"
    parts = [pool.filter(yes)[: 7 * n // 10], pool.filter(~yes)[: 3 * n // 10]]
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=1)


@pytest.fixture(scope="module")
def model():
    return train(table(800, seed=0), label="relapse")


def labelled(sample, model, n_labels, tmp_path):
    """The sheet with the labels of its first rows, as `plan quantify --sequential` draws it."""
    sample.drop("relapse").write_csv(tmp_path / "new.csv")
    sheet = plan_quantify(tmp_path / "new.csv", model=model, sequential=True)
    sheet.write(tmp_path / "sheet.csv")
    written = pl.read_csv(tmp_path / "sheet.csv", infer_schema=False)
    truth = sample["relapse"].to_list()
    labels = [truth[int(item) - 1] for item in written["item"]]
    labels = labels[:n_labels] + [None] * (len(labels) - n_labels)
    written.with_columns(relapse=pl.Series(labels)).write_csv(tmp_path / "sheet.csv")
    return quantify(
        tmp_path / "new.csv", model=model, audit=tmp_path / "sheet.csv", sequential=True, **FAST
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "assumption"), [(selected, Assumption.COVARIATE), (of_more_yes, Assumption.PRIOR)]
)
def test_a_few_labels_settle_which_number_is_true(drawn, assumption, model, tmp_path):
    sample = drawn(300)
    (before,) = quantify(sample.drop("relapse"), model=model, **FAST).batches
    assert before.reason == "no_evidence"
    assert Advice.LABELS_DECIDE in codes_of(before.findings)
    found = labelled(sample, model, 60, tmp_path)
    settled = found.batches[0].audit.settled
    assert settled.outcome == assumption
    assert settled.n_labels <= 60
    truth = float((sample["relapse"] == "yes").mean())
    nearest = min(settled.shares, key=lambda name: abs(settled.shares[name] - truth))
    assert nearest == assumption
    assert Advice.LABELS_SETTLE_IT in codes_of(found.batches[0].findings)
    told = json.loads(found.to_json())["batches"][0]["audit"]["settled"]
    assert told["outcome"] == assumption


def test_too_few_labels_leave_it_open(model, tmp_path):
    found = labelled(selected(300), model, 10, tmp_path)
    settled = found.batches[0].audit.settled
    assert (settled.outcome, settled.n_labels) == ("open", 10)
    assert Advice.LABELS_UNDECIDED in codes_of(found.batches[0].findings)


@pytest.mark.slow
def test_a_batch_that_is_a_file_has_the_command_for_a_sheet_without_end(model, tmp_path):
    sample = selected(300)
    sample.drop("relapse").write_csv(tmp_path / "new.csv")
    table(800, seed=0).write_csv(tmp_path / "train.csv")
    (batch,) = quantify(
        tmp_path / "new.csv", train=tmp_path / "train.csv", label="relapse", **FAST
    ).batches
    assert "plan quantify" in batch.command
    assert "--sequential" in batch.command
    assert "--labels" not in batch.command


def test_neither_is_a_third_outcome():
    settled = Settled(
        "yes", {Assumption.PRIOR: 0.59, Assumption.COVARIATE: 0.35}, "neither", 40, 28
    )
    assert settled_advice(settled, 40) == Advice.LABELS_FIT_NEITHER.found(
        first=0.59, second=0.35, label="yes"
    )


def test_of_three_classes_labels_decide_about_the_one_that_they_differ_in():
    """The headline class may have nearly the same share under both assumptions."""
    rng = np.random.default_rng(0)

    def drawn(n, shares):
        y = rng.choice(3, n, p=shares)
        x = rng.normal(size=(n, 2)) + np.array([[0, 0], [1.2, 0], [0, 4]])[y]
        return pl.DataFrame(x, schema=["a", "b"]).with_columns(y=np.array(["u", "v", "w"])[y])

    training, sample = drawn(1500, [0.7, 0.2, 0.1]), drawn(500, [0.3, 0.6, 0.1])
    (batch,) = quantify(sample.drop("y"), train=training, label="y", positive="w", **FAST).batches
    found = numbers_of(batch.findings, Advice.LABELS_DECIDE)
    first, second = (each.prevalence for each in batch.alternatives if each.assumption in NAMED)
    furthest = max(first, key=lambda label: abs(first[label] - second[label]))
    assert (found["of"], found["label"]) == ("other", furthest)
    assert {found["first"], found["second"]} == {first[furthest], second[furthest]}
