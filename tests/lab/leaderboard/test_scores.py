"""The numbers of a leaderboard against the formulas they stand for."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.analysis import with_errors
from quantshift.lab.analysis.ranks import critical_difference
from quantshift.lab.leaderboard.build import build_leaderboard, numbers_of
from quantshift.lab.leaderboard.contents import contents_of
from quantshift.lab.leaderboard.method_times import method_times
from quantshift.lab.leaderboard.payload import payload_of
from quantshift.lab.leaderboard.samples import ALPHABET, LACKING, STEPS, pack, points_of
from quantshift.lab.leaderboard.scores import score_table
from quantshift.lab.report import build_report
from tests.lab.leaderboard.conftest import make_store, payload_in

METHODS = ("CC", "SLD", "PACC", "MLPE")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_store(
        tmp_path_factory.mktemp("store"),
        datasets={"pairs": 2, "stars": 5},
        methods=METHODS,
        ordered=("stars",),
        left_out={"PACC": "only on Sundays"},
    )


@pytest.fixture(scope="module")
def contents(store):
    return contents_of(store)


def unpacked(text):
    """What the page's script makes of packed prevalences."""
    codes = [
        64 * ALPHABET.index(a) + ALPHABET.index(b)
        for a, b in zip(text[::2], text[1::2], strict=True)
    ]
    return [None if code == LACKING else code / STEPS for code in codes]


def test_scores_are_means_over_samples(store):
    scores = score_table(store)
    rows = with_errors(store.read().collect(), measure="rae")
    own = rows.filter((pl.col("method") == "SLD") & (pl.col("dataset") == "stars"))
    score = scores.filter(
        (pl.col("method") == "SLD") & (pl.col("dataset") == "stars") & (pl.col("measure") == "rae")
    ).row(0, named=True)
    assert score["error"] == pytest.approx(own["error"].mean(), rel=1e-12)
    means = own.group_by("cell").agg(pl.col("error").mean())["error"].to_numpy()
    expected = means.std(ddof=1) / np.sqrt(len(means))
    assert score["standard_error"] == pytest.approx(expected, rel=1e-12)
    assert (score["samples"], score["expected"], score["training_sets"]) == (12, 12, 2)
    assert (score["suite"], score["family"], score["ordered"]) == ("paper", "likelihood", True)
    assert not scores.filter(pl.col("dataset") == "pairs")["ordered"].any()


def test_a_method_that_lacks_samples_has_no_number(tmp_path):
    store = make_store(tmp_path / "s", datasets={"pairs": 2}, methods=METHODS)
    store.drop("prior", "pairs", "p_train-0.5,train_repeat-0", "CC")
    scores = score_table(store).filter(pl.col("measure") == "ae")
    lacking = scores.filter(pl.col("method") == "CC").row(0, named=True)
    assert (lacking["error"], lacking["samples"], lacking["expected"]) == (None, 6, 12)
    assert scores.filter(pl.col("method") != "CC")["error"].null_count() == 0


@pytest.mark.parametrize("p_hat", [[1.5, -0.5], [0.2, 0.2], [float("nan"), 1.0]])
def test_stored_estimates_that_are_not_prevalences_are_told(tmp_path, monkeypatch, p_hat):
    """Before, a negative share made every later leaderboard a traceback."""
    store = make_store(tmp_path / "s", datasets={"pairs": 2}, methods=("CC", "SLD"), cells=1)
    written = next(part.data for part, _ in store.parts())
    rows = pl.read_parquet(written)
    of_cc = pl.col("method") == "CC"
    rows = rows.with_columns(pl.when(of_cc).then(p_hat).otherwise("p_hat").alias("p_hat"))
    store.drop("prior", "pairs", "p_train-0.5,train_repeat-0", "CC")
    with pytest.raises(DataError, match=r"p_hat of method 'CC' .* is not "):
        store.write_part("prior", "pairs", "c", {"CC": "prior CC"}, rows.filter(of_cc))
    monkeypatch.setattr("quantshift.lab.results.schema._refuse", lambda *_: None)
    place = ("prior", "pairs", "p_train-0.5,train_repeat-0")
    store.write_part(*place, {"CC": "prior CC"}, rows.filter(of_cc))
    board = build_leaderboard(store)
    assert set(pl.read_csv(board.numbers)["method"]) == {"SLD"}
    reason = contents_of(store).absences["prior", "pairs", "CC"]
    assert reason.startswith("6 stored estimates with a negative share or another sum than 1: ")
    with pytest.raises(DataError, match="6 estimates of CC with a negative share or another sum"):
        build_report(store, formats=["csv"])


def test_the_payload_has_the_scores_and_the_reasons(contents):
    payload = payload_of(contents)
    names = [method["name"] for method in payload["methods"]]
    place = next(i for i, c in enumerate(payload["columns"]) if c["dataset"] == "pairs")
    scores = contents.scores
    for method in names:
        own = scores.filter(
            (pl.col("method") == method)
            & (pl.col("dataset") == "pairs")
            & (pl.col("measure") == "ae")
        )
        packed = payload["errors"]["ae"][names.index(method)][place]
        if method == "PACC":
            assert packed is None
            reason = payload["absences"]["which"][names.index(method)][place]
            assert payload["absences"]["reasons"][reason - 1] == "only on Sundays"
        else:
            # Rounded to the unit of the page.
            assert packed * payload["unit"] == pytest.approx(own["error"][0], abs=5.1e-7)
    assert payload["errors"]["nmd"][0][place] is None  # the classes of pairs have no order
    assert payload["errors"]["nmd"][0][1 - place] is not None


