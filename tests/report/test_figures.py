import io
from itertools import product

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from quantshift.analysis import PAPER_METHODS, mean_ranks, summarise, with_errors
from quantshift.analysis.ranks import RankComparison
from quantshift.errors import DataError, UserError
from quantshift.report.figures import (
    bias_boxes,
    boxes_by_degree,
    concept_boxes,
    covariate_pages,
    critical_difference_diagram,
    diagonal_bands,
    error_lines,
    forced_boxes,
    gallery,
    local_boxes,
    prior_boxes,
    save_figure,
)
from quantshift.report.figures.boxes import labelled
from quantshift.report.figures.canvas import PALE, house_style, tint
from quantshift.results.schema import conform
from quantshift.seeding import generator

CUTS = (1.5, 2.5, 3.5, 4.5)
P_TRAINS = (0.25, 0.5)
P_TESTS = (0.25, 0.5, 0.75)
ALPHAS = (0.0, 0.5, 1.0)


def coordinates():
    for p_train, p_test in product((0.1, 0.5, 0.9), (0.0, 0.5, 1.0)):
        degree = round(p_test - p_train, 1)
        yield {"experiment": "prior", "p_train": p_train, "p_test": p_test, "degree": degree}
    for p_train, p_test, a_train, a_test in product(P_TRAINS, P_TESTS, ALPHAS, ALPHAS):
        yield {
            "experiment": "covariate",
            "p_train": p_train,
            "p_test": p_test,
            "alpha_train": a_train,
            "alpha_test": a_test,
            "degree": a_train - a_test,
        }
    for p_test, control in product(P_TESTS, (False, True)):
        yield {
            "experiment": "local",
            "p_train": 0.5,
            "p_test": p_test,
            "control": control,
            "degree": p_test - 0.5,
        }
    for c_train, c_test in product(CUTS, CUTS):
        cuts = {"cut_train": c_train, "cut_test": c_test, "degree": c_train - c_test}
        yield {"experiment": "concept", **cuts}
        yield {"experiment": "concept-forced", "p_train": 0.5, "p_test": 0.75, **cuts}


def outcomes(methods=(*PAPER_METHODS, "MLPE")):
    rng = generator(0, test="figures")
    rows = []
    for where, repeat, train_repeat in product(coordinates(), range(3), range(3)):
        training = [
            f"{k}={where[k]}" for k in ("p_train", "alpha_train", "cut_train") if k in where
        ]
        p_true = where.get("p_test", (5 - where.get("cut_test", 0)) / 5)
        for i, method in enumerate(methods):
            p_hat = float(np.clip(p_true + rng.normal(0.01 * i, 0.05), 0, 1))
            rows.append(
                where
                | {
                    "cell": ",".join([*training, f"train_repeat={train_repeat}"]),
                    "method": method,
                    "train_repeat": train_repeat,
                    "repeat": repeat,
                    "size": 100,
                    "p_true": p_true,
                    "p_hat": p_hat,
                }
            )
    return conform(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="module")
def frame():
    return outcomes()


@pytest.fixture(scope="module")
def all_figures(frame):
    return dict(gallery(frame))


@pytest.fixture(scope="module")
def without_pacc(frame):
    return frame.filter(pl.col("method") != "PACC")


def panels(figure):
    return {axes.get_title(): axes for axes in figure.axes if axes.axison}


def boxes(axes):
    """Lower and upper edges of all boxes of a panel, and their centres."""
    found = [c for c in axes.collections if isinstance(c, PolyCollection)]
    corners = [path.vertices for collection in found for path in collection.get_paths()]
    return np.array([(np.mean(c[:4, 0]), c[:, 1].min(), c[:, 1].max()) for c in corners])


def texts(axes):
    return [text.get_text() for text in axes.texts]


