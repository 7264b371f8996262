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

from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.lab.analysis import PAPER_METHODS, mean_ranks, summarise, with_errors
from quantshift.lab.analysis.ranks import RankComparison
from quantshift.lab.displays.drawing.boxes import labelled
from quantshift.lab.displays.drawing.ink import tint
from quantshift.lab.report.figures import (
    bias_boxes,
    class_bias,
    class_diagonals,
    critical_difference_diagram,
    diagonal_bands,
    error_boxes,
    error_lines,
    gallery,
    outcomes_of,
    save_figure,
)
from quantshift.lab.report.figures.canvas import PALE, fitted_size, house_style, text_width
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words
from quantshift.metrics import MEASURES
from tests.lab.report.conftest import P_TEST, P_TRAIN, SEASON, many_methods
from tests.outcomes import about, abouts, as_results

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
    return as_results(pl.DataFrame(rows, infer_schema_length=None))


@pytest.fixture(scope="module")
def frame():
    return outcomes()


@pytest.fixture(scope="module")
def all_figures(frame):
    return dict(gallery(frame, abouts()))


def own(frame, experiment, methods=PAPER_METHODS, **options):
    rows = frame.filter(pl.col("experiment") == experiment)
    return outcomes_of(rows, about(experiment), methods=methods, **options)


def sheet(frame, experiment, methods=PAPER_METHODS, **options):
    """The only sheet of boxes of an experiment."""
    (figure,) = error_boxes(own(frame, experiment, methods, **options)).values()
    return figure


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


def lines_of(axes):
    """The lines of a panel but for the small ticks."""
    return [line for line in axes.get_lines() if line.get_label() != "_ticks"]


def texts(axes):
    return [text.get_text() for text in axes.texts]


