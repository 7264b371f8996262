"""Copies in a sample say nothing more than the items that they are copies of."""

import numpy as np
import polars as pl
import pytest

from quantshift import quantify, train
from quantshift.claims import Kind
from quantshift.quantifying.findings import SampleFindings
from tests.found import codes_of, numbers_of

FAST = {"replicates": 100}


def table(n, p, rng):
    """Two normal classes, rounded so that no two rows are equal by chance."""
    y = rng.random(n) < p
    X = (rng.normal(size=(n, 3)) + np.outer(y, [1.6, 1.0, 0.5])).round(4)
    return pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
        y=pl.Series(np.where(y, "yes", "no"))
    )


@pytest.fixture(scope="module")
def model():
    return train(table(1200, 0.3, np.random.default_rng(0)), label="y")


def answered(model, sample):
    found = quantify(sample.drop("y"), model=model, **FAST)
    return found, found.batches[0], found.batches[0].shares[1]


def test_five_copies_of_every_row_leave_the_limits_as_they_were(model):
    once = table(200, 0.3, np.random.default_rng(1))
    found, batch, share = answered(model, pl.concat([once] * 5))
    _, alone, as_alone = answered(model, once)
    assert batch.kind == alone.kind
    assert batch.n_items == 1000
    assert share.high - share.low == pytest.approx(as_alone.high - as_alone.low, rel=0.1)
    assert share.estimate == pytest.approx(as_alone.estimate, abs=0.01)
    assert numbers_of(found.findings, SampleFindings.COPIES) == {"n": 800, "n_items": 1000}
    assert SampleFindings.COPIES not in codes_of(answered(model, once)[0].findings)


def test_an_item_that_occurs_more_often_counts_as_often(model):
    some = table(300, 0.3, np.random.default_rng(2))
    drawn = np.repeat(np.arange(300), np.where(some["y"] == "yes", 4, 1))
    _, batch, share = answered(model, some[drawn])
    truth = (some[drawn]["y"] == "yes").mean()
    assert batch.kind is not Kind.CANNOT
    assert share.low <= truth <= share.high


def test_equal_rows_of_a_few_discrete_columns_are_no_copies():
    rng = np.random.default_rng(3)

    def discrete(n):
        y = rng.random(n) < 0.4
        codes = [(rng.random(n) < 0.3 + 0.4 * y).astype(int) for _ in range(3)]
        frame = pl.DataFrame(
            {name: np.array(["u", "v"])[c] for name, c in zip("abc", codes, strict=True)}
        )
        return frame.with_columns(y=pl.Series(np.where(y, "yes", "no")))

    found, *_ = answered(train(discrete(1000), label="y"), discrete(400))
    assert SampleFindings.COPIES not in codes_of(found.findings)


@pytest.mark.slow
def test_limits_hold_with_every_row_five_times():
    """At least .93 less two standard errors."""
    rng, held = np.random.default_rng(4), []
    for _ in range(12):
        trained = train(table(800, 0.3, rng), label="y")
        for p in (0.25, 0.3, 0.4, 0.3):
            sample = pl.concat([table(150, p, rng)] * 5)
            *_, share = answered(trained, sample)
            truth = (sample["y"] == "yes").mean()
            held.append(any(part.low <= truth <= part.high for part in share.parts))
    assert np.mean(held) >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / len(held))
