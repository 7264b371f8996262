"""The page: what its data say, what is left out, and that no name can break out of it."""

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

from quantshift.base.seeding import generator
from quantshift.lab.paper import verdicts
from quantshift.lab.report.page import (
    FailedCell,
    Provenance,
    contents_of,
    provenance_of,
    render_page,
)
from quantshift.lab.report.page.builder import BIAS_ROWS, DIAGONAL_ROWS, ERROR_ROWS, SHOWN_METHODS
from quantshift.lab.report.page.gaps import gaps_of
from quantshift.lab.report.page.glance import (
    Glance,
    GlanceCell,
    GlanceRow,
    best_methods,
    glance_of,
    winners,
)
from quantshift.lab.report.page.provenance import experiment_facts
from quantshift.lab.report.page.sections import sections_of, with_panels
from quantshift.lab.report.page.slices import (
    bias_slices,
    choosable,
    diagonal_slices,
    error_slices,
    rows_of_section,
)
from quantshift.lab.report.page.summary import summary_text
from quantshift.lab.report.style.wording import subjects_of
from quantshift.lab.results import ResultStore
from quantshift.lab.results.completeness import SCHEMA as STATUS
from quantshift.lab.results.schema import conform
from quantshift.lab.shifts import UniformPrevalence
from quantshift.lab.shifts.protocol import Words
from quantshift.metrics import MEASURES
from tests.lab.report.conftest import many_methods
from tests.outcomes import about, abouts, as_results

METHODS = ("CC", "PCC", "SLD")
TOLD = abouts("prior", "local")


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
    return as_results(frame.with_columns(p_hat=pl.Series(noise)))


def local_outcomes():
    shifted = outcomes("local", p_trains=(0.5,), p_tests=(0.25, 0.5, 0.75))
    last = shifted["sample"].max() + 1
    control = shifted.with_columns(
        control=pl.lit(value=True), facet=pl.lit("control"), sample=pl.col("sample") + last
    )
    return pl.concat([shifted.with_columns(control=pl.lit(value=False)), control])


def contents(frame, told=None, **options):
    return contents_of(frame, abouts=told or TOLD, progress=lambda what: None, **options)


def page(frame, provenance=None, told=None, **options):
    made = contents(frame, told, **options)
    return render_page(made, provenance or Provenance({}), progress=lambda what: None)


def sections(frame, told=None):
    return sections_of(subjects_of(frame, told or TOLD))


def last(name):
    return pl.col(name).list.last()


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


def own_slices(frame, told=None):
    """The rows of the only section of a frame, and what its slices are made of."""
    made = contents(frame, told)
    (section,) = sections(made.rows, told)
    rows = with_panels(made.rows, section)
    return rows, rows_of_section(rows, section)


def test_a_slice_has_the_mean_of_its_rows():
    rows, own = own_slices(outcomes())
    slices = error_slices(own, budget=1000)
    assert slices.coordinates == ("p_train", "p_test")
    for row in slices.frame.iter_rows(named=True):
        same = rows.filter(
            pl.col("method") == row["method"],
            pl.col("degree") == row["x"],
            *(pl.col(name) == row[name] for name in slices.coordinates if row[name] is not None),
        )
        assert row["n"] == row["expected"] == len(same)
        assert row["mean"] == pytest.approx(same["error"].mean())
        assert row["bias"] == pytest.approx(same["signed"].mean())
        assert row["median"] == pytest.approx(same["error"].median())


def test_the_diagonal_has_the_moments_of_its_rows():
    rows, own = own_slices(outcomes())
    frame = diagonal_slices(own, budget=1000).frame
    whole = frame.filter(pl.col("p_train").is_null(), pl.col("degree").is_null())
    assert len(whole) == len(METHODS) * 3
    for row in whole.iter_rows(named=True):
        same = rows.filter(pl.col("method") == row["method"], last("p_true") == row["x"])
        estimates = same.select(last("p_hat"))["p_hat"]
        assert row["p_hat"] == pytest.approx(estimates.mean())
        assert row["deviation"] == pytest.approx(np.std(estimates.to_numpy()))