def legend_texts(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def svg(figure):
    target = io.BytesIO()
    with house_style():
        figure.savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()


def test_boxes_show_the_summary_of_each_method(frame):
    shown = panels(sheet(frame, "prior"))
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
    axes = panels(sheet(frame, "concept"))["SLD"]
    rows = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    summary = summarise(rows, ["degree"], n_bootstrap=1)
    whiskers, medians = (
        c.get_segments() for c in axes.collections if isinstance(c, LineCollection)
    )
    np.testing.assert_allclose([s[0, 1] for s in whiskers], summary["whisker_low"])
    np.testing.assert_allclose([s[1, 1] for s in whiskers], summary["whisker_high"])
    np.testing.assert_allclose([s[0, 1] for s in medians], summary["median"])
    np.testing.assert_allclose(lines_of(axes)[0].get_ydata(), summary["mean"])


def test_the_largest_error_beyond_a_whisker_is_marked(frame):
    key = (pl.col("experiment") == "prior") & (pl.col("method") == "ACC")
    row = pl.col("row")
    wild = frame.with_row_index("row").with_columns(
        p_hat=pl.when(key & (row == row.filter(key).first()))
        .then(pl.lit([0.0, 1.0]))
        .otherwise(pl.col("p_hat"))
    )
    lonely = np.concatenate(
        [line.get_ydata() for line in lines_of(panels(sheet(wild.drop("row"), "prior"))["ACC"])[1:]]
    )
    assert lonely.max() == pytest.approx(1.0)


def test_all_methods_with_results_get_a_panel_unless_some_are_chosen(frame):
    assert list(panels(sheet(frame, "prior", None))) == [*PAPER_METHODS, "MLPE"]
    assert list(panels(sheet(frame, "concept-forced", ("PCC", "SLD")))) == ["PCC", "SLD"]


def test_the_degree_is_called_what_the_protocol_calls_it(frame):
    assert "$c_L - c_U$" in panels(sheet(frame, "concept"))["SLD"].get_xlabel()


def test_a_protocol_may_ask_for_sheets_columns_and_a_grey_facet(frame):
    pages = error_boxes(own(frame, "covariate"))
    assert list(pages) == [f"{p_train:g}" for p_train in P_TRAINS]
    for p_train, page in zip(P_TRAINS, pages.values(), strict=True):
        assert page.get_suptitle() == f"$p_L$ = {p_train:g}"
        assert len(page.axes) == len(PAPER_METHODS) * len(P_TESTS)
        for i, axes in enumerate(page.axes):
            pure = P_TESTS[i % len(P_TESTS)] == p_train
            assert (to_hex(axes.get_facecolor()) == PALE) == pure
            assert len(boxes(axes)) == 5
            assert axes.get_ylim() == pages["0.25"].axes[0].get_ylim()
        assert [axes.get_title() for axes in page.axes[:3]] == [
            f"$p_U$ = {p_test:g}" + (" (pure)" if p_test == p_train else "") for p_test in P_TESTS
        ]
        assert [texts(axes) for axes in page.axes[2::3]] == [[m] for m in PAPER_METHODS]


def test_facets_to_be_compared_stand_side_by_side(frame):
    figure = sheet(frame, "local")
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
    assert legend_texts(figure)[:2] == ["control", "shifted"]


def test_bias_boxes_are_signed_and_symmetric(frame):
    half = pl.col("p_true").list.last() / 2
    low = frame.with_columns(p_hat=pl.concat_list(1 - half, half))
    for axes in panels(bias_boxes(own(low, "prior"))).values():
        assert axes.get_ylim()[0] == -axes.get_ylim()[1]
        assert (boxes(axes)[:, 2] <= 0).all()
        assert boxes(axes)[:, 1].min() == pytest.approx(-0.5)


def test_lines_show_means_and_break_at_missing_degrees(frame):
    gap = (
        (pl.col("experiment") == "concept") & (pl.col("method") == "DyS") & (pl.col("degree") == 1)
    )
    figure = error_lines(own(frame.filter(~gap), "concept", None))
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in lines_of(axes)}
    assert list(lines) == [*PAPER_METHODS, "MLPE"]
    broken = np.asarray(lines["DyS"].get_ydata())
    assert np.flatnonzero(np.isnan(broken)).tolist() == [4]
    rows = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    expected = summarise(rows, ["degree"])
    np.testing.assert_allclose(lines["SLD"].get_ydata(), expected["mean"])
    segments = axes.collections[list(lines).index("SLD")].get_segments()
    np.testing.assert_allclose([s[0, 1] for s in segments], expected["low"], rtol=1e-6)
    assert legend_texts(figure) == list(lines)


def test_facets_have_panels_on_one_scale(frame):
    shown = panels(error_lines(own(frame, "covariate")))
    assert list(shown) == ["Covariate, pure", "Covariate, mixed"]
    pure, mixed = shown.values()
    assert pure.get_ylim() == mixed.get_ylim()


def test_lines_are_told_apart_without_colour(frame):
    lines = lines_of(error_lines(own(frame, "prior")).axes[0])
    assert len({line.get_marker() for line in lines}) == len(lines)


def test_many_methods_are_divided_the_best_first(make_about, make_results):
    mine = make_about()
    names = many_methods(20)
    figure = error_lines(outcomes_of(make_results(names, mine), mine))
    shown = panels(figure)
    assert list(shown) == [
        f"Seasonal shift: {place}" for place in ("the 8 best", "places 9 to 16", "places 17 to 20")
    ]
    drawn = [[line.get_label() for line in lines_of(axes)] for axes in shown.values()]
    assert sorted(name for panel in drawn for name in panel) == sorted(names)
    means = with_errors(make_results(names, mine)).group_by("method").agg(pl.col("error").mean())
    assert drawn[0] == means.sort("error")["method"].to_list()[:8]
    for axes, own_lines in zip(shown.values(), drawn, strict=True):
        grey = next(c for c in axes.collections if isinstance(c, LineCollection))
        assert len(grey.get_segments()) == 20 - len(own_lines)
        assert [text.get_text() for text in axes.get_legend().get_texts()] == own_lines