def legend_texts(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def svg(figure):
    target = io.BytesIO()
    with house_style():
        figure.savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()


def test_prior_boxes_show_the_summary_of_each_method(frame):
    figure = prior_boxes(frame)
    shown = panels(figure)
    assert list(shown) == list(PAPER_METHODS)
    prior = with_errors(frame.filter(pl.col("experiment") == "prior"))
    summary = summarise(prior, ["method", "degree"], n_bootstrap=1)
    for method, axes in shown.items():
        expected = summary.filter(pl.col("method") == method)
        drawn = boxes(axes)
        assert len(drawn) == 9
        np.testing.assert_allclose(drawn[:, 1], expected["q1"], atol=1e-12)
        np.testing.assert_allclose(drawn[:, 2], expected["q3"], atol=1e-12)
        assert axes.get_ylim() == shown["CC"].get_ylim()
        assert axes.get_ylim()[0] == 0


def test_medians_means_and_whiskers_are_those_of_the_summary(frame):
    axes = panels(concept_boxes(frame))["SLD"]
    rows = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    summary = summarise(rows, ["degree"], n_bootstrap=1)
    whiskers, medians = (
        c.get_segments() for c in axes.collections if isinstance(c, LineCollection)
    )
    np.testing.assert_allclose([s[0, 1] for s in whiskers], summary["whisker_low"])
    np.testing.assert_allclose([s[1, 1] for s in whiskers], summary["whisker_high"])
    np.testing.assert_allclose([s[0, 1] for s in medians], summary["median"])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), summary["mean"])


def test_the_largest_error_beyond_a_whisker_is_marked(frame):
    key = (pl.col("experiment") == "prior") & (pl.col("method") == "ACC")
    wild = frame.with_row_index("row").with_columns(
        p_hat=pl.when(key & (pl.col("row") == pl.col("row").filter(key).first()))
        .then(1.0)
        .otherwise(pl.col("p_hat"))
    )
    lonely = np.concatenate(
        [line.get_ydata() for line in panels(prior_boxes(wild.drop("row")))["ACC"].lines[1:]]
    )
    assert lonely.max() == pytest.approx(1.0)


def test_all_methods_with_results_get_a_panel_on_request(frame):
    shown = panels(prior_boxes(frame, methods=None))
    assert list(shown) == [*PAPER_METHODS, "MLPE"]


def test_concept_and_forced_panels(frame):
    concept = panels(concept_boxes(frame))
    assert list(concept) == list(PAPER_METHODS)
    assert {len(boxes(axes)) for axes in concept.values()} == {7}
    forced = panels(forced_boxes(frame))
    assert list(forced) == ["PCC", "SLD"]
    assert "$c_L - c_U$" in forced["SLD"].get_xlabel()


def test_covariate_pages_have_pure_panels_on_grey_and_one_scale(frame):
    pages = covariate_pages(frame)
    assert list(pages) == list(P_TRAINS)
    for p_train, page in pages.items():
        assert len(page.axes) == len(PAPER_METHODS) * len(P_TESTS)
        for i, axes in enumerate(page.axes):
            pure = P_TESTS[i % len(P_TESTS)] == p_train
            assert (to_hex(axes.get_facecolor()) == PALE) == pure
            assert len(boxes(axes)) == 5
            assert axes.get_ylim() == pages[0.25].axes[0].get_ylim()
        assert [axes.get_title() for axes in page.axes[:3]] == [
            f"$p_U = {p_test:g}$" + (" (pure)" if p_test == p_train else "") for p_test in P_TESTS
        ]
        assert [texts(axes) for axes in page.axes[2::3]] == [[m] for m in PAPER_METHODS]


def test_local_boxes_stand_beside_their_control(frame):
    figure = local_boxes(frame)
    for method, axes in panels(figure).items():
        control, shifted = (c for c in axes.collections if isinstance(c, PolyCollection))
        assert (control.get_hatch() or "") != (shifted.get_hatch() or "")
        drawn = boxes(axes)
        assert len(drawn) == 6
        left, right = drawn[:3], drawn[3:]
        assert (left[:, 0] < right[:, 0]).all()
        np.testing.assert_allclose((left[:, 0] + right[:, 0]) / 2, [-0.25, 0, 0.25], atol=1e-9)
        rows = frame.filter(
            (pl.col("experiment") == "local") & pl.col("control") & (pl.col("method") == method)
        )
        np.testing.assert_allclose(
            left[:, 1], summarise(rows, ["degree"], n_bootstrap=1)["q1"], atol=1e-12
        )
    assert sum("control" in text for text in legend_texts(figure)) == 1


