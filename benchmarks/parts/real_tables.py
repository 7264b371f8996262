"""Real tables for the simulations: where they are, their role, and how to draw from them.

The tables are read from the folder that QUANTSHIFT_TABLES names; they are never part of the
repository, and nothing synthetic can stand in for them: without the variable a benchmark says so
and ends. `DEVELOPMENT` tables may be used to choose a constant; reported figures come from the
tables `KEPT_ASIDE`, or from repetitions of a development table that were not used before
(`--first-repeat`).
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from quantshift.base.seeding import generator

TARGETS = {
    # name: (label column, the values that count as positive)
    "bank_churn": ("Exited", (1,)),
    "communities_crime": ("high_violent_crime", (1,)),
    "dutch_census": ("occupation", (1,)),
    "hospital_readmission": ("readmitted", ("yes",)),
    "uci_image_seg": ("label", (1, 2, 3)),
    "uci_page_block": ("label", (2, 3, 4, 5)),
    "law_school": ("pass_bar", (0,)),
    "student_grade": ("grade", (2, 3, 4)),
    "support_hospital_death": ("hospdead", (1,)),
    "telco_churn": ("Churn", ("Yes",)),
    "uci_abalone": ("label", tuple(range(11, 30))),
    "uci_waveform-v1": ("label", (1,)),
    "uci_yeast": ("label", (1, 2)),
    "weather_australia": ("RainTomorrow", ("Yes",)),
}

DEVELOPMENT = (
    "bank_churn",
    "communities_crime",
    "dutch_census",
    "hospital_readmission",
    "uci_image_seg",
    "uci_page_block",
)

KEPT_ASIDE = tuple(name for name in TARGETS if name not in DEVELOPMENT)


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table with its classes: every column but the label, and codes 0 .. n_classes - 1."""

    name: str
    columns: pd.DataFrame
    codes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Draw:
    """One training set with its pool of test items, with prepared features."""

    X_train: NDArray[np.float64]
    y_train: NDArray[np.int64]
    X_pool: NDArray[np.float64]
    y_pool: NDArray[np.int64]


def tables_dir() -> Path:
    """The folder of the tables; without it there is nothing to measure, and the program ends."""
    folder = os.environ.get("QUANTSHIFT_TABLES")
    if folder is None:
        print("skipped: this needs real tables; set QUANTSHIFT_TABLES to their folder")
        raise SystemExit(0)
    if not Path(folder).is_dir():
        raise SystemExit(f"QUANTSHIFT_TABLES: there is no folder {folder}")
    return Path(folder)


def load(name: str, *, binary: bool = True, fewest: int = 100) -> LabelledTable:
    """A table by name. Not binary: every class of at least `fewest` rows, the others left out."""
    label, positive = TARGETS[name]
    path = tables_dir() / f"{name}.csv"
    if not path.is_file():
        raise SystemExit(f"QUANTSHIFT_TABLES: there is no {path}")
    frame = pd.read_csv(path)
    if binary:
        codes = frame[label].isin(positive).to_numpy().astype(np.int64)
    else:
        sizes = frame[label].value_counts()
        frame = frame[frame[label].isin(sizes[sizes >= fewest].index)]
        codes = np.unique(frame[label].to_numpy(), return_inverse=True)[1].astype(np.int64)
    return LabelledTable(name, frame.drop(columns=label), codes)


def draw(table: LabelledTable, n_train: int, *, repeat: int, prior: float | None = None) -> Draw:
    """A training set of `n_train` rows and, disjoint from it, the pool of test items.

    prior: share of class 1 in training; None: the table's own. The remaining rows are the
    pool, at least half of the rows of every class.
    """
    rng = generator(0, purpose="table draw", table=table.name, n_train=n_train, repeat=repeat)
    members = [rng.permutation(np.flatnonzero(table.codes == k)) for k in np.unique(table.codes)]
    sizes = np.array([len(m) for m in members])
    shares = sizes / sizes.sum() if prior is None else np.array([1 - prior, prior])
    wanted = np.minimum(np.maximum(np.round(shares * n_train).astype(int), 5), sizes // 2)
    train = rng.permutation(np.concatenate([m[:n] for m, n in zip(members, wanted, strict=True)]))
    pool = rng.permutation(np.concatenate([m[n:] for m, n in zip(members, wanted, strict=True)]))
    numbers = preparation().fit(table.columns.iloc[train])
    return Draw(
        np.asarray(numbers.transform(table.columns.iloc[train])),
        table.codes[train],
        np.asarray(numbers.transform(table.columns.iloc[pool])),
        table.codes[pool],
    )


def prior_shift_sample(
    codes: NDArray[np.int64], prevalence: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of a sample from a population with the given prevalence of the classes.

    The numbers of items per class are multinomial, so the truth is the population's prevalence.
    No item is drawn twice: a sample with copies holds less information than its size suggests.
    """
    counts = rng.multinomial(size, prevalence)
    rows = []
    for code, n in enumerate(counts):
        members = np.flatnonzero(codes == code)
        rows.append(rng.choice(members, n, replace=False))
    return rng.permutation(np.concatenate(rows))


def preparation() -> object:
    """One-hot categories, standardised numbers, medians and an indicator for missing values."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="(missing)"),
        OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=False),
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )
