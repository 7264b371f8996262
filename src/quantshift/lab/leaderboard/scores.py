"""From raw outcomes to the numbers of a leaderboard: one per method, kind of shift and data set.

A method without some of the estimates that others have gets no number there, because a mean over
different samples would not be comparable.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from quantshift.lab.analysis.deviations import with_errors
from quantshift.lab.analysis.facets import part_of
from quantshift.lab.analysis.training_sets import against_best
from quantshift.lab.leaderboard.benchmark import suite_of
from quantshift.lab.leaderboard.entrants import family_of
from quantshift.lab.report.style.wording import Subject, subjects_of
from quantshift.lab.results.schema import is_estimate
from quantshift.lab.results.store import ResultStore
from quantshift.metrics import MEASURES
from quantshift.quantifiers.baselines import BASELINE

SCHEMA = pl.Schema(
    {
        "suite": pl.String(),
        "experiment": pl.String(),
        "part": pl.String(),
        "title": pl.String(),
        "shift": pl.String(),
        "dataset": pl.String(),
        "classes": pl.Int64(),
        "ordered": pl.Boolean(),
        "method": pl.String(),
        "family": pl.String(),
        "measure": pl.String(),
        "error": pl.Float64(),
        "standard_error": pl.Float64(),
        "high": pl.Float64(),
        "samples": pl.Int64(),
        "expected": pl.Int64(),
        "training_sets": pl.Int64(),
        "p_best": pl.Float64(),
    }
)
"""The columns of a table of scores.

part            the experiment and, if it has several, the facet; `title` is its name for readers
error           mean of the measure over the samples; null if the method lacks some of them
standard_error  of that mean, from the means of the training sets; null if there is only one
high            the 95th percentile of the errors of single samples
samples         number of estimates of the method; `expected`: of the method with the most
p_best          p-value against the best method of the same part and data set, by paired t-tests
                over training sets with Holm's correction; null for the best itself, for a method
                without an error, and if there are fewer than three training sets
"""

READ = (
    *("experiment", "shift", "dataset", "cell", "method", "stratum", "train_repeat", "sample"),
    *("facet", "size", "p_true", "p_hat"),
)


def score_table(store: ResultStore) -> pl.DataFrame:
    """The scores of all results in the store, with the columns of `SCHEMA`."""
    frames = [
        scores
        for rows, subject in experiment_rows(store)
        for scores in _of(rows, subject, store.quantifiers(subject.name))
    ]
    if not frames:
        return pl.DataFrame(schema=SCHEMA)
    scores = pl.concat(frames).with_columns(ordered=_ordered(store))
    return scores.select(SCHEMA.names()).cast(SCHEMA)


def experiment_rows(store: ResultStore) -> Iterator[tuple[pl.DataFrame, Subject]]:
    """The rows of each experiment that has any, with `part`, and its description.

    A method with estimates that are not prevalences is left out: see `invalid_estimates`.
    """
    for experiment in store.experiments:
        rows = store.read([experiment]).select(READ).collect()
        rows = rows.filter(is_estimate().all().over("dataset", "method"))
        if not rows.is_empty():
            descriptions = {experiment: store.about(experiment)}
            rows = part_of(rows)
            yield rows, subjects_of(rows, descriptions)[0]


def invalid_estimates(store: ResultStore) -> pl.DataFrame:
    """How many estimates of each method on a data set are not prevalences, in the column `n`.

    Something other than a run has written them: a run refuses such estimates.
    """
    keys = ["experiment", "dataset", "method"]
    invalid = store.read().filter(~is_estimate())
    return invalid.group_by(keys).agg(n=pl.len()).sort(keys).collect()


def _of(
    rows: pl.DataFrame, subject: Subject, quantifiers: Mapping[str, str]
) -> Iterator[pl.DataFrame]:
    """The scores of an experiment, one frame per measure."""
    by = ["part", "dataset", "method"]
    titles = {facet.part: subject.title(facet) for facet in subject.facets}
    families = {name: family_of(quantifier) for name, quantifier in quantifiers.items()}
    for measure in MEASURES:
        errors = with_errors(rows, measure=measure)
        # In row order, so that the last digits of a standard error do not depend on threads.
        cells = errors.group_by([*by, "cell"], maintain_order=True).agg(
            mean=pl.col("error").mean(), n=pl.len()
        )
        spread = cells.group_by(by).agg(
            training_sets=pl.len(),
            # Training sets have (nearly) the same number of samples; groups of the data may differ.
            standard_error=pl.col("mean").std() / pl.len().sqrt(),
        )
        means = errors.group_by(by).agg(
            error=pl.col("error").mean(),
            high=pl.col("error").quantile(0.95, interpolation="linear"),
            samples=pl.len(),
            classes=pl.col("p_true").list.len().first(),
        )
        expected = pl.col("samples").max().over("part", "dataset")
        yield (
            means.join(spread, on=by)
            .with_columns(
                expected=expected,
                suite=pl.lit(suite_of(subject.name)),
                experiment=pl.lit(subject.name),
                shift=pl.lit(subject.about.shift),
                title=pl.col("part").replace_strict(titles),
                family=pl.col("method").replace_strict(families),
                measure=pl.lit(measure),
            )
            .with_columns(
                pl.when(pl.col("samples") == pl.col("expected"))
                .then(pl.col("error", "standard_error", "high"))
                .name.keep()
            )
            .join(_p_best(cells), on=by, how="left")
            .sort(by)
        )


def _p_best(cells: pl.DataFrame) -> pl.DataFrame:
    """The column `p_best` of each part, data set and method, from mean errors on training sets."""
    frames = []
    for (part, dataset), rows in cells.group_by("part", "dataset", maintain_order=True):
        # A method that lacks samples in a cell has no comparable mean there.
        whole = rows.filter(pl.col("n") == pl.col("n").max().over("cell"))
        wide = whole.pivot(on="method", index="cell", values="mean", maintain_order=True)
        methods = wide.columns[1:]
        p_values = against_best(
            wide.select(pl.col(methods).fill_null(float("nan"))).to_numpy(),
            may_be_best=np.array([method != BASELINE for method in methods]),
        )
        frames.append(
            pl.DataFrame(
                {"method": methods, "p_best": pl.Series(p_values).fill_nan(None)}
            ).with_columns(part=pl.lit(part), dataset=pl.lit(dataset))
        )
    return pl.concat(frames)


def _ordered(store: ResultStore) -> pl.Expr:
    """Whether the classes of the data set are ordered."""
    ordered = {
        dataset
        for experiment in store.experiments
        for dataset in store.datasets(experiment)
        if store.is_ordered(experiment, dataset)
    }
    return pl.col("dataset").is_in(ordered) & (pl.col("classes") > 2)
