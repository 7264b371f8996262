import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from quantshift.lab.report import illustrations
from quantshift.lab.report.figures.canvas import house_style, save_figure
from quantshift.lab.report.illustrations import concept, covariate, local, prior
from quantshift.lab.report.illustrations.panels import conditional_relation, marginal_relation

PLANE = np.stack(np.meshgrid(np.linspace(-5, 5, 61), np.linspace(-5, 5, 61)), axis=-1)
MODULES = [prior, covariate, local, concept]


def xlabels(figure, row):
    return [axes.get_xlabel() for axes in figure.axes[3 * row : 3 * row + 3]]


@pytest.fixture(scope="module")
def drawn():
    return {name: getattr(illustrations, name)() for name in illustrations.__all__}


@pytest.mark.parametrize("name", illustrations.__all__)
def test_a_row_per_scenario_and_three_columns(drawn, name):
    figure = drawn[name]
    rows = 3 if name == "covariate_illustration" else 2
    assert len(figure.axes) == 3 * rows
    assert "$P(X\\,|\\,Y)$" in [axes.get_title() for axes in figure.axes[:3]]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert all(axes.get_title() == "" for axes in figure.axes[3:])


@pytest.mark.parametrize("name", illustrations.__all__)
def test_nothing_is_cut(drawn, name):
    figure = drawn[name]
    renderer = FigureCanvasAgg(figure).get_renderer()
    with house_style():
        figure.draw_without_rendering()
        ink = figure.get_tightbbox(renderer)
    width, height = figure.get_size_inches()
    assert 0 <= ink.x0 < ink.x1 <= width
    assert 0 <= ink.y0 < ink.y1 <= height


def test_what_changes_stands_below_the_densities(drawn):
    assert xlabels(drawn["prior_illustration"], 1)[1:] == [
        "$P_{B}(X) \\neq P_{A}(X)$",
        "$P_{B}(X|Y) = P_{A}(X|Y)$",
    ]
    for row in (1, 2):
        assert all("\\neq" in label for label in xlabels(drawn["covariate_illustration"], row)[1:])
    positive, negative = xlabels(drawn["local_illustration"], 1)[2].split("\n")
    assert "Y=1) \\neq" in positive
    assert "Y=0) =" in negative
    assert xlabels(drawn["concept_illustration"], 1)[1:] == [
        "$P_{b}(X) = P_{a}(X)$",
        "$P_{b}(X|Y) \\neq P_{a}(X|Y)$",
    ]


def test_a_scenario_equals_itself():
    for module in MODULES:
        first = module.SCENARIOS[0]
        assert "neq" not in marginal_relation(first, first, PLANE)
        assert "neq" not in conditional_relation(first, first, PLANE)


@pytest.mark.parametrize(
    ("module", "prevalences"),
    [
        (prior, [0.5, 0.1]),
        (covariate, [0.5, 0.5, 0.5]),
        (local, [0.5, 0.75]),
        (concept, [0.5, 0.25]),
    ],
)
def test_prevalences_of_the_scenarios(module, prevalences):
    assert [s.p_true for s in module.SCENARIOS] == pytest.approx(prevalences)
    for scenario in module.SCENARIOS:
        assert sum(scenario.shares) == pytest.approx(1)


def test_densities_are_densities():
    grid = np.linspace(-9, 9, 181)
    plane = np.stack(np.meshgrid(grid, grid), axis=-1)
    area = (grid[1] - grid[0]) ** 2
    for module in MODULES:
        for scenario in module.SCENARIOS:
            assert scenario.marginal(plane).sum() * area == pytest.approx(1, abs=1e-3)
            total = sum(
                share * scenario.conditional(plane, positive=positive)
                for positive, share in ((True, scenario.p_true), (False, 1 - scenario.p_true))
            )
            np.testing.assert_allclose(total, scenario.marginal(plane))


def test_samples_have_the_shares_and_a_growing_cluster_keeps_its_points():
    before, after = local.SCENARIOS
    points, origin = before.draw(80, seed=3)
    grown, grown_origin = after.draw(80, seed=3)
    assert np.bincount(origin).tolist() == [20, 20, 20, 20]
    assert np.bincount(grown_origin).tolist() == [50, 10, 10, 10]
    np.testing.assert_array_equal(grown[grown_origin == 0][:20], points[origin == 0])
    assert not np.array_equal(before.draw(80, seed=4)[0], points)


def test_the_boundary_moves_towards_the_rarer_class(drawn):
    figure = drawn["prior_illustration"]
    (dashed,) = (line for line in figure.axes[0].lines if line.get_linestyle() == "--")
    (moved,) = (line for line in figure.axes[3].lines if line.get_linestyle() == "--")
    assert np.sum(moved.get_xy1()) > np.sum(dashed.get_xy1())
    # The first row's boundary stays visible in the second.
    (dotted,) = (line for line in figure.axes[3].lines if line.get_linestyle() == ":")
    assert dotted.get_xy1() == dashed.get_xy1()


def test_overlap_moves_the_marginal_alone(drawn):
    figure = drawn["overlap_illustration"]
    heights = [[bar.get_height() for bar in axes.patches] for axes in figure.axes]
    assert heights[0] == pytest.approx([0.5 / 2, 0.5 / 3])
    assert heights[3] == pytest.approx([0.2 / 2, 0.8 / 3])
    assert heights[1] == heights[4]
    assert heights[2] == heights[5] == [1, 1]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "local_illustration" else [pytest.mark.slow])
        for name in illustrations.__all__
    ],
)
def test_illustrations_are_drawn_the_same_every_time(tmp_path, name):
    figure = getattr(illustrations, name)()
    (first,) = save_figure(figure, tmp_path, "first", formats=["svg"])
    (again,) = save_figure(figure, tmp_path, "again", formats=["svg"])
    (anew,) = save_figure(getattr(illustrations, name)(), tmp_path, "anew", formats=["svg"])
    assert first.read_bytes() == again.read_bytes() == anew.read_bytes()


def test_classes_differ_by_marker_as_well_as_colour(drawn):
    axes = drawn["prior_illustration"].axes[0]
    lines = [line for line in axes.lines if line.get_marker() != "None"]
    assert {line.get_marker() for line in lines} == {"o", "^"}