def test_a_method_that_lacks_samples_is_a_gap_where_it_lacks_them():
    frame = outcomes()
    lost = (pl.col("method") == "SLD") & (pl.col("cell") == "p_train-0.1,train_repeat-0")
    frame = error_slices(own_slices(frame.filter(~lost))[1], budget=1000).frame
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
    _, own = own_slices(outcomes())
    names = ("p_train", "p_test")
    whole = len(METHODS) * 5
    assert choosable(own.rows, names, 10**6) == ("p_train", "p_test")
    at_each = len(METHODS) * 2 * 3
    assert choosable(own.rows, names, whole + at_each) == ("p_train",)
    assert choosable(own.rows, names, whole + at_each - 1) == ()


def test_a_coordinate_that_says_what_degree_or_panel_say_is_not_offered():
    _, own = own_slices(local_outcomes())
    assert "control" in own.coordinates
    assert choosable(own.rows, own.coordinates, 10**6) == ()


def test_a_coordinate_of_ones_own_can_be_chosen(make_about, make_results):
    mine = make_about()
    _, own = own_slices(make_results(("CC", "SLD"), mine), {"mine": mine})
    slices = error_slices(own, budget=10**6)
    assert slices.coordinates == ("p_train", "season", "p_test")
    assert set(slices.frame["season"].drop_nulls()) == {"summer", "winter"}


def test_the_data_set_is_the_first_choice(make_about, make_results):
    mine = make_about(datasets=dict.fromkeys(("shop", "bank"), ("no", "yes")))
    rows, own = own_slices(make_results(("CC", "SLD"), mine), {"mine": mine})
    slices = error_slices(own, budget=60)
    assert slices.coordinates[0] == "dataset"
    one = slices.frame.filter(
        pl.col("dataset") == "bank", pl.col("method") == "SLD", pl.col("x") == 0.0
    ).row(0, named=True)
    same = rows.filter(
        pl.col("dataset") == "bank", pl.col("method") == "SLD", pl.col("degree") == 0.0
    )
    assert one["mean"] == pytest.approx(same["error"].mean())


def test_classes_have_biases_and_diagonals_of_their_own(make_about, make_results):
    mine = make_about(datasets={"letters": ("a", "b", "c"), "signs": ("a", "x", "y", "z")})
    rows, own = own_slices(make_results(("CC", "SLD"), mine), {"mine": mine})
    assert own.classes == ("a", "b", "c", "x", "y", "z")
    bias = bias_slices(own, budget=10**5)
    whole = bias.frame.filter(pl.all_horizontal(pl.col(bias.coordinates).is_null()))
    row = whole.filter(pl.col("class") == "x", pl.col("method") == "SLD", pl.col("x") == 0.4).row(
        0, named=True
    )
    same = rows.filter(
        pl.col("dataset") == "signs", pl.col("method") == "SLD", pl.col("degree") == 0.4
    )
    error = same.select(pl.col("p_hat").list.get(1) - pl.col("p_true").list.get(1))["p_hat"]
    assert row["n"] == len(same)
    assert row["bias"] == pytest.approx(error.mean())
    diagonal = diagonal_slices(own, budget=10**5).frame
    assert set(diagonal["class"]) == set(own.classes)


# -- the data in the page


def test_packed_figures_are_those_of_the_slices(both):
    entry = next(s for s in both.data["sections"] if s["id"] == "prior")
    columns, unit = entry["errors"]["columns"], both.data["unit"]
    rows, _ = own_slices(outcomes())
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


def test_sections_follow_the_experiments_and_a_control_stands_beside_its_part(both):
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


def test_results_come_before_the_papers_findings(both):
    order = [a["id"] for tag, a in both.elements if tag in ("section", "header") and "id" in a]
    assert order == ["overview", "prior", "local", "findings", "published", "provenance"]


