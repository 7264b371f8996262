"""The shipped experiments: the paper's grids, and pools that suffice for the quick profile."""

import numpy as np
import pytest

from quantshift import ConceptShift, CovariateShift, LocalCovariateShift, PriorShift
from quantshift.lab.data.embedded.synthetic import generate
from quantshift.lab.experiments.documents.loading import (
    library,
    library_names,
    load_experiment,
    suites,
)
from quantshift.lab.experiments.planning import describe_plan, plan
from quantshift.lab.shifts import split_pools
from quantshift.prevalence import binarise

NAMES = ["concept", "concept-forced", "covariate", "local", "prior"]
METHODS = ["CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE"]

# Training sets, and test samples of all of them together (local: half of them are controls).
COUNTS = {
    "prior": (110, 60_500),
    "covariate": (330, 544_500),
    "local": (10, 5_500 + 5_500),
    "concept": (40, 8_000),
    "concept-forced": (40, 8_000),
}


def test_the_library_holds_the_experiments_of_the_paper_and_those_of_the_suites():
    assert suites()["paper"] == tuple(NAMES)
    assert library_names() == sorted(name for names in suites().values() for name in names)
    assert list(library()) == library_names()


def test_counts_are_those_of_the_paper():
    rows = {
        row.experiment: row
        for row in describe_plan(
            plan((e, [("data", e.n_test_samples)]) for e in map(load_experiment, NAMES))
        )
    }
    assert {name: (rows[name].cells, rows[name].samples) for name in NAMES} == COUNTS
    assert rows["total"].cells == 490 + 40
    assert {rows[name].methods for name in NAMES} == {9}


def test_the_grids_are_those_of_the_protocols_which_are_the_papers():
    found = {name: load_experiment(name).shift for name in NAMES}
    assert found == {
        "prior": PriorShift(),
        "covariate": CovariateShift(),
        "local": LocalCovariateShift(with_control=True),
        "concept": ConceptShift(),
        "concept-forced": ConceptShift(train_prevalence=0.5, test_prevalence=0.75),
    }


@pytest.mark.parametrize("profile", ["paper", "quick"])
@pytest.mark.parametrize("name", NAMES)
def test_the_common_set_up(name, profile):
    experiment = load_experiment(name, profile=profile)
    assert experiment.name == name
    assert experiment.title != name
    assert experiment.seed == 0
    assert [method.name for method in experiment.methods] == METHODS
    assert experiment.settings == tuple(
        {"C": C, "class_weight": weight}
        for C in (0.01, 0.1, 1, 10, 100, 1000)
        for weight in ("balanced", None)
    )
    data, selection = experiment.data, experiment.selection
    assert data.cut_point == (None if name.startswith("concept") else 3)
    assert (data.train_share, data.max_test_documents) == (0.6, 100_000)
    assert (selection.enabled, selection.train_share) == (True, 0.6)
    assert (selection.prevalences, selection.measure) == (11, "ae")
    paper = (selection.repeats, selection.size) == (10, 500)
    assert paper == (profile == "paper")


@pytest.mark.parametrize("name", NAMES)
def test_the_quick_profile_has_the_same_points_and_fewer_draws(name):
    paper, quick = load_experiment(name), load_experiment(name, profile="quick")

    def points(experiment):
        shift = experiment.shift
        everything = shift.training_points() + shift.test_points()
        repeats = ("repeat", "train_repeat")
        return {tuple((k, v) for k, v in point.items() if k not in repeats) for point in everything}

    assert points(paper) == points(quick)
    assert quick.n_training_sets * quick.n_test_samples * 20 < (
        paper.n_training_sets * paper.n_test_samples
    )
    assert quick.signatures().keys() == paper.signatures().keys()
    assert not set(quick.signatures().values()) & set(paper.signatures().values())


@pytest.fixture(scope="module")
def synthetic():
    corpus = generate(20_000)
    return corpus.stars, np.array(corpus.category_names)[corpus.categories]


@pytest.mark.parametrize("name", NAMES)
def test_the_pools_of_the_synthetic_corpus_suffice_for_the_quick_profile(synthetic, name):
    stars, categories = synthetic
    experiment = load_experiment(name, profile="quick")
    labels = stars
    if experiment.data.cut_point is not None:
        labels, kept = binarise(stars, experiment.data.cut_point)
        categories = categories[kept]
    train_pool, test_pool = split_pools(
        categories, labels, train_share=experiment.data.train_share, seed=experiment.seed
    )
    shift = experiment.shift
    # Pools are checked for the whole grid before the first draw.
    train = next(shift.training_sets(labels, categories, pool=train_pool))
    assert train.indices.size == shift.train_size
    assert next(shift.samples(labels, categories, pool=test_pool)).indices.size > 0
