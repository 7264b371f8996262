import csv
import dataclasses
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from quantshift.base.text_tables import Table, markdown_escape, markdown_table
from quantshift.errors import DataError, UserError
from quantshift.lab.paper import against_published
from quantshift.lab.report.formats import TABLE_FORMATS, save_tables
from quantshift.lab.report.tables.collection import result_tables, shown_methods
from quantshift.lab.report.tables.csv import csv_table
from quantshift.lab.report.tables.html import html_table
from quantshift.lab.report.tables.latex import GREY, latex, latex_text
from quantshift.lab.report.tables.markdown import markdown
from quantshift.lab.report.tables.published import published_comparison_tables
from quantshift.lab.report.tables.shape import WIDEST, fitted
from quantshift.lab.report.tables.summary import summary_table, summary_tables
from quantshift.lab.report.tables.table import MISSING, Cell, ColumnGroup, ReportTable, Row
from quantshift.lab.shifts import Coordinate, Words
from tests.outcomes import about, abouts, as_results, make_outcomes, vector_outcomes

ERRORS = {"CC": 0.2, "ACC": 0.1, "PCC": 0.25, "PACC": 0.08, "DyS": 0.05, "SLD": 0.03, "MLPE": 0.3}
GRID = (0.25, 0.5, 0.75)


def points():
    """Coordinates of small versions of all experiments, and one of a user's."""
    for p_train in GRID:
        for p_test in GRID:
            yield {
                "experiment": "prior",
                "p_train": p_train,
                "p_test": p_test,
                "degree": p_test - p_train,
            }
            for alpha_train in (0.0, 1.0):
                for alpha_test in (0.0, 1.0):
                    yield {
                        "experiment": "covariate",
                        "p_train": p_train,
                        "p_test": p_test,
                        "alpha_train": alpha_train,
                        "alpha_test": alpha_test,
                        "degree": alpha_train - alpha_test,
                    }
    for p_test in GRID:
        for control in (False, True):
            yield {
                "experiment": "local",
                "p_train": 0.5,
                "p_test": p_test,
                "control": control,
                "degree": p_test - 0.5,
            }
    for experiment in ("concept", "concept-forced"):
        for cut_train in (1.5, 2.5):
            for cut_test in (1.5, 2.5):
                yield {
                    "experiment": experiment,
                    "cut_train": cut_train,
                    "cut_test": cut_test,
                    **({"p_train": 0.5, "p_test": 0.75} if experiment != "concept" else {}),
                    "degree": cut_train - cut_test,
                }
    yield {"experiment": "my_own", "p_train": 0.5}


def outcomes():
    rng = np.random.default_rng(0)
    rows = []
    for point in points():
        training = [f"{k}={v:g}" for k, v in point.items() if k.endswith("_train")]
        for train_repeat in range(3):
            for repeat in range(4):
                for method, error in ERRORS.items():
                    rows.append(
                        {
                            **point,
                            "cell": ",".join([*training, f"train_repeat={train_repeat}"]),
                            "method": method,
                            "train_repeat": train_repeat,
                            "repeat": repeat,
                            "size": 500,
                            "p_true": 0.5,
                            "p_hat": 0.5 + error + 0.005 * rng.normal(),
                        }
                    )
    return as_results(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="module")
def frame():
    return outcomes()


@pytest.fixture(scope="module")
def told():
    return abouts()


def table_of(frame, experiment, name=None, **options):
    """The table of that name; by default the only one, or the first, of the experiment."""
    tables = result_tables(frame, abouts(), experiment=experiment, **options)
    return next(table for table in tables if name in (None, table.name))


@pytest.fixture(scope="module")
def tables(frame, told):
    lacking = frame.filter(
        (pl.col("method") != "ACC") | (pl.col("train_repeat") > 0) | (pl.col("degree") != 0)
    )
    many = {f"M{number}": 0.01 * number for number in range(1, 41)}
    return [
        *result_tables(frame, told),
        *(
            dataclasses.replace(table, name=f"lacking-{table.name}")
            for table in result_tables(lacking, told)
        ),
        *summary_tables(frame, told),
        *published_comparison_tables(against_published(frame)),
        *result_tables(make_outcomes(many, points=POINTS)),
        *summary_tables(vector_outcomes({"A": 0.1, "B": 0.05})),
        AWKWARD,
    ]