def test_findings_are_left_out_where_the_results_do_not_tell_of_them(make_about, make_results):
    mine = make_about()
    reader = Reader(page(make_results(METHODS, mine), told={"mine": mine}))
    assert "findings" not in {a.get("id") for _, a in reader.elements}
    assert "The paper’s findings" not in reader.words


def test_tables_stand_in_their_sections(both):
    tables = [a["id"] for a in both.of("figure") if a.get("class") == "report-table"]
    assert tables[:2] == ["table-prior", "table-summary-prior"]
    assert {"table-local", "table-summary-local", "table-summary-local-control"} <= set(tables)


def test_a_protocol_that_nobody_knows_is_shown_in_its_own_words(make_about, make_results):
    mine = make_about(words=Words("Seasonal shift", "$s_U - s_L$"))
    reader = Reader(page(make_results(("SLD", "Mine"), mine), told={"mine": mine}))
    (entry,) = reader.data["sections"]
    assert (entry["title"], entry["degree"]) == ("Seasonal shift", "s_U - s_L")
    labels = {c["name"]: (c["label"], c["texts"]) for c in entry["coordinates"]}
    assert labels["season"] == ("season of the year", ["summer", "winter"])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_measure_is_named_wherever_errors_are(measure):
    reader = Reader(page(outcomes(), measure=measure))
    title = MEASURES[measure].title
    assert reader.data["measure"] == title
    assert f"Errors on this page are in terms of the {title}." in reader.words
    assert f"Mean {title} of each method under each kind of shift" in reader.words
    text = summary_text(contents(outcomes(), measure=measure), Provenance({}))
    assert f"## Mean {title} over all samples" in text


def test_forty_methods_have_a_search_and_only_the_best_are_on(make_about, make_results):
    mine = make_about()
    names = many_methods(40)
    reader = Reader(page(make_results(names, mine, repeats=2), told={"mine": mine}))
    boxes = [a for a in reader.of("input") if "data-method" in a]
    assert len(boxes) == 40
    assert sum("checked" in a for a in boxes) == SHOWN_METHODS
    # Later methods err more.
    assert [a["data-method"] for a in boxes if "checked" in a][:5] == ["0", "1", "2", "3", "4"]
    assert [a["id"] for a in reader.of("input") if a.get("type") == "search"] == ["method-search"]
    looks = {(m["light"], m["shape"], tuple(m["dash"])) for m in reader.data["methods"]}
    assert len(looks) == 40


def test_few_methods_are_all_on_and_need_no_search(both):
    boxes = [a for a in both.of("input") if "data-method" in a]
    assert all("checked" in a for a in boxes)
    assert not [a for a in both.of("input") if a.get("type") == "search"]


def test_the_baseline_is_off_at_first():
    reader = Reader(page(outcomes(methods=("CC", "MLPE", "SLD"))))
    boxes = [a for a in reader.of("input") if "data-method" in a]
    names = [method["name"] for method in reader.data["methods"]]
    on = [names[int(a["data-method"])] for a in boxes if "checked" in a]
    assert on == ["CC", "SLD"]
    alone = Reader(page(outcomes(methods=("MLPE",))))
    assert any("checked" in a for a in alone.of("input") if "data-method" in a)


def test_several_classes_are_told_apart_in_the_charts(make_about, make_results):
    mine = make_about(datasets={"letters": ("a", "b", "c")})
    reader = Reader(page(make_results(("CC", "SLD"), mine), told={"mine": mine}))
    (entry,) = reader.data["sections"]
    (choice,) = [c for c in entry["coordinates"] if c["name"] == "class"]
    assert (choice["texts"], choice["open"]) == (["a", "b", "c"], False)
    assert set(entry["bias"]["columns"]["class"]) == {0, 1, 2}
    assert len(entry["bias"]["columns"]["n"]) <= BIAS_ROWS
    assert "3 classes" in reader.words


