"""What every protocol promises, for any grid, pool, seed and kind of label."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quantshift.base.seeding import generator
from quantshift.lab.shifts import (
    ConceptShift,
    CovariateShift,
    KnockOutShift,
    LocalCovariateShift,
    NaturalPrevalence,
    NoiseShift,
    PriorShift,
    TweakOneShift,
    UniformPrevalence,
)
from quantshift.prevalence.simplex import uniform, whole_counts

N = 1200
Y = (np.arange(N) // 3) % 2
STARS = 1 + np.arange(N) % 5
CATEGORIES = np.arange(N) % 2

seeds = st.integers(0, 2**32)
shares = st.integers(0, 100).map(lambda i: i / 100)
grids = st.lists(shares, min_size=1, max_size=4, unique=True)
sizes = st.integers(6, 60)
repeats = st.integers(1, 3)

priors = st.builds(
    PriorShift,
    test_prevalences=grids,
    train_prevalences=grids,
    test_size=sizes,
    train_size=sizes,
    test_repeats=repeats,
    train_repeats=repeats,
    seed=seeds,
)
covariates = st.builds(
    CovariateShift,
    test_alphas=grids,
    train_alphas=grids,
    test_prevalences=grids,
    train_prevalences=grids,
    test_size=sizes,
    train_size=sizes,
    test_repeats=repeats,
    train_repeats=repeats,
    seed=seeds,
)
locals_ = st.builds(
    LocalCovariateShift,
    test_prevalences=st.lists(
        st.integers(25, 80).map(lambda i: i / 100), min_size=1, max_size=4, unique=True
    ),
    test_size=sizes,
    train_size=sizes,
    test_repeats=repeats,
    train_repeats=repeats,
    with_control=st.booleans(),
    seed=seeds,
)
concepts = st.builds(
    ConceptShift,
    test_cuts=st.lists(st.sampled_from([1.5, 2, 2.5, 3, 3.5, 4.5]), min_size=1, unique=True),
    train_cuts=st.just((2.5, 3.5)),
    test_prevalence=st.none() | shares,
    train_prevalence=st.none() | shares,
    test_size=sizes,
    train_size=sizes,
    test_repeats=repeats,
    train_repeats=repeats,
    seed=seeds,
)
naturals = st.builds(
    NaturalPrevalence,
    test_size=sizes,
    test_repeats=repeats,
    train_size=sizes,
    train_repeats=repeats,
    seed=seeds,
)
uniforms = st.builds(
    UniformPrevalence,
    test_size=sizes,
    test_repeats=repeats,
    train_size=sizes,
    train_repeats=repeats,
    seed=seeds,
)
drawn_at_random = {
    "test_size": sizes,
    "test_repeats": repeats,
    "train_size": sizes,
    "train_repeats": repeats,
    "seed": seeds,
}
dirichlets = st.builds(
    UniformPrevalence, concentration=st.sampled_from([0.1, 0.5, 3.0]), **drawn_at_random
)
tweaks = st.builds(
    TweakOneShift, label=st.sampled_from([None, 0, 1]), prevalences=grids, **drawn_at_random
)
knock_outs = st.builds(
    KnockOutShift, label=st.sampled_from([None, 0, 1]), removed=grids, **drawn_at_random
) | st.builds(KnockOutShift, region=st.sampled_from([0, 1]), removed=grids, **drawn_at_random)
noises = st.builds(NoiseShift, strengths=grids, **drawn_at_random)
protocols = (
    priors
    | covariates
    | locals_
    | concepts
    | naturals
    | uniforms
    | dirichlets
    | tweaks
    | knock_outs
    | noises
)
pools = seeds.map(lambda seed: generator(seed, test="pool").permutation(N)[: 9 * N // 10])


def column(shift):
    return STARS if isinstance(shift, ConceptShift) else Y


def signature(draws):
    return [(draw.indices.tolist(), dict(draw.coordinates)) for draw in draws]


@given(shift=protocols, pool=pools)
def test_no_index_twice_and_none_outside_the_pool(shift, pool):
    for draws in (shift.samples, shift.training_sets):
        for draw in draws(column(shift), CATEGORIES, pool=pool):
            assert np.unique(draw.indices).size == draw.indices.size == draw.labels.size
            assert np.isin(draw.indices, pool).all()


@given(shift=protocols)
def test_labels_are_those_of_the_drawn_items(shift):
    for draw in shift.samples(column(shift), CATEGORIES):
        if isinstance(shift, ConceptShift):
            stars = STARS[draw.indices]
            assert draw.coordinates["cut_test"] not in stars
            assert np.array_equal(draw.labels, stars > draw.coordinates["cut_test"])
        else:
            assert np.array_equal(draw.labels, Y[draw.indices])


@given(shift=protocols, pool=pools)
def test_the_same_seed_gives_the_same_draws(shift, pool):
    one, other = (shift.samples(column(shift), CATEGORIES, pool=pool) for _ in range(2))
    assert signature(one) == signature(other)


@given(shift=protocols)
def test_another_seed_gives_other_draws(shift):
    other = replace(shift, seed=shift.seed + 1)
    # A set of at least six among hundreds: equality by chance is beyond all reach.
    for draws in ("samples", "training_sets"):
        ours, theirs = (
            getattr(protocol, draws)(column(shift), CATEGORIES) for protocol in (shift, other)
        )
        for one, two in zip(ours, theirs, strict=True):
            assert one.indices.tolist() != two.indices.tolist()


@given(shift=priors)
def test_prior_samples_have_whole_counts(shift):
    for draw in shift.samples(Y):
        p = draw.coordinates["p_test"]
        counts = np.bincount(draw.labels, minlength=2)
        assert counts.tolist() == whole_counts([1 - p, p], shift.test_size).tolist()


@given(size=sizes, seed=seeds, n_classes=st.integers(3, 5))
def test_samples_of_several_classes_have_whole_counts(size, seed, n_classes):
    y = np.arange(80 * n_classes) % n_classes
    points = uniform(3, n_classes, generator(seed, test="points"))
    shift = PriorShift(test_prevalences=points, test_size=size, test_repeats=2, seed=seed)
    draws = list(shift.samples(y))
    for point, pair in zip(points, zip(draws[::2], draws[1::2], strict=True), strict=True):
        for draw in pair:
            counts = np.bincount(draw.labels, minlength=n_classes).tolist()
            assert counts == whole_counts(point, size).tolist()


@given(shift=knock_outs)
def test_the_more_is_removed_the_less_is_left(shift):
    inside = (1 if shift.label is None else shift.label) == Y
    if shift.region is not None:
        inside = shift.region == CATEGORIES
    left = {d.coordinates["removed"]: inside[d.indices].sum() for d in shift.samples(Y, CATEGORIES)}
    shares = sorted(left)
    # Whole items: rounding may add one.
    assert all(left[more] <= left[less] + 1 for less, more in pairwise(shares))
    assert left.get(1.0, 0) == 0


@given(shift=covariates)
def test_covariate_samples_have_both_categories_at_the_prevalence(shift):
    for draw in shift.samples(Y, CATEGORIES):
        p, percent = draw.coordinates["p_test"], round(100 * draw.coordinates["alpha_test"])
        n_a = -(-percent * shift.test_size // 100)
        for category, n in ((0, n_a), (1, shift.test_size - n_a)):
            inside = draw.labels[CATEGORIES[draw.indices] == category]
            assert np.bincount(inside, minlength=2).tolist() == whole_counts([1 - p, p], n).tolist()


@given(shift=locals_)
def test_local_samples_and_controls_agree_in_their_classes(shift):
    counts = {}
    for draw in shift.samples(Y, CATEGORIES):
        key = draw.coordinates["p_test"], draw.coordinates["repeat"]
        counts.setdefault(key, set()).add(tuple(np.bincount(draw.labels, minlength=2).tolist()))
        assert abs(draw.labels.mean() - key[0]) <= 2 / draw.labels.size
    assert all(len(classes) == 1 for classes in counts.values())


@given(shift=concepts)
def test_concept_samples_balance_the_levels_of_each_class(shift):
    for draw in shift.samples(STARS):
        assert draw.labels.size == shift.test_size
        cut = draw.coordinates["cut_test"]
        counts = np.bincount(STARS[draw.indices], minlength=6)[1:]
        levels = np.arange(1, 6)
        if shift.test_prevalence is None:
            balanced = [levels != cut]
        else:
            balanced = [levels < cut, levels > cut]
            p = draw.coordinates["p_test"]
            assert draw.labels.sum() == whole_counts([1 - p, p], shift.test_size)[1]
        assert all(np.ptp(counts[group]) <= 1 for group in balanced)


@given(shift=priors, percent=st.integers(0, 100))
def test_prior_degree_is_its_definition(shift, percent):
    for draw in shift.samples(Y, train={"p_train": percent / 100}):
        exact = round(100 * draw.coordinates["p_test"]) - percent
        tenths = (abs(exact) + 5) // 10 * (1 if exact > 0 else -1)
        assert draw.degree == tenths / 10


@given(shift=covariates, percent=st.integers(0, 100))
def test_covariate_degree_is_its_definition(shift, percent):
    for draw in shift.samples(Y, CATEGORIES, train={"alpha_train": percent / 100}):
        exact = percent - round(100 * draw.coordinates["alpha_test"])
        tenths = (abs(exact) + 5) // 10 * (1 if exact > 0 else -1)
        assert draw.degree == tenths / 10


@given(shift=locals_)
def test_local_degree_is_its_definition(shift):
    for draw in shift.samples(Y, CATEGORIES, train={"p_train": 0.5}):
        assert draw.degree == (round(100 * draw.coordinates["p_test"]) - 50) / 100


@given(shift=concepts, cut=st.sampled_from([1.5, 2.5, 3, 4.5]))
def test_concept_degree_is_its_definition(shift, cut):
    for draw in shift.samples(STARS, train={"cut_train": cut}):
        assert draw.degree == cut - draw.coordinates["cut_test"]


@given(shift=priors | covariates, data=st.data())
def test_a_point_alone_is_drawn_as_in_the_grid(shift, data):
    draws = list(shift.samples(Y, CATEGORIES, train={"p_train": 0.25}))
    draw = data.draw(st.sampled_from(draws))
    point = {"test_prevalences": [draw.coordinates["p_test"]]}
    if isinstance(shift, CovariateShift):
        point["test_alphas"] = [draw.coordinates["alpha_test"]]
    alone = type(shift)(
        **point,
        test_size=shift.test_size,
        test_repeats=draw.coordinates["repeat"] + 1,
        seed=shift.seed,
    )
    *_, last = alone.samples(Y, CATEGORIES, train={"p_train": 0.25})
    assert last.indices.tolist() == draw.indices.tolist()
    assert last.coordinates == draw.coordinates


@given(shift=priors | covariates | locals_ | naturals | uniforms)
def test_the_kind_of_label_does_not_change_the_draws(shift):
    kinds = [
        (Y, CATEGORIES),
        (Y.astype(bool), np.array(["A", "B"])[CATEGORIES]),
        (np.array(["neg", "pos"])[Y], CATEGORIES.astype(bool)),
        ((2 * Y - 1).tolist(), CATEGORIES + 7.0),
        (np.array(["no", "yes"], dtype=object)[Y], CATEGORIES.tolist()),
    ]
    for draws in ("samples", "training_sets"):
        expected, *others = (signature(getattr(shift, draws)(*kind)) for kind in kinds)
        assert all(other == expected for other in others)


@given(shift=protocols)
def test_with_replacement_the_counts_are_the_same(shift):
    replacing = replace(shift, replace=True)
    ours = shift.samples(column(shift), CATEGORIES)
    theirs = replacing.samples(column(shift), CATEGORIES)
    for one, two in zip(ours, theirs, strict=True):
        assert two.coordinates == {**one.coordinates, "replace": True}
        assert one.labels.size == two.labels.size
        if not isinstance(shift, NaturalPrevalence | NoiseShift):  # random counts
            assert sorted(one.labels.tolist()) == sorted(two.labels.tolist())


NAMES = np.array(["neg", "pos"])
TOPICS = np.array(["books", "films"])


@given(
    shift=priors | covariates | locals_ | naturals | uniforms,
    positive=st.sampled_from([None, "neg", "pos"]),
    category_a=st.sampled_from([None, "books", "films"]),
    replacing=st.booleans(),
)
def test_a_bound_protocol_draws_from_codes_what_it_drew_from_names(
    shift, positive, category_a, replacing
):
    between = {"category_a": category_a} if shift.needs_categories else {}
    named = replace(shift, positive=positive, replace=replacing, **between)
    bound = named.bind(NAMES, TOPICS)
    order = named.class_order(NAMES.tolist())
    labels, topics = NAMES[Y], TOPICS[CATEGORIES]
    codes = np.array([order.index(label) for label in NAMES])[Y]
    assert bound.training_points() == named.training_points()
    for draws in ("samples", "training_sets"):
        ours = list(getattr(bound, draws)(codes, CATEGORIES))
        assert signature(ours) == signature(getattr(named, draws)(labels, topics))
        again = bound.bind([0, 1], [0, 1])
        assert signature(getattr(again, draws)(codes, CATEGORIES)) == signature(ours)


@given(shift=concepts)
def test_binding_leaves_levels_as_they_are(shift):
    assert shift.bind([1, 2, 3, 4, 5], None) == shift


@given(
    size=sizes,
    seed=seeds,
    n_classes=st.integers(3, 5),
    n_points=st.integers(1, 4),
    replacing=st.booleans(),
)
def test_vector_grids_are_named_without_the_data(size, seed, n_classes, n_points, replacing):
    points = uniform(n_points, n_classes, generator(seed, test="points"))
    shift = PriorShift(
        test_prevalences=points,
        train_prevalences=points[::-1],
        test_size=size,
        train_size=size,
        test_repeats=2,
        train_repeats=1,
        seed=seed,
        replace=replacing,
    )
    names = np.array(["a", "b", "c", "d", "e"])[:n_classes]
    codes = np.arange(80 * n_classes) % n_classes
    bound = shift.bind(names, None)
    assert bound.training_points() == shift.training_points()
    assert [item.type for item in bound.coordinates()[:2]] == ["vector", "vector"]
    for point, named in zip(points[::-1], shift.training_points(), strict=True):
        assert np.allclose(named["p_train"], point, atol=1e-9)
        train = shift.training_set(named, names[codes])
        assert train.coordinates.items() >= named.items()
        assert bound.training_set(named, codes).indices.tolist() == train.indices.tolist()
        tests = list(bound.samples(codes, train=train.coordinates))
        assert len(tests) == bound.count_samples() == 2 * n_points
        for draw in tests:
            distance = np.abs(np.subtract(draw.coordinates["p_test"], named["p_train"])).sum() / 2
            assert abs(draw.degree - distance) <= 0.05 + 1e-9


@given(
    shares=st.lists(shares, min_size=1, max_size=4, unique=True),
    positive=st.sampled_from([None, "neg", "pos"]),
    seed=seeds,
)
def test_vectors_of_two_classes_mean_what_numbers_mean(shares, positive, seed):
    first = positive == "neg"
    vectors = [(p, 1 - p) if first else (1 - p, p) for p in shares]
    options = {"test_size": 30, "train_size": 30, "test_repeats": 1, "train_repeats": 1}
    numbers, of_vectors = (
        PriorShift(
            test_prevalences=grid,
            train_prevalences=grid,
            positive=positive,
            seed=seed,
            **options,
        ).bind(NAMES, None)
        for grid in (shares, vectors)
    )
    assert of_vectors.training_points() == numbers.training_points()
    assert signature(of_vectors.samples(Y)) == signature(numbers.samples(Y))