POINTS = [
    {"p_train": 0.5, "p_test": p_test, "degree": round(p_test - 0.5, 1)} for p_test in (0.2, 0.9)
]


AWKWARD = ReportTable(
    name="awkward",
    caption=r"50% of $\alpha_L - \alpha_U$ & a_b | <i> #1 {x} ~ ^ \ $p_U$.",
    corner="a|b",
    groups=(ColumnGroup("$p_U = 0.5$", ("x_1", "<b>"), shaded=True), ColumnGroup("g & h", ("*",))),
    rows=(
        Row(
            "-0.5",
            (
                Cell(".100", 0.1, mark="best", shaded=True),
                Cell(".200", 0.2, mark="ddag", shaded=True, n=3, samples=4),
                Cell(MISSING),
            ),
            value=-0.5,
        ),
        Row("all", (Cell("-.1", -0.1, mark="dag"), Cell("2"), Cell("3", 3.0)), total=True),
    ),
    legend=("‡ p ≥ .05, † .001 < p < .05.",),
)


def column(table, method, group=0):
    """Cells of a method by the label of the row."""
    position = table.columns.index((table.groups[group], method))
    return {row.label: row.cells[position] for row in table.rows}


def test_prior_table_has_a_row_per_degree_and_a_total(frame):
    table = table_of(frame, "prior")
    assert [row.value for row in table.rows] == [-0.5, -0.25, 0.0, 0.25, 0.5, None]
    assert [row.total for row in table.rows] == [False] * 5 + [True]
    # The words ask for one decimal, which would not tell -0.2 from -0.25.
    assert [row.label for row in table.rows] == ["-0.50", "-0.25", "0.00", "0.25", "0.50", "all"]
    assert [name for _, name in table.columns] == ["CC", "ACC", "PCC", "PACC", "DyS", "SLD"]
    sld, cc = column(table, "SLD"), column(table, "CC")
    assert sld["0.00"].mark == "best"
    assert sld["0.00"].text in {".028", ".029", ".030", ".031", ".032"}
    assert cc["all"].mark == ""
    assert cc["all"].value == pytest.approx(0.2, abs=0.002)
    assert (cc["0.00"].n, cc["all"].n) == (36, 108)
    assert not any(cell.partial for row in table.rows for cell in row.cells)
    assert table.caption == (
        "Prior shift: mean absolute error by degree ($p_U - p_L$, rounded to one decimal)."
    )
    assert (table.experiment, table.parts, table.dataset) == ("prior", ("prior",), "reviews")


def test_covariate_table_is_grey_where_the_prevalence_stays(frame):
    table = table_of(frame, "covariate", "covariate-0.5")
    assert [group.text for group in table.groups] == [f"$p_U = {p:g}$" for p in GRID]
    assert [group.shaded for group in table.groups] == [False, True, False]
    shaded = [cell.shaded for cell in table.rows[0].cells]
    assert shaded == [False] * 6 + [True] * 6 + [False] * 6
    assert [row.label for row in table.rows] == ["-1.0", "0.0", "1.0", "all"]
    assert table.caption.startswith("Global covariate shift, $p_L = 0.5$: mean absolute error")
    assert table.parts == ("covariate-pure", "covariate-mixed")


def test_local_table_keeps_the_control_apart(frame):
    better = frame.with_columns(
        p_hat=pl.when(pl.col("facet") == "control").then("p_true").otherwise("p_hat")
    )
    table = table_of(better, "local")
    assert [group.text for group in table.groups] == ["shifted", "control"]
    assert column(table, "CC")["all"].value == pytest.approx(0.2, abs=0.005)
    assert column(table, "CC", group=1)["all"].value == 0
    assert [row.label for row in table.rows] == ["-0.25", "0.00", "0.25", "all"]
    assert table.parts == ("local", "local-control")


def test_concept_tables_have_whole_degrees(frame):
    for experiment in ("concept", "concept-forced"):
        table = table_of(frame, experiment)
        assert [row.label for row in table.rows] == ["-1", "0", "1", "all"]


