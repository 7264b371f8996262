from dataclasses import replace

import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.lab.data.sources import SyntheticSource, open_source
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.population import open_population, population_of
from quantshift.lab.experiments.sources import sources_of


def test_middle_stars_are_dropped_and_pools_are_apart(small, items):
    dataset, population = items
    stars = dataset.labels[population.rows]
    assert not (stars == 3).any()
    assert ((stars > 3) == (population.labels == 1)).all()
    assert not set(population.train_pool) & set(population.test_pool)
    assert len(population.train_pool) + len(population.test_pool) == len(population.rows)
    share = len(population.train_pool) / len(population.rows)
    assert share == pytest.approx(small().data.train_share, abs=0.01)


def test_pools_are_stratified_by_class_and_category(items):
    _, population = items
    for category in (0, 1):
        for label in (0, 1):
            group = (population.categories == category) & (population.labels == label)
            share = group[population.train_pool].sum() / group.sum()
            assert share == pytest.approx(0.6, abs=0.01)


def test_the_test_pool_is_cut_evenly(small, items):
    dataset, whole = items
    cut = population_of(small({"data.max_test_documents": 100}), dataset)
    assert np.bincount(cut.categories[cut.test_pool]).tolist() == [50, 50]
    assert set(cut.test_pool) < set(whole.test_pool)
    assert (cut.train_pool == whole.train_pool).all()
    assert (cut.test_pool == np.sort(cut.test_pool)).all()


def test_the_seed_moves_the_pools(small, items):
    dataset, population = items
    again, other = (population_of(small({"seed": seed}), dataset) for seed in (0, 1))
    assert (again.train_pool == population.train_pool).all()
    assert set(other.train_pool) != set(population.train_pool)


def test_concept_shift_keeps_all_stars():
    dataset = open_source(SyntheticSource(2000))
    population = population_of(load_experiment("concept", profile="quick"), dataset)
    assert len(population.rows) == 2000
    assert np.unique(population.labels).size == 5


@pytest.mark.parametrize("name", ["prior", "covariate", "local", "concept", "concept-forced"])
def test_every_experiment_of_the_library_draws_from_it(name):
    dataset = open_source(SyntheticSource(20_000))
    experiment = load_experiment(name, profile="quick", overrides={"shift.train_repeats": 1})
    population = population_of(experiment, dataset)
    columns = (population.labels, population.categories)
    train = next(population.protocol.training_sets(*columns, pool=population.train_pool))
    assert len(train.indices) == 1000
    # Points are those of the user's own protocol: cells are named by them before data are read.
    assert dict(train.coordinates) == dict(experiment.shift.training_points()[0])
    test = next(
        population.protocol.samples(*columns, pool=population.test_pool, train=train.coordinates)
    )
    assert np.isfinite(test.degree)


@pytest.fixture
def arrays(written, tmp_path):
    """The experiment on arrays with these labels, and their data set."""

    def make(labels, more="", kind="prior"):
        np.save(tmp_path / "x.npy", np.arange(len(labels), dtype=float)[:, None])
        np.save(tmp_path / "y.npy", np.array(labels))
        experiment = written(more, data='features = "x.npy"\nlabels = "y.npy"', kind=kind)
        (source,) = sources_of(experiment, (), n_documents=10)
        return experiment, open_source(source)

    return make


def test_the_positive_class_is_last(arrays):
    for positive, classes in (("a", ("b", "a")), ("b", ("a", "b"))):
        experiment, dataset = arrays(["a", "b"] * 20, f'positive = "{positive}"')
        population = population_of(experiment, dataset)
        assert population.classes == classes
        assert (population.labels == (dataset.labels == positive)).all()


def test_more_classes_go_by_their_sorted_names(arrays):
    experiment, dataset = arrays(["c", "a", "b"] * 10, kind="natural")
    population = population_of(experiment, dataset)
    assert population.classes == ("a", "b", "c")
    assert population.labels.tolist() == [2, 0, 1] * 10


def test_a_shift_of_two_classes_on_three_is_refused(arrays):
    experiment, dataset = arrays(["a", "b", "c"] * 10)
    with pytest.raises(UserError, match=r"data\.cut_point"):
        population_of(experiment, dataset)


def test_stars_are_cut_at_3_and_other_ordered_labels_only_if_asked(arrays, small_source):
    """An order alone says nothing about where grades of 0 to 20 are to be cut."""
    experiment, dataset = arrays([2, 3, 4, 12] * 10, kind="natural")
    assert dataset.ordinal
    assert population_of(experiment, dataset).classes == ("2", "3", "4", "12")
    asked = experiment.data.model_copy(update={"cut_point": 5.0})
    cut = population_of(replace(experiment, data=asked), dataset)
    assert cut.classes == ("below 5", "above 5")
    named = replace(experiment, data=experiment.data.model_copy(update={"cut_point": 3.0}))
    assert population_of(named, dataset).classes == ("below 3", "above 3")
    stars = open_population(experiment, small_source)
    assert stars.classes == ("below 3", "above 3")
    every = experiment.data.model_copy(update={"cut_point": "none"})
    assert len(open_population(replace(experiment, data=every), small_source).classes) == 5


def test_a_shift_between_categories_needs_them(arrays):
    _, dataset = arrays(["a", "b"] * 20)
    with pytest.raises(UserError, match="between two categories"):
        population_of(load_experiment("covariate"), dataset)


def test_populations_are_shared_by_experiments_that_draw_alike(small, small_source):
    first = open_population(small(), small_source)
    assert open_population(small({"classifier.grid.C": [1.0]}), small_source) is first
    assert open_population(small({"seed": 1}), small_source) is not first
