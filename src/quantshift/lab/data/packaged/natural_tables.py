"""Real tables with natural groups: states, years, months. Each reader returns a content.

Columns that state the label, or the group in other words, are left out; the docstring of each
reader says which.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quantshift.lab.data.packaged.package_files import keel_table, read_csv_table
from quantshift.lab.data.sets.content import Content

INJURIES = (
    "No_Injury",
    "Possible_Injury",
    "Nonincapaciting_Evident_Injury",
    "Incapaciting_Injury",
    "Fatal_Injury",
)
HAPPINESS = ("not too happy", "pretty happy", "very happy")
DEFICIENT_BELOW = 90
"""A score of an inspection below this is called deficient."""
LATE_MINUTES = 15
"""A flight that arrives later than this is late, as the Bureau of Transportation counts."""


def fars(file: Path) -> Content:
    """Persons in fatal crashes in the USA (2001) and how badly they were hurt, by state.

    Left out: race and Hispanic origin, which are known of the dead only and so state the label, and
    1,209 persons whose injury is unknown, or who died before the crash.
    """
    rows = keel_table(file).filter(pl.col("INJURY_SEVERITY").is_in(INJURIES))
    return _content(
        rows.drop("RACE", "HISPANIC_ORIGIN"), "INJURY_SEVERITY", INJURIES, "CASE_STATE", True
    )


def happiness(file: Path) -> Content:
    """Happiness in the General Social Survey, by year.

    Left out: whether very happy, indicators of the years, and votes, which were asked in some years
    only.
    """
    rows = read_csv_table(file).with_columns(pl.col("year").cast(pl.String))
    again = [name for name in rows.columns if name.startswith(("y9", "y0", "gwbush", "vhappy"))]
    return _content(rows.drop(again), "happy", HAPPINESS, "year", True)


def county_murders(file: Path) -> Content:
    """Whether anyone was murdered in a county of the USA, by year.

    Left out: murders, arrests for murder and their rates, executions, and codes of counties.
    """
    rows = read_csv_table(file)
    label = pl.when(pl.col("murders") > 0).then(pl.lit("some")).otherwise(pl.lit("none"))
    rows = rows.with_columns(
        label.alias("murder"),
        pl.col("year").cast(pl.String),
        pl.col("rpcincmaint", "rpcpersinc", "rpcunemins").cast(pl.Float64, strict=False),
    )
    kept = ["density", "popul", "perc1019", "perc2029", "percblack", "percmale"]
    kept += ["rpcincmaint", "rpcpersinc", "rpcunemins"]
    return _content(rows.select(*kept, "year", "murder"), "murder", ("none", "some"), "year")


def restaurant_inspections(file: Path) -> Content:
    """Inspections of restaurants in Anchorage: whether the score is below 90, by year.

    Left out: the name of the restaurant.
    """
    rows = read_csv_table(file)
    low = pl.col("inspection_score") < DEFICIENT_BELOW
    label = pl.when(low).then(pl.lit("deficient")).otherwise(pl.lit("good"))
    rows = rows.select(
        "NumberofLocations",
        pl.col("Weekend").cast(pl.String),
        pl.col("Year").cast(pl.String),
        result=label,
    )
    return _content(rows, "result", ("good", "deficient"), "Year")


def home_ownership(file: Path) -> Content:
    """Men in the US census and whether they own their home, by the state of birth."""
    label = pl.when(pl.col("home_ownership") == 1).then(pl.lit("owner")).otherwise(pl.lit("other"))
    rows = read_csv_table(file).with_columns(home_ownership=label)
    return _content(rows, "home_ownership", ("other", "owner"), "bpl")


def flights(file: Path) -> Content:
    """Flights from New York in 2013 and whether they arrived late, by month.

    Left out: everything known only after the schedule (delays, times), and 9,430 flights that did
    not arrive. The weekday is made from the date.
    """
    rows = read_csv_table(file).filter(pl.col("arr_delay").is_not_null())
    late = pl.col("arr_delay") > LATE_MINUTES
    weekday = pl.date("year", "month", "day").dt.weekday().cast(pl.String)
    rows = rows.select(
        *("carrier", "origin", "distance", "sched_dep_time", "sched_arr_time", "hour"),
        month=pl.format("2013-{}", pl.col("month").cast(pl.String).str.zfill(2)),
        weekday=weekday,
        arrival=pl.when(late).then(pl.lit("late")).otherwise(pl.lit("on time")),
    )
    return _content(rows, "arrival", ("on time", "late"), "month")


def _content(
    rows: pl.DataFrame, label: str, classes: Sequence[Any], group: str, ordinal: bool = False
) -> Content:
    return Content(
        labels=rows[label].alias("label"),
        classes=tuple(classes),
        ordinal=ordinal,
        categories=rows[group],
        groups={group: rows[group]},
        columns=rows.drop(label, group),
    )
