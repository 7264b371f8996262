import numpy as np
import pytest

from quantshift.errors import UserError
from quantshift.experiments.dataset import Dataset, SyntheticSource, open_source
from quantshift.experiments.population import population_of
from quantshift.experiments.spec import load_experiment


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
    assert dict(train.coordinates) == dict(experiment.protocol().training_points()[0])
    test = next(
        population.protocol.samples(*columns, pool=population.test_pool, train=train.coordinates)
    )
    assert np.isfinite(test.degree)


def test_three_classes_without_a_cut_are_refused(written, tmp_path):
    labels = np.array(["a", "b", "c"] * 10)
    np.save(tmp_path / "x.npy", np.zeros((30, 1)))
    np.save(tmp_path / "y.npy", labels)
    experiment = written(data='features = "x.npy"\nlabels = "y.npy"')
    dataset = Dataset(labels, None, None, None, "hash")
    with pytest.raises(UserError, match=r"has 3|have 3") as error:
        population_of(experiment, dataset)
    assert "data.cut_point" in str(error.value)
