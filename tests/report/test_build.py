"""A whole report: which files, whole or not at all, and never over anybody else's."""

import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.report import build
from quantshift.report.build import build_report
from quantshift.results import ResultStore
from quantshift.results.schema import conform
from quantshift.seeding import generator

SIGNATURES = {"CC": "one", "SLD": "two"}
CELLS = {f"p_train-{p},train_repeat-{r}": (p, r) for p in (0.2, 0.5) for r in range(3)}


def rows(cell):
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
    noise = generator(0, cell=cell).random(len(frame))
    return conform(frame.with_columns(p_hat=pl.Series(noise)))


@pytest.fixture
def store(tmp_path):
    methods = [{"name": name, "signature": text} for name, text in SIGNATURES.items()]
    store = ResultStore.create(tmp_path / "runs", {"experiments": {"prior": {"methods": methods}}})
    for cell in CELLS:
        store.write_part("prior", cell, SIGNATURES, rows(cell))
    return store


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
    assert sorted(map(str, written)) == [str(folder / name) for name in files(folder)]
    assert told[0] == "results"
    assert "summaries of Prior shift" in told
    # A report inside a store is none of its results.
    assert len(store.read().collect()) == 6 * 2 * 3


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
    more = {path.name for path in compared} - {path.name for path in plain}
    assert more == {"published-prior.md", "published-prior.html"}


def test_the_summary_has_verdicts_and_means(store, tmp_path):
    build_report(store, tmp_path, formats=())
    text = (tmp_path / "summary.md").read_text()
    assert text.count(": cannot be told\n") == 6
    mean = store.read().collect().filter(pl.col("method") == "CC")
    error = (mean["p_hat"] - mean["p_true"]).abs().mean()
    assert f"{error:.3f}".removeprefix("0") in next(
        line for line in text.splitlines() if line.startswith("| CC |")
    )


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
    store.drop("prior", cell, "SLD")
    store.write_failure("prior", cell, {"SLD": "two"}, ValueError("no luck"))
    planned = {"prior": [(cell, SIGNATURES) for cell in CELLS]}
    build_report(store, tmp_path, formats=("html",), planned=planned)
    html = (tmp_path / "report.html").read_text()
    assert "5 of 6 cells are complete; 1 failed, at least in part" in html
    assert "ValueError: no luck" in html
    summary = (tmp_path / "summary.md").read_text()
    assert "5 of 6 cells are complete" in summary
    assert "| SLD | – |" in summary


def test_an_empty_store_is_one_clear_error(tmp_path):
    store = ResultStore.create(tmp_path / "runs", {"experiments": {"prior": {"methods": []}}})
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
    assert build_report(frame, tmp_path / "out", formats=()) == [tmp_path / "out" / "summary.md"]


def test_a_file_in_the_way_is_an_error(store, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(UserError, match="is a file"):
        build_report(store, tmp_path / "out", formats=())