def test_diagonal_follows_the_mean_estimate(frame):
    gap = (pl.col("method") == "DyS") & (pl.col("p_true").list.last() == 0.5)
    shown = panels(diagonal_bands(own(frame.filter(~gap), "prior")))
    assert list(shown) == list(PAPER_METHODS)
    mean = shown["SLD"].lines[-1]
    rows = frame.filter((pl.col("experiment") == "prior") & (pl.col("method") == "SLD"))
    last = rows.select(p_true=pl.col("p_true").list.last(), p_hat=pl.col("p_hat").list.last())
    expected = last.group_by("p_true").agg(pl.col("p_hat").mean()).sort("p_true")
    np.testing.assert_allclose(mean.get_xdata(), expected["p_true"])
    np.testing.assert_allclose(mean.get_ydata(), expected["p_hat"])
    assert np.isnan(np.asarray(shown["DyS"].lines[-1].get_ydata())).tolist() == [False, True, False]


COMPARISON = RankComparison(
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


def test_critical_difference_diagram_names_ranks_and_groups():
    figure = critical_difference_diagram(COMPARISON, blocks="data sets")
    words = texts(figure.axes[0])
    assert {"SLD", "1.20", "DyS", "1.90", "2.90", "CC", "CD = 0.90"} <= set(words)
    bars = [line for line in figure.axes[0].lines if line.get_linewidth() == 3]
    assert [tuple(np.round(bar.get_xdata(), 2)) for bar in bars] == [(1.16, 1.94)]
    verdict = figure.get_supxlabel()
    assert "10 data sets (2 incomplete ones left out)" in verdict
    assert "p = 0.003" in verdict


def test_critical_difference_longer_than_the_scale_stays_inside():
    rows = outcomes(methods=("CC", "SLD")).filter(pl.col("experiment") == "local")
    axes = critical_difference_diagram(mean_ranks(rows, ["cell"])).axes[0]
    assert max(np.max(line.get_xdata()) for line in axes.lines) <= axes.get_xlim()[1]


def test_a_missing_method_is_a_gap_and_changes_no_other_panel(frame, without_pacc):
    whole, partly = panels(sheet(frame, "prior")), panels(sheet(without_pacc, "prior"))
    assert list(partly) == list(PAPER_METHODS)
    assert texts(partly["PACC"]) == ["no results"]
    assert len(boxes(partly["PACC"])) == 0
    for method in set(PAPER_METHODS) - {"PACC"}:
        np.testing.assert_array_equal(boxes(partly[method]), boxes(whole[method]))
    assert texts(panels(sheet(without_pacc, "local"))["PACC"]) == ["no results"]
    assert texts(panels(diagonal_bands(own(without_pacc, "prior")))["PACC"]) == ["no results"]
    assert "no results" in texts(error_boxes(own(without_pacc, "covariate"))["0.5"].axes[9])


def test_a_missing_degree_is_an_empty_place(frame):
    key = (pl.col("experiment") == "concept") & (pl.col("method") == "CC") & (pl.col("degree") == 0)
    shown = panels(sheet(frame.filter(~key), "concept"))
    assert 0 not in np.round(boxes(shown["CC"])[:, 0], 9)
    assert len(boxes(shown["CC"])) == 6
    assert shown["CC"].get_xlim() == shown["SLD"].get_xlim()


def test_one_facet_of_two_is_drawn_alone(frame):
    shifted = frame.filter(pl.col("facet") != "control")
    assert {len(boxes(axes)) for axes in panels(sheet(shifted, "local")).values()} == {3}


@pytest.mark.parametrize(
    "draw",
    [
        lambda frame: own(frame, "prior"),
        lambda frame: list(gallery(frame)),
        lambda frame: list(gallery(frame, abouts(), methods=["CC"])),
    ],
)
def test_no_results_at_all_is_an_error(frame, draw):
    with pytest.raises(DataError, match="no results"):
        draw(frame.clear())


def test_what_cannot_be_drawn_is_named(frame):
    prior = frame.filter(pl.col("experiment") == "prior")
    with pytest.raises(DataError, match=r"no results of Mine in prior; .* of CC, ACC"):
        outcomes_of(prior, methods=["Mine"])
    with pytest.raises(DataError, match="one experiment at a time; there are results of concept"):
        outcomes_of(frame)
    with pytest.raises(DataError, match="no degree"):
        error_boxes(outcomes_of(prior.with_columns(degree=pl.lit(None, dtype=pl.Float64))))
    with pytest.raises(UserError, match="unknown error measure"):
        outcomes_of(prior, measure="mea")


@pytest.mark.parametrize("measure", MEASURES)
def test_any_measure_is_drawn_and_named(frame, measure):
    outcomes = own(frame, "prior", measure=measure)
    figure = next(iter(error_boxes(outcomes).values()))
    assert figure.get_supylabel() == MEASURES[measure].title
    assert MEASURES[measure].title in error_lines(outcomes).get_supylabel()
    rows = frame.filter((pl.col("experiment") == "prior") & (pl.col("method") != "MLPE"))
    expected = with_errors(rows, measure=measure)["error"]
    np.testing.assert_array_equal(outcomes.rows["error"], expected)


@pytest.mark.slow
def test_gallery_draws_all_that_the_results_allow(all_figures):
    names = set(all_figures)
    assert {
        *("prior-boxes", "prior-lines", "prior-bias", "prior-diagonal", "prior-ranks"),
        *("covariate-boxes-0.25", "covariate-boxes-0.5"),
        *("covariate-lines", "covariate-pure-bias", "covariate-mixed-ranks"),
        *("local-boxes", "local-lines", "local-control-diagonal"),
        *("concept-boxes", "concept-forced-boxes"),
    } <= names
    assert "concept-forced-diagonal" not in names
    assert list(panels(all_figures["concept-forced-pair"])) == ["PCC", "SLD"]
    assert "concept-pair" not in names


def test_a_protocol_that_nobody_knows_has_figures_with_its_own_words(make_about, make_results):
    mine = make_about()
    figures = dict(gallery(make_results(("SLD", "Mine"), mine), {"mine": mine}))
    assert list(figures) == [
        f"mine-{kind}" for kind in ("boxes", "lines", "bias", "diagonal", "ranks")
    ]
    assert list(panels(figures["mine-boxes"])) == ["SLD", "Mine"]
    assert panels(figures["mine-boxes"])["Mine"].get_xlabel() == "degree of shift, $s_U - s_L$"
    assert list(panels(figures["mine-lines"])) == ["Seasonal shift"]


def test_its_own_coordinate_may_divide_the_figures(make_about, make_results):
    words = Words("Seasonal shift", "d", tables_by="p_train", columns_by="season")
    mine = make_about(words=words, coordinates=(P_TRAIN, P_TEST, SEASON))
    pages = error_boxes(outcomes_of(make_results(("SLD", "Mine"), mine), mine))
    assert list(pages) == ["0.3", "0.6"]
    assert [axes.get_title() for axes in pages["0.3"].axes[:2]] == [
        "season of the year = summer",
        "season of the year = winter",
    ]


def test_numbers_beside_vectors_of_other_experiments_are_numbers_still(make_about, make_results):
    words = Words("Seasonal shift", "d", tables_by="p_train", columns_by="season")
    mine = make_about(words=words)
    rows = make_results(("SLD", "Mine"), mine)
    wrapped = rows.with_columns(p_train=pl.concat_list("p_train"))
    assert list(error_boxes(outcomes_of(wrapped, mine))) == ["0.3", "0.6"]


def test_vectors_may_divide_the_figures_too(make_about, make_results):
    mixture = Coordinate("mixture", "train", "vector", "training mixture", "q_L")
    words = Words("Seasonal shift", "d", tables_by="mixture", columns_by="season")
    mine = make_about(words=words, coordinates=(P_TRAIN, P_TEST, SEASON, mixture))
    rows = make_results(("SLD", "Mine"), mine)
    rows = rows.with_columns(mixture=pl.concat_list("p_train", 1 - pl.col("p_train")))
    pages = error_boxes(outcomes_of(rows, mine))
    assert list(pages) == ["0.3-0.7", "0.6-0.4"]
    assert pages["0.3-0.7"].get_suptitle() == "$q_L$ = (0.3, 0.7)"


def test_without_any_words_the_rows_tell_what_there_is(make_about, make_results):
    rows = make_results(("SLD", "Mine"), make_about())
    figures = dict(gallery(rows))
    assert list(panels(figures["mine-boxes"])) == ["SLD", "Mine"]
    undirected = rows.with_columns(degree=pl.lit(None, dtype=pl.Float64))
    assert list(dict(gallery(undirected))) == ["mine-diagonal", "mine-ranks"]


def test_many_degrees_are_drawn_in_steps(make_about, make_results):
    mine = make_about()
    degrees = [i / 500 for i in range(200)]
    rows = make_results(("CC", "SLD"), mine, degrees=degrees, train_repeats=1, repeats=1)
    drawn = outcomes_of(rows, mine)
    assert drawn.step == 0.02
    assert drawn.degrees == pytest.approx([i / 50 for i in range(21)])
    assert drawn.degree_label.endswith(", in steps of 0.02")


@pytest.mark.parametrize("n_classes", [3, 20])
def test_classes_have_panels_and_biases_of_their_own(make_about, make_results, n_classes):
    names = tuple(f"class {chr(97 + i)}" for i in range(n_classes))
    mine = make_about(datasets={"letters": names})
    rows = make_results(("CC", "SLD"), mine)
    drawn = outcomes_of(rows, mine)
    diagonals = panels(class_diagonals(drawn))
    assert list(diagonals) == list(names)
    one = rows.filter(pl.col("method") == "SLD")
    line = diagonals[names[1]].lines[-1]
    assert np.nanmean(line.get_ydata()) == pytest.approx(
        np.nanmean(
            one.select(t=(pl.col("p_true").list.get(1) * 20).round(), p=pl.col("p_hat").list.get(1))
            .group_by("t")
            .agg(pl.col("p").mean())["p"]
            .to_numpy()
        ),
        abs=0.05,
    )
    image = class_bias(drawn).axes[0].images[0].get_array()
    errors = np.array(one["p_hat"].to_list()) - np.array(one["p_true"].to_list())
    np.testing.assert_allclose(image[1], errors.mean(axis=0))
    assert {"mine-bias", "mine-diagonal"} <= set(dict(gallery(rows, {"mine": mine})))


def test_data_sets_have_figures_of_their_own_and_are_ranked_together(make_about, make_results):
    data = dict.fromkeys(("shop", "bank", "club"), ("no", "yes"))
    mine = make_about(datasets=data)
    figures = dict(gallery(make_results(("CC", "SLD", "Mine"), mine), {"mine": mine}))
    for name in data:
        assert {f"mine-{name}-boxes", f"mine-{name}-lines", f"mine-{name}-ranks"} <= set(figures)
    over = figures["mine-ranks-over-datasets"]
    assert "3 data sets" in over.get_supxlabel()
    assert "mine-boxes" not in figures


def test_gallery_leaves_ranks_out_where_training_sets_are_incomplete(frame):
    one = frame.filter((pl.col("experiment") == "concept") & (pl.col("method") == "SLD"))
    names = [name for name, _ in gallery(one)]
    assert "concept-boxes" in names
    assert "concept-ranks" not in names


def nothing_is_cut(figure):
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("prior-boxes", "prior-lines", "prior-bias", "prior-diagonal", "prior-ranks"),
        *("covariate-boxes-0.5", "covariate-lines", "local-boxes", "concept-forced-boxes"),
    ],
)
def test_nothing_is_cut_and_no_legend_covers_a_panel(all_figures, name):
    nothing_is_cut(all_figures[name])


