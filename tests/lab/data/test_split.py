"""A split that is made with the data set: stored, described, and kept by every experiment."""

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import train_test_split

from quantshift.errors import UserError
from quantshift.lab.data import ImportOptions, describe, import_table, render
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.population import population_of

CONVENTIONS = {"fewest": 100, "test_share": 0.3, "max_train": 25_000}
"""What the field does with tables of the UCI repository."""


@pytest.fixture
def table(tmp_path):
    """400 rows of a, 200 of b, 100 of c, 99 of d and one without label."""
    labels = ["a"] * 400 + ["b"] * 200 + ["c"] * 100 + ["d"] * 99 + [None]
    x = np.random.default_rng(0).normal(size=len(labels))
    pl.DataFrame({"x": x, "y": labels}).sample(fraction=1, shuffle=True, seed=0).write_csv(
        tmp_path / "t.csv"
    )
    return tmp_path / "t.csv"


def counts(dataset, rows):
    return dict(zip(*np.unique(dataset.labels[rows], return_counts=True), strict=True))


def test_rare_classes_are_counted_and_every_class_is_split(table, tmp_path):
    data = import_table(table, tmp_path / "d", label="y", options=ImportOptions(**CONVENTIONS))
    data.verify()
    assert data.manifest["rows"]["left_out"] == {"no label": 1, "class of fewer than 100 rows": 99}
    assert data.manifest["split"] == {"train": 489, "test": 211}
    dataset = data.dataset()
    assert counts(dataset, dataset.test) == {"a": 121, "b": 60, "c": 30}
    shown = [" ".join(line.split()) for line in render(describe(data)).splitlines()]
    assert "items to train on 489" in shown
    assert "items to test on 211" in shown


def test_experiments_keep_the_split_whatever_their_seed(table, tmp_path):
    options = ImportOptions(**CONVENTIONS)
    dataset = import_table(table, tmp_path / "d", label="y", options=options).dataset()
    pools = []
    file = tmp_path / "uniform.toml"
    file.write_text('name = "u"\nquantifiers = ["CC"]\n[shift]\nkind = "uniform"\n')
    for seed in (0, 1):
        experiment = load_experiment(file, overrides={"seed": seed})
        population = population_of(experiment, dataset)
        pools.append(population.rows[population.test_pool])
        together = np.concatenate([population.train_pool, population.test_pool])
        assert sorted(together) == list(range(len(dataset)))
    assert pools[0].tolist() == pools[1].tolist() == dataset.test.tolist()


def test_at_most_so_many_items_are_for_training_and_all_others_for_testing(table, tmp_path):
    options = ImportOptions(fewest=100, test_share=0.3, max_train=201)
    dataset = import_table(table, tmp_path / "d", label="y", options=options).dataset()
    train = np.setdiff1d(np.arange(len(dataset)), dataset.test)
    assert 195 <= len(train) <= 201
    assert len(dataset) == 700
    share = len(train) / 700
    for name, n in {"a": 400, "b": 200, "c": 100}.items():
        assert abs(counts(dataset, train)[name] - share * n) <= 1


def test_the_split_is_part_of_the_content(table, tmp_path):
    hashes = [
        import_table(table, tmp_path / str(number), label="y", options=options).hash
        for number, options in enumerate(
            [
                ImportOptions(),
                ImportOptions(test_share=0.3),
                ImportOptions(test_share=0.3, split_seed=1),
                ImportOptions(test_share=0.3, split_seed=1),
            ]
        )
    ]
    assert len(set(hashes)) == 3
    assert hashes[2] == hashes[3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_share": 1.0}, "test_share=1 is not between 0 and 1"),
        ({"test_share": -0.1}, "test_share=-0.1 is not between 0 and 1"),
        ({"max_train": 10}, "max_train limits the training items of a split"),
        ({"test_share": 0.3, "max_train": 2}, "no item of some class to train on"),
        ({"test_share": 0.001}, "no item of some class to train on or to test"),
        ({"test_share": 0.3, "samples": "t.csv"}, "the items cannot be split as well"),
    ],
)
def test_splits_that_cannot_be_are_refused(options, message, table, tmp_path):
    if "samples" in options:
        options = {**options, "samples": tmp_path / options["samples"]}
    with pytest.raises(UserError, match=message):
        import_table(table, tmp_path / "d", label="y", options=ImportOptions(**options))
    assert not (tmp_path / "d").exists()


UCI = ["abalone", "cmc", "image_seg", "page_block", "waveform-v1", "yeast"]


@pytest.mark.parametrize("name", UCI)
def test_uci_tables_by_the_conventions_of_the_field(name, tables_dir, tmp_path):
    table = tables_dir / f"uci_{name}.csv"
    data = import_table(table, tmp_path / name, label="label", options=ImportOptions(**CONVENTIONS))
    dataset = data.dataset()
    assert min(entry["items"] for entry in data.manifest["classes"]) >= 100
    assert len(dataset.test) / len(dataset) == pytest.approx(0.3, abs=0.01)
    everything = counts(dataset, slice(None))
    for label, n in counts(dataset, dataset.test).items():
        assert abs(n - 0.3 * everything[label]) <= 1.5
    # The items are those that scikit-learn's function keeps, as in published experiments.
    labels = pl.read_csv(table)["label"].to_numpy()
    values, sizes = np.unique(labels, return_counts=True)
    kept = labels[np.isin(labels, values[sizes >= 100])]
    _, test = train_test_split(np.arange(len(kept)), train_size=0.7, stratify=kept, random_state=0)
    assert dataset.test.tolist() == sorted(test.tolist())
    assert [str(label) for label in dataset.labels] == [str(label) for label in kept]