def test_no_format_marks_a_best_method_under_concept_shift(frame, told):
    for table in (*result_tables(frame, told), *summary_tables(frame, told)):
        if not table.parts or table.parts[0] == "my_own":
            continue
        concept = table.experiment.startswith("concept")
        marks = {cell.mark for row in table.rows for cell in row.cells}
        assert ("best" in marks) is not concept, table.name
        assert ("\\textbf" in latex(table)) is not concept, table.name
        assert ("<strong>" in html_table(table)) is not concept, table.name
        assert (",best," in csv_table(table)) is not concept, table.name
        caption, cells = markdown(table).split("**\n", 1)
        assert caption.startswith("**")
        assert ("**" in cells) is not concept, table.name
        if concept:
            assert marks == {""}
            assert "No method is marked as the best" in table.legend[0]
            assert not any("Wilcoxon" in sentence for sentence in table.legend)


def test_all_tables_the_results_allow(frame, told):
    names = [table.name for table in result_tables(frame, told)]
    covariate = [*(f"covariate-{p:g}" for p in GRID), "covariate-pure", "covariate-mixed"]
    assert names == ["prior", *covariate, "local", "concept", "concept-forced", "my_own"]
    only = result_tables(frame.filter(pl.col("experiment") == "concept"), told)
    assert [table.name for table in only] == ["concept"]


def test_a_facet_over_all_values_has_all_its_samples(frame):
    table = table_of(frame, "covariate", "covariate-pure")
    cell = column(table, "CC")["all"]
    assert cell.n == 3 * 4 * 3 * 4
    assert table.caption.startswith(
        "Global covariate shift, pure, all values of $p_L$ and $p_U$: mean absolute error"
    )
    assert table.parts == ("covariate-pure",)


def test_facets_that_a_layout_would_mix_have_tables_of_their_own(frame):
    plain = {"covariate": about("covariate", words=Words("Mine", "degree"))}
    tables = result_tables(frame, plain, experiment="covariate")
    assert [table.name for table in tables] == ["covariate-mixed", "covariate-pure"]
    assert column(tables[1], "CC")["all"].n == 3 * 4 * 3 * 4


def test_a_protocol_of_ones_own_is_laid_out_as_it_says():
    points = [{"p_train": 0.5, "p_test": 0.5 + d, "degree": d} for d in (0.1, 0.2)]
    base = make_outcomes({"A": 0.1, "B": 0.2}, experiment="drift", points=points)
    week, place = (
        Coordinate("week", "test", "int", "week"),
        Coordinate("place", "train", "string", "place", "s"),
    )
    frame = pl.concat(
        base.with_columns(
            pl.lit(w).alias("week"),
            pl.lit(p).alias("place"),
            pl.format("{}-{}", "cell", pl.lit(f"{w}{p}")).alias("cell"),
        )
        for w in (1, 2)
        for p in ("north", "south")
    )
    words = Words("Drift", "weeks", tables_by="place", columns_by="week", note="A note.")
    told = {"drift": about("drift", words=words, coordinates=[place, week])}
    tables = result_tables(frame, told)
    assert [table.name for table in tables] == ["drift-north", "drift-south", "drift"]
    assert [group.text for group in tables[0].groups] == ["week 1", "week 2"]
    assert tables[0].caption == "Drift, $s = north$: mean absolute error by degree (weeks)."
    assert "A note." in tables[0].legend
    assert "all values of $s$ and week" in tables[2].caption


def test_prevalence_vectors_head_columns():
    base = vector_outcomes({"A": 0.1, "B": 0.2})
    vectors = ([0.2, 0.3, 0.5], [0.5, 0.3, 0.2])
    frame = pl.concat(
        base.with_columns(
            pl.Series("p_test", [vector] * len(base)), sample=pl.col("sample") + 4 * number
        )
        for number, vector in enumerate(vectors)
    )
    p_test = Coordinate("p_test", "test", "vector", "test prevalences", "p_U")
    words = Words("Many", "", columns_by="p_test")
    told = {"many": about("many", words=words, coordinates=[p_test])}
    (table,) = result_tables(frame, told)
    assert [g.text for g in table.groups] == ["$p_U = (0.2, 0.3, 0.5)$", "$p_U = (0.5, 0.3, 0.2)$"]
    assert [row.label for row in table.rows] == ["all"]
    # The numbers of a data set with two classes, beside vectors of others, are lists of one.
    alone = frame.with_columns(pl.Series("p_test", [[0.25]] * len(frame)))
    (table,) = result_tables(alone, told)
    assert [g.text for g in table.groups] == ["$p_U = 0.25$"]


