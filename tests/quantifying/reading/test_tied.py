"""Columns from which the batch of a row follows."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from quantshift.quantifying import quantify, train
from quantshift.quantifying.options import Grouping
from quantshift.quantifying.training import tied as tied_module
from quantshift.quantifying.training.tied import (
    MOST_READ,
    _first_rows,
    rising_columns,
    tied_columns,
)
from quantshift.tables.reading import open_table

N = 300


def sample(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 90, N))
    date = np.datetime64("2026-01-01") + day
    month = date.astype("datetime64[M]").astype(int) % 12 + 1
    return pl.DataFrame(
        {
            "date": date,
            "copy": np.datetime_as_string(date, unit="D"),
            "month": month,
            "name": np.array(["", "Jan", "Feb", "Mar"])[month],
            "clock": day * 86_400.0 + rng.random(N),
            "weekday": day % 7,
            "income": rng.normal(size=N),
            "person": [f"p{i}" for i in range(N)],
            "town": rng.choice(["Ulm", "Bonn"], N),
            "empty": pl.Series([None] * N, dtype=pl.Float64),
        }
    )


def tied(frame: pl.DataFrame, column: str, every: str | None = None) -> tuple[str, ...]:
    return tied_columns([open_table(frame)], Grouping(column, every), frame.columns)


def test_copies_of_the_date_and_of_its_month_are_tied_to_months():
    assert tied(sample(), "date", "month") == ("copy", "month", "name", "clock")


def test_by_month_the_dates_are_tied():
    assert tied(sample(), "month") == ("date", "copy", "name", "clock")


def test_nothing_is_tied_to_a_category_of_its_own():
    assert tied(sample(), "town") == ()
    assert tied(sample()[:4], "month") == ()


def test_copies_of_the_time_and_running_numbers_rise_with_it():
    frame = sample().with_columns(number=pl.int_range(N), flag=pl.int_range(N) > 100)
    order = np.random.default_rng(1).permutation(N)
    found = rising_columns(frame[order], frame["copy"][order])
    assert found == ("date", "copy", "month", "clock", "number")


def test_columns_that_rise_with_time_are_left_out_with_a_word():
    rng = np.random.default_rng(5)
    n = 700
    x = rng.normal(size=n)
    rows = pl.DataFrame(
        {
            "period": np.repeat(np.arange(7), n // 7),
            "number": np.arange(n),
            "x": x,
            "label": np.where(x + rng.normal(size=n) > 0, "yes", "no"),
        }
    )
    model = train(rows, label="label", time="period", classifier="logistic")
    assert [column.name for column in model.columns.features] == ["x"]
    assert "rises with 'period'" in next(
        column.reason for column in model.columns.left_out if column.name == "number"
    )
    named = train(rows, label="label", time="period", features=["x", "number"])
    assert {column.name for column in named.columns.features} == {"x", "number"}


@pytest.mark.slow
def test_tied_columns_are_left_out_with_a_word_unless_they_are_named():
    frame = sample().select("month", "name", "income", "weekday")
    rng = np.random.default_rng(1)
    train = sample(2).select("month", "name", "income", "weekday")
    train = train.with_columns(
        label=pl.Series(np.where(train["income"].to_numpy() + rng.normal(size=N) > 0, "yes", "no"))
    )
    asked = {"train": train, "label": "label", "by": "month", "replicates": 100}
    found = quantify(frame, **asked)
    assert [column.name for column in found.used] == ["income", "weekday"]
    reasons = {column.name: column.reason for column in found.left_out_columns}
    assert reasons["name"] == "tied to 'month': tells the batch of every row"
    named = quantify(frame, **asked, features=["name", "income"])
    assert [column.name for column in named.used] == ["name", "income"]


@pytest.mark.slow
def test_codes_can_be_declared_categories():
    rng = np.random.default_rng(3)
    code = rng.integers(1, 5, 600)
    p = np.where(np.isin(code, [1, 3]), 0.8, 0.2)
    label = np.where(rng.random(600) < p, "yes", "no")
    frame = pl.DataFrame({"region": code, "income": rng.normal(size=600), "label": label})
    asked = {"train": frame[:400], "label": "label", "replicates": 100, "classifier": "logistic"}
    new = frame[400:].drop("label")
    found = quantify(new, **asked, categories="region")
    kinds = {column.name: column.kind for column in found.used}
    assert kinds == {"region": "category", "income": "number"}
    as_number = quantify(new, **asked)
    assert {column.kind for column in as_number.used} == {"number"}
    assert found.training.accuracy > as_number.training.accuracy + 0.1


def test_reading_ends_once_enough_rows_are_read(monkeypatch):
    parts = [SimpleNamespace(rows=range(MOST_READ // 2)) for _ in range(5)]
    monkeypatch.setattr(tied_module, "read_items", lambda *_: (part for part in parts))
    assert _first_rows(None, Grouping("day", None), ["x"]) == parts[:2]