def test_bias_boxes_are_signed_and_symmetric(frame):
    low = frame.with_columns(p_hat=pl.col("p_true") / 2)
    for axes in panels(bias_boxes(low, "prior")).values():
        assert axes.get_ylim()[0] == -axes.get_ylim()[1]
        assert (boxes(axes)[:, 2] <= 0).all()
        assert boxes(axes)[:, 1].min() == pytest.approx(-0.5)


def test_lines_show_means_and_break_at_missing_degrees(frame):
    gap = (
        (pl.col("experiment") == "concept") & (pl.col("method") == "DyS") & (pl.col("degree") == 1)
    )
    figure = error_lines(frame.filter(~gap), ["concept", "concept-forced"])
    concept = panels(figure)["concept shift"]
    lines = {line.get_label(): line for line in concept.get_lines()}
    assert list(lines) == [*PAPER_METHODS, "MLPE"]
    broken = np.asarray(lines["DyS"].get_ydata())
    assert np.flatnonzero(np.isnan(broken)).tolist() == [4]
    rows = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    expected = summarise(rows, ["degree"])
    np.testing.assert_allclose(lines["SLD"].get_ydata(), expected["mean"])
    segments = concept.collections[list(lines).index("SLD")].get_segments()
    np.testing.assert_allclose([s[0, 1] for s in segments], expected["low"], rtol=1e-6)
    assert concept.get_ylim() == panels(figure)["concept shift, forced priors"].get_ylim()
    assert legend_texts(figure) == list(lines)


def test_lines_are_told_apart_without_colour(frame):
    lines = error_lines(frame, ["prior"]).axes[0].get_lines()
    assert len({line.get_marker() for line in lines}) == len(lines)


def test_diagonal_follows_the_mean_estimate(frame):
    gap = (pl.col("method") == "DyS") & (pl.col("p_true") == 0.5)
    shown = panels(diagonal_bands(frame.filter(~gap), "prior"))
    assert list(shown) == list(PAPER_METHODS)
    mean = shown["SLD"].lines[-1]
    rows = frame.filter((pl.col("experiment") == "prior") & (pl.col("method") == "SLD"))
    expected = rows.group_by("p_true").agg(pl.col("p_hat").mean()).sort("p_true")
    np.testing.assert_allclose(mean.get_xdata(), expected["p_true"])
    np.testing.assert_allclose(mean.get_ydata(), expected["p_hat"])
    assert np.isnan(np.asarray(shown["DyS"].lines[-1].get_ydata())).tolist() == [False, True, False]


def test_critical_difference_diagram_names_ranks_and_groups():
    comparison = RankComparison(
        methods=("SLD", "DyS", "CC"),
        ranks=(1.2, 1.9, 2.9),
        chi2=11.5,
        p_value=0.003,
        critical_difference=0.9,
        alpha=0.05,
        groups=(("SLD", "DyS"),),
        blocks=10,
        dropped=2,
    )
    figure = critical_difference_diagram(comparison)
    words = texts(figure.axes[0])
    assert {"SLD  1.20", "DyS  1.90", "2.90  CC", "CD = 0.90"} <= set(words)
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    assert [tuple(np.round(bar.get_xdata(), 2)) for bar in bars] == [(1.16, 1.94)]
    verdict = figure.get_supxlabel()
    assert "10 blocks (2 incomplete ones left out)" in verdict
    assert "p = 0.003" in verdict


def test_critical_difference_longer_than_the_scale_stays_inside():
    rows = outcomes(methods=("CC", "SLD")).filter(pl.col("experiment") == "local")
    axes = critical_difference_diagram(mean_ranks(rows, ["cell"])).axes[0]
    assert max(np.max(line.get_xdata()) for line in axes.lines) <= axes.get_xlim()[1]