def test_a_coordinate_with_many_values_gets_no_table_for_each(frame):
    values = pl.int_range(pl.len()) % 40
    many = frame.filter(pl.col("experiment") == "prior").with_columns(day=values.over("method"))
    words = Words("Prior", "", tables_by="day", columns_by="day")
    day = Coordinate("day", "test", "int", "day")
    (table,) = result_tables(many, {"prior": about("prior", words=words, coordinates=[day])})
    assert not table.grouped


def test_too_many_degrees_come_in_steps():
    points = [{"p_train": 0.5, "p_test": d / 200, "degree": d / 500} for d in range(1, 101)]
    (table,) = result_tables(make_outcomes({"A": 0.1, "B": 0.2}, points=points))
    assert 15 <= len(table.rows) <= 25
    assert "in steps of 0.01" in table.caption
    assert len({row.label for row in table.rows}) == len(table.rows)


def test_experiments_of_one_kind_are_told_apart(frame):
    prior = frame.filter(pl.col("experiment") == "prior")
    twin = prior.with_columns(experiment=pl.lit("prior-b"))
    told = {"prior": about("prior"), "prior-b": about("prior-b", words=abouts()["prior"].words)}
    captions = [table.caption for table in result_tables(pl.concat([prior, twin]), told)]
    assert [caption.partition(":")[0] for caption in captions] == [
        "Prior shift (prior)",
        "Prior shift (prior-b)",
    ]


def test_an_experiment_without_degrees_has_only_a_total(frame, told):
    own = result_tables(frame, told)[-1]
    assert [row.label for row in own.rows] == ["all"]


def test_a_missing_method_is_a_gap(frame):
    table = table_of(frame.filter(pl.col("method") != "DyS"), "prior", methods=["CC", "DyS"])
    assert column(table, "DyS")["0.00"] == Cell(MISSING)
    assert any(MISSING in sentence for sentence in table.legend)
    assert not any(MISSING in sentence for sentence in table_of(frame, "prior").legend)


def test_a_method_that_failed_in_some_cells_shows_its_n_and_is_not_the_best(frame):
    failed = frame.filter((pl.col("method") != "SLD") | (pl.col("train_repeat") > 0))
    table = table_of(failed, "prior")
    cell = column(table, "SLD")["0.00"]
    assert (cell.n, cell.samples, cell.partial) == (24, 36, True)
    assert column(table, "DyS")["0.00"].mark == "best"
    assert "(n=24)" in markdown(table)
    assert "($n=24$)" in latex(table)
    assert "n=24</small>" in html_table(table)
    assert any(sentence.startswith("n: the number of estimates") for sentence in table.legend)


def test_rows_too_short_for_the_test_are_pointed_out(frame):
    few = frame.filter((pl.col("train_repeat") == 0) & (pl.col("sample") < 5))
    assert any("5 samples or fewer" in text for text in table_of(few, "prior").legend)
    assert not any("or fewer" in text for text in table_of(frame, "prior").legend)


def test_columns_can_be_chosen(frame):
    table = table_of(frame, "prior", methods=["MLPE", "CC"])
    assert [name for _, name in table.columns] == ["MLPE", "CC"]
    assert column(table, "CC")["all"].mark == "best"


def test_default_columns():
    paper = ("CC", "ACC", "PCC", "PACC", "DyS", "SLD")
    assert shown_methods(["MLPE", "HDy", "SMM", *paper, "Mine"]) == (*paper, "Mine")
    assert shown_methods(["MLPE", "SLD", "Mine"]) == ("SLD", "MLPE", "Mine")


def test_other_measures_and_corrections(frame):
    squared = table_of(frame, "prior", measure="se")
    assert "mean squared error" in squared.caption
    assert column(squared, "CC")["all"].value == pytest.approx(0.04, abs=0.001)
    assert any("Holm" in s for s in table_of(frame, "prior", correction="holm").legend)
    assert not any("Holm" in s for s in table_of(frame, "prior").legend)
    with pytest.raises(UserError, match="unknown error measure 'aee'"):
        table_of(frame, "prior", measure="aee")


def test_missing_experiments_are_an_error(frame):
    concept = frame.filter(pl.col("experiment") == "concept")
    with pytest.raises(DataError, match="no results of prior; run that experiment first"):
        table_of(concept, "prior")
    with pytest.raises(DataError, match="one part at a time; there are results of concept, prior"):
        summary_table(frame.filter(pl.col("experiment").is_in(["concept", "prior"])))