def test_every_data_set_counts_alike_and_is_named(make_about, make_results):
    data = dict.fromkeys(("shop", "bank"), ("no", "yes"))
    mine = make_about(datasets=data)
    rows = make_results(("CC", "SLD"), mine)
    fewer = rows.filter((pl.col("dataset") == "shop") | (pl.col("sample") < 4))
    made = contents(fewer, {"mine": mine})
    glance = glance_of(made.rows, sections(made.rows, {"mine": mine}), ("CC", "SLD"))
    means = (
        made.rows.filter(pl.col("method") == "CC").group_by("dataset").agg(pl.col("error").mean())
    )
    assert float(glance.rows[0].cells[0].sort) == pytest.approx(means["error"].mean(), abs=1e-6)
    reader = Reader(page(fewer, told={"mine": mine}))
    assert "on shop and bank when training" in reader.words
    assert "all 2 data sets have equal weight" in reader.words
    tables = [a["id"] for a in reader.of("figure") if a.get("class") == "report-table"]
    assert tables[0] == "table-datasets-mine"


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
    names = [f"mine{i}" for i in range(4)]
    frames = [outcomes(name, methods=("CC", "SLD"), p_trains=(0.1,)) for name in names]
    reader = Reader(page(pl.concat(frames), told=abouts(*names)))
    entries = reader.data["sections"]
    assert len(entries) == 4
    assert sum(len(e["errors"]["columns"]["n"]) for e in entries) <= ERROR_ROWS
    assert sum(len(e["diagonal"]["columns"]["n"]) for e in entries) <= DIAGONAL_ROWS


def test_results_without_a_degree_have_charts_that_need_none():
    frame = outcomes("natural").with_columns(degree=pl.lit(None, pl.Float64))
    reader = Reader(page(frame, told=abouts("natural")))
    views = [a["value"] for a in reader.of("input") if "data-view" in a]
    assert views == ["boxes", "diagonal"]


# -- safety


HOSTILE = "</script><script>alert('\"&')</script><!--"


def test_hostile_names_stay_names():
    frame = outcomes(HOSTILE, methods=("CC", HOSTILE))
    data = {HOSTILE: {"source": HOSTILE, "items": HOSTILE, "classes": [HOSTILE, "b"]}}
    provenance = Provenance(
        {"experiments": {HOSTILE: {"title": HOSTILE, "datasets": data, "methods": []}}},
        failures=(FailedCell(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE),),
    )
    told = about(HOSTILE, words=Words(HOSTILE, HOSTILE, facets={"": HOSTILE}))
    html = page(frame, provenance, told={HOSTILE: told})
    reader = Reader(html)
    assert len(reader.of("script")) == 3
    assert [method["name"] for method in reader.data["methods"]] == ["CC", HOSTILE]
    assert "alert(" not in "".join(reader.scripts[1:])
    assert "<script>alert" not in html
    assert "<!--" not in html
    assert HOSTILE in "".join(reader.text)


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
            assert attributes.get("href", "data:").startswith("data:"), tag


# -- gaps and provenance


def progress_frame(*rows):
    empty = dict.fromkeys(STATUS, 0)
    return pl.DataFrame([{**empty, **row} for row in rows], schema=STATUS)


DESCRIBED = {
    "title": "Prior probability shift",
    "methods": [],
    "datasets": {"reviews": {"source": "/home/me/reviews/", "classes": ["no", "yes"]}},
}


def test_an_unfinished_run_says_how_much_of_it_is_here_and_which_methods_failed():
    provenance = Provenance(
        {"experiments": {"prior": DESCRIBED}},
        progress=progress_frame(
            {
                "experiment": "prior",
                "dataset": "reviews",
                "cells": 530,
                "cells_done": 412,
                "cells_failed": 2,
            }
        ),
        failures=(
            FailedCell("prior", "reviews", "p_train-0.1", ("SLD",), "ValueError: no"),
            FailedCell("prior", "reviews", "p_train-0.2", ("SLD", "CC"), "ValueError: no"),
        ),
    )
    words = Reader(page(outcomes(), provenance)).words
    assert (
        "Prior probability shift: 412 of 530 cells are complete; 2 failed, at least in part; "
        "failed: SLD (2 cells), CC (1 cell)" in words
    )
    assert "2 failures; the methods named have no results" in words
    assert "ValueError: no" in words


