"""Columns that were constant in training: other values in a sample are named."""

import polars as pl

from quantshift.claims.findings import About
from quantshift.quantifying import load_model, quantify, save_model, train
from quantshift.quantifying.findings import SampleFindings
from quantshift.quantifying.reading.constants import MOST_COUNTED, ConstantReader
from tests.found import codes_of, only
from tests.quantifying.reading.test_levels import customers


def test_other_values_are_counted_and_the_most_frequent_is_named():
    reader = ConstantReader({"country": "FR", "code": "3", "year": "2024", "plan": "a", "x": "1"})
    same = {"code": [3.0] * 4, "plan": ["b"] * 4, "x": [2] * 4}
    reader.add(pl.DataFrame({"country": ["FR", "DE", None, "fr "], "year": [2025] * 4, **same}))
    reader.add(pl.DataFrame({"country": ["IT", "DE", "FR", "FR"], "year": [2024] * 4, **same}))
    found = list(reader.findings("a.csv"))
    assert [(f.about.column, f.numbers["example"], f.numbers["n"]) for f in found] == [
        ("plan", "b", 8),
        ("x", "2", 8),
        ("year", "2025", 4),
        ("country", "DE", 3),
    ]
    assert [f.numbers["others"] for f in found] == [False, False, False, True]
    assert found[0].numbers["usual"] == "a"
    assert found[0].about.table == "a.csv"


def test_where_nothing_differs_nothing_is_said():
    reader = ConstantReader({"country": "FR"})
    reader.add(pl.DataFrame({"country": ["FR", None]}))
    assert list(reader.findings("a.csv")) == []


def test_of_many_other_values_only_the_rows_are_counted():
    reader = ConstantReader({"country": "FR"})
    for start in range(0, 10 * MOST_COUNTED, MOST_COUNTED):
        ids = [f"id {number}" for number in range(start, start + MOST_COUNTED)]
        reader.add(pl.DataFrame({"country": ids}))
    assert len(reader.others["country"]) == MOST_COUNTED
    (found,) = reader.findings("a.csv")
    assert (found.numbers["others"], found.numbers["n"]) == (True, 10_000)


def test_a_model_remembers_the_constants_of_its_training_table(tmp_path):
    labelled = customers(400, 0.4, 0).with_columns(country=pl.lit("FR"), year=2024)
    new = customers(200, 0.6, 1).with_columns(country=pl.lit("DE"), year=2024)
    model = train(labelled, label="left", method="PACC")
    save_model(model, tmp_path / "model")
    found = quantify(new, model=load_model(tmp_path / "model"), replicates=20)
    constant = only(found.findings, SampleFindings.NO_LONGER_CONSTANT)
    assert constant.about == About(column="country", table="the sample")
    assert constant.numbers == {"usual": "FR", "example": "DE", "others": False, "n": 200}
    without = quantify(new.drop("country"), model=model, replicates=20)
    assert SampleFindings.NO_LONGER_CONSTANT not in codes_of(without.findings)