def summary_of(frame, part):
    name = f"summary-{part}"
    return next(table for table in summary_tables(frame, abouts()) if table.name == name)


def test_summary_table(frame):
    table = summary_of(frame, "prior")
    assert [row.label for row in table.rows] == ["CC", "ACC", "PCC", "PACC", "DyS", "SLD", "MLPE"]
    assert column(table, "mean")["SLD"].mark == "best"
    assert column(table, "mean rank")["SLD"].text == "1.00"
    assert column(table, "bias")["CC"].value == pytest.approx(0.2, abs=0.002)
    assert column(table, "low")["CC"].value < column(table, "mean")["CC"].value
    assert table.parts == ("prior",)
    one = summary_of(frame.filter(pl.col("train_repeat") == 0, pl.col("p_train") == 0.5), "prior")
    assert column(one, "low")["CC"].text == MISSING
    assert column(one, "mean rank")["CC"].text == MISSING


def test_more_classes_have_their_bias_in_a_table_of_its_own():
    told = {"many": about("many", datasets={"letters": ("a", "b", "c")})}
    summary, bias = summary_tables(vector_outcomes({"A": 0.1, "B": -0.05}), told)
    assert (summary.name, bias.name) == ("summary-many", "bias-many")
    assert "bias" not in summary.groups[0].columns
    assert [row.label for row in bias.rows] == ["a", "b", "c"]
    assert column(bias, "A")["c"].value == pytest.approx(0.1, abs=0.01)
    assert column(bias, "A")["a"].value == pytest.approx(-0.1, abs=0.01)
    assert column(bias, "B")["b"].value == pytest.approx(0)


def test_data_sets_have_tables_of_their_own_and_one_together():
    errors = [{"A": 0.1, "B": 0.2, "C": 0.3}, {"A": 0.1, "B": 0.2, "C": 0.3}, {"A": 0.2, "B": 0.1}]
    frames = [make_outcomes(e, dataset=f"d{i}", noise=0.001) for i, e in enumerate(errors)]
    names = ("negative", "positive")
    told = {"prior": about("prior", datasets={f"d{i}": names for i in range(3)})}
    rows = pl.concat(frames)
    tables = {table.name: table for table in result_tables(rows, told)}
    assert list(tables) == [*(f"prior-on-d{i}" for i in range(3)), "datasets-prior"]
    assert tables["prior-on-d1"].caption.startswith("Prior shift, data set d1: mean absolute")
    assert tables["prior-on-d1"].dataset == "d1"
    over = tables["datasets-prior"]
    assert [row.label for row in over.rows] == ["d0", "d1", "d2", "mean", "mean rank"]
    assert [row.total for row in over.rows] == [False] * 3 + [True] * 2
    assert column(over, "A")["mean"].value == pytest.approx(0.4 / 3, abs=0.01)
    assert column(over, "A")["mean"].mark == "best"
    assert column(over, "B")["d2"].mark == "best"
    # C has no results on d2: no mean, and only the other two data sets are ranked.
    assert column(over, "C")["mean"].text == MISSING
    assert column(over, "C")["mean rank"].text == "3.00"
    assert any("Ranks over 2 data sets: Friedman's test p" in text for text in over.legend)
    assert any("1 data sets without results of all methods" in text for text in over.legend)
    summaries = [table.name for table in summary_tables(rows, told)]
    assert summaries == [f"summary-prior-on-d{i}" for i in range(3)]


def test_forty_methods_stand_below_each_other():
    errors = {f"M{number:02d}": 0.01 * number for number in range(1, 41)}
    points = [{"p_train": 0.5, "p_test": 0.5 + d / 100, "degree": d / 10} for d in range(-15, 16)]
    frame = make_outcomes(errors, points=points, train_repeats=1, repeats=2, noise=0.0005)
    first, second = result_tables(frame, {"prior": about("prior")})
    assert (first.name, second.name) == ("prior-1", "prior-2")
    assert first.caption.startswith("Prior shift, piece 1 of 2: mean absolute error by degree")
    assert first.corner == "method"
    assert [row.label for row in first.rows] == sorted(errors)
    assert [group.text for group in first.groups] == ["degree", ""]
    assert len(first.columns) == WIDEST
    headings = [[name for _, name in table.columns] for table in (first, second)]
    assert headings[0][0] == "-1.5"
    assert [h[-1] for h in headings] == ["all", "all"]
    assert [*headings[0][:-1], *headings[1][:-1]] == [f"{d / 10:.1f}" for d in range(-15, 16)]
    for table in (first, second):
        assert all(cell.mark == "best" for cell in table.rows[0].cells)
        assert table.rows[39].cells[0].value == pytest.approx(0.4, abs=0.01)
        assert "Bold: the lowest error in its column." in table.legend


