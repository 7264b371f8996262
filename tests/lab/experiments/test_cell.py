"""One cell, against the same work done by hand with the public estimators."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from polars.testing import assert_frame_equal
from sklearn.linear_model import LogisticRegression

from quantshift.base.seeding import seed_of
from quantshift.classify.folds import stratified_folds, stratified_split
from quantshift.classify.learners import LogisticLearner
from quantshift.items.items import Items
from quantshift.lab.experiments.population import population_of
from quantshift.lab.experiments.shared_work import N_FOLDS
from quantshift.lab.results.schema import schema_of
from quantshift.lab.tuning.validation import draw_validation, validation_errors
from quantshift.quantifiers.base import catalogue

SELECTION = """
[selection]
prevalences = 3
repeats = 2
size = 40
"""
KEY = "p_train-0.5,train_repeat-0"


@pytest.fixture(scope="module")
def rows(small, cell_rows):
    return cell_rows(small())


def positive(rows, column):
    """The column's numbers of the positive class."""
    return rows[column].list.last()


def training_draw(population):
    coordinates = {"p_train": 0.5, "train_repeat": 0}
    return population.protocol.training_set(
        coordinates, population.labels, population.categories, pool=population.train_pool
    )


def drawn_samples(population):
    train = training_draw(population)
    return list(
        population.protocol.samples(
            population.labels,
            population.categories,
            pool=population.test_pool,
            train=train.coordinates,
        )
    )


def test_a_row_per_method_and_sample(small, rows):
    experiment = small()
    assert rows.schema == schema_of(experiment.shift.coordinates(), experiment.diagnostics)
    assert len(rows) == len(experiment.methods) * experiment.n_test_samples
    assert rows.group_by("method").len()["len"].unique().to_list() == [6]
    assert positive(rows, "p_hat").is_between(0, 1).all()
    assert rows["size"].unique().to_list() == [60]
    assert positive(rows, "p_true").to_list() == rows["p_test"].to_list()
    assert rows.filter(pl.col("method") == "CC")["sample"].to_list() == list(range(6))
    assert rows["stratum"].unique().to_list() == [1]
    # Diagnostics are there for the methods that have them and null for the others.
    shown = rows.group_by("method").agg(pl.col("iterations", "separation", "distance").count())
    by_method = {name: tuple(counts) for name, *counts in shown.iter_rows()}
    assert by_method["SLD"] == (6, 0, 0)
    assert by_method["ACC"] == (0, 6, 0)
    assert by_method["DyS"][2] == 6
    assert by_method["CC"] == (0, 0, 0)


@pytest.mark.parametrize("name", ["CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD", "MLPE"])
def test_equals_the_public_estimator_on_the_same_features(name, small, items, cell_rows):
    dataset, population = items
    experiment = small(
        {
            "classifier.grid.C": [3.0],
            "classifier.grid.class_weight": ["balanced"],
            "classifier.options.tol": 1e-9,
        }
    )
    found = cell_rows(experiment, [name])
    train = training_draw(population)
    rows = population.rows[train.indices]
    view = dataset.view(rows)
    classifier = LogisticRegression(C=3.0, class_weight="balanced", tol=1e-10, max_iter=10_000)
    cls = catalogue.quantifiers()[name]
    seed = seed_of(experiment.seed, experiment="prior", cell=KEY)
    options = cls().get_params(deep=False)
    given = {"classifier": classifier, "random_state": seed}
    quantifier = cls(**{k: v for k, v in given.items() if k in options})
    quantifier.fit(view.transform(rows), train.labels)
    draws = drawn_samples(population)
    p_hat = [quantifier.predict(view.transform(population.rows[draw.indices]))[1] for draw in draws]
    assert_allclose(positive(found, "p_hat"), p_hat, atol=1e-4)
    assert positive(found, "p_true").to_list() == [np.mean(draw.labels) for draw in draws]
    assert found["degree"].to_list() == [draw.degree for draw in draws]


