"""Measured figures of the documentation: from a run to CSV files, from these to Markdown tables.

    python -m website.measured runs/paper [runs/more ...]
    python -m website.measured runs/tables/leaderboard.csv

Methods that the first run lacks may come from further runs of the same experiments, whose samples
are the same. `errors.csv` is the mean absolute error of every method in every part of the paper's
experiments, `findings.csv` the verdicts on the paper's findings, `published.csv` our errors next to
the published ones by degree of shift, `agreement.csv` how well the two agree. `tables.csv`, from
the leaderboard of a benchmark on tables, has the mean absolute errors by suite; for the suites on
tables of other packages, `SUITE.csv` has the errors by data set and `SUITE-ranks.csv` the mean
ranks (from the results beside the leaderboard). The files in `as-shown` are figures of other
scripts, with the command beside each table; they are shown as they are. In a page, a table is
between `<!-- measured: NAME -->` and `<!-- end -->`.
"""

import csv
import math
import re
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl

from quantshift.lab.analysis import order_methods, part_of, rank_stability, summarise
from quantshift.lab.analysis.methods import ORDER
from quantshift.lab.paper import against_published, verdicts
from quantshift.lab.report.style.wording import UNSEEN
from quantshift.lab.results.store import ResultStore
from quantshift.quantifiers.base import catalogue
from website.pages import DOCS, page_of_method, pages
from website.tables import table

FIGURES = DOCS / "figures"

AS_SHOWN = "as-shown"
"""The folder of figures that are shown as they are."""

RARE = "prior-rare"
"""Prior shift after training sets with 2% of a class."""

PARTS: Mapping[str, str] = {
    "prior": "prior",
    "covariate-pure": "covariate, pure",
    "covariate-mixed": "covariate, mixed",
    "local": "local",
    "concept": "concept",
}
"""Columns of the table of errors: the kinds of shift."""

MODELLED = ("prior", "covariate-pure", "covariate-mixed", "local")
"""The shifts that some method is designed for."""

CONTROLS: Mapping[str, str] = {
    "local-control": "local's control",
    "concept-forced": "concept, forced priors",
}

SUITES: Mapping[str, str] = {
    "tables-prior": "prior",
    "natural": "natural",
    "multiclass-uniform": "several classes, uniform",
    "multiclass-dirichlet": "several classes, Dirichlet",
}
"""Columns of the table of errors on tables."""

OF_OTHER_PACKAGES = ("natural-tables", "uci")
"""Suites on tables of other packages, each with one experiment of the same name."""

OWN = "SubclassSLD"
"""Our method, shown next to those of the paper."""

BASELINE = "MLPE"
"""Right by design where the prevalence stays the same, so it is never marked as the best."""

COLUMNS = (
    *("experiment", "shift", "dataset", "cell", "stratum", "sample", "facet", "method"),
    *("p_train", "alpha_train", "cut_train", "p_test", "alpha_test", "cut_test"),
    *("degree", "size", "p_true", "p_hat"),
)