def test_groups_too_wide_together_become_tables(frame):
    wide = table_of(frame, "covariate", "covariate-0.25")
    columns = tuple(f"M{i}" for i in range(10))
    cells = tuple(Cell(str(i), float(i)) for i in range(30))
    groups = tuple(dataclasses.replace(group, columns=columns) for group in wide.groups)
    rows = tuple(dataclasses.replace(row, cells=cells) for row in wide.rows)
    pieces = fitted(dataclasses.replace(wide, groups=groups, rows=rows))
    assert [piece.name for piece in pieces] == [f"covariate-0.25-p_U-{p:g}" for p in GRID]
    assert pieces[1].caption.startswith("Global covariate shift, $p_L = 0.25$, $p_U = 0.5$: mean")
    assert [cell.value for cell in pieces[1].rows[0].cells] == [float(i) for i in range(10, 20)]
    assert "Bold: the lowest error in its row." in pieces[1].legend
    assert not any(piece.grouped for piece in pieces)
    assert fitted(wide) == [wide]


def test_published_comparison(frame):
    # Of the paper's grid, this frame has prior degrees -0.5, 0 and 0.5, covariate -1, 0 and 1.
    tables = published_comparison_tables(against_published(frame))
    assert [table.name for table in tables] == [
        "published-prior",
        *(f"published-covariate-{p:g}" for p in GRID),
    ]
    cell = column(tables[0], "CC")["0.0"]
    assert cell.text.endswith(" / .035")
    # A quick run says that its figures are means of few samples.
    counts = {cell.samples for row in tables[0].rows for cell in row.cells if cell.samples}
    assert f"Ours: means of {min(counts)}" in tables[0].legend[0]
    assert column(tables[0], "CC")["0.1"].text == f"{MISSING} / .048"
    assert column(tables[0], "CC")["0.1"].value is None
    assert column(tables[0], r"$\rho$")["0.1"].text == MISSING
    assert -1 <= column(tables[0], r"$\rho$")["0.0"].value <= 1
    local = against_published(frame.filter(pl.col("experiment") == "local"))
    assert published_comparison_tables(local) == []


def test_latex_of_the_awkward_table():
    text = latex(AWKWARD)
    assert r"50\% of $\alpha_L - \alpha_U$ \& a\_b $|$ $<$i$>$ \#1 \{x\}" in text
    assert rf"{GREY} \textbf{{.100}}" in text
    assert rf"{GREY} .200\rlap{{$^{{\ddag}}$}} {{\tiny ($n=3$)}}" in text
    assert r"\begin{tabular}{r|rr|r}" in text
    assert r"\multicolumn{2}{c}{$p_U = 0.5$}" in text
    assert "$-$0.5 & " in text
    assert text.index(r"\midrule") < text.index("$-$0.5") < text.rindex(r"\midrule")
    assert r"\documentclass" not in text
    assert latex(AWKWARD, standalone=True).startswith(r"\documentclass")


def test_latex_text_spells_out_characters():
    assert latex_text("‡ p ≥ .05 – $p_U$") == r"$\ddagger$ p $\geq$ .05 -- $p_U$"


def test_markdown_of_the_awkward_table():
    lines = markdown(AWKWARD).splitlines()
    assert lines[2] == r"| a\|b | p_U = 0.5: x_1 | p_U = 0.5: \<b> | g & h: \* |"
    assert lines[3] == "| --- | ---: | ---: | ---: |"
    assert lines[4] == "| -0.5 | **.100** | .200<sup>‡</sup> (n=3) | – |"
    assert lines[5] == "| all | -.1<sup>†</sup> | 2 | 3 |"
    assert lines[7].startswith("‡ p ≥ .05")


