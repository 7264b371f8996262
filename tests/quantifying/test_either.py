"""Answers that are one of two intervals, in every form that they can be shown in."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from pydantic import TypeAdapter

from quantshift import quantify, train
from quantshift.answers.conditions import FAILED, FINE, OPEN
from quantshift.claims import Assumption, Kind
from quantshift.history import watch
from quantshift.quantifying import plan_quantify
from quantshift.quantifying.result import Batch
from quantshift.quantifying.targets.parents import Parents
from tests.quantifying.made import CALM, POSITIVE, TWOFOLD, found_with

SEPARATION = np.array([1.1, 0.8, 0.4])


def table(n, p, seed):
    """Two classes of three columns; what is in the columns does not depend on the share."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < p
    X = rng.normal(size=(n, 3)) + np.outer(y, SEPARATION)
    return pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        y=pl.Series(np.where(y, "yes", "no"))
    )


@pytest.fixture(scope="module")
def model():
    return train(table(1500, 0.2, 0), label="y")


@pytest.fixture(scope="module")
def sample():
    return table(400, 0.6, 13)


@pytest.fixture(scope="module")
def answer(model, sample, tmp_path_factory):
    rows = tmp_path_factory.mktemp("either") / "rows.csv"
    return quantify(sample.drop("y"), model=model, replicates=100, rows=rows), rows


def test_each_interval_has_its_assumption_and_one_holds_the_truth(answer, sample):
    (batch,) = answer[0].batches
    share = next(s for s in batch.shares if s.label == "yes")
    truth = (sample["y"] == "yes").mean()
    assert batch.kind is Kind.EITHER
    assert share.estimate is None
    prior, covariate = share.either
    assert (prior.assumption, covariate.assumption) == (Assumption.PRIOR, Assumption.COVARIATE)
    assert prior.low <= truth <= prior.high
    assert (share.low, share.high) == (covariate.low, prior.high)
    other = next(s for s in batch.shares if s.label == "no")
    for mine, its in zip(share.either, other.either, strict=True):
        assert mine.estimate + its.estimate == pytest.approx(1)
        assert mine.low + its.high == pytest.approx(1)


def test_the_json_has_both_and_reads_back(answer):
    (batch,) = json.loads(answer[0].to_json())["batches"]
    (read,) = TypeAdapter(list[Batch]).validate_python([batch])
    assert read.shares == answer[0].batches[0].shares


def test_the_table_has_a_row_for_each(answer):
    rows = list(csv.DictReader(io.StringIO(answer[0].to_csv())))
    assert [row["class"] for row in rows] == ["no", "no", "yes", "yes"]
    assert len({row["condition"] for row in rows}) == 2
    assert all(row["kind"] == "either" for row in rows)


def test_text_notebook_and_plot_show_both(answer):
    result = answer[0]
    first, second = (
        f"{100 * c.low:.1f} to {100 * c.high:.1f}%" for c in result.batches[0].shares[1].either
    )
    assert all(bounds in result.to_text(details=True).splitlines()[0] for bounds in (first, second))
    assert f"{first} or {second}" in result._repr_html_()
    assert result.batches[0].performance.kind.is_range
    assert "(ranges)" in result.to_text(details=True)
    bars = result.plot().collections
    assert len(bars) == 4  # of two classes
    assert [point for line in result.plot().lines for point in line.get_xdata()] == []


def test_rows_have_a_probability_under_each_assumption(answer, model, sample):
    with answer[1].open() as file:
        lines = list(csv.DictReader(file))
    prior, covariate = (
        np.array([float(line[f"if {name} yes"]) for line in lines])
        for name in ("prior", "covariate")
    )
    share = answer[0].batches[0].shares[1]
    # Bayes' rule at SLD's estimate gives that estimate back on average.
    assert prior.mean() == pytest.approx(share.either[0].estimate, abs=0.02)
    assert covariate.mean() == pytest.approx(share.either[1].estimate, abs=0.02)
    y = (sample["y"] == "yes").to_numpy()
    assert np.square(prior - y).mean() < np.square(covariate - y).mean()


def scored(n, p, seed, apart=2.0):
    """Items with the posteriors of a model of two normal classes, trained on a fifth of "yes"."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < p
    logit = apart * (rng.normal(size=n) + apart * y - apart / 2) + np.log(0.2 / 0.8)
    q = 1 / (1 + np.exp(-logit))
    return pl.DataFrame({"y": np.where(y, "yes", "no"), "p": q})


def test_posteriors_of_ones_own_give_two_intervals_too():
    sample = scored(1000, 0.85, 1)
    found = quantify(
        sample.drop("y"), train=scored(1500, 0.2, 0), label="y", posteriors="p", replicates=100
    )
    (batch,) = found.batches
    truth = (sample["y"] == "yes").mean()
    assert batch.kind is Kind.EITHER
    prior, covariate = batch.shares[1].either
    assert prior.low <= truth <= prior.high
    # Nothing has tested the features: the interval around the mean is as wide as the range's.
    spread = np.sqrt(covariate.estimate * (1 - covariate.estimate))
    assert covariate.high - covariate.low > 2 * 0.29 * spread


def test_the_plan_knows_the_two_shares_and_the_audit_settles_one(model, sample):
    sheet = plan_quantify(sample.drop("y"), model=model, sequential=True)
    assert sheet.question is not None
    first, second = sheet.question.first, sheet.question.second
    assert sheet.n_deciding <= 50
    drawn = [row - 1 for row in sheet.rows[:60]]
    labelled = sample.with_row_index("row", 1)[drawn].with_row_index("place", 1)
    found = quantify(sample.drop("y"), model=model, audit=labelled, sequential=True, replicates=100)
    settled = found.batches[0].audit.settled
    assert settled.outcome is Assumption.PRIOR
    assert list(settled.shares.values()) == pytest.approx([first, second])
    assert found.batches[0].kind is Kind.SEQUENCE


def test_exit_codes():
    """Without conditions 0; 3 if both fail, 4 if they differ."""
    result = found_with(TWOFOLD)
    assert watch(result).exit_code == FINE
    assert watch(result, fail_if="pos>0.3").exit_code == OPEN
    assert watch(result, fail_if="pos>0.1").exit_code == FAILED
    assert watch(result, fail_if="pos>0.6").exit_code == FINE
    assert watch(result).summary_line().startswith("EITHER twofold: pos 37.5 to 50.0% or 10.0")


def test_among_many_batches_both_are_in_the_row():
    text = found_with(CALM, TWOFOLD).to_text(details=True)
    assert "37.5 to 50.0% or 10.0 to 20.0%" in text
    assert "pos: one of two intervals in 1 of 2 batches" in text


def test_within_a_parent_each_is_cut_at_the_parents_under_the_same_assumption():
    parent = POSITIVE.complement("neg").complement("parent")
    child = POSITIVE.complement("neg")
    cut = Parents({"neg": "parent"}).coherent({"parent": parent, "neg": child})["neg"]
    for own, most in zip(cut.either, parent.either, strict=True):
        assert own.high <= most.high
        assert own.estimate <= most.estimate


def test_the_complement_of_the_complement_is_the_share():
    again = POSITIVE.complement("neg").complement("pos")
    for mine, its in zip(POSITIVE.either, again.either, strict=True):
        assert its.low == pytest.approx(mine.low)
        assert its.high == pytest.approx(mine.high)