def test_a_missing_method_is_a_gap_and_changes_no_other_panel(frame, without_pacc):
    whole, partly = panels(prior_boxes(frame)), panels(prior_boxes(without_pacc))
    assert list(partly) == list(PAPER_METHODS)
    assert texts(partly["PACC"]) == ["no results"]
    assert len(boxes(partly["PACC"])) == 0
    for method in set(PAPER_METHODS) - {"PACC"}:
        np.testing.assert_array_equal(boxes(partly[method]), boxes(whole[method]))
    assert texts(panels(local_boxes(without_pacc))["PACC"]) == ["no results"]
    assert texts(panels(diagonal_bands(without_pacc, "prior"))["PACC"]) == ["no results"]
    assert "no results" in texts(
        covariate_pages(without_pacc.filter(pl.col("p_train") == 0.5))[0.5].axes[9]
    )


def test_a_missing_degree_is_an_empty_place(frame):
    key = (pl.col("experiment") == "concept") & (pl.col("method") == "CC") & (pl.col("degree") == 0)
    shown = panels(concept_boxes(frame.filter(~key)))
    assert 0 not in np.round(boxes(shown["CC"])[:, 0], 9)
    assert len(boxes(shown["CC"])) == 6
    assert shown["CC"].get_xlim() == shown["SLD"].get_xlim()


def test_a_page_keeps_its_grey_where_pure_results_are_missing(frame):
    pure = (pl.col("p_train") == 0.5) & (pl.col("p_test") == 0.5)
    mixed = frame.filter((pl.col("experiment") == "covariate") & ~pure)
    page = covariate_pages(mixed)[0.5]
    assert [to_hex(axes.get_facecolor()) == PALE for axes in page.axes[:3]] == [False, True, False]
    assert texts(page.axes[1]) == ["no results"]


def test_local_without_control_draws_what_there_is(frame):
    shifted = frame.filter(~pl.col("control").fill_null(value=False))
    assert {len(boxes(axes)) for axes in panels(local_boxes(shifted)).values()} == {3}


@pytest.mark.parametrize(
    "draw",
    [
        prior_boxes,
        local_boxes,
        concept_boxes,
        forced_boxes,
        covariate_pages,
        lambda frame: bias_boxes(frame, "prior"),
        lambda frame: error_lines(frame, ["prior"]),
        lambda frame: diagonal_bands(frame, "prior"),
        lambda frame: list(gallery(frame)),
    ],
)
def test_no_results_at_all_is_an_error(frame, draw):
    with pytest.raises(DataError, match="no results"):
        draw(frame.clear())


def test_a_missing_experiment_or_method_is_named(frame):
    prior = frame.filter(pl.col("experiment") == "prior")
    with pytest.raises(DataError, match=r"no results of concept to draw; .* of prior"):
        concept_boxes(prior)
    with pytest.raises(DataError, match=r"no results of Mine in prior; .* of CC, ACC"):
        prior_boxes(frame, methods=["Mine"])
    with pytest.raises(DataError, match="no degree"):
        boxes_by_degree(prior.with_columns(degree=pl.lit(None, dtype=pl.Float64)), "prior")
    with pytest.raises(UserError, match="unknown error measure"):
        prior_boxes(frame, measure="mea")


def test_another_measure_is_drawn_and_named(frame):
    figure = prior_boxes(frame, measure="kld")
    assert figure.get_supylabel() == "error (kld)"
    assert prior_boxes(frame).get_supylabel() == "absolute error"


def test_gallery_draws_all_that_the_results_allow(all_figures):
    names = set(all_figures)
    assert {
        *("prior-boxes", "prior-lines", "prior-bias", "prior-diagonal", "prior-ranks"),
        *("covariate-boxes-p0.25", "covariate-boxes-p0.5"),
        *("covariate-lines", "covariate-pure-bias", "covariate-mixed-ranks"),
        *("local-boxes", "local-lines", "local-control-diagonal"),
        *("concept-boxes", "concept-forced-boxes", "concept-forced-pair"),
    } <= names
    assert "concept-forced-diagonal" not in names


def test_gallery_of_an_experiment_and_a_method_of_ones_own(frame):
    mine = frame.filter(
        (pl.col("experiment") == "prior") & pl.col("method").is_in(["CC", "SLD", "MLPE"])
    ).with_columns(experiment=pl.lit("my-shift"), method=pl.col("method").replace("CC", "Mine"))
    figures = dict(gallery(mine))
    assert list(figures) == [
        f"my-shift-{kind}" for kind in ("boxes", "lines", "bias", "diagonal", "ranks")
    ]
    assert list(panels(figures["my-shift-boxes"])) == ["SLD", "Mine"]
    assert legend_texts(figures["my-shift-lines"]) == ["SLD", "MLPE", "Mine"]
    undirected = mine.with_columns(degree=pl.lit(None, dtype=pl.Float64))
    assert list(dict(gallery(undirected))) == ["my-shift-diagonal", "my-shift-ranks"]


