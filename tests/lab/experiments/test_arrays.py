"""Features, posteriors and labels from files; reviews; what does not fit together is refused."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, save_npz

from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFolder, FolderSource, ReviewFile, import_reviews, open_source
from quantshift.lab.experiments.cell import run_cell
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import population_of
from quantshift.lab.experiments.sources import sources_of

N = 900


@pytest.fixture(scope="module")
def arrays():
    rng = generator(0, purpose="matrix")
    codes = np.repeat([0, 1], N // 2)
    X = np.where(rng.random((N, 5)) < 0.5, 0.0, rng.normal(size=(N, 5))) + 0.9 * codes[:, None]
    return X, np.array(["ham", "spam"])[codes]


def save(folder, kind, X, y):
    """The [data] lines of the arrays, written as files of that kind."""
    names = [f"x{i}" for i in range(X.shape[1])]
    if kind == "npz":
        save_npz(folder / "x.npz", csr_array(X))
        np.save(folder / "y.npy", y)
        return 'features = "x.npz"\nlabels = "y.npy"'
    if kind == "npy":
        np.save(folder / "x.npy", X)
        np.save(folder / "y.npy", y)
        return 'features = "x.npy"\nlabels = "y.npy"'
    table = pl.DataFrame(X, schema=names).insert_column(2, pl.Series("label", y))
    if kind == "parquet":
        table.write_parquet(folder / "items.parquet")
    else:
        table.write_csv(folder / f"items.{kind}", separator="\t" if kind == "tsv" else ",")
    return f'features = "items.{kind}"\nlabels = "items.{kind}:label"'


def rows_of(experiment, methods=None):
    dataset = open_source(source_of(experiment))
    population = population_of(experiment, dataset)
    cell = cells_of(experiment.name, dataset.name, experiment.shift)[1]
    assert cell.coordinates["p_train"] == 0.5
    chosen = [experiment.method(m) for m in methods] if methods else experiment.methods
    rows = run_cell(experiment, cell, chosen, dataset, population)
    return rows.with_columns(pl.col("p_true", "p_hat").list.last())


def source_of(experiment, *data):
    (source,) = sources_of(experiment, data, n_documents=1)
    return source


@pytest.mark.parametrize("kind", ["npz", "npy", "parquet", "csv", "tsv"])
def test_the_same_matrix_from_every_format(kind, arrays, written, tmp_path):
    experiment = written(data=save(tmp_path, kind, *arrays))
    source = source_of(experiment)
    dataset = open_source(source)
    matrix = dataset.features.matrix
    assert_allclose(matrix.toarray() if kind == "npz" else matrix, arrays[0])
    assert dataset.labels.tolist() == arrays[1].tolist()
    rows = rows_of(experiment)
    # String labels: the last one in alphabetical order is the positive class.
    assert rows["p_true"].to_list() == rows["p_test"].to_list()
    pacc = rows.filter(pl.col("method") == "PACC")
    assert (pacc["p_hat"] - pacc["p_true"]).abs().mean() < 0.15


def test_numeric_labels_in_the_table_of_features_are_no_feature(arrays, written, tmp_path):
    X, y = arrays
    codes = (y == "spam").astype(np.int64)
    data = save(tmp_path, "csv", X, codes)
    dataset = open_source(source_of(written(data=data)))
    assert_allclose(dataset.features.matrix, X)


@pytest.mark.parametrize("positive", ["ham", "spam"])
def test_the_positive_class_may_be_either(positive, arrays, written, tmp_path):
    data = save(tmp_path, "npy", *arrays)
    experiment = written(data=data, more=f'positive = "{positive}"')
    rows = rows_of(experiment)
    assert rows["p_true"].to_list() == rows["p_test"].to_list()
    pacc = rows.filter(pl.col("method") == "PACC")
    assert (pacc["p_hat"] - pacc["p_true"]).abs().mean() < 0.15


def test_posteriors_instead_of_features(arrays, written, tmp_path):
    X, y = arrays
    positive = 1 / (1 + np.exp(-(X.sum(axis=1) - 2)))
    np.save(tmp_path / "p.npy", np.stack([1 - positive, positive], axis=1))
    np.save(tmp_path / "y.npy", y)
    experiment = written(data='posteriors = "p.npy"\nlabels = "y.npy"')
    rows = rows_of(experiment)
    assert rows["setting"].unique().to_list() == [""]
    cc = rows.filter(pl.col("method") == "CC").sort("p_test")
    sld = rows.filter(pl.col("method") == "SLD")
    assert (sld["p_hat"] - sld["p_true"]).abs().mean() < (cc["p_hat"] - cc["p_true"]).abs().mean()
    # CC counts the posteriors above one half: no model in between.
    population = population_of(experiment, open_source(source_of(experiment)))
    draws = population.protocol.samples(
        population.labels, pool=population.test_pool, train={"p_train": 0.5, "train_repeat": 0}
    )
    assert cc["p_hat"].to_list() == [(positive[d.indices] > 0.5).mean() for d in draws]


def test_ordered_labels_of_a_matrix_are_cut(arrays, written, tmp_path):
    X, y = arrays
    stars = np.where(y == "spam", 5, 1)
    stars[::10] = 3
    data = save(tmp_path, "npy", X, stars) + "\ncut_point = 3"
    experiment = written(data=data)
    dataset = open_source(source_of(experiment))
    population = population_of(experiment, dataset)
    assert len(population.rows) == N - N // 10
    assert not (dataset.labels[population.rows] == 3).any()
    assert len(rows_of(experiment, ["CC"])) == 6


def test_paths_travel_as_absolute_ones(written, arrays, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiment = written(data=save(tmp_path, "npy", *arrays))
    monkeypatch.chdir("/")
    source = source_of(experiment)
    assert source.features.path.is_absolute()
    assert source.labels.path.is_absolute()


def test_reviews_are_read_with_their_counts(written, tmp_path, monkeypatch):
    lines = [f"{1 + i % 5}\tword{i % 7} another text {i % 3}\n" for i in range(40)]
    (tmp_path / "a.txt").write_text("".join(lines))
    (tmp_path / "b.txt").write_text("".join(lines[:20]))
    files = [ReviewFile("A", tmp_path / "a.txt"), ReviewFile("B", tmp_path / "b.txt")]
    import_reviews(files, tmp_path / "reviews", min_chars=0, workers=1)
    monkeypatch.chdir(tmp_path)
    source = source_of(written(), Path("reviews"))
    assert source == FolderSource(tmp_path / "reviews")
    dataset = open_source(source)
    assert dataset.labels.tolist()[:5] == [1, 2, 3, 4, 5]
    assert np.unique(dataset.categories, return_counts=True)[1].tolist() == [40, 20]
    assert dataset.view(np.arange(10)).transform(np.arange(4)).shape[0] == 4
    assert dataset.hash == DataFolder.open(tmp_path / "reviews").hash


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["a", "b"]), "900 rows of features but 2 labels"),
        (np.array([0, 1, 2] * 300), r"data\.cut_point"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message, arrays, written, tmp_path):
    np.save(tmp_path / "x.npy", arrays[0])
    np.save(tmp_path / "y.npy", labels)
    experiment = written(data='features = "x.npy"\nlabels = "y.npy"')
    with pytest.raises(UserError, match=message):
        rows_of(experiment)


def test_an_unknown_column_is_named(arrays, written, tmp_path):
    data = save(tmp_path, "csv", *arrays).replace(":label", ":lable")
    with pytest.raises(ValueError, match="did you mean 'label'"):
        rows_of(written(data=data))


def test_a_table_without_a_column_says_how(arrays, written, tmp_path):
    np.save(tmp_path / "x.npy", arrays[0])
    (tmp_path / "y.csv").write_text("label\n1\n")
    with pytest.raises(DataError, match="for a column of a table, write path:column"):
        rows_of(written(data='features = "x.npy"\nlabels = "y.csv"'))