@pytest.mark.parametrize(
    "n_methods", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (10, 40))]
)
def test_any_number_of_methods_fits_its_sheets(make_about, make_results, n_methods):
    mine = make_about(datasets={"shop": ("no", "yes"), "bank": ("a", "b", "c")})
    rows = make_results(many_methods(n_methods), mine, repeats=2)
    for figure in dict(gallery(rows, {"mine": mine})).values():
        nothing_is_cut(figure)
        assert figure.get_size_inches()[1] < 15


@pytest.mark.slow
def test_panels_of_forty_methods_do_not_overlap(make_about, make_results):
    mine = make_about()
    figure = sheet_of_many(make_results(many_methods(40), mine, repeats=2), mine)
    renderer = FigureCanvasAgg(figure).get_renderer()
    with house_style():
        figure.draw_without_rendering()
    covered = [axes.get_tightbbox(renderer) for axes in figure.axes if axes.axison]
    assert len(covered) == 40
    for i, one in enumerate(covered):
        for other in covered[i + 1 :]:
            assert not one.overlaps(other)


def sheet_of_many(rows, mine):
    return next(iter(error_boxes(outcomes_of(rows, mine)).values()))


@pytest.mark.slow
def test_names_with_dollar_signs_are_no_mathematics(make_about, make_results, tmp_path):
    mine = make_about(words=Words("Costs in $", r"$\nonsense_$", facets={"": "$"}))
    names = ("a$b$", "$", "\\$x", "SLD")
    for name, figure in gallery(make_results(names, mine, repeats=2), {"mine": mine}):
        save_figure(figure, tmp_path, name, formats=["png"])


