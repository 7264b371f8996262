"""Raw outcomes made up for tests of the analysis and the report, and what is told of them.

Tests write rows with one prevalence (of the positive class) and the coordinates of the paper;
`as_results` gives them the columns that stores have.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from quantshift.lab.results.about import About
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words

TRAINING = ("p_train", "alpha_train", "cut_train")
TESTING = ("p_test", "alpha_test", "cut_test", "control", "repeat")

KINDS = {"concept-forced": "concept"}
"""Kind of shift of the experiments that are not called by it."""

COORDINATES = {
    "p_train": Coordinate("p_train", "train", "float", "training prevalence", "p_L"),
    "p_test": Coordinate("p_test", "test", "float", "test prevalence", "p_U"),
    "alpha_train": Coordinate("alpha_train", "train", "float", "training mix", r"\alpha_L"),
    "alpha_test": Coordinate("alpha_test", "test", "float", "test mix", r"\alpha_U"),
    "cut_train": Coordinate("cut_train", "train", "float", "training cut point", "c_L"),
    "cut_test": Coordinate("cut_test", "test", "float", "test cut point", "c_U"),
    "control": Coordinate("control", "test", "bool", "control", ""),
    "repeat": Coordinate("repeat", "test", "int", "repeat", ""),
}

WORDS = {
    "prior": Words("Prior shift", "$p_U - p_L$, rounded to one decimal", digits=1),
    "covariate": Words(
        "Global covariate shift",
        r"$\alpha_L - \alpha_U$",
        digits=1,
        facets={"pure": "pure", "mixed": "mixed"},
        tables_by="p_train",
        columns_by="p_test",
        shaded_facet="pure",
        note="Grey: pure covariate shift, the prevalence stays.",
    ),
    "local": Words(
        "Local covariate shift and its control",
        "$p_U - p_L$",
        facets={"": "shifted", "control": "control"},
        columns_by="facet",
        note="Control: the same prevalences under plain prior shift.",
    ),
    "concept": Words("Concept shift", "$c_L - c_U$", digits=0),
    "concept-forced": Words("Concept shift with forced priors", "$c_L - c_U$", digits=0),
}


def about(
    experiment: str,
    *,
    words: Words | None = None,
    coordinates: Sequence[str | Coordinate] = tuple(COORDINATES),
    datasets: Mapping[str, tuple[str, ...]] | None = None,
) -> About:
    """What a store would tell of the experiment."""
    return About(
        name=experiment,
        title=experiment.capitalize(),
        shift=KINDS.get(experiment, experiment),
        coordinates=tuple(COORDINATES[c] if isinstance(c, str) else c for c in coordinates),
        words=words or WORDS.get(experiment) or Words(experiment, "degree"),
        datasets=datasets or {"reviews": ("negative", "positive")},
        diagnostics={},
    )


def abouts(*experiments: str) -> dict[str, About]:
    """What a store would tell of each experiment; of the paper's, unless others are named."""
    return {name: about(name) for name in experiments or WORDS}


NUMBERS = {
    **dict.fromkeys(("stratum", "train_repeat", "sample", "size"), pl.Int32),
    "degree": pl.Float64,
}


