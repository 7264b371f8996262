"""What protocols declare about themselves: coordinates, words, facets, numbers, binding."""

import json
from dataclasses import replace

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.shifts import (
    ConceptShift,
    Coordinate,
    CovariateShift,
    Draw,
    LocalCovariateShift,
    NaturalPrevalence,
    PriorShift,
    UniformPrevalence,
    Words,
)
from quantshift.prevalence import simplex

Y = np.arange(600) % 2
CATEGORIES = np.where(np.arange(600) % 4 < 2, "A", "B")
THREE = np.arange(600) % 3
SIZES = {"test_size": 24, "train_size": 40, "test_repeats": 2, "train_repeats": 2}
GRID = simplex.grid(3, 3)

SHIFTS = {
    "prior": PriorShift(test_prevalences=[0.2, 0.5], train_prevalences=[0.1, 0.5], **SIZES),
    "prior-vectors": PriorShift(test_prevalences=GRID, train_prevalences=GRID[3:5], **SIZES),
    "covariate": CovariateShift(test_alphas=[0.3], train_alphas=[0.0, 1.0], **SIZES),
    "local": LocalCovariateShift(with_control=True, **SIZES),
    "concept": ConceptShift(test_cuts=[0.5], train_cuts=[0.5], **SIZES),
    "forced": ConceptShift(
        test_cuts=[0.5], train_cuts=[0.5], test_prevalence=0.75, train_prevalence=0.5, **SIZES
    ),
    "natural": NaturalPrevalence(**SIZES),
    "natural-three": NaturalPrevalence(**SIZES).bind([0, 1, 2], None),
    "uniform": UniformPrevalence(**SIZES),
    "uniform-three": UniformPrevalence(**SIZES).bind([0, 1, 2], None),
}
TYPES = {"float": float, "int": int, "bool": bool, "string": str, "vector": tuple}

every = pytest.mark.parametrize("kind", SHIFTS)
either = pytest.mark.parametrize("replacing", [False, True], ids=["once", "replace"])


def labels_for(kind):
    return THREE if kind.endswith(("vectors", "three")) else Y


@every
@either
def test_every_coordinate_of_a_draw_is_declared_with_its_type(kind, replacing):
    shift = replace(SHIFTS[kind], replace=replacing)
    declared = {item.name: item for item in shift.coordinates()}
    assert "train_repeat" not in declared
    assert ("replace" in declared) == replacing
    for cell in shift.train_test(labels_for(kind), CATEGORIES):
        for draw in (cell.train, *cell.tests):
            named = {k: v for k, v in draw.coordinates.items() if k != "train_repeat"}
            assert named.keys() <= declared.keys()
            for name, value in named.items():
                assert type(value) is TYPES[declared[name].type]
        train_side = {name for name, item in declared.items() if item.side == "train"}
        assert cell.train.coordinates.keys() - {"train_repeat", "replace"} == train_side
        assert all(draw.coordinates.keys() >= declared.keys() for draw in cell.tests)


@every
@either
def test_counts_are_the_lengths_of_what_is_drawn(kind, replacing):
    shift = replace(SHIFTS[kind], replace=replacing)
    y = labels_for(kind)
    assert shift.count_training_sets() == len(shift.training_points())
    assert shift.count_training_sets() == len(list(shift.training_sets(y, CATEGORIES)))
    assert shift.count_samples() == len(shift.test_points())
    assert shift.count_samples() == len(list(shift.samples(y, CATEGORIES)))


@every
def test_a_thousand_million_repeats_are_counted_and_not_listed(kind):
    shift = SHIFTS[kind]
    many = replace(shift, train_repeats=10**9, test_repeats=10**9)
    assert many.count_training_sets() == shift.count_training_sets() // 2 * 10**9
    assert many.count_samples() == shift.count_samples() // 2 * 10**9


def test_counting_refuses_what_drawing_refuses():
    with pytest.raises(UserError, match="train_repeats=0 must be"):
        PriorShift(train_repeats=0).count_training_sets()
    with pytest.raises(UserError, match="between 0 and 1"):
        PriorShift(test_prevalences=[2]).count_samples()


def test_points_of_vectors_are_vectors():
    points = SHIFTS["prior-vectors"].training_points()
    assert points == [
        {"p_train": tuple(p), "train_repeat": repeat} for p in GRID[3:5] for repeat in (0, 1)
    ]
    draws = SHIFTS["prior-vectors"].training_sets(THREE)
    assert [dict(draw.coordinates) for draw in draws] == points
    alone = SHIFTS["prior-vectors"].training_set(points[1], THREE)
    assert (
        np.bincount(alone.labels, minlength=3).tolist()
        == simplex.whole_counts(GRID[3], 40).tolist()
    )


