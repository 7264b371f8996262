"""A whole report: which files, whole or not at all, and never over anybody else's."""

import json
import re

import numpy as np
import polars as pl
import pytest

from quantshift import metrics
from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.lab.report import build
from quantshift.lab.report.build import build_report
from quantshift.lab.results import ResultStore
from tests.outcomes import COORDINATES, WORDS, as_results, vector_outcomes

SIGNATURES = {"CC": "one", "SLD": "two"}
CELLS = {f"p_train-{p},train_repeat-{r}": (p, r) for p in (0.2, 0.5) for r in range(3)}
NAMES = ("p_train", "p_test", "repeat")


def rows(cell, dataset="reviews"):
    p_train, repeat = CELLS[cell]
    frame = pl.DataFrame(
        [
            {
                "experiment": "prior",
                "cell": cell,
                "method": method,
                "p_train": p_train,
                "p_test": p_test,
                "train_repeat": repeat,
                "repeat": 0,
                "degree": round(p_test - p_train, 1),
                "size": 100,
                "p_true": p_test,
            }
            for method in SIGNATURES
            for p_test in (0.0, 0.5, 1.0)
        ]
    )
    noise = generator(0, cell=cell, dataset=dataset).random(len(frame))
    results = as_results(frame.with_columns(p_hat=pl.Series(noise)), dataset=dataset)
    core = ("experiment", "shift", "dataset", "cell", "method", "stratum", "train_repeat")
    more = ("sample", "facet", "degree", "size", "p_true", "p_hat")
    return results.select(*core, *more, *NAMES)


def description(*datasets):
    return {
        "experiments": {
            "prior": {
                "title": "Prior probability shift",
                "shift": {"kind": "prior"},
                "methods": [{"name": n, "signature": text} for n, text in SIGNATURES.items()],
                "datasets": {
                    name: {"items": "hash", "source": name, "classes": ["no", "yes"]}
                    for name in datasets
                },
                "coordinates": [COORDINATES[name].as_json() for name in NAMES],
                "diagnostics": {},
                "words": WORDS["prior"].as_json(),
            }
        }
    }


def filled(folder, *datasets):
    store = ResultStore.create(folder, description(*datasets))
    for dataset in datasets:
        for cell in CELLS:
            store.write_part("prior", dataset, cell, SIGNATURES, rows(cell, dataset))
    return store


@pytest.fixture
def store(tmp_path):
    return filled(tmp_path / "runs", "reviews")


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_report_stands_inside_its_store_unless_told_otherwise(store):
    told = []
    written = build_report(store.path, formats=("html", "csv"), progress=told.append)
    folder = store.path / "report"
    assert files(folder) == [
        "report.html",
        "summary.md",
        "tables/prior.csv",
        "tables/prior.html",
        "tables/summary-prior.csv",
        "tables/summary-prior.html",
    ]
    assert written.gaps == ()
    assert sorted(map(str, written.files)) == [str(folder / name) for name in files(folder)]
    assert told[0] == "results"
    assert "tables" in told
    # A report inside a store is none of its results.
    assert len(store.read().collect()) == 6 * 2 * 3


@pytest.mark.slow
def test_figures_in_the_formats_asked_for(store, tmp_path):
    build_report(store, tmp_path / "out", formats=("svg",))
    names = files(tmp_path / "out")
    assert "figures/prior-boxes.svg" in names
    assert "figures/illustration-prior.svg" in names
    assert all(name.endswith(".svg") or name == "summary.md" for name in names)


