import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from quantshift.corpora.describe import CategoryDescription, Description, Lengths
from quantshift.errors import DataError, UserError
from quantshift.report.csv_table import csv_table
from quantshift.report.data_table import data_table
from quantshift.report.formats import TABLE_FORMATS, save_tables
from quantshift.report.html_table import html_table
from quantshift.report.latex import GREY, latex, latex_text
from quantshift.report.markdown import markdown
from quantshift.report.published_table import published_comparison_tables
from quantshift.report.summary_table import summary_table
from quantshift.report.table import MISSING, Cell, ColumnGroup, ReportTable, Row
from quantshift.report.tables import (
    concept_table,
    covariate_table,
    forced_table,
    local_table,
    prior_table,
    result_tables,
    shown_methods,
)
from quantshift.results.schema import conform

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
    return conform(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="module")
def frame():
    return outcomes()


@pytest.fixture(scope="module")
def tables(frame):
    lacking = frame.filter(
        (pl.col("method") != "ACC") | (pl.col("train_repeat") > 0) | (pl.col("degree") != 0)
    )
    description = Description(
        hash="0123456789abcdef",
        n_documents=30,
        categories=(
            CategoryDescription(
                "Books & more", 12_000, 10_000, (0.1, 0.1, 0.1, 0.2, 0.5), Lengths(1, 1, 1, 1)
            ),
        ),
        sources=(),
        samples=(),
    )
    return [
        *result_tables(frame),
        *(
            ReportTable(f"lacking-{t.name}", t.caption, t.corner, t.groups, t.rows, t.legend)
            for t in result_tables(lacking)
        ),
        summary_table(frame, "prior"),
        *published_comparison_tables(frame),
        data_table(description),
        AWKWARD,
    ]