def test_quantiles_give_nemenyis_difference(contents):
    payload = payload_of(contents)
    for k in (2, 3, 4):
        expected = critical_difference(k, 7)
        # Rounded to four decimals.
        got = payload["quantiles"][k] * np.sqrt(k * (k + 1) / 42)
        assert got == pytest.approx(expected, abs=1e-4)


def test_points_are_the_samples(store):
    rows = store.read(datasets=["pairs"]).collect()
    points = points_of(rows, METHODS, 200)
    own = rows.filter(pl.col("method") == "SLD").sort("cell", "sample")
    truth = own["p_true"].list.last().to_numpy()
    assert unpacked(points.true) == pytest.approx(truth, abs=0.51 / STEPS)
    estimated = own["p_hat"].list.last().to_numpy()
    assert unpacked(points.estimated["SLD"]) == pytest.approx(estimated, abs=0.51 / STEPS)
    assert "PACC" not in points.estimated
    few = points_of(rows, METHODS, 5)
    assert len(few.true) == 10
    stars = points_of(store.read(datasets=["stars"]).collect(), METHODS, 200)
    assert stars.classes[:6] == (0, 1, 2, 3, 4, 0)
    first = store.read(datasets=["stars"], methods=["SLD"]).collect().sort("cell", "sample")
    assert unpacked(stars.true)[1] == pytest.approx(first["p_true"][1][1], abs=0.51 / STEPS)


def test_an_estimate_that_is_missing_is_marked(store):
    rows = store.read(datasets=["pairs"]).collect()
    without = rows.filter(~((pl.col("method") == "SLD") & (pl.col("sample") == 2)))
    values = unpacked(points_of(without, METHODS, 200).estimated["SLD"])
    assert [place for place, value in enumerate(values) if value is None] == [2, 8]
    assert pack(np.array([LACKING])) == "__"


def test_times_are_medians_over_cells(store):
    times = method_times(store)
    row = times.filter((pl.col("method") == "SLD") & (pl.col("dataset") == "stars")).row(
        0, named=True
    )
    assert row["fit_ms"] == pytest.approx(20)
    assert row["sample_ms"] == pytest.approx(0.3)
    assert (row["shared_ms"], row["cells"]) == (pytest.approx(100), 2)


def test_torn_records_of_times_are_nothing(tmp_path):
    store = make_store(tmp_path / "s", datasets={"pairs": 2}, methods=("CC",))
    store.times.append({"experiment": "prior"})
    store.times.append({"experiment": "prior", "dataset": "pairs", "samples": 0, "shared": 1})
    with store.times.path.open("a") as file:
        file.write('{"experiment": "pri')
    assert len(method_times(store)) == 1


def test_files_are_written_and_only_ours_replaced(store, tmp_path):
    written = build_leaderboard(store, tmp_path)
    assert payload_in(written.page)["columns"]
    table = pl.read_csv(written.numbers)
    assert {"error", "standard_error", "sample_ms", "source"} <= set(table.columns)
    assert len(table.filter(pl.col("method") == "SLD")) == 2 * 9
    build_leaderboard(store, tmp_path)
    written.numbers.write_text("mine")
    with pytest.raises(UserError, match="exists and was not made by quantshift"):
        build_leaderboard(store, tmp_path)
    assert written.numbers.read_text() == "mine"


def test_published_numbers_stand_beside_ours(tmp_path):
    store = make_store(
        tmp_path / "s",
        experiments=("multiclass-uniform",),
        datasets={"cmc": 3},
        methods=("SLD", "CC"),
    )
    numbers = numbers_of(contents_of(store)).filter(pl.col("source").is_not_null())
    emq = numbers.filter(pl.col("method") == "EMQ").row(0, named=True)
    assert (emq["suite"], emq["dataset"], emq["error"]) == ("multiclass", "cmc", 0.0946)
    assert emq["differs"]
    payload = payload_of(contents_of(store))
    row = next(row for row in payload["published"] if row["method"] == "EMQ")
    assert payload["methods"][row["same_as"]]["name"] == "SLD"
    ours = score_table(store).filter((pl.col("method") == "SLD") & (pl.col("measure") == "ae"))
    assert row["ours"] == ours["error"][0]
    assert any(row["same_as"] is None for row in payload["published"])


def test_no_results_no_leaderboard(tmp_path):
    store = make_store(tmp_path / "s", datasets={"pairs": 2}, methods=("CC",), cells=0)
    with pytest.raises(DataError, match="no results yet"):
        build_leaderboard(store)
    assert not (tmp_path / "s" / "leaderboard.html").exists()


def test_a_name_cannot_leave_the_page(tmp_path):
    evil = "x<script>alert(1)</script>"
    store = make_store(tmp_path / "s", datasets={"pairs": 2}, methods=("CC", evil))
    page = build_leaderboard(store).page.read_text(encoding="utf-8")
    assert evil not in page