_BLOCK = re.compile(r"(<!-- measured: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: Sequence[str]) -> None:
    """Measure the run, if one is named, and bring the tables of all pages up to date."""
    paths = [Path(argument) for argument in arguments]
    if paths and paths[0].suffix == ".csv":
        leaderboard = pl.read_csv(paths[0])
        for suite in OF_OTHER_PACKAGES:
            if suite in leaderboard["experiment"]:
                write(errors_by_dataset(leaderboard, suite), FIGURES / f"{suite}.csv")
                rows = ResultStore.open(paths[0].parent).read([suite]).collect()
                write(rank_stability(rows).frame(), FIGURES / f"{suite}-ranks.csv")
        if not leaderboard["experiment"].is_in(OF_OTHER_PACKAGES).all():
            write(suite_errors(leaderboard), FIGURES / "tables.csv")
    elif paths:
        measure(paths, FIGURES)
    tables = measured_blocks(FIGURES)
    for page in pages():
        text = page.read_text(encoding="utf-8")
        filled = fill_blocks(text, tables)
        if filled != text:
            page.write_text(filled, encoding="utf-8", newline="\n")


def measure(runs: Sequence[Path], folder: Path) -> None:
    """Write the CSV files from the results of runs of the paper's experiments.

    Findings and published tables come from the first run; further runs add methods to the errors.
    """
    rows = [ResultStore.open(run).read().select(COLUMNS) for run in runs]
    folder.mkdir(exist_ok=True)
    errors: dict[str, pl.DataFrame] = {}
    for results in rows:
        for method in sorted(complete(results) - set(errors)):  # all at once need much memory
            errors[method] = errors_of(results.filter(pl.col("method") == method).collect())
    write(pl.concat(errors.values()).sort("part", "method"), folder / "errors.csv")
    frame = rows[0].filter(pl.col("method").is_in(ORDER)).collect()
    write(findings_of(frame), folder / "findings.csv")
    published = against_published(frame).rename({"setup": "part"})
    write(by_degree(published), folder / "published.csv")
    write(agreement_of(published), folder / "agreement.csv")


def complete(results: pl.LazyFrame) -> set[str]:
    """The methods that have results for the largest number of training sets."""
    sets = results.group_by("method").agg(pl.struct("experiment", "dataset", "cell").n_unique())
    counts = dict(sets.collect().iter_rows())
    return {method for method, n in counts.items() if n == max(counts.values())}


def write(frame: pl.DataFrame, path: Path) -> None:
    """The frame as CSV with seven decimals."""
    frame.write_csv(path, float_precision=7)


def errors_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute error and its 95% limits, per part and method."""
    columns = ["part", "method", "mean", "low", "high", "n", "training_sets"]
    prior = pl.col("experiment") == "prior"
    rare = frame.filter(prior & pl.col("p_train").is_in([0.02, 0.98]))
    parts = [part_of(frame), rare.with_columns(part=pl.lit(RARE))]
    return pl.concat([summarise(rows, ["part", "method"]).select(columns) for rows in parts])


def suite_errors(leaderboard: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute error per experiment and method, with equal weight for all data sets."""
    return (
        leaderboard.filter(
            pl.col("experiment").is_in(list(SUITES)),
            pl.col("source").is_null(),
            pl.col("measure") == "ae",
        )
        .group_by("experiment", "method")
        .agg(pl.col("error").mean().alias("mean"), pl.len().alias("data_sets"))
        .filter(pl.col("data_sets") == pl.col("data_sets").max().over("experiment"))
        .sort("experiment", "method")
    )


def errors_by_dataset(leaderboard: pl.DataFrame, experiment: str) -> pl.DataFrame:
    """Mean absolute error per data set and method with its standard error; published ones too."""
    rows = leaderboard.filter(pl.col("experiment") == experiment, pl.col("measure") == "ae")
    return rows.select(
        *("dataset", "method", "error", "standard_error", "samples", "training_sets"),
        published=pl.col("source").is_not_null(),
    ).sort("dataset", "published", "method")


def findings_of(frame: pl.DataFrame) -> pl.DataFrame:
    """A row for every claim of every finding."""
    words = {True: "holds", False: "does not hold", None: "cannot be decided"}
    return pl.DataFrame(
        [
            {
                "finding": verdict.number,
                "title": verdict.title,
                "claim": claim.text,
                "verdict": words[claim.holds],
                "figures": claim.figures,
            }
            for verdict in verdicts(frame)
            for claim in verdict.claims
        ]
    )


def by_degree(published: pl.DataFrame) -> pl.DataFrame:
    """Ours and theirs, averaged over the rows of a part that have the same degree."""
    return (
        published.group_by("part", "degree", "method", maintain_order=True)
        .agg(pl.col("ours", "theirs").mean(), rows=pl.len())
        .sort("part", "degree", maintain_order=True)
    )


def agreement_of(published: pl.DataFrame) -> pl.DataFrame:
    """Per part: rows, mean rank correlation of a row, mean absolute difference of a cell."""
    rows = published.unique(["part", "p_train", "p_test", "degree"], maintain_order=True)
    return (
        rows.group_by("part", maintain_order=True)
        .agg(rows=pl.len(), spearman=pl.col("spearman").mean())
        .join(
            published.group_by("part").agg(difference=pl.col("difference").abs().mean()), on="part"
        )
    )


def measured_blocks(folder: Path) -> dict[str, str]:
    """The tables by the name of their block."""
    errors = pl.read_csv(folder / "errors.csv")
    published = pl.read_csv(folder / "published.csv")
    return {
        "errors": errors_table(errors),
        "tables": suites_table(pl.read_csv(folder / "tables.csv")),
        **{
            suite: dataset_table(pl.read_csv(folder / f"{suite}.csv"))
            for suite in OF_OTHER_PACKAGES
        },
        **{
            f"{suite}-ranks": ranks_table(pl.read_csv(folder / f"{suite}-ranks.csv"))
            for suite in OF_OTHER_PACKAGES
        },
        "parts": parts_table(errors),
        **{
            f"errors-{page}": family_table(errors, methods)
            for page, methods in pages_of_methods(errors["method"]).items()
        },
        "findings": findings_table(pl.read_csv(folder / "findings.csv")),
        "agreement": agreement_table(pl.read_csv(folder / "agreement.csv")),
        **{
            f"published-{part}": published_table(published.filter(pl.col("part") == part))
            for part in published["part"].unique(maintain_order=True)
        },
        **{path.stem: _as_shown(path) for path in sorted((folder / AS_SHOWN).glob("*.csv"))},
    }


def _as_shown(path: Path) -> str:
    """The cells of a CSV file as a table."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return table(header, rows)


def fill_blocks(text: str, tables: Mapping[str, str]) -> str:
    """The page with its blocks of these names filled; others stay as they are."""

    def filled(match: re.Match[str]) -> str:
        name = match[2]
        return f"{match[1]}\n{tables[name]}\n\n{match[3]}"

    return _BLOCK.sub(filled, text)


def errors_table(errors: pl.DataFrame) -> str:
    """A row per method: mean absolute errors, and the worst over the modelled shifts.

    Sorted by the worst. Under concept shift the lowest error means nothing and is not bold.
    """
    mean = _means(errors)
    worst = {name: _worst(mean, name) for name in _methods(errors)}
    methods = sorted(worst, key=lambda name: (name == BASELINE, worst[name] or 1.0))
    cells = [_marked(part, [mean.get((part, name)) for name in methods], methods) for part in PARTS]
    cells.append(_bold_least([worst[name] for name in methods], methods))
    cells.append(_bold_least([mean.get((RARE, name)) for name in methods], methods))
    header = ["method", *PARTS.values(), "worst of four", "rare class"]
    return table(header, [[name, *row] for name, *row in zip(methods, *cells, strict=True)])


def suites_table(errors: pl.DataFrame) -> str:
    """A row per method with results for all tables, sorted by the worse of prior and natural."""
    mean = {(e, m): value for e, m, value in errors.select("experiment", "method", "mean").rows()}
    worst = {
        method: max(mean["tables-prior", method], mean["natural", method])
        for method in errors["method"].unique()
        if ("tables-prior", method) in mean and ("natural", method) in mean
    }
    methods = sorted(worst, key=lambda name: (name == BASELINE, worst[name], name))
    cells = [_bold_least([mean.get((e, name)) for name in methods], methods) for e in SUITES]
    cells.insert(2, _bold_least([worst[name] for name in methods], methods))
    header = ["method", *SUITES.values()]
    header.insert(3, "worse of the two")
    return table(header, [[name, *row] for name, *row in zip(methods, *cells, strict=True)])


def dataset_table(errors: pl.DataFrame) -> str:
    """A row per data set, a column per method: the error and, after ±, its standard error.

    Published errors have none. The last row is the mean, for methods with an error on every one.
    """
    datasets = errors["dataset"].unique(maintain_order=True).to_list()
    published = errors.filter("published")["method"].unique(maintain_order=True)
    ours = errors.filter(~pl.col("published"))
    methods = {(False, name): name for name in _methods(ours)}
    methods |= {(True, name): f"published {name}" for name in published}
    found = {
        (is_published, method, dataset): (error, spread)
        for dataset, method, error, spread, is_published in errors.select(
            "dataset", "method", "error", "standard_error", "published"
        ).iter_rows()
    }
    cells = [[found.get((*method, dataset)) for dataset in datasets] for method in methods]
    columns = [[_with_error(cell) for cell in (*column, _mean_of(column))] for column in cells]
    rows = [[name, *row] for name, *row in zip((*datasets, "mean"), *columns, strict=True)]
    return table(["mean absolute error", *methods.values()], rows)


Measured: TypeAlias = tuple[float, float | None]
"""An error and its standard error, if it has one."""


def _mean_of(column: Sequence[Measured | None]) -> Measured | None:
    known = [cell for cell in column if cell is not None]
    if len(known) < len(column):
        return None
    spreads = [spread for _, spread in known if spread is not None]
    error = math.hypot(*spreads) / len(known) if len(spreads) == len(known) else None
    return statistics.fmean(value for value, _ in known), error


def _with_error(cell: Measured | None) -> str:
    if cell is None:
        return ""
    value, spread = cell
    return f"{value:.4f}" if spread is None else f"{value:.4f} ± {spread:.4f}"


def ranks_table(ranks: pl.DataFrame) -> str:
    """Mean rank, interval, and the extremes when one data set is left out."""
    rows = [
        [name, f"{rank:.1f}", f"{low:.1f} to {high:.1f}", f"{lowest:.1f} to {highest:.1f}"]
        for name, rank, low, high, lowest, highest in ranks.rows()
    ]
    return table(["method", "mean rank", "95% interval", "without one data set"], rows)


def parts_table(errors: pl.DataFrame) -> str:
    """A row per part of the experiments, a column for each of the paper's methods and ours."""
    mean = _means(errors)
    methods = [name for name in _methods(errors) if name in (*ORDER, OWN)]
    rows = [
        [name, *_marked(part, [mean.get((part, method)) for method in methods], methods)]
        for part, name in {**PARTS, **CONTROLS}.items()
    ]
    return table(["mean absolute error", *methods], rows)


def family_table(errors: pl.DataFrame, methods: Sequence[str]) -> str:
    """The methods of a page next to the lowest error of each part, with its method.

    Under concept shift the lowest error has no name: all methods fail.
    """
    mean, parts = _means(errors), {**PARTS, **CONTROLS}
    lowest = [
        _text(value) if _unseen(part) else f"{_text(value)} {name}"
        for part in parts
        for value, name in [_least(mean, part)]
    ]
    return table(
        ["mean absolute error", *parts.values()],
        [
            *([name, *(_text(mean.get((part, name))) for part in parts)] for name in methods),
            ["lowest of all methods", *lowest],
        ],
    )


def pages_of_methods(names: Iterable[str]) -> dict[str, list[str]]:
    """The methods of each page on quantifiers; "SLD MAP" belongs to SLD.

    >>> pages_of_methods(["SLD MAP", "KDEyML", "KDEyCS"])
    {'kdey': ['KDEyCS', 'KDEyML'], 'sld': ['SLD MAP']}
    """
    methods: dict[str, list[str]] = {}
    for name in order_methods(names):
        page = page_of_method(catalogue.quantifiers()[name.split()[0]])
        if page is not None:
            methods.setdefault(page.stem, []).append(name)
    return methods


def findings_table(findings: pl.DataFrame) -> str:
    """A row per claim; the finding, and figures shared by several claims, are in the first row."""
    rows, title, figures = [], "", ""
    for row in findings.iter_rows(named=True):
        first, new = row["title"] != title, row["figures"] != figures
        title, figures = row["title"], row["figures"]
        name = f"**{row['finding']}. {title}**" if first else ""
        rows.append([name, row["claim"], row["verdict"], figures if new else ""])
    return table(["finding", "criterion", "here", "figures"], rows)


def agreement_table(agreement: pl.DataFrame) -> str:
    """A row per part of the published tables."""
    return table(
        ["shift", "rows", "mean rank correlation", "mean absolute difference"],
        [
            [PARTS[part], str(rows), f"{spearman:.2f}", _text(difference)]
            for part, rows, spearman, difference in agreement.iter_rows()
        ],
    )


def published_table(published: pl.DataFrame) -> str:
    """Our error / the published one, a row per degree."""
    methods = order_methods(published["method"])
    rows = []
    for (degree,), group in published.group_by("degree", maintain_order=True):
        pairs = {row["method"]: row for row in group.iter_rows(named=True)}
        least = min(methods, key=lambda name: pairs[name]["ours"])
        cells = [f"{_text(pairs[n]['ours'])} / {_text(pairs[n]['theirs'])}" for n in methods]
        bold = [f"**{c}**" if n == least else c for n, c in zip(methods, cells, strict=True)]
        rows.append([f"{degree:+.1f}" if degree else "0.0", *bold])
    return table(["degree", *methods], rows)


def _methods(errors: pl.DataFrame) -> tuple[str, ...]:
    return order_methods(errors["method"])


def _means(errors: pl.DataFrame) -> dict[tuple[str, str], float]:
    rows = errors.select("part", "method", "mean").iter_rows()
    return {(part, method): value for part, method, value in rows}


def _worst(mean: Mapping[tuple[str, str], float], method: str) -> float | None:
    values = [mean.get((part, method)) for part in MODELLED]
    return None if None in values else max(v for v in values if v is not None)


def _least(mean: Mapping[tuple[str, str], float], part: str) -> tuple[float, str]:
    rivals = [(value, m) for (p, m), value in mean.items() if p == part and m != BASELINE]
    return min(rivals)


def _unseen(part: str) -> bool:
    """Whether unlabelled samples cannot show this shift, so that no method is the best."""
    return part.split("-")[0] in UNSEEN


def _marked(part: str, values: Sequence[float | None], methods: Sequence[str]) -> list[str]:
    return [_text(value) for value in values] if _unseen(part) else _bold_least(values, methods)


def _bold_least(values: Sequence[float | None], methods: Sequence[str]) -> list[str]:
    pairs = list(zip(values, methods, strict=True))
    least = min(v for v, name in pairs if v is not None and name != BASELINE)
    return [f"**{_text(v)}**" if v == least and n != BASELINE else _text(v) for v, n in pairs]


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main(sys.argv[1:])