def test_the_same_results_give_the_same_bytes(store, tmp_path):
    for name in ("one", "two"):
        build_report(store, tmp_path / name, formats=("html", "tex", "md"))
    assert files(tmp_path / "one") == files(tmp_path / "two")
    for name in files(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_comparison_is_there_when_asked_for(store, tmp_path):
    plain = build_report(store, tmp_path / "plain", formats=("html", "md"))
    compared = build_report(store, tmp_path / "paper", formats=("html", "md"), against_paper=True)
    assert 'id="published"' not in (tmp_path / "plain" / "report.html").read_text()
    assert 'id="published"' in (tmp_path / "paper" / "report.html").read_text()
    more = {path.name for path in compared.files} - {path.name for path in plain.files}
    assert more == {"published-prior.md", "published-prior.html"}


def mean_error(frame, measure="ae"):
    p_true, p_hat = (np.array(frame[name].to_list()) for name in ("p_true", "p_hat"))
    return metrics.measure(measure, p_true, p_hat, smoothing=1 / 200).mean()


def line_of(folder, method):
    lines = (folder / "summary.md").read_text().splitlines()
    return next(line for line in lines if line.startswith(f"| {method} |"))


@pytest.mark.parametrize("measure", metrics.MEASURES)
def test_the_summary_has_the_means_of_the_measure(store, tmp_path, measure):
    build_report(store, tmp_path, measure=measure, formats=("csv",))
    text = (tmp_path / "summary.md").read_text()
    assert f"## Mean {metrics.MEASURES[measure].title} over all samples" in text
    mean = mean_error(store.read().collect().filter(pl.col("method") == "CC"), measure)
    assert f"{mean:.3f}" in line_of(tmp_path, "CC")
    table = pl.read_csv(tmp_path / "tables" / "prior.csv")
    total = table.filter((pl.col("row") == "all") & (pl.col("column") == "CC"))["value"]
    assert total.to_list() == pytest.approx([mean])


def test_an_unknown_measure_is_refused_before_any_work(tmp_path):
    with pytest.raises(UserError, match="unknown error measure 'rea'; did you mean 'rae'"):
        build_report(tmp_path, measure="rea")


def test_only_the_methods_asked_for(store, tmp_path):
    build_report(store, tmp_path, methods=["SLD"], formats=("html", "md"))
    assert "CC" not in (tmp_path / "tables" / "prior.md").read_text()
    assert "| SLD |" in (tmp_path / "summary.md").read_text()
    assert "| CC |" not in (tmp_path / "summary.md").read_text()
    with pytest.raises(UserError, match="unknown method 'SDL'; did you mean 'SLD'"):
        build_report(store, tmp_path, methods=["SDL"])
    with pytest.raises(UserError, match="unknown method 'SDL'; did you mean 'SLD'"):
        build_report(rows(next(iter(CELLS))), tmp_path, methods=["SDL"])


def test_the_order_of_the_methods_is_that_of_the_request_everywhere(
    make_about, make_results, tmp_path
):
    """Before, summaries, biases by class, the page and figures were in the paper's order."""
    asked = ("Mine", "SLD", "CC")
    about = make_about(datasets={"shop": ("a", "b", "c"), "till": ("a", "b", "c")})
    frame = make_results(("CC", "Mine", "SLD"), about)
    abouts, formats = {about.name: about}, ["html", "tex", "csv", "md"]
    build_report(frame, tmp_path / "r", abouts=abouts, methods=asked, formats=formats)
    tables = [path for path in (tmp_path / "r" / "tables").iterdir() if path.suffix != ".html"]
    assert {path.name.partition("-")[0] for path in tables} >= {"mine", "summary", "bias"}
    for path in (*tables, tmp_path / "r" / "summary.md"):
        # A method that is not the first is never seen before the first.
        found = [match[0] for match in re.finditer(r"\b(Mine|SLD|CC)\b", path.read_text())]
        assert tuple(dict.fromkeys(found)) == asked, path.name
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    start = page.index('id="report-data">') + len('id="report-data">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert tuple(method["name"] for method in data["methods"]) == asked


def test_failures_of_other_methods_are_no_gaps(store, tmp_path):
    cell = next(iter(CELLS))
    store.drop("prior", "reviews", cell, "SLD")
    store.write_failure("prior", "reviews", cell, {"SLD": "two"}, ValueError("no luck"))
    planned = {"prior": {"reviews": [(cell, SIGNATURES) for cell in CELLS]}}
    options = {"formats": (), "planned": planned}
    assert build_report(store, tmp_path, methods=["CC"], **options).gaps == ()
    (gap,) = build_report(store, tmp_path, **options).gaps
    assert gap == (
        "Prior probability shift: 5 of 6 cells are complete; 1 failed, at least in part; "
        "failed: SLD (1 cell)"
    )


def test_data_sets_side_by_side_and_the_unfinished_one_is_named(tmp_path):
    store = filled(tmp_path / "runs", "one", "two")
    cell = next(iter(CELLS))
    store.drop("prior", "two", cell)
    planned = {"prior": {d: [(cell, SIGNATURES) for cell in CELLS] for d in ("one", "two")}}
    report = build_report(store, tmp_path / "out", formats=("html", "csv"), planned=planned)
    assert report.gaps == ("Prior probability shift, data set two: 5 of 6 cells are complete",)
    names = [path.name for path in report.files if path.suffix == ".csv"]
    assert names == [
        "prior-on-one.csv",
        "prior-on-two.csv",
        "datasets-prior.csv",
        "summary-prior-on-one.csv",
        "summary-prior-on-two.csv",
    ]
    over = pl.read_csv(tmp_path / "out" / "tables" / "datasets-prior.csv")
    expected = mean_error(store.read(datasets=["two"]).collect().filter(pl.col("method") == "SLD"))
    found = over.filter((pl.col("row") == "two") & (pl.col("column") == "SLD"))["value"]
    assert found.to_list() == pytest.approx([expected])


def test_more_classes(tmp_path):
    frame = vector_outcomes({"CC": 0.1, "SLD": 0.02})
    report = build_report(frame, tmp_path, measure="rae", formats=("html", "tex"))
    names = {path.name for path in report.files}
    assert {"many.tex", "summary-many.tex", "bias-many.tex", "report.html"} <= names
    assert "mean relative absolute error" in (tmp_path / "tables" / "many.tex").read_text()


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(store, tmp_path):
    for workers in (1, 2):
        build_report(store, tmp_path / str(workers), formats=("svg", "png"), workers=workers)
    assert files(tmp_path / "1") == files(tmp_path / "2")
    for name in files(tmp_path / "1"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    with pytest.raises(UserError, match="at least one process"):
        build_report(store, tmp_path, formats=(), workers=0)


def test_a_failed_report_leaves_the_old_one(store, tmp_path, monkeypatch):
    out = tmp_path / "out"
    build_report(store, out, formats=("html", "md"))
    before = {name: (out / name).read_bytes() for name in files(out)}

    def fail(*arguments, **options):
        raise RuntimeError("power cut")

    monkeypatch.setattr(build, "save_tables", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        build_report(store, out, formats=("html", "md"), against_paper=True)
    assert {name: (out / name).read_bytes() for name in files(out)} == before
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "summary.md", "tables"]


def test_other_files_in_the_folder_are_left_alone(store, tmp_path):
    mine = tmp_path / "tables" / "mine.tex"
    mine.parent.mkdir()
    mine.write_text("mine")
    build_report(store, tmp_path, formats=("tex",))
    assert mine.read_text() == "mine"
    assert (tmp_path / "tables" / "prior.tex").exists()


def test_a_failed_method_is_a_gap_and_is_named(store, tmp_path):
    cell = next(iter(CELLS))
    store.drop("prior", "reviews", cell, "SLD")
    store.write_failure("prior", "reviews", cell, {"SLD": "two"}, ValueError("no luck"))
    planned = {"prior": {"reviews": [(cell, SIGNATURES) for cell in CELLS]}}
    build_report(store, tmp_path, formats=("html",), planned=planned)
    html = (tmp_path / "report.html").read_text()
    assert "5 of 6 cells are complete; 1 failed, at least in part" in html
    assert "ValueError: no luck" in html
    summary = (tmp_path / "summary.md").read_text()
    assert "5 of 6 cells are complete" in summary
    assert "| SLD | – |" in summary


def test_an_empty_store_is_one_clear_error(tmp_path):
    store = ResultStore.create(tmp_path / "runs", description("reviews"))
    with pytest.raises(DataError, match="holds no finished results yet; continue its run"):
        build_report(store)
    assert not (tmp_path / "runs" / "report").exists()


def test_a_folder_without_results_is_an_error(tmp_path):
    with pytest.raises(UserError, match="holds no results"):
        build_report(tmp_path)


def test_an_unknown_format_is_refused_before_any_work(tmp_path):
    with pytest.raises(UserError, match="unknown report format 'htm'"):
        build_report(tmp_path, formats=("htm",))


def test_a_frame_needs_a_place_and_safe_names(tmp_path):
    frame = rows(next(iter(CELLS)))
    with pytest.raises(UserError, match="say where"):
        build_report(frame)
    with pytest.raises(UserError, match="cannot be a folder"):
        build_report(frame.with_columns(experiment=pl.lit("../up")), tmp_path / "out")
    written = build_report(frame, tmp_path / "out", formats=())
    assert written.files == (tmp_path / "out" / "summary.md",)


def test_a_file_in_the_way_is_an_error(store, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(UserError, match="is a file"):
        build_report(store, tmp_path / "out", formats=())