def test_vectors_of_two_classes_are_the_prevalence_of_the_positive_class():
    shift = PriorShift(train_prevalences=[[0.3, 0.7]], train_repeats=1)
    assert shift.training_points() == [{"p_train": 0.7, "train_repeat": 0}]
    assert shift.coordinates()[0].type == "float"
    with pytest.raises(UserError, match="list the prevalences of the positive class"):
        replace(shift, positive="ham").training_points()


@pytest.mark.parametrize("p_train", [0.5, (0.5, 0.5), (0.2, 0.2, 0.2, 0.4)])
def test_a_training_prevalence_of_other_classes_is_refused(p_train):
    with pytest.raises(UserError, match="one prevalence for each of the 3 classes"):
        SHIFTS["prior-vectors"].samples(THREE, train={"p_train": p_train})


def test_a_vector_is_refused_where_there_are_two_classes():
    with pytest.raises(UserError, match="give the prevalence of the positive class"):
        SHIFTS["prior"].samples(Y, train={"p_train": (0.5, 0.5)})


@pytest.mark.parametrize(
    ("p_train", "p_test", "facet"),
    [(0.25, 0.25, "pure"), (0.1 + 0.2, 0.3, "pure"), (0.25, 0.5, "mixed"), (0.25, None, "")],
)
def test_covariate_shift_is_pure_where_the_prevalence_stays(p_train, p_test, facet):
    point = {"p_train": p_train, **({} if p_test is None else {"p_test": p_test})}
    assert SHIFTS["covariate"].facet(point) == facet


def test_facets_are_on_the_draws():
    facets = {
        kind: {draw.facet for cell in shift.train_test(Y, CATEGORIES) for draw in cell.tests}
        for kind, shift in SHIFTS.items()
        if labels_for(kind) is Y
    }
    assert facets.pop("covariate") == {"pure", "mixed"}
    assert facets.pop("local") == {"", "control"}
    assert all(named == {""} for named in facets.values())
    for draw in SHIFTS["local"].samples(Y, CATEGORIES):
        assert (draw.facet == "control") == draw.coordinates["control"]
    assert all(draw.facet == "" for draw in SHIFTS["covariate"].training_sets(Y, CATEGORIES))


@every
def test_words_speak_of_declared_things(kind):
    shift = SHIFTS[kind]
    words, names = shift.words(), {item.name for item in shift.coordinates()}
    assert words.title
    assert words.degree
    assert words.tables_by is None or words.tables_by in names
    assert words.columns_by is None or words.columns_by in {"facet", *names}
    assert words.shaded_facet is None or words.shaded_facet in words.facets
    drawn = {d.facet for c in shift.train_test(labels_for(kind), CATEGORIES) for d in c.tests}
    assert drawn <= {"", *words.facets}
    degrees = [
        draw.degree for c in shift.train_test(labels_for(kind), CATEGORIES) for draw in c.tests
    ]
    assert all(round(degree, words.digits) == degree for degree in degrees)


@every
def test_declarations_survive_json(kind):
    shift = SHIFTS[kind]
    for item in shift.coordinates():
        assert Coordinate.from_json(json.loads(json.dumps(item.as_json()))) == item
    words = shift.words()
    assert Words.from_json(json.loads(json.dumps(words.as_json()))) == words


def test_words_of_the_paper():
    assert SHIFTS["prior"].words() == Words(
        "Prior shift", "$p_U - p_L$, rounded to one decimal", digits=1
    )
    covariate = SHIFTS["covariate"].words()
    assert (covariate.title, covariate.degree) == (
        "Global covariate shift",
        r"$\alpha_L - \alpha_U$",
    )
    assert (covariate.tables_by, covariate.columns_by) == ("p_train", "p_test")
    assert covariate.shaded_facet == "pure"
    local = SHIFTS["local"].words()
    assert local.facets == {"": "shifted", "control": "control"}
    assert local.columns_by == "facet"
    assert LocalCovariateShift().words().columns_by is None
    assert SHIFTS["concept"].words() == Words("Concept shift", "$c_L - c_U$", digits=0)
    assert SHIFTS["forced"].words().title == "Concept shift, forced priors"
    assert ConceptShift(train_cuts=[3], test_cuts=[2.5]).words().digits == 1
    assert "total variation" in SHIFTS["prior-vectors"].words().degree
    assert "total variation" in SHIFTS["uniform-three"].words().degree


