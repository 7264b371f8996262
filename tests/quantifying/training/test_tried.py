"""What was declared, tried on the dates or groups of the training table."""

import numpy as np
import polars as pl
import pytest

from quantshift.quantifying import quantify, train
from quantshift.quantifying.findings import TrainingFindings
from quantshift.quantifying.training import tried
from tests.found import codes_of, only

TRIED, IN_DOUBT = TrainingFindings.DECLARATION_TRIED, TrainingFindings.DECLARATION_IN_DOUBT
FAST = {"label": "y", "classifier": "logistic"}


def months(n_months, per_month, *, drift, seed=0):
    """Customers who leave by their age; the mix of ages moves, and with drift the leaving too."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(n_months), per_month)
    age = rng.normal(size=len(month)) + 0.5 * np.sin(month)
    leaves = rng.random(len(month)) < 1 / (1 + np.exp(-1.5 * age - drift * month))
    dates = np.array(["2025-01-15"], dtype="datetime64[M]") + month
    return pl.DataFrame(
        {
            "date": pl.Series(dates.astype("datetime64[D]") + rng.integers(0, 28, len(month))),
            "site": [f"s{i}" for i in month % 6],
            "age": age,
            "noise": rng.normal(size=len(month)),
            "y": np.where(leaves, "yes", "no"),
        }
    )


def found_in(model):
    return [f for f in model.training.findings if f.code in (TRIED, IN_DOUBT)]


@pytest.mark.parametrize(("drift", "code"), [(0.0, TRIED), (0.4, IN_DOUBT)])
def test_a_declaration_is_tried_on_the_last_months(drift, code):
    model = train(months(12, 150, drift=drift), columns="causes", **FAST)
    (found,) = found_in(model)
    assert (found.code, found.about.column) == (code, "date")
    numbers = found.numbers
    assert (numbers["n"], numbers["noun"], numbers["which"]) == (8, "month", "last")
    assert 0 < numbers["error"] <= numbers["largest"]
    # Counting 150 rows is off by 2.9 points or so, by far less than the drift.
    assert (numbers["error"] < 0.06) == (code is TRIED)


def test_its_record_is_that_of_the_groups_that_the_user_names():
    table = months(12, 100, drift=0.0)
    model = train(table, columns="causes", groups="site", **FAST)
    (found,) = found_in(model)
    errors = [group.errors["PCC"] for group in model.groups.groups]
    assert found.about.column == "site"
    assert found.numbers["which"] == "all"
    assert found.numbers["error"] == pytest.approx(np.mean(errors))
    assert found.numbers["largest"] == pytest.approx(max(errors))
    by_prior = train(table, assume="prior", groups="site", **FAST)
    (other,) = found_in(by_prior)
    errors = [group.errors["SLD"] for group in by_prior.groups.groups]
    assert other.numbers["error"] == pytest.approx(np.mean(errors))


def test_nothing_declared_and_nothing_to_try_it_on_is_no_record():
    table = months(4, 100, drift=0.0)
    assert found_in(train(table, **FAST)) == []
    assert found_in(train(table.drop("date"), columns="causes", **FAST)) == []
    two = table.filter(pl.col("date") < pl.date(2025, 2, 1))
    assert (
        found_in(train(two.with_columns(date=pl.date(2025, 1, 1)), columns="causes", **FAST)) == []
    )


def test_the_dates_of_the_batches_serve_too():
    table = months(14, 120, drift=0.0)
    old = table.filter(pl.col("date") < pl.date(2026, 1, 1))
    new = table.filter(pl.col("date") >= pl.date(2026, 1, 1)).drop("y")
    found = quantify(
        new, train=old, by="date", every="month", columns="causes", replicates=50, **FAST
    )
    record = only(found.findings, TRIED)
    assert (record.about.column, record.numbers["n"]) == ("date", tried.LAST_PERIODS)
    assert "date" not in {column.name for column in found.used}


def test_posteriors_of_ones_own_are_tried_as_well():
    table = months(12, 150, drift=0.0)
    p = 1 / (1 + np.exp(-1.5 * table["age"].to_numpy()))
    given = table.select("date", "y").with_columns(p=p)
    model = train(given, label="y", posteriors=["p"], time="date", columns="causes")
    (found,) = found_in(model)
    assert found.code is TRIED
    assert codes_of(found_in(model)) == [TRIED]