def test_letters_shrink_until_a_name_fits():
    name = "a-name-of-a-method-that-is-longer-than-a-panel"
    assert fitted_size("SLD", 8.5, 2.0) == 8.5
    assert text_width(name, fitted_size(name, 8.5, 2.0)) <= 2.0 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "experiment"), [("svg", "local"), ("pdf", "concept"), ("png", "concept")]
)
def test_files_have_the_same_bytes_every_time(frame, tmp_path, kind, experiment):
    figure = sheet(frame, experiment)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    (first,) = save_figure(figure, tmp_path / "first", "name", formats=[kind])
    (again,) = save_figure(figure, tmp_path / "again", "name", formats=[kind])
    (anew,) = save_figure(sheet(shuffled, experiment), tmp_path / "anew", "name", formats=[kind])
    assert first.name == f"name.{kind}"
    assert first.read_bytes() == again.read_bytes() == anew.read_bytes()


def test_all_formats_are_written_by_default(frame, tmp_path):
    paths = save_figure(sheet(frame, "concept", ("PCC", "SLD")), tmp_path, "concept")
    assert [path.name for path in paths] == ["concept.pdf", "concept.svg", "concept.png"]
    starts = [path.read_bytes()[:5] for path in paths]
    assert starts == [b"%PDF-", b"<?xml", b"\x89PNG\r"]


def test_an_unknown_format_is_refused_before_anything_is_written(frame, tmp_path):
    with pytest.raises(UserError, match="unknown figure format 'sgv'; did you mean 'svg'"):
        save_figure(sheet(frame, "concept"), tmp_path / "out", "name", formats=["png", "sgv"])
    assert not (tmp_path / "out").exists()


def test_settings_of_others_are_neither_used_nor_changed(frame):
    plain = svg(sheet(frame, "concept", ("PCC", "SLD")))
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "figure.dpi": 30}):
        before = dict(matplotlib.rcParams)
        assert svg(sheet(frame, "concept", ("PCC", "SLD"))) == plain
        assert dict(matplotlib.rcParams) == before


def test_no_figure_stays_open(frame):
    from matplotlib import pyplot

    for _, figure in gallery(frame.filter(pl.col("experiment") == "local"), abouts()):
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