def test_needs():
    assert CovariateShift.needs_categories
    assert CovariateShift.needs_two_classes
    assert ConceptShift.cuts_levels
    assert not PriorShift.needs_categories
    assert not PriorShift.cuts_levels
    with pytest.raises(DataError, match="local shift needs two classes, found 3"):
        LocalCovariateShift().bind(["a", "b", "c"], ["A", "B"])
    with pytest.raises(DataError, match="covariate shift is between two categories"):
        CovariateShift().bind(["a", "b"], None)


def test_binding_speaks_of_codes():
    shift = CovariateShift(positive="no", category_a="toys", category_b="books")
    bound = shift.bind(np.array(["no", "yes"]), np.array(["books", "films", "toys"]))
    assert (bound.positive, bound.category_a, bound.category_b) == (None, 2, 0)
    assert shift.class_order(["no", "yes"]) == ("yes", "no")
    assert CovariateShift().bind([1, 2], ["x", "y"]).category_b == 1


def test_binding_turns_vectors_of_two_classes_round():
    shift = PriorShift(
        test_prevalences=[[0.3, 0.7]], train_prevalences=[[0.2, 0.8]], positive="ham"
    )
    bound = shift.bind(["ham", "spam"], None)
    assert bound.positive is None
    assert bound.test_points()[0]["p_test"] == 0.3
    assert bound.training_points()[0]["p_train"] == 0.2


@pytest.mark.parametrize(
    ("shift", "classes", "categories", "message"),
    [
        (PriorShift(), "abc", None, r"one column per class \(3\)"),
        (SHIFTS["prior-vectors"], "ab", None, r"one column per class \(2\)"),
        (PriorShift(positive="z"), "ab", None, "unknown positive class 'z'"),
        (NaturalPrevalence(positive="a"), "abc", None, "needs two classes, found 3"),
        (CovariateShift(category_a="z"), "ab", "xy", "unknown category 'z'"),
        (CovariateShift(), "ab", "xyz", "name two with category_a"),
        (ConceptShift(), (1, 2, 3), None, "cut point 3.5 leaves a class empty"),
        (ConceptShift(), ("low", "high"), None, "ord|number"),
    ],
)
def test_binding_refuses_what_the_data_cannot_serve(shift, classes, categories, message):
    with pytest.raises(UserError, match=message):
        shift.bind(tuple(classes), categories and tuple(categories))


def test_binding_is_no_option():
    shift = UniformPrevalence(test_size=20)
    assert shift.bind("abc", None).options() == shift.options()
    assert set(shift.options()) == {
        *("test_size", "train_size", "test_repeats", "train_repeats", "replace", "positive")
    }
    # Options that were added later are told if they are set: older signatures stay valid.
    assert [item.name for item in shift.option_fields()] == [
        *shift.options(),
        "whole_pool",
        "splits",
        "concentration",
        "smoothest",
    ]
    assert UniformPrevalence(smoothest=0.2).options()["smoothest"] == 0.2


def test_pools_are_checked_before_the_first_draw():
    shift = SHIFTS["prior"]
    shift.check_pools(Y, None, train_pool=np.arange(300), test_pool=np.arange(300, 600))
    for pools in ((np.arange(10), np.arange(10, 600)), (np.arange(590), np.arange(590, 600))):
        with pytest.raises(UserError, match="the pool has"):
            shift.check_pools(Y, None, train_pool=pools[0], test_pool=pools[1])


def test_the_truth_of_a_draw_is_that_of_its_labels_or_the_given_one():
    draw = Draw(np.arange(4), np.array(["a", "c", "c", "c"]), {}, 0.0)
    assert draw.true_prevalence(["a", "b", "c"]).tolist() == [0.25, 0, 0.75]
    known = Draw(np.arange(4), None, {}, 0.0, prevalence=np.array([0.4, 0.6]))
    assert known.true_prevalence(["a", "b"]).tolist() == [0.4, 0.6]
    with pytest.raises(DataError, match="of 2 classes, but there are 3"):
        known.true_prevalence(["a", "b", "c"])
    with pytest.raises(DataError, match="neither labels nor prevalences"):
        Draw(np.arange(4), None, {}, 0.0).true_prevalence(["a", "b"])
