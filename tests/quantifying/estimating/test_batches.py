"""Batches of one call, and what changed from one to the next."""

from dataclasses import replace

import numpy as np
import polars as pl

from quantshift.answers.conditions import EVENTS
from quantshift.intervals.engine import SMALL
from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifying import quantify
from quantshift.quantifying.estimating.batches import changed_classes, heeding_warnings
from quantshift.quantifying.output.advice import NOTHING_TO_DO, WARNED
from tests.quantifying.made import BATCH


def interval(share: float) -> PrevalenceInterval:
    """A nearly exact interval around the share of the second class."""
    p = np.array([1 - share, share])
    noise = np.random.default_rng(0).normal(0, 1e-6, (50, 1)) * np.array([1.0, -1.0])
    return PrevalenceInterval(
        prevalence=p,
        low=p,
        high=p,
        level=0.95,
        classes=np.array(["no", "yes"]),
        replicates=p + noise,
        simultaneous=False,
        informative=np.array([True, True]),
        bias=np.zeros(2),
    )


def test_a_change_too_small_to_matter_is_not_reported():
    def changed(before: float, now: float) -> bool:
        return bool(changed_classes(interval(before), interval(now), ["no", "yes"]))

    assert not changed(0.26, 0.269)
    assert changed(0.26, 0.271)
    # For rare classes less than a point matters, in both directions.
    assert changed(0.002, 0.006)
    assert changed(0.998, 0.994)
    assert not changed(0.02, 0.024)


def test_regions_are_not_compared_with_their_alphabetical_neighbours(folder, plain_model):
    sample = pl.read_csv(folder / "truth.csv")
    other = pl.col("sentiment") == "positive"
    regions = sample.with_columns(region=pl.when(other).then(pl.lit("b")).otherwise(pl.lit("a")))
    found = quantify(regions, model=plain_model, by="region", replicates=50)
    assert not found.in_sequence
    assert [batch.change for batch in found.batches] == [(), ()]
    days = sample.with_columns(day=pl.when(other).then(2).otherwise(1))
    found = quantify(days, model=plain_model, by="day", replicates=50)
    assert found.in_sequence
    assert found.batches[1].change == ("negative", "positive")


def test_there_is_nothing_to_do_only_if_nothing_is_warned_of():
    calm = replace(BATCH, advice=(NOTHING_TO_DO,), command="draw", warnings=(), none_of_these=None)
    assert heeding_warnings(calm, []) == calm
    assert heeding_warnings(calm, []).command == ""
    half_empty = replace(calm, warnings=("column 'age': 50% of the rows are missing",))
    for warned in (heeding_warnings(calm, ["a leak"]), heeding_warnings(half_empty, [])):
        assert (warned.advice, warned.command) == ((WARNED,), "draw")
    assert heeding_warnings(replace(calm, none_of_these=0.1), []).advice == (WARNED,)
    other = replace(calm, advice=("Label some items.",))
    assert heeding_warnings(other, ["a leak"]) is other


def test_batches_of_a_few_items_are_not_compared(folder, plain_model):
    """Of single items 94% were called changed where nothing had changed, of five items 25%."""
    sample = pl.read_csv(folder / "truth.csv")
    is_positive = pl.col("sentiment") == "positive"

    def day(number: int, rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(day=pl.lit(number))

    few = [day(2, sample.filter(is_positive).head(1)), day(3, sample.filter(~is_positive).head(5))]
    days = pl.concat([day(1, sample), *few, day(4, sample), day(5, sample.filter(is_positive))])
    found = quantify(days, model=plain_model, by="day", replicates=50)
    assert [bool(batch.change) for batch in found.batches] == [False] * 4 + [True]
    assert f"{SMALL} items or more" in EVENTS["changed"]
