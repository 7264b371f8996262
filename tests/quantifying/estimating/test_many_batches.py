"""What several batches of one call are to each other."""

import numpy as np
import polars as pl
import pytest

from quantshift.intervals.prediction import PrevalenceInterval
from quantshift.quantifying import quantify
from quantshift.quantifying.estimating.batches import changed_classes
from quantshift.quantifying.estimating.many_batches import in_sequence
from quantshift.quantifying.reading.pool import batches_in_order
from quantshift.statistics.multiple_tests import holm


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["2026-03-02", "2026-03-03"], True),
        (["2026-W09", "2026-W10"], True),
        (["9", "10"], True),
        (["week-9.csv", "week-10.csv"], True),
        (["only.csv"], True),
        (["north", "south"], False),
        (["a.csv", "b.csv"], False),
        (["a.csv: 2026-01", "b.csv: 2026-01"], False),
        (["28-01-2026.csv", "01-02-2026.csv"], True),
        (["01-02-2026.csv", "28-01-2026.csv"], False),
        (["01.02.26", "28.01.26"], False),
        (["28/01/2026 06:00", "01/02/2026 06:00"], True),
        (["1.2.0", "1.10.3"], True),
    ],
)
def test_batches_follow_one_another_if_only_numbers_differ(names, expected):
    assert in_sequence(names) == expected


def test_names_of_batches_are_ordered_by_their_numbers():
    names = ["(missing)", "week-10", "week-9", "nan", "10", "9.5", "-1", "2026-03-02", "1" * 5000]
    assert batches_in_order(names) == [
        *("-1", "9.5", "10", "2026-03-02", "1" * 5000, "nan", "week-9", "week-10", "(missing)"),
    ]


def test_names_that_are_dates_are_in_the_order_of_time():
    """Groups of `judge` and batches of sketches used to be in alphabetical order."""
    names = ["01/02/2026", "(missing)", "28/01/2026", "02/02/2026"]
    assert batches_in_order(names) == ["28/01/2026", "01/02/2026", "02/02/2026", "(missing)"]


def test_p_values_are_adjusted_as_holm_does():
    assert holm([]) == []
    assert holm([0.03]) == [0.03]
    # 4 * 0.01, 3 * 0.02, 2 * 0.03 = 0.06 and 0.9, by hand.
    assert holm([0.9, 0.01, 0.03, 0.02]) == pytest.approx([0.9, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]


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
