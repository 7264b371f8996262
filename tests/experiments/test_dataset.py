"""Features, posteriors and labels from files; corpora; what does not fit together is refused."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, save_npz

from quantshift.corpora import Corpus
from quantshift.corpora.importing import Source, import_reviews
from quantshift.errors import DataError
from quantshift.experiments.cell import run_cell
from quantshift.experiments.dataset import (
    CorpusSource,
    FileSource,
    SyntheticSource,
    open_source,
    read_matrix,
    source_of,
)
from quantshift.experiments.population import population_of
from quantshift.experiments.spec import DataFile
from quantshift.features.counts import tokenise_corpus
from quantshift.seeding import generator

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
    dataset = open_source(source_of(experiment, None, n_documents=1, seed=0))
    population = population_of(experiment, dataset)
    coordinates = {"p_train": 0.5, "train_repeat": 0}
    chosen = [experiment.method(m) for m in methods] if methods else experiment.methods
    return run_cell(experiment, coordinates, chosen, dataset, population, key="cell")


@pytest.mark.parametrize("kind", ["npz", "npy", "parquet", "csv", "tsv"])
def test_the_same_matrix_from_every_format(kind, arrays, written, tmp_path):
    experiment = written(data=save(tmp_path, kind, *arrays))
    source = source_of(experiment, None, n_documents=1, seed=0)
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
    dataset = open_source(source_of(written(data=data), None, n_documents=1, seed=0))
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
    population = population_of(
        experiment, open_source(source_of(experiment, None, n_documents=1, seed=0))
    )
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
    dataset = open_source(source_of(experiment, None, n_documents=1, seed=0))
    population = population_of(experiment, dataset)
    assert len(population.rows) == N - N // 10
    assert not (dataset.labels[population.rows] == 3).any()
    assert len(rows_of(experiment, ["CC"])) == 6


def test_the_hash_is_of_the_content(arrays, tmp_path):
    X, y = arrays
    np.save(tmp_path / "y.npy", y)

    def hash_of(name, matrix):
        np.save(tmp_path / name, matrix)
        labels = DataFile(tmp_path / "y.npy")
        return FileSource(DataFile(tmp_path / name), None, labels, None).open().hash

    changed = X.copy()
    changed[3, 2] += 1e-9
    assert hash_of("a.npy", X) == hash_of("b.npy", X)
    assert hash_of("a.npy", X) != hash_of("c.npy", changed)


def test_a_source_is_opened_once_per_process():
    assert open_source(SyntheticSource(600)) is open_source(SyntheticSource(600))
    assert SyntheticSource(600).open().hash == open_source(SyntheticSource(600)).hash
    assert SyntheticSource(700).open().hash != open_source(SyntheticSource(600)).hash


def test_paths_travel_as_absolute_ones(written, arrays, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    experiment = written(data=save(tmp_path, "npy", *arrays))
    monkeypatch.chdir("/")
    source = source_of(experiment, None, n_documents=1, seed=0)
    assert source.features.path.is_absolute()
    assert source.labels.path.is_absolute()


def test_a_corpus_is_read_with_its_counts(written, tmp_path, monkeypatch):
    lines = [f"{1 + i % 5}\tword{i % 7} another text {i % 3}\n" for i in range(40)]
    (tmp_path / "a.txt").write_text("".join(lines))
    (tmp_path / "b.txt").write_text("".join(lines[:20]))
    sources = [Source("A", tmp_path / "a.txt"), Source("B", tmp_path / "b.txt")]
    import_reviews(sources, tmp_path / "corpus", min_chars=0, workers=1)
    tokenise_corpus(Corpus.open(tmp_path / "corpus"))
    monkeypatch.chdir(tmp_path)
    source = source_of(written(), Path("corpus"), n_documents=1, seed=0)
    assert source == CorpusSource(tmp_path / "corpus")
    dataset = open_source(source)
    assert dataset.labels.tolist()[:5] == [1, 2, 3, 4, 5]
    assert np.unique(dataset.categories, return_counts=True)[1].tolist() == [40, 20]
    assert dataset.view(np.arange(10)).transform(np.arange(4)).shape[0] == 4
    assert dataset.hash == Corpus.open(tmp_path / "corpus").hash


def write_matrix(path, kind):
    if kind == "text":
        path.write_text("not a matrix")
    elif kind == "vector":
        np.save(path, np.arange(4.0))
    elif kind == "nan":
        np.save(path, np.array([[1.0, 2.0], [3.0, np.nan]]))
    elif kind == "sparse nan":
        save_npz(path, csr_array(np.array([[1.0, 2.0], [0.0, 0.0], [0.0, np.inf]])))
    elif kind == "words":
        path.write_text("a,b\n1,x\n2,y\n")
    elif kind == "dense archive":
        np.savez(path, a=np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("x.npy", "text", "not a matrix of numbers"),
        ("x.npz", "text", "not a matrix of numbers"),
        ("x.npz", "dense archive", "not a matrix of numbers"),
        ("x.csv", "words", "not a matrix of numbers"),
        ("x.parquet", "text", "not a table"),
        ("x.npy", "vector", "two axes, this array has shape (4,)"),
        ("x.npy", "nan", "row 1 holds NaN or infinity"),
        ("x.npz", "sparse nan", "row 2 holds NaN or infinity"),
        ("x.txt", "text", ".npz (SciPy sparse), .npy, .parquet"),
    ],
)
def test_what_is_no_matrix_is_refused_with_its_path(name, kind, message, tmp_path):
    write_matrix(tmp_path / name, kind)
    with pytest.raises(DataError) as error:
        read_matrix(tmp_path / name)
    assert message in str(error.value)
    assert str(tmp_path / name) in str(error.value)


def test_whole_numbers_become_floats(tmp_path):
    save_npz(tmp_path / "x.npz", csr_array(np.array([[1, 0], [0, 2]])))
    matrix = read_matrix(tmp_path / "x.npz")
    assert matrix.dtype == np.float64
    assert_allclose(matrix.toarray(), [[1, 0], [0, 2]])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array(["a", "b"]), "900 rows of features but 2 labels"),
        (np.array([0, 1, 2] * 300), "needs two classes, the labels have 3"),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels, message, arrays, written, tmp_path):
    np.save(tmp_path / "x.npy", arrays[0])
    np.save(tmp_path / "y.npy", labels)
    experiment = written(data='features = "x.npy"\nlabels = "y.npy"')
    with pytest.raises(DataError, match=message):
        rows_of(experiment)


def test_an_unknown_column_is_named(arrays, written, tmp_path):
    data = save(tmp_path, "csv", *arrays).replace(":label", ":lable")
    with pytest.raises(ValueError, match="did you mean 'label'"):
        rows_of(written(data=data))


def test_a_table_without_a_column_says_how(arrays, written, tmp_path):
    np.save(tmp_path / "x.npy", arrays[0])
    (tmp_path / "y.csv").write_text("label\n1\n")
    with pytest.raises(DataError, match="for a table write path:column"):
        rows_of(written(data='features = "x.npy"\nlabels = "y.csv"'))