AWKWARD = ReportTable(
    name="awkward",
    caption=r"50 % of $\alpha_L - \alpha_U$ & a_b | <i> #1 {x} ~ ^ \ $p_U$.",
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
    table = prior_table(frame)
    # 0.25 - 0.5 = -0.25: the grid of this test has two decimals, the paper's one.
    assert [row.value for row in table.rows] == [-0.5, -0.25, 0.0, 0.25, 0.5, None]
    assert [row.total for row in table.rows] == [False] * 5 + [True]
    assert [name for _, name in table.columns] == ["CC", "ACC", "PCC", "PACC", "DyS", "SLD"]
    sld, cc = column(table, "SLD"), column(table, "CC")
    assert sld["0.0"].mark == "best"
    assert sld["0.0"].text in {".028", ".029", ".030", ".031", ".032"}
    assert cc["all"].mark == ""
    assert cc["all"].value == pytest.approx(0.2, abs=0.002)
    assert (cc["0.0"].n, cc["all"].n) == (36, 108)
    assert not any(cell.partial for row in table.rows for cell in row.cells)


def test_covariate_table_is_grey_where_the_prevalence_stays(frame):
    table = covariate_table(frame, 0.5)
    assert [group.text for group in table.groups] == [f"$p_U = {p:g}$" for p in GRID]
    assert [group.shaded for group in table.groups] == [False, True, False]
    shaded = [cell.shaded for cell in table.rows[0].cells]
    assert shaded == [False] * 6 + [True] * 6 + [False] * 6
    assert [row.label for row in table.rows] == ["-1.0", "0.0", "1.0", "all"]


def test_local_table_keeps_the_control_apart(frame):
    better = frame.with_columns(p_hat=pl.when(pl.col("control")).then("p_true").otherwise("p_hat"))
    table = local_table(better)
    assert [group.text for group in table.groups] == ["shifted", "control"]
    assert column(table, "CC")["all"].value == pytest.approx(0.2, abs=0.005)
    assert column(table, "CC", group=1)["all"].value == 0
    assert [row.label for row in table.rows] == ["-0.25", "0.00", "0.25", "all"]


def test_concept_tables_have_whole_degrees(frame):
    for table in (concept_table(frame), forced_table(frame)):
        assert [row.label for row in table.rows] == ["-1", "0", "1", "all"]


def test_all_tables_the_results_allow(frame):
    names = [table.name for table in result_tables(frame)]
    covariate = [f"covariate-{p:g}" for p in GRID]
    assert names == ["prior", *covariate, "local", "concept", "concept-forced", "my_own"]
    only = result_tables(frame.filter(pl.col("experiment") == "concept"))
    assert [table.name for table in only] == ["concept"]


def test_an_experiment_without_degrees_has_only_a_total(frame):
    own = result_tables(frame)[-1]
    assert [row.label for row in own.rows] == ["all"]


def test_a_missing_method_is_a_gap(frame):
    table = prior_table(frame.filter(pl.col("method") != "DyS"))
    assert column(table, "DyS")["0.0"] == Cell(MISSING)
    assert any(MISSING in sentence for sentence in table.legend)
    assert not any(MISSING in sentence for sentence in prior_table(frame).legend)


def test_a_method_that_failed_in_some_cells_shows_its_n_and_is_not_the_best(frame):
    failed = frame.filter((pl.col("method") != "SLD") | (pl.col("train_repeat") > 0))
    table = prior_table(failed)
    cell = column(table, "SLD")["0.0"]
    assert (cell.n, cell.samples, cell.partial) == (24, 36, True)
    assert column(table, "DyS")["0.0"].mark == "best"
    assert "(n=24)" in markdown(table)
    assert "($n=24$)" in latex(table)
    assert "n=24</small>" in html_table(table)
    assert any(sentence.startswith("n: estimates") for sentence in table.legend)


def test_columns_can_be_chosen(frame):
    table = prior_table(frame, methods=["MLPE", "CC"])
    assert [name for _, name in table.columns] == ["MLPE", "CC"]
    assert column(table, "CC")["all"].mark == "best"


def test_default_columns():
    assert shown_methods(["MLPE", "SLD", "Mine"]) == (
        "CC",
        "ACC",
        "PCC",
        "PACC",
        "DyS",
        "SLD",
        "Mine",
    )
    assert shown_methods(["MLPE", "Mine"]) == ("MLPE", "Mine")


def test_other_measures_and_corrections(frame):
    squared = prior_table(frame, measure="se")
    assert "mean squared error" in squared.caption
    assert column(squared, "CC")["all"].value == pytest.approx(0.04, abs=0.001)
    assert any("Holm" in s for s in prior_table(frame, correction="holm").legend)
    assert not any("Holm" in s for s in prior_table(frame).legend)


def test_missing_experiments_are_an_error(frame):
    concept = frame.filter(pl.col("experiment") == "concept")
    with pytest.raises(DataError, match="no results of prior; run that experiment first"):
        prior_table(concept)
    with pytest.raises(DataError, match="no results of local"):
        summary_table(concept, "local")


def test_summary_table(frame):
    table = summary_table(frame, "prior")
    assert [row.label for row in table.rows] == ["CC", "ACC", "PCC", "PACC", "DyS", "SLD", "MLPE"]
    assert column(table, "mean")["SLD"].mark == "best"
    assert column(table, "mean rank")["SLD"].text == "1.00"
    assert column(table, "bias")["CC"].value == pytest.approx(0.2, abs=0.002)
    assert column(table, "low")["CC"].value < column(table, "mean")["CC"].value
    one = summary_table(
        frame.filter(pl.col("train_repeat") == 0, pl.col("p_train") == 0.5), "prior"
    )
    assert column(one, "low")["CC"].text == MISSING
    assert column(one, "mean rank")["CC"].text == MISSING


def test_published_comparison(frame):
    # Of the paper's grid, this frame has prior degrees -0.5, 0 and 0.5, covariate -1, 0 and 1.
    tables = published_comparison_tables(frame)
    assert [table.name for table in tables] == [
        "published-prior",
        *(f"published-covariate-{p:g}" for p in GRID),
    ]
    cell = column(tables[0], "CC")["0.0"]
    assert cell.text.endswith(" / .035")
    assert column(tables[0], "CC")["0.1"].text == f"{MISSING} / .048"
    assert column(tables[0], "CC")["0.1"].value is None
    assert column(tables[0], r"$\rho$")["0.1"].text == MISSING
    assert -1 <= column(tables[0], r"$\rho$")["0.0"].value <= 1
    assert published_comparison_tables(frame.filter(pl.col("experiment") == "local")) == []


def test_latex_of_the_awkward_table():
    text = latex(AWKWARD)
    assert r"50 \% of $\alpha_L - \alpha_U$ \& a\_b $|$ $<$i$>$ \#1 \{x\}" in text
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


def test_data_table(tables):
    table = next(table for table in tables if table.name == "data")
    assert table.rows[0].cells[0] == Cell("12,000", 12_000)
    assert [cell.text for cell in table.rows[0].cells[2:]] == [".100"] * 3 + [".200", ".500"]
    assert r"Books \& more & 12,000 & 10,000" in latex(table)


def test_tables_are_saved_in_every_format(tables, tmp_path):
    paths = save_tables(tables[:2], tmp_path / "new")
    assert sorted(path.name for path in paths) == sorted(
        f"{table.name}.{suffix}" for table in tables[:2] for suffix in TABLE_FORMATS
    )
    assert (tmp_path / "new" / "prior.tex").read_text() == latex(tables[0])
    with pytest.raises(UserError, match="unknown table format 'docx'"):
        save_tables(tables, tmp_path, formats=["docx"])


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