def test_a_method_does_not_depend_on_the_others(small, rows, cell_rows):
    experiment = small()
    for name in ("PACC", "SLD", "MLPE"):
        alone = cell_rows(experiment, [name])
        assert_frame_equal(alone, rows.filter(pl.col("method") == name))
    pair = cell_rows(experiment, ["SLD", "CC"])
    assert pair["method"].unique(maintain_order=True).to_list() == ["SLD", "CC"]
    assert_frame_equal(pair.filter(pl.col("method") == "CC"), rows.filter(pl.col("method") == "CC"))


def test_test_samples_do_not_depend_on_methods_or_classifier(written, rows, cell_rows):
    drawn = ["p_test", "repeat", "degree", "size", "p_true"]
    other = written(SELECTION + '[classifier]\nname = "sklearn.naive_bayes:MultinomialNB"')
    assert_frame_equal(
        cell_rows(other, ["PACC"]).select(drawn),
        rows.filter(pl.col("method") == "DyS").select(drawn),
    )


def test_the_setting_is_the_one_with_the_least_validation_error(small, items, cell_rows):
    dataset, population = items
    experiment = small({"classifier.grid.C": [0.01, 0.1, 1.0, 10.0, 100.0]})
    rows = cell_rows(experiment)
    train = training_draw(population)
    trained = population.rows[train.indices]
    codes = np.asarray(train.labels)
    seed = seed_of(experiment.seed, experiment="prior", cell=KEY)
    part, rest = stratified_split(codes, 0.6, seed=seed)
    folds = stratified_folds(codes[part], N_FOLDS, seed=seed)
    view = dataset.view(trained)
    models = LogisticLearner().learn(view, trained[part], codes[part], experiment.settings, folds)
    samples = draw_validation(codes[rest], n_prevalences=3, repeats=2, size=40, seed=seed)
    held_out = models.posteriors(view, trained[rest])
    chosen = {}
    for name in ("CC", "ACC", "PCC", "PACC", "HDy", "DyS", "SMM", "SLD"):
        errors = validation_errors(
            catalogue.quantifiers()[name](),
            [Items(posteriors=known) for known in models.out_of_fold],
            codes[part],
            [Items(posteriors=new) for new in held_out],
            samples,
        )
        best = experiment.settings[int(errors.argmin())]
        weight = "none" if best["class_weight"] is None else best["class_weight"]
        chosen[name] = f"C={best['C']:g}, class_weight={weight}"
    found = rows.group_by("method").agg(pl.col("setting").unique())
    settings = dict(found.explode("setting").iter_rows())
    assert {name: settings[name] for name in chosen} == chosen
    assert len(set(chosen.values())) > 1
    assert settings["MLPE"] == ""


def test_without_selection_the_first_setting_as_written(small, cell_rows):
    experiment = small({"selection.enabled": False, "classifier.grid.C": [10.0, 0.1]})
    assert cell_rows(experiment, ["CC"])["setting"].unique().to_list() == [
        "C=10, class_weight=balanced"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "grid"),
    [
        ("sklearn.naive_bayes:MultinomialNB", "alpha = [0.01, 1.0]"),
        # Many weak words: a single tree learns nothing of them.
        (
            "sklearn.ensemble:RandomForestClassifier",
            'max_depth = [2, "none"]\nn_estimators = [50]\nrandom_state = [0]',
        ),
    ],
)
def test_any_classifier_gives_the_same_layout(name, grid, written, rows, cell_rows):
    table = f'[classifier]\nname = "{name}"\n[classifier.grid]\n{grid}'
    found = cell_rows(written(SELECTION + table))
    assert found.columns == [name for name in rows.columns if name != "distance"]
    drawn = ["experiment", "cell", "method", "p_test", "repeat", "p_true", "size", "degree"]
    methods = pl.col("method").is_in(["CC", "PACC", "SLD", "MLPE"])
    assert_frame_equal(found.select(drawn), rows.filter(methods).select(drawn))
    assert positive(found, "p_hat").is_between(0, 1).all()
    mean = (positive(found, "p_hat") - positive(found, "p_true")).abs().mean()
    assert isinstance(mean, float)
    assert mean < 0.35