def test_csv_of_the_awkward_table():
    rows = list(csv.DictReader(io.StringIO(csv_table(AWKWARD))))
    assert len(rows) == 6
    assert rows[1] == {
        "row": "-0.5",
        "group": "p_U = 0.5",
        "column": "<b>",
        "value": "0.2",
        "mark": "ddag",
        "n": "3",
        "samples": "4",
    }
    assert rows[2]["value"] == ""


class Outline(HTMLParser):
    """Tags that are open, cells per line and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.lines, self.cells, self.texts = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.lines.append(0)
        if tag in ("td", "th"):
            self.lines[-1] += int(dict(attrs).get("colspan", 1))
        if tag == "td":
            self.cells.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_html_is_well_formed_and_rectangular(tables):
    for table in tables:
        outline = Outline()
        outline.feed(html_table(table))
        outline.close()
        assert outline.open == []
        width = len(table.columns) + 1
        header = [width, width - 1] if table.grouped else [width]
        assert outline.lines == header + [width] * len(table.rows)
        assert len(outline.cells) == len(table.rows) * len(table.columns)
        assert all("data-sort" in cell for cell in outline.cells)


def test_html_of_the_awkward_table():
    text = html_table(AWKWARD)
    outline = Outline()
    outline.feed(text)
    assert outline.cells[0] == {"class": "best shaded", "data-sort": "0.1"}
    assert outline.cells[1] == {"class": "shaded partial", "data-sort": "0.2"}
    assert outline.cells[2] == {"class": "missing", "data-sort": ""}
    assert "<strong>.100</strong>" in text
    assert '<sup title="not significantly different from the best">‡</sup>' in text
    assert "<i>α</i><sub>L</sub> − <i>α</i><sub>U</sub>" in text
    assert "&lt;i&gt;" in text
    assert "−0.5</th>" in text
    assert text.index("<tfoot>") < text.index(">all<")
    assert '<th scope="colgroup" colspan="2" class="shaded">' in text


def test_tables_are_saved_in_every_format(tables, tmp_path):
    paths = save_tables(tables[:2], tmp_path / "new")
    assert sorted(path.name for path in paths) == sorted(
        f"{table.name}.{suffix}" for table in tables[:2] for suffix in TABLE_FORMATS
    )
    assert (tmp_path / "new" / "prior.tex").read_text() == latex(tables[0])
    with pytest.raises(UserError, match="unknown table format 'docx'"):
        save_tables(tables, tmp_path, formats=["docx"])


@pytest.mark.slow
def test_a_real_tex_engine_takes_every_table(tables, tmp_path):
    engine = shutil.which("pdflatex")
    if engine is None:
        pytest.skip("no pdflatex; install texlive-latex-base and texlive-latex-recommended")
    whole = latex(AWKWARD, standalone=True)
    preamble, end = whole.split(r"\begin{document}")[0], r"\end{document}"
    body = "\n\\clearpage\n".join(latex(table) for table in tables)
    (tmp_path / "all.tex").write_text(
        f"{preamble}\\begin{{document}}\n{body}\n{end}\n", encoding="utf-8"
    )
    (tmp_path / "one.tex").write_text(whole, encoding="utf-8")
    for name in ("one", "all"):
        run = subprocess.run(
            [engine, "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"],
            cwd=tmp_path,
            capture_output=True,
            timeout=120,
            check=False,
        )
        log = run.stdout.decode(errors="replace")
        assert run.returncode == 0, log[-2000:]
        assert "Overfull" not in log
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    pages = re.search(r"Output written on all\.pdf \((\d+) pages", log)
    assert int(pages.group(1)) == len(tables)


HOSTILE_TEXT = "A | B $x|y$ `c` [l](javascript:1) <b>*x* _y_\n\n# second\u2028third \\ p_U"


def test_markdown_takes_nothing_of_a_name_for_its_own():
    """A title or a name of a method stays in its cell, on its line, as it was written."""
    cell = markdown_escape(HOSTILE_TEXT)
    assert cell.split(" ")[:4] == ["A", r"\|", "B", r"$x\|y$"]
    assert len(cell.splitlines()) == 1
    assert cell.endswith(r"\<b>\*x\* \_y\_ # second third \\ p_U")
    (header, rule, row) = markdown_table(Table("t", (HOSTILE_TEXT, "n"), (("x", "1"),))).split(
        "\n"
    )[2:]
    assert [len(re.split(r"(?<!\\)\|", line)) for line in (header, rule, row)] == [4, 4, 4]