def test_unfinished_data_sets_are_named(make_about, make_results):
    mine = make_about(datasets=dict.fromkeys(("shop", "bank", "club"), ("no", "yes")))
    rows = make_results(("CC", "SLD"), mine).filter(pl.col("dataset") != "club")
    data = {name: {} for name in mine.datasets}
    described = {"title": "Seasons", "methods": [], "datasets": data}
    provenance = Provenance(
        {"experiments": {"mine": described}},
        progress=progress_frame(
            *(
                {"experiment": "mine", "dataset": name, "cells": 6, "cells_done": done}
                for name, done in (("shop", 6), ("bank", 5))
            )
        ),
        failures=(FailedCell("mine", "bank", "p_train-0.3", ("SLD",), "ValueError: no"),),
    )
    assert gaps_of(sections(rows, {"mine": mine}), provenance) == [
        "Seasons, data set bank: 5 of 6 cells are complete; failed: SLD (1 cell)",
        "Seasons, data set club: no results",
    ]


def test_a_finished_run_has_no_such_notice(both):
    assert "Results are incomplete" not in both.words


def test_an_experiment_without_any_result_is_named():
    experiments = {name: {"title": name, "methods": []} for name in ("prior", "concept")}
    words = Reader(page(outcomes(), Provenance({"experiments": experiments}))).words
    assert "concept: no results" in words


def test_a_glance_shows_no_mean_over_other_samples():
    frame = outcomes(methods=("CC", "SLD", "MLPE"))
    lost = (pl.col("method") == "SLD") & (pl.col("repeat") == 0)
    rows = contents(frame.filter(~lost)).rows
    glance = glance_of(rows, sections(rows), ("CC", "SLD", "MLPE"))
    (cc,), (sld,), (mlpe,) = (row.cells for row in glance.rows)
    assert (sld.text, sld.note) == ("–", "24 of 36 estimates")
    assert cc.best
    assert not mlpe.best
    assert glance.partial
    assert best_methods(glance, 3) == ("CC",)


def concept_and_prior():
    told = abouts("prior", "concept")
    frames = [outcomes(name, methods=("CC", "SLD", "MLPE")) for name in told]
    mine = dataclasses.replace(about("moved"), shift="concept")
    renamed = outcomes("concept").with_columns(experiment=pl.lit("moved"))
    return pl.concat([*frames, renamed]), {**told, "moved": mine}


def test_where_all_methods_fail_none_is_the_best():
    frame, told = concept_and_prior()
    html = page(frame, told=told)
    made = contents(frame, told)
    glance = glance_of(made.rows, sections(made.rows, told), ("CC", "SLD", "MLPE"))
    best = [any(row.cells[column].best for row in glance.rows) for column in range(3)]
    # By the kind of shift, whatever the experiment is called.
    assert best == [True, False, False]
    assert len(glance.unranked) == 2
    reader = Reader(html)
    assert "all methods fail, so none is marked as the best" in reader.words
    parts = re.split(r'<section class="part" id="', html)
    by_section = {part.split('"')[0]: part for part in parts[1:]}
    assert "<strong>" in by_section["prior"]
    assert "Bold:" in by_section["prior"]
    for name in ("concept", "moved"):
        tables = by_section[name].split('<section class="part provenance"')[0]
        assert "<strong>" not in tables
        assert "Bold:" not in tables
        assert "‡" not in tables
    summary = summary_text(made, Provenance({}))
    assert "**Results" not in summary
    assert "all methods fail" in summary


