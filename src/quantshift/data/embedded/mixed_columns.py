"""A synthetic table of mixed columns whose P(y | x) is known.

Customers of six sites over two years: numbers, categories and booleans, some cells missing, and
whether a customer left. Site and date change the distribution of the columns, and so the prevalence
of the classes, but never P(y | x): between sites and over time there is only covariate shift, and
the known posteriors are valid everywhere. A missing cell has its own effect, so that P(y | x) is
exact for rows with missing values too.

Numbers are rounded, so that the table is the same on every machine.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quantshift.base.forks import uses_tables
from quantshift.base.seeding import generator
from quantshift.base.types import Posteriors

CLASSES = ("no", "yes")
FIRST_DAY, N_DAYS = datetime.date(2022, 1, 1), 730
SITES = ("coast", "harbour", "hills", "north", "south", "valley")

_SITE_SHARES = (0.25, 0.2, 0.15, 0.1, 0.2, 0.1)
_SITE_AGES = (38.0, 44.0, 50.0, 56.0, 42.0, 60.0)
_SITE_INCOMES = (2.9, 2.6, 2.3, 2.0, 2.7, 1.8)
_CHANNELS, _CHANNEL_EFFECTS = ("phone", "post", "shop", "web"), (0.5, 0.9, -0.6, 0.0)
_FIRST_CHANNELS = (
    (0.2, 0.05, 0.15, 0.6),
    (0.25, 0.1, 0.25, 0.4),
    (0.3, 0.2, 0.3, 0.2),
    (0.35, 0.3, 0.25, 0.1),
    (0.2, 0.1, 0.3, 0.4),
    (0.3, 0.4, 0.2, 0.1),
)
_LAST_CHANNELS = (0.15, 0.02, 0.03, 0.8)
_PLANS, _PLAN_EFFECTS = ("basic", "family", "plus", "trial"), (0.0, -0.8, -0.4, 1.4)
_FIRST_PLANS, _LAST_PLANS = np.array((0.4, 0.3, 0.25, 0.05)), np.array((0.4, 0.1, 0.1, 0.4))
_NO_CHANNEL, _NO_INCOME = 0.3, 0.7


@dataclass(frozen=True, eq=False)
class MixedTable:
    """The table: columns of features, and the label, site and date of each row.

    columns  a polars frame: numbers, booleans and strings; null where a cell is missing
    labels   "yes" or "no"
    sites    the group of each row
    dates    as YYYY-MM-DD
    """

    columns: pl.DataFrame
    labels: NDArray[Any]
    sites: NDArray[Any]
    dates: NDArray[Any]

    @property
    def posteriors(self) -> Posteriors:
        """The true P(no | x) and P(yes | x) of each row."""
        return mixed_posteriors(self.columns)


@uses_tables
def mixed_table(n_items: int = 12_000, *, seed: int = 0) -> MixedTable:
    """Draw the table; the defaults give the embedded data set `mixed-table`.

    >>> table = mixed_table(1000)
    >>> table.columns.columns
    ['age', 'income', 'visits', 'member', 'channel', 'plan', 'rating']
    >>> table.posteriors.shape
    (1000, 2)
    """

    def rng(column: str) -> np.random.Generator:
        return generator(seed, data="mixed-table", column=column)

    site = _chosen(rng("site").random(n_items), _SITE_SHARES)
    day = (rng("date").random(n_items) * N_DAYS).astype(np.int64)
    elapsed = day / N_DAYS
    age = np.array(_SITE_AGES)[site] + 13 * rng("age").standard_normal(n_items)
    z = rng("income").standard_normal(n_items)
    income = np.array(_SITE_INCOMES)[site] + 0.8 * z + 0.15 * z * z
    first = np.array(_FIRST_CHANNELS)[site]
    channel_shares = first + elapsed[:, np.newaxis] * (np.array(_LAST_CHANNELS) - first)
    channel = _chosen(rng("channel").random(n_items), channel_shares)
    plan_shares = _FIRST_PLANS + elapsed[:, np.newaxis] * (_LAST_PLANS - _FIRST_PLANS)
    plan = _chosen(rng("plan").random(n_items), plan_shares)
    no_income = rng("gaps of income").random(n_items) < 0.08 + 0.2 * elapsed
    no_channel = rng("gaps of channel").random(n_items) < 0.05
    columns = pl.DataFrame(
        {
            "age": np.clip(np.rint(age), 18, 95),
            "income": pl.Series(np.round(np.maximum(income, 0.3), 3)).set(
                pl.Series(no_income), None
            ),
            "visits": np.floor(12 * rng("visits").random(n_items) ** 2),
            "member": rng("member").random(n_items) < 0.4,
            "channel": _words(_CHANNELS, channel).set(pl.Series(no_channel), None),
            "plan": _words(_PLANS, plan),
            "rating": np.round(rng("rating").standard_normal(n_items), 3),
        }
    )
    is_yes = rng("label").random(n_items) < mixed_posteriors(columns)[:, 1]
    days = np.datetime64(FIRST_DAY) + day.astype("timedelta64[D]")
    return MixedTable(
        columns,
        np.array(CLASSES)[is_yes.astype(np.int64)],
        np.array(SITES)[site],
        days.astype(np.str_),
    )


@uses_tables
def mixed_posteriors(columns: pl.DataFrame) -> Posteriors:
    """The true P(no | x) and P(yes | x) of rows with the columns of a `MixedTable`."""
    age, visits = columns["age"].to_numpy(), columns["visits"].to_numpy()
    income = columns["income"].to_numpy()
    member = columns["member"].to_numpy().astype(np.float64)
    channel, plan = columns["channel"], columns["plan"]
    on_web = (channel == "web").fill_null(False).to_numpy()
    logit = (
        -0.1
        + 0.03 * (age - 45)
        + np.where(np.isnan(income), _NO_INCOME, -0.7 * (income - 2.5))
        - 0.12 * visits
        - 0.7 * member
        + _effects(channel, dict(zip(_CHANNELS, _CHANNEL_EFFECTS, strict=True)), _NO_CHANNEL)
        + _effects(plan, dict(zip(_PLANS, _PLAN_EFFECTS, strict=True)), 0.0)
        + 1.2 * ((age > 60) & on_web)
    )
    p_yes = 1 / (1 + np.exp(-logit))
    return np.column_stack([1 - p_yes, p_yes])


def _chosen(u: NDArray[np.float64], shares: Sequence[float] | NDArray[Any]) -> NDArray[np.int64]:
    """The level of each row: the position of its uniform number among the cumulative shares."""
    steps = np.cumsum(np.broadcast_to(np.asarray(shares), (len(u), np.shape(shares)[-1])), axis=1)
    return np.asarray((u[:, np.newaxis] > steps[:, :-1]).sum(axis=1))


def _words(levels: Sequence[str], codes: NDArray[np.int64]) -> pl.Series:
    return pl.Series(np.array(levels)[codes].tolist(), dtype=pl.String)


def _effects(column: pl.Series, effects: Mapping[str, float], gap: float) -> NDArray[np.float64]:
    return column.replace_strict(effects, default=gap, return_dtype=pl.Float64).to_numpy()
