"""Drawn customers whose P(left | columns) is known: the rows of `mixed_table` and of the examples.

Customers of six sites over two years: numbers, categories and booleans, some cells missing, and
whether a customer left. Site and date change the distribution of the columns, and so the prevalence
of the classes, but never P(y | x): between sites and over time there is only covariate shift, and
the known posteriors are valid everywhere. A missing cell has its own effect, so that P(y | x) is
exact for rows with missing values too.

Numbers are rounded, so that the rows are the same on every machine.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quantshift.base.seeding import generator
from quantshift.base.types import Posteriors

CLASSES = ("no", "yes")
FIRST_DAY, N_DAYS = datetime.date(2022, 1, 1), 730
SITES = ("coast", "harbour", "hills", "north", "south", "valley")
CHANNELS, PLANS = ("phone", "post", "shop", "web"), ("basic", "family", "plus", "trial")
MISSING = -1
"""The code of a channel or plan that is missing or unknown."""

_SITE_SHARES = (0.25, 0.2, 0.15, 0.1, 0.2, 0.1)
_SITE_AGES = (38.0, 44.0, 50.0, 56.0, 42.0, 60.0)
_SITE_INCOMES = (2.9, 2.6, 2.3, 2.0, 2.7, 1.8)
_FIRST_CHANNELS = (
    (0.2, 0.05, 0.15, 0.6),
    (0.25, 0.1, 0.25, 0.4),
    (0.3, 0.2, 0.3, 0.2),
    (0.35, 0.3, 0.25, 0.1),
    (0.2, 0.1, 0.3, 0.4),
    (0.3, 0.4, 0.2, 0.1),
)
_LAST_CHANNELS = (0.15, 0.02, 0.03, 0.8)
_FIRST_PLANS, _LAST_PLANS = np.array((0.4, 0.3, 0.25, 0.05)), np.array((0.4, 0.1, 0.1, 0.4))
# The last effect is that of a missing cell, which MISSING takes.
_CHANNEL_EFFECTS = np.array((0.5, 0.9, -0.6, 0.0, 0.3))
_PLAN_EFFECTS = np.array((0.0, -0.8, -0.4, 1.4, 0.0))
_NO_INCOME = 0.7


@dataclass(frozen=True, eq=False)
class Customers:
    """Rows of customers.

    columns  the features by name: numbers, booleans and strings; None where a cell is missing
    labels   "yes" or "no"
    sites    the group of each row
    dates    as YYYY-MM-DD
    """

    columns: Mapping[str, list[Any]]
    labels: NDArray[Any]
    sites: NDArray[Any]
    dates: NDArray[Any]


def draw_customers(n_items: int, *, seed: int) -> Customers:
    """Customers, the same for the same seed."""

    def rng(column: str) -> np.random.Generator:
        return generator(seed, data="mixed-table", column=column)

    site = _chosen(rng("site").random(n_items), _SITE_SHARES)
    day = (rng("date").random(n_items) * N_DAYS).astype(np.int64)
    elapsed = day / N_DAYS
    age = np.array(_SITE_AGES)[site] + 13 * rng("age").standard_normal(n_items)
    age = np.clip(np.rint(age), 18, 95)
    z = rng("income").standard_normal(n_items)
    income = np.array(_SITE_INCOMES)[site] + 0.8 * z + 0.15 * z * z
    income = np.maximum(income, 0.3).round(3)
    visits = np.floor(12 * rng("visits").random(n_items) ** 2)
    member = rng("member").random(n_items) < 0.4
    first = np.array(_FIRST_CHANNELS)[site]
    channel_shares = first + elapsed[:, np.newaxis] * (np.array(_LAST_CHANNELS) - first)
    channel = _chosen(rng("channel").random(n_items), channel_shares)
    plan_shares = _FIRST_PLANS + elapsed[:, np.newaxis] * (_LAST_PLANS - _FIRST_PLANS)
    plan = _chosen(rng("plan").random(n_items), plan_shares)
    income[rng("gaps of income").random(n_items) < 0.08 + 0.2 * elapsed] = np.nan
    channel[rng("gaps of channel").random(n_items) < 0.05] = MISSING
    p_yes = posteriors(age, income, visits, member, channel, plan)[:, 1]
    is_yes = rng("label").random(n_items) < p_yes
    days = np.datetime64(FIRST_DAY) + day.astype("timedelta64[D]")
    columns: dict[str, list[Any]] = {
        "age": age.astype(np.int64).tolist(),
        "income": [None if np.isnan(number) else number for number in income.tolist()],
        "visits": visits.astype(np.int64).tolist(),
        "member": member.tolist(),
        "channel": [None if code == MISSING else CHANNELS[code] for code in channel.tolist()],
        "plan": [PLANS[code] for code in plan.tolist()],
        "rating": np.round(rng("rating").standard_normal(n_items), 3).tolist(),
    }
    return Customers(
        columns,
        np.array(CLASSES)[is_yes.astype(np.int64)],
        np.array(SITES)[site],
        days.astype(np.str_),
    )


def posteriors(
    age: NDArray[np.float64],
    income: NDArray[np.float64],
    visits: NDArray[np.float64],
    member: NDArray[np.bool_],
    channel: NDArray[np.int64],
    plan: NDArray[np.int64],
) -> Posteriors:
    """The true P(no | x) and P(yes | x) of each row.

    A missing income is NaN; channels and plans are positions in CHANNELS and PLANS, or MISSING.
    """
    logit = (
        -0.1
        + 0.03 * (age - 45)
        + np.where(np.isnan(income), _NO_INCOME, -0.7 * (income - 2.5))
        - 0.12 * visits
        - 0.7 * member
        + _CHANNEL_EFFECTS[channel]
        + _PLAN_EFFECTS[plan]
        + 1.2 * ((age > 60) & (channel == CHANNELS.index("web")))
    )
    p_yes = 1 / (1 + np.exp(-logit))
    return np.column_stack([1 - p_yes, p_yes])


def _chosen(u: NDArray[np.float64], shares: Sequence[float] | NDArray[Any]) -> NDArray[np.int64]:
    """The level of each row: the position of its uniform number among the cumulative shares."""
    steps = np.cumsum(np.broadcast_to(np.asarray(shares), (len(u), np.shape(shares)[-1])), axis=1)
    return np.asarray((u[:, np.newaxis] > steps[:, :-1]).sum(axis=1))