def test_scikit_learn_s_logistic_regression_and_ours_agree(written, cell_rows):
    tables = (
        SELECTION
        + """
    [classifier]
    name = "{}"
    options = {{ tol = 1e-9, max_iter = 5000 }}
    [classifier.grid]
    C = [0.1, 10.0]
    class_weight = ["balanced", "none"]
    """
    )
    a = cell_rows(written(tables.format("sklearn.linear_model:LogisticRegression")))
    b = cell_rows(written(tables.format("logistic")))
    assert a["setting"].to_list() == b["setting"].to_list()
    assert_allclose(positive(a, "p_hat"), positive(b, "p_hat"), atol=1e-4)


def test_another_seed_gives_other_draws(small, small_source, rows, cell_rows, items):
    experiment = small({"seed": 1})
    dataset, _ = items
    other = cell_rows(experiment, None, (dataset, population_of(experiment, dataset)))
    assert other["p_true"].to_list() == rows["p_true"].to_list()
    learning = pl.col("method") != "MLPE"
    same = positive(other.filter(learning), "p_hat") == positive(rows.filter(learning), "p_hat")
    assert same.mean() < 0.5


def test_an_unconverged_classifier_is_told(small, cell_rows):
    hasty = small({"classifier.options.max_iter": 1, "classifier.options.tol": 1e-12})
    found = cell_rows(hasty, ["CC", "MLPE"])
    told = dict(found.select("method", "classifier_converged").unique().iter_rows())
    assert told == {"CC": False, "MLPE": True}


def test_a_user_s_quantifier_by_its_import_path(written, lab, cell_rows):
    experiment = written(SELECTION, methods=f'["CC", "{lab.module}:Fine"]')
    found = cell_rows(experiment)
    mine, ours = (found.filter(pl.col("method") == name) for name in ("Fine", "CC"))
    assert_frame_equal(mine.drop("method"), ours.drop("method"))


def test_quapy_s_quantifier_on_the_same_samples(written, cell_rows):
    tables = SELECTION + '[classifier.grid]\nC = [0.1, 10.0]\nclass_weight = ["balanced"]'
    named = """
    [[quantifier]]
    name = "QuaPy PCC"
    method = "quapy.method.aggregative:PCC"
    """
    experiment = written(tables + named, methods='["PCC"]')
    found = cell_rows(experiment)
    theirs, ours = (found.filter(pl.col("method") == name) for name in ("QuaPy PCC", "PCC"))
    drawn = ["p_test", "repeat", "degree", "size", "p_true"]
    assert_frame_equal(theirs.select(drawn), ours.select(drawn))
    assert theirs["setting"].unique().to_list() == ours["setting"].unique().to_list()
    assert_allclose(positive(theirs, "p_hat"), positive(ours, "p_hat"), atol=5e-3)


def test_the_seed_of_the_cell_reaches_the_method(small, items, cell_rows):
    # k-means used to start from seed 0 in every cell.
    seen = []

    class Spy(catalogue.quantifiers()["SubclassSLD"]):
        def reduction(self, features, codes, weights=None):
            seen.append(self.random_state)
            return super().reduction(features, codes, weights)

    experiment = small({"quantifiers": ["SubclassSLD"]})
    (method,) = experiment.methods
    spied = method.quantifier_with({}, seed=5)
    assert spied.random_state == 5
    rows = cell_rows(experiment)
    dataset, population = items
    seed = seed_of(experiment.seed, experiment="prior", cell=KEY)
    train = training_draw(population)
    known = population.rows[train.indices]
    features = dataset.view(known).transform(known)
    ours = Spy(random_state=seed).reduction(features, train.labels).training
    other = Spy(random_state=0).reduction(features, train.labels).training
    assert seen == [seed, 0]
    assert (ours.novelty != other.novelty).any()
    assert len(rows) == 6


@pytest.mark.slow
def test_methods_with_classifiers_of_their_own_run_on_texts(small, cell_rows):
    # Trees of scikit-learn took neither the indices of our matrices nor the seed of a cell.
    rows = cell_rows(small({"quantifiers": ["ClassifierMedian", "EoQ", "FusedSLD"]}))
    errors = (positive(rows, "p_hat") - positive(rows, "p_true")).abs()
    assert len(rows) == 18
    assert errors.mean() < 0.25  # the training prevalence is off by .33