def test_the_page_says_who_wins():
    def glance(*errors, unranked=()):
        best = [min(column) for column in zip(*errors, strict=True)]
        rows = tuple(
            GlanceRow(
                name,
                i,
                tuple(
                    GlanceCell(f"{e:.3f}", f"{e}", best=e == b and str(c) not in unranked)
                    for c, (e, b) in enumerate(zip(row, best, strict=True))
                ),
            )
            for i, (name, row) in enumerate(zip("AB", errors, strict=False))
        )
        columns = tuple(str(c) for c in range(len(best)))
        return Glance(columns, tuple(unranked), rows, "", partial=False)

    assert winners(glance([0.1], [0.2]), "error") == "A has the lowest mean error: 0.100."
    assert winners(glance([0.1] * 3, [0.2] * 3), "error") == (
        "A has the lowest mean error under all 3 shifts."
    )
    assert winners(glance([0.1, 0.1, 0.3, 0.1], [0.2] * 4, unranked=["3"]), "error") == (
        "No method wins under every shift: of 3, the lowest mean error is that of A under 2 and "
        "B under 1. Under “3” all methods fail, so none is marked as the best."
    )


def test_the_words_of_a_design_come_before_those_of_its_kind(make_about, make_results):
    """Before, every kind "uniform" was said to be drawn uniformly, Dirichlet draws too."""
    shift = UniformPrevalence(concentration=0.3)
    about = dataclasses.replace(make_about(words=shift.words()), shift="uniform")
    (section,) = sections_of(subjects_of(make_results(("CC",), about), {about.name: about}))
    assert "symmetric Dirichlet distribution of concentration 0.3" in section.summary


def test_provenance_has_the_training_sets_that_were_drawn():
    """Before, the whole pool, used once, was "5,000" items and "10" training sets."""
    columns = ("training size", "training sets per point")
    told = {
        name: tuple(experiment_facts({"shift": shift})[column] for column in columns)
        for name, shift in {
            "drawn": {"train_size": 5000, "train_repeats": 10},
            "whole": {"train_size": 5000, "train_repeats": 10, "whole_pool": True},
            "given": {"train_size": None, "train_repeats": 1},
        }.items()
    }
    assert told == {
        "drawn": ("5,000", "10"),
        "whole": ("the whole pool", "1"),
        "given": ("all items", "1"),
    }


def test_provenance_of_a_store(tmp_path):
    signatures = {"CC": "one", "SLD": "two"}
    methods = [{"name": name, "signature": text} for name, text in signatures.items()]
    told = about("prior")
    experiment = {
        **DESCRIBED,
        "seed": 7,
        "methods": methods,
        "shift": {"kind": "prior"},
        "coordinates": [c.as_json() for c in told.coordinates],
        "words": told.words.as_json(),
        "diagnostics": {},
    }
    store = ResultStore.create(tmp_path / "store", {"experiments": {"prior": experiment}})
    cell = "p_train-0.1,train_repeat-0"
    rows = outcomes(methods=("CC",)).filter(pl.col("cell") == cell)
    store.write_part("prior", "reviews", cell, {"CC": "one"}, conform(rows, told.schema))
    store.write_failure("prior", "reviews", cell, {"SLD": "two"}, ValueError("no luck"))
    store.log.append({"seconds": 90.0, "workers": 2})
    cells = [(cell, signatures), ("p_train-0.5,train_repeat-0", signatures)]
    provenance = provenance_of(store, {"prior": {"reviews": cells}})
    assert provenance.failures == (
        FailedCell("prior", "reviews", cell, ("SLD",), "ValueError: no luck"),
    )
    assert provenance.gap("prior") == "0 of 2 cells are complete; 1 failed, at least in part"
    words = Reader(page(rows, provenance)).words
    assert "1 min 30 s with 2 workers" in words
    assert "on reviews when training" in words
    assert "/home/me" not in words
    assert "0 of 2" in words
