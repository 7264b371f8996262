"""Published numbers next to ours: from the suites' `published.csv` and from the paper's tables.

They were obtained with other splits, classifiers or data; each says what differs.
"""

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

import polars as pl

from quantshift.lab.data.sets.dataset import STARS_CUT
from quantshift.lab.leaderboard.scores import READ
from quantshift.lab.paper.published import against_published
from quantshift.lab.results.store import ResultStore

SCHEMA = pl.Schema(
    {
        "suite": pl.String(),
        "experiment": pl.String(),
        "part": pl.String(),
        "dataset": pl.String(),
        "method": pl.String(),
        "same_as": pl.String(),
        "measure": pl.String(),
        "value": pl.Float64(),
        "ours": pl.Float64(),
        "source": pl.String(),
        "differs": pl.String(),
    }
)
"""One row per published number; `same_as`: our name of the method, `ours`: our error, if any."""

OUR_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "EMQ": "SLD",
        "o-SLD": "OrdinalSLD",
        "o-ACC": "OrdinalACC",
        "o-PACC": "OrdinalPACC",
        "X": "MethodX",
        "NaivePCC": "PCC by label",
        "NaivePACC": "PACC by label",
    }
)
"""Our names of methods that have other names elsewhere."""

PAPER = "Binary Quantification and Dataset Shift (2024), tables of mean absolute errors"

STARS = tuple(f"{side} {STARS_CUT:g}" for side in ("below", "above"))
"""The classes of reviews, as in the paper."""

_CSV = ("suite", "experiment", "dataset", "method", "measure", "value", "source", "differs")


def published_numbers(store: ResultStore, scores: pl.DataFrame) -> pl.DataFrame:
    """The published numbers of the experiments and data sets that have results in the store."""
    places = scores.select("experiment", "part", "dataset").unique()
    listed = _of_suites().join(
        places.filter(pl.col("part") == pl.col("experiment")), on=["experiment", "dataset"]
    )
    same_as = pl.col("method").replace(dict(OUR_NAMES))
    ours = scores.select("experiment", "part", "dataset", "measure", "method", "error").rename(
        {"method": "same_as", "error": "ours"}
    )
    on = ["experiment", "part", "dataset", "measure", "same_as"]
    numbers = listed.with_columns(same_as=same_as).join(
        ours, on=on, how="left", maintain_order="left"
    )
    return pl.concat([numbers.select(SCHEMA.names()).cast(SCHEMA), *_of_the_paper(store, scores)])


def _of_suites() -> pl.DataFrame:
    """All rows of all `published.csv`."""
    frames = [pl.DataFrame(schema={name: SCHEMA[name] for name in _CSV})]
    for folder in (resources.files("quantshift.lab.experiments") / "library").iterdir():
        file = folder / "published.csv"
        if folder.is_dir() and file.is_file():
            frames.append(
                pl.read_csv(
                    file.read_bytes(), columns=list(_CSV), schema_overrides=_types()
                ).select(_CSV)
            )
    return pl.concat(frames)


def _types() -> dict[str, pl.DataType]:
    return {name: SCHEMA[name] for name in _CSV}


def _of_the_paper(store: ResultStore, scores: pl.DataFrame) -> list[pl.DataFrame]:
    """Means over the rows of the paper's tables that have a counterpart here, by data set.

    Ours are means over the same rows, not over all samples as elsewhere on the leaderboard.
    """
    kinds = scores.filter(pl.col("shift").is_in(["prior", "covariate"]) & (pl.col("classes") == 2))
    frames = []
    for (experiment, dataset), scores_of_place in kinds.group_by(
        "experiment", "dataset", maintain_order=True
    ):
        if store.about(str(experiment)).datasets[str(dataset)] != STARS:
            continue
        names = [n for n in (*READ, "degree", "p_train", "p_test") if n != "train_repeat"]
        rows = store.read([str(experiment)], datasets=[str(dataset)])
        columns = rows.collect_schema().names()
        both = against_published(rows.select(n for n in names if n in columns).collect()).filter(
            pl.col("ours").is_not_null()
        )
        parts = scores_of_place.select("part").unique()["part"].to_list()
        means = both.group_by("setup", "method", maintain_order=True).agg(
            value=pl.col("theirs").mean(), ours=pl.col("ours").mean(), n=pl.len()
        )
        frames.append(
            means.with_columns(
                suite=pl.lit("paper"),
                experiment=pl.lit(experiment),
                dataset=pl.lit(dataset),
                part=pl.col("setup"),
                same_as=pl.col("method"),
                measure=pl.lit("ae"),
                source=pl.lit(PAPER),
                differs=pl.format(
                    "theirs: Amazon reviews, full sizes; both are means over {} rows of the table",
                    "n",
                ),
            )
            .filter(pl.col("part").is_in(parts))
            .select(SCHEMA.names())
            .cast(SCHEMA)
        )
    return frames