def test_gallery_leaves_ranks_out_where_training_sets_are_incomplete(frame):
    one = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    names = [name for name, _ in gallery(one)]
    assert "concept-boxes" in names
    assert "concept-ranks" not in names


@pytest.mark.parametrize(
    "name",
    [
        *("prior-boxes", "prior-lines", "prior-bias", "prior-diagonal", "prior-ranks"),
        *("covariate-boxes-p0.5", "covariate-lines", "local-boxes", "concept-forced-pair"),
    ],
)
def test_nothing_is_cut_and_no_legend_covers_a_panel(all_figures, name):
    figure = all_figures[name]
    renderer = FigureCanvasAgg(figure).get_renderer()
    with house_style():
        figure.draw_without_rendering()
        ink = figure.get_tightbbox(renderer)
        width, height = figure.get_size_inches()
        assert 0 <= ink.x0 < ink.x1 <= width
        assert 0 <= ink.y0 < ink.y1 <= height
        for legend in figure.legends:
            covered = legend.get_window_extent(renderer)
            for axes in figure.axes:
                assert not covered.overlaps(axes.get_tightbbox(renderer))


@pytest.mark.parametrize(
    ("kind", "draw"), [("svg", local_boxes), ("pdf", forced_boxes), ("png", forced_boxes)]
)
def test_files_have_the_same_bytes_every_time(frame, tmp_path, kind, draw):
    figure = draw(frame)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    (first,) = save_figure(figure, tmp_path / "first", "name", formats=[kind])
    (again,) = save_figure(figure, tmp_path / "again", "name", formats=[kind])
    (anew,) = save_figure(draw(shuffled), tmp_path / "anew", "name", formats=[kind])
    assert first.name == f"name.{kind}"
    assert first.read_bytes() == again.read_bytes() == anew.read_bytes()


def test_all_formats_are_written_by_default(frame, tmp_path):
    paths = save_figure(forced_boxes(frame), tmp_path, "forced")
    assert [path.name for path in paths] == ["forced.pdf", "forced.svg", "forced.png"]
    starts = [path.read_bytes()[:5] for path in paths]
    assert starts == [b"%PDF-", b"<?xml", b"\x89PNG\r"]


def test_an_unknown_format_is_refused_before_anything_is_written(frame, tmp_path):
    with pytest.raises(UserError, match="unknown figure format 'sgv'; did you mean 'svg'"):
        save_figure(forced_boxes(frame), tmp_path / "out", "forced", formats=["png", "sgv"])
    assert not (tmp_path / "out").exists()


def test_settings_of_others_are_neither_used_nor_changed(frame):
    plain = svg(forced_boxes(frame))
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "figure.dpi": 30}):
        before = dict(matplotlib.rcParams)
        assert svg(forced_boxes(frame)) == plain
        assert dict(matplotlib.rcParams) == before


def test_no_figure_stays_open(frame):
    from matplotlib import pyplot

    for _, figure in gallery(frame.filter(pl.col("experiment") == "local")):
        assert isinstance(figure, Figure)
    assert pyplot.get_fignums() == []


def test_labelled_degrees_include_zero_and_ends_if_possible():
    assert labelled([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]) == [-3, -2, -1, 0, 1, 2, 3]
    assert labelled([i / 10 for i in range(-10, 11)]) == [-1, -0.5, 0, 0.5, 1]
    assert labelled([i / 20 for i in range(-5, 6)]) == [-0.2, -0.1, 0, 0.1, 0.2]
    assert labelled([0.3]) == [0.3]


@pytest.mark.parametrize("colour", ["#000000", "#0072B2", "#E69F00", "#ffffff"])
def test_fills_are_light_enough_for_ink(colour):
    red, green, blue = tint(colour)
    assert 0.299 * red + 0.587 * green + 0.114 * blue > 0.55
