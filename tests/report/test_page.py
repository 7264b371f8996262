"""The page: what its data say, what is left out, and that no name can break out of it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from quantshift.analysis.findings import verdicts
from quantshift.report.page import FailedCell, Provenance, contents_of, provenance_of, render_page
from quantshift.report.page.builder import DIAGONAL_ROWS, ERROR_ROWS
from quantshift.report.page.glance import glance_of
from quantshift.report.page.payload import embedded_json
from quantshift.report.page.sections import sections_of, with_panels
from quantshift.report.page.slices import choosable, diagonal_slices, error_slices
from quantshift.results import ResultStore
from quantshift.results.schema import conform
from quantshift.results.status import SCHEMA as STATUS
from quantshift.seeding import generator

METHODS = ("CC", "PCC", "SLD")


def outcomes(experiment="prior", methods=METHODS, p_trains=(0.1, 0.5), p_tests=(0.0, 0.4, 1.0)):
    rows = [
        {
            "experiment": experiment,
            "cell": f"p_train-{p_train},train_repeat-{train_repeat}",
            "method": method,
            "p_train": p_train,
            "p_test": p_test,
            "train_repeat": train_repeat,
            "repeat": repeat,
            "degree": round(p_test - p_train, 1),
            "size": 100,
            "p_true": p_test,
        }
        for p_train in p_trains
        for train_repeat in range(2)
        for method in methods
        for p_test in p_tests
        for repeat in range(3)
    ]
    frame = pl.DataFrame(rows)
    noise = generator(0, experiment=experiment).random(len(frame))
    return conform(frame.with_columns(p_hat=pl.Series(noise)))


def local_outcomes():
    shifted = outcomes("local", p_trains=(0.5,), p_tests=(0.25, 0.5, 0.75))
    return pl.concat(
        [shifted.with_columns(control=pl.lit(value=control)) for control in (False, True)]
    )


def page(frame, provenance=None, **options):
    contents = contents_of(frame, progress=lambda what: None, **options)
    return render_page(contents, provenance or Provenance({}), progress=lambda what: None)


class Reader(HTMLParser):
    """Elements with their attributes, the text of scripts, and all other text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.scripts, self.text, self.inside = [], [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside == "script":
            self.scripts[-1] += text
        else:
            self.text.append(text)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def both():
    return Reader(page(pl.concat([outcomes(), local_outcomes()]), against_paper=True))


# -- slices


def prepared(frame):
    contents = contents_of(frame, progress=lambda what: None)
    (section,) = sections_of(contents.rows, {})
    return with_panels(contents.rows, section)


def test_a_slice_has_the_mean_of_its_rows():
    rows = prepared(outcomes())
    slices = error_slices(rows, budget=1000)
    assert slices.coordinates == ("p_train", "p_test")
    for row in slices.frame.iter_rows(named=True):
        own = rows.filter(
            pl.col("method") == row["method"],
            pl.col("degree") == row["x"],
            *(pl.col(name) == row[name] for name in slices.coordinates if row[name] is not None),
        )
        assert row["n"] == row["expected"] == len(own)
        assert row["mean"] == pytest.approx(own["error"].mean())
        assert row["bias"] == pytest.approx(own["signed"].mean())
        assert row["median"] == pytest.approx(own["error"].median())


def test_the_diagonal_has_the_moments_of_its_rows():
    rows = prepared(outcomes())
    frame = diagonal_slices(rows, budget=1000).frame
    whole = frame.filter(pl.col("p_train").is_null(), pl.col("degree").is_null())
    assert len(whole) == len(METHODS) * 3
    for row in whole.iter_rows(named=True):
        own = rows.filter(pl.col("method") == row["method"], pl.col("p_true") == row["x"])
        assert row["p_hat"] == pytest.approx(own["p_hat"].mean())
        assert row["deviation"] == pytest.approx(np.std(own["p_hat"].to_numpy()))


def test_a_method_that_lacks_samples_is_a_gap_where_it_lacks_them():
    frame = outcomes()
    lost = (pl.col("method") == "SLD") & (pl.col("cell") == "p_train-0.1,train_repeat-0")
    frame = error_slices(prepared(frame.filter(~lost)), budget=1000).frame
    gaps = frame.filter(pl.col("mean").is_null())
    assert set(gaps["method"]) == {"SLD"}
    assert (gaps["n"] < gaps["expected"]).all()
    assert (
        gaps.select("low", "median", "q1", "whisker_high", "bias").null_count().row(0)
        == (len(gaps),) * 5
    )
    elsewhere = frame.filter(pl.col("method") == "SLD", pl.col("p_train") == 0.5)
    assert elsewhere["mean"].null_count() == 0


def test_coordinates_are_offered_as_long_as_they_fit():
    rows = prepared(outcomes()).with_columns(x=pl.col("degree"))
    names = ("p_train", "p_test", "cut_train")
    whole = len(METHODS) * 5
    assert choosable(rows, names, 10**6) == ("p_train", "p_test")
    at_each = len(METHODS) * 2 * 3
    assert choosable(rows, names, whole + at_each) == ("p_train",)
    assert choosable(rows, names, whole + at_each - 1) == ()


def test_a_coordinate_that_says_what_the_degree_says_is_not_offered():
    rows = prepared(local_outcomes()).with_columns(x=pl.col("degree"))
    assert choosable(rows, ("p_train", "p_test"), 10**6) == ()


# -- the data in the page


def test_packed_figures_are_those_of_the_slices(both):
    entry = next(s for s in both.data["sections"] if s["id"] == "prior")
    columns, unit = entry["errors"]["columns"], both.data["unit"]
    rows = prepared(outcomes())
    names = [method["name"] for method in both.data["methods"]]
    checked = 0
    for i, mean in enumerate(columns["mean"]):
        if columns["p_train"][i] != -1 or columns["p_test"][i] != -1:
            continue
        own = rows.filter(
            pl.col("method") == names[columns["method"][i]],
            pl.col("degree") == entry["errors"]["x"][columns["x"][i]],
        )
        assert mean * unit == pytest.approx(own["error"].mean(), abs=unit)
        checked += 1
    assert checked == len(METHODS) * 5


def test_sections_follow_the_paper_and_a_control_stands_beside_its_part(both):
    entries = both.data["sections"]
    assert [entry["id"] for entry in entries] == ["prior", "local", "published"]
    assert entries[1]["panels"] == ["shifted", "control"]
    assert set(entries[1]["errors"]["columns"]["panel"]) == {0, 1}


def test_the_page_says_what_becomes_of_every_finding(both):
    found = verdicts(pl.concat([outcomes(), local_outcomes()]))
    states = {True: "holds", False: "fails", None: "untold"}
    shown = [a["class"].split()[1] for a in both.of("li") if "verdict " in a.get("class", "")]
    assert shown == [states[verdict.holds] for verdict in found]
    for verdict in found:
        assert verdict.title in both.words


def test_tables_stand_in_their_sections(both):
    tables = [a["id"] for a in both.of("figure") if a.get("class") == "report-table"]
    assert tables[:2] == ["table-prior", "table-summary-prior"]
    assert {"table-local", "table-summary-local", "table-summary-local-control"} <= set(tables)


def test_every_control_has_a_name(both):
    for tag in ("input", "select"):
        assert both.of(tag)
    assert len(both.of("label")) >= len(both.of("select")) + len(METHODS)
    regions = [a for _, a in both.elements if a.get("role") == "region"]
    assert regions
    assert all(region["aria-label"] for region in regions)
    identifiers = [a["id"] for _, a in both.elements if "id" in a]
    assert len(identifiers) == len(set(identifiers))
    targets = {a["href"].removeprefix("#") for a in both.of("a")}
    assert targets <= set(identifiers)


def test_rows_of_many_experiments_share_the_budget():
    frames = [outcomes(f"mine{i}", methods=("CC", "SLD"), p_trains=(0.1,)) for i in range(4)]
    reader = Reader(page(pl.concat(frames)))
    entries = reader.data["sections"]
    assert len(entries) == 4
    assert sum(len(e["errors"]["columns"]["n"]) for e in entries) <= ERROR_ROWS
    assert sum(len(e["diagonal"]["columns"]["n"]) for e in entries) <= DIAGONAL_ROWS


def test_results_without_a_degree_have_charts_that_need_none():
    frame = outcomes("natural").with_columns(degree=pl.lit(None, pl.Float64))
    reader = Reader(page(frame))
    views = [a["value"] for a in reader.of("input") if "data-view" in a]
    assert views == ["boxes", "diagonal"]


# -- safety


HOSTILE = "</script><script>alert('\"&')</script><!--"


def test_hostile_names_stay_names():
    frame = outcomes(HOSTILE, methods=("CC", HOSTILE))
    provenance = Provenance(
        {"experiments": {HOSTILE: {"title": HOSTILE, "source": HOSTILE, "methods": []}}},
        failures=(FailedCell(HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),),
    )
    html = page(frame, provenance)
    reader = Reader(html)
    assert len(reader.of("script")) == 3
    assert [method["name"] for method in reader.data["methods"]] == ["CC", HOSTILE]
    assert "alert(" not in "".join(reader.scripts[1:])
    assert "<script>alert" not in html
    assert "<!--" not in html
    assert HOSTILE in "".join(reader.text)


@pytest.mark.parametrize("name", ["</script>", "<!--", "\u2028", "&lt;", '"', "\\", "é"])
def test_embedded_json_reads_back_and_has_no_markup(name):
    text = embedded_json({name: name})
    assert json.loads(text) == {name: name}
    assert not re.search("[<>&\u2028]", text)


def test_the_policy_names_exactly_the_scripts_of_the_page(both):
    (policy,) = [a["content"] for a in both.of("meta") if "http-equiv" in a]
    hashes = {
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in both.scripts[1:]
    }
    assert set(re.findall(r"sha256-([^']+)'", policy)) == hashes
    assert policy.startswith("default-src 'none';")


def test_nothing_is_loaded_from_elsewhere(both):
    for tag, attributes in both.elements:
        assert "src" not in attributes, tag
        if tag != "a":
            assert "href" not in attributes, tag


# -- gaps and provenance


def progress_frame(**counts):
    empty = dict.fromkeys(STATUS, 0)
    return pl.DataFrame([{**empty, "experiment": "prior", **counts}], schema=STATUS)


def test_an_unfinished_run_says_how_much_of_it_is_here():
    provenance = Provenance(
        {"experiments": {"prior": {"title": "Prior probability shift", "methods": []}}},
        progress=progress_frame(cells=530, cells_done=412, cells_failed=3),
        failures=(FailedCell("prior", "p_train-0.1", ("SLD",), "ValueError: no"),),
    )
    words = Reader(page(outcomes(), provenance)).words
    assert "Prior probability shift: 412 of 530 cells are complete; 3 failed, at least in" in words
    assert "1 failure; the methods named have no results" in words
    assert "ValueError: no" in words


def test_a_finished_run_has_no_such_notice(both):
    assert "Not everything is here" not in both.words


def test_an_experiment_without_any_result_is_named():
    experiments = {name: {"title": name, "methods": []} for name in ("prior", "concept")}
    words = Reader(page(outcomes(), Provenance({"experiments": experiments}))).words
    assert "concept: no results" in words


def test_a_glance_shows_no_mean_over_other_samples():
    frame = outcomes(methods=("CC", "SLD", "MLPE"))
    lost = (pl.col("method") == "SLD") & (pl.col("repeat") == 0)
    rows = contents_of(frame.filter(~lost), progress=lambda what: None).rows
    glance = glance_of(rows, sections_of(rows, {}), ("CC", "SLD", "MLPE"))
    (cc,), (sld,), (mlpe,) = (row.cells for row in glance.rows)
    assert (sld.text, sld.note) == ("–", "24 of 36 estimates")
    assert cc.best
    assert not mlpe.best
    assert glance.partial


def test_provenance_of_a_store(tmp_path):
    signatures = {"CC": "one", "SLD": "two"}
    methods = [{"name": name, "signature": text} for name, text in signatures.items()]
    experiment = {"title": "Prior", "source": "/home/me/reviews/", "seed": 7, "methods": methods}
    store = ResultStore.create(tmp_path / "store", {"experiments": {"prior": experiment}})
    cell = "p_train-0.1,train_repeat-0"
    rows = outcomes(methods=("CC",)).filter(pl.col("cell") == cell)
    store.write_part("prior", cell, {"CC": "one"}, rows)
    store.write_failure("prior", cell, {"SLD": "two"}, ValueError("no luck"))
    store.log.append({"seconds": 90.0, "workers": 2})
    planned = {"prior": [(cell, signatures), ("p_train-0.5,train_repeat-0", signatures)]}
    provenance = provenance_of(store, planned)
    assert provenance.failures == (FailedCell("prior", cell, ("SLD",), "ValueError: no luck"),)
    assert provenance.gap("prior") == "0 of 2 cells are complete; 1 failed, at least in part"
    words = Reader(page(rows, provenance)).words
    assert "1 min 30 s with 2 workers" in words
    assert "reviews" in words
    assert "/home/me" not in words
    assert "0 of 2" in words