def as_results(frame: pl.DataFrame, *, dataset: str = "reviews") -> pl.DataFrame:
    """Rows with one prevalence and the paper's coordinates, with the columns of results."""
    rows = frame.with_columns(
        pl.lit(None, pl.Float64).alias(name)
        for name in (*TRAINING, *TESTING[:3], "degree")
        if name not in frame.columns
    )
    if "control" not in rows.columns:
        rows = rows.with_columns(control=pl.lit(None, pl.Boolean))
    samples = rows.select("experiment", "cell", *TESTING).unique().sort(pl.all())
    samples = samples.with_columns(
        sample=pl.int_range(pl.len(), dtype=pl.Int32).over("experiment", "cell")
    )
    points = rows.select("experiment", *TRAINING).unique().sort(pl.all(), nulls_last=True)
    points = points.with_columns(stratum=pl.int_range(pl.len(), dtype=pl.Int32).over("experiment"))
    for keys in (samples, points):
        on = [name for name in keys.columns if name not in ("sample", "stratum")]
        rows = rows.join(keys, on=on, how="left", nulls_equal=True, maintain_order="left")
    mixture = pl.col("alpha_train").is_not_null() & pl.col("p_test").is_not_null()
    pure = (pl.col("p_train") - pl.col("p_test")).abs() < 1e-9
    return rows.with_columns(
        pl.col("experiment").replace(KINDS).alias("shift"),
        pl.lit(dataset).alias("dataset"),
        pl.when(mixture & pure)
        .then(pl.lit("pure"))
        .when(mixture)
        .then(pl.lit("mixed"))
        .when(pl.col("control"))
        .then(pl.lit("control"))
        .otherwise(pl.lit(""))
        .alias("facet"),
        pl.col("train_repeat", "size").cast(pl.Int32),
        pl.concat_list(1 - pl.col("p_true"), pl.col("p_true")).alias("p_true"),
        pl.concat_list(1 - pl.col("p_hat"), pl.col("p_hat")).alias("p_hat"),
    )


def shifted(by: pl.Expr | float) -> pl.Expr:
    """The estimates with the last class's prevalence raised by so much, at the first's expense."""
    last = pl.col("p_hat").list.last() + by
    return pl.concat_list(1 - last, last).alias("p_hat")


def make_outcomes(
    errors: Mapping[str, float],
    *,
    experiment: str = "prior",
    points: Sequence[Mapping[str, Any]] = ({"p_train": 0.5, "p_test": 0.3, "degree": -0.2},),
    train_repeats: int = 3,
    repeats: int = 4,
    noise: float = 0.0,
    seed: int = 0,
    dataset: str = "reviews",
) -> pl.DataFrame:
    """Outcomes of methods whose error is that of `errors`, plus noise that differs by sample."""
    rng = np.random.default_rng(seed)
    rows = []
    for point in points:
        names = {name: point[name] for name in TRAINING if point.get(name) is not None}
        for train_repeat in range(train_repeats):
            coordinates = {**names, "train_repeat": train_repeat}
            cell = ",".join(f"{name}={value:g}" for name, value in coordinates.items())
            for repeat in range(repeats):
                for method, error in errors.items():
                    p_true = point.get("p_test") or 0.5
                    rows.append(
                        {
                            **point,
                            "experiment": experiment,
                            "cell": cell,
                            "method": method,
                            "train_repeat": train_repeat,
                            "repeat": repeat,
                            "size": 500,
                            "p_true": p_true,
                            "p_hat": p_true + error + noise * rng.normal(),
                        }
                    )
    return as_results(pl.DataFrame(rows, infer_schema_length=None), dataset=dataset)


def vector_outcomes(
    errors: Mapping[str, float],
    *,
    n_classes: int = 3,
    experiment: str = "many",
    dataset: str = "letters",
    train_repeats: int = 3,
    repeats: int = 4,
    noise: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """Outcomes with several classes; an error moves prevalence from the first class to the last."""
    rng = np.random.default_rng(seed)
    rows = []
    for train_repeat in range(train_repeats):
        for sample in range(repeats):
            p_true = rng.dirichlet(np.ones(n_classes)) * 0.2 + 0.8 / n_classes
            for method, error in errors.items():
                p_hat = p_true.copy()
                moved = error + noise * rng.normal()
                p_hat[[0, -1]] += [-moved, moved]
                rows.append(
                    {
                        "experiment": experiment,
                        "shift": "uniform",
                        "dataset": dataset,
                        "cell": f"train_repeat-{train_repeat}",
                        "method": method,
                        "stratum": 0,
                        "train_repeat": train_repeat,
                        "sample": sample,
                        "facet": "",
                        "degree": None,
                        "size": 500,
                        "p_true": p_true.tolist(),
                        "p_hat": p_hat.tolist(),
                    }
                )
    return pl.DataFrame(rows, schema_overrides=NUMBERS)
