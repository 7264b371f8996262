"""Embedded data sets: what they hold, where their names are understood, what is known of them."""

import pickle

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from quantshift.errors import DataError, UserError
from quantshift.lab.data import (
    EMBEDDED,
    EmbeddedSource,
    FolderSource,
    describe,
    embedded_set,
    find_embedded,
    import_table,
    mixed_posteriors,
    mixed_table,
    open_source,
    source_at,
)
from quantshift.lab.experiments import load_experiment, sources_of

HASHES = {
    "breast-cancer": "4132058d0ea2",
    "digits": "1a0e8163ed4f",
    "fried": "67a84e0ee956",
    "iris": "85196340cabe",
    "mixed-table": "7b24c530e143",
    "waveform": "85e12cca6ff3",
    "wine": "254fadf2a9fc",
}
"""Beginnings of the hashes of the content: results on any machine are of the same data."""


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_set_is_what_the_list_says_and_stays_so(name):
    source = source_at(name)
    dataset = open_source(source)
    assert pickle.loads(pickle.dumps(source)) == source == EmbeddedSource(name)
    assert (source.name, dataset.name, dataset.title) == (name, name, name)
    assert dataset.hash[:12] == HASHES[name]
    (listed,) = (entry for entry in find_embedded() if entry.name == name)
    assert (listed.items, listed.classes) == (len(dataset), len(dataset.classes))
    n_categories = 0 if dataset.categories is None else len(np.unique(dataset.categories))
    assert listed.categories == n_categories
    description = describe(embedded_set(name))
    assert description["hash"] == dataset.hash
    assert sum(entry["items"] for entry in description["classes"]) == len(dataset)
    train = np.arange(0, len(dataset), 2)
    assert np.isfinite(dataset.view(train).transform(np.arange(30))).all()


def test_fried_is_friedmans_function_in_ten_equal_bins():
    dataset = open_source(source_at("fried"))
    assert dataset.ordinal
    assert len(dataset) == 40_768
    # scikit-learn's function of the same items, without noise; ours has noise of variance 1.
    x = dataset.features.numbers
    clean = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    clean += 10 * x[:, 3] + 5 * x[:, 4]
    drawn, target = make_friedman1(200, random_state=0)
    formula = 10 * np.sin(np.pi * drawn[:, 0] * drawn[:, 1]) + 20 * (drawn[:, 2] - 0.5) ** 2
    assert_allclose(formula + 10 * drawn[:, 3] + 5 * drawn[:, 4], target)
    width = (30.054 + 0.523) / 10
    middle = -0.523 + (dataset.labels + 0.5) * width
    inner = (dataset.labels > 0) & (dataset.labels < 9)
    # A bin adds at most width**2 / 12 = 0.78 to the variance of the noise; its Monte Carlo error
    # is 0.01.
    residual = (middle - clean)[inner]
    assert abs(residual.mean()) < 0.03
    assert 1.6 < residual.var() < 1.9


def test_waveform_has_the_means_of_its_mixtures():
    dataset = open_source(source_at("waveform"))
    points = np.arange(1, 22)
    first, second, third = (np.maximum(6 - abs(points - peak), 0) for peak in (11, 15, 7))
    for label, pair in enumerate([(first, second), (first, third), (second, third)]):
        own = dataset.features.numbers[dataset.labels == label]
        # The standard deviation of a cell is at most sqrt(1 + 36 / 12) = 2, of a mean of 1,642
        # cells 0.05; of 63 means the furthest lies below 4.5 of these.
        assert_allclose(own.mean(axis=0), (pair[0] + pair[1]) / 2, atol=0.22)


def test_mixed_table_has_known_posteriors_in_every_site_and_year():
    table = mixed_table()
    is_yes, p_yes = table.labels == "yes", table.posteriors[:, 1]
    assert_allclose(table.posteriors.sum(axis=1), 1)
    sites = [table.sites == site for site in np.unique(table.sites)]
    years = [np.char.startswith(table.dates, year) for year in ("2022", "2023")]
    gaps = [table.columns[name].is_null().to_numpy() for name in ("income", "channel")]
    tens = [np.floor(p_yes * 10) == ten for ten in range(10)]
    for rows in [*sites, *years, *gaps, *tens]:
        error = np.sqrt((p_yes * (1 - p_yes))[rows].sum())
        # 20 sums of independent labels: all lie within 4 standard errors but once in 700 tables.
        assert abs((is_yes - p_yes)[rows].sum()) < 4 * error
    shares = [is_yes[rows].mean() for rows in sites]
    assert max(shares) - min(shares) > 0.2
    assert abs(is_yes[years[1]].mean() - is_yes[years[0]].mean()) > 0.05


def test_mixed_table_of_another_seed_and_its_rows():
    table, other = mixed_table(500), mixed_table(500, seed=1)
    assert not table.columns.equals(other.columns)
    assert mixed_table(500).columns.equals(table.columns)
    some = mixed_posteriors(table.columns[10:20])
    assert_allclose(some, table.posteriors[10:20], rtol=1e-14)
    assert [d.dtype for d in table.columns.get_columns()[3:5]] == [pl.Boolean, pl.String]


def test_a_folder_of_the_same_name_is_refused_until_it_is_told_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n4,a\n")
    import_table("t.csv", "iris", label="y")
    with pytest.raises(
        UserError, match=r"'iris' is both an embedded data set and a folder.*write './iris'"
    ):
        source_at("iris")
    assert source_at("./iris") == FolderSource(tmp_path / "iris")
    assert source_at(tmp_path / "iris") == FolderSource(tmp_path / "iris")
    assert source_at("iris", tmp_path / "elsewhere") == EmbeddedSource("iris")


def test_unknown_names_are_refused():
    with pytest.raises(UserError, match="did you mean 'iris'"):
        EmbeddedSource("irs")
    with pytest.raises(DataError, match="`quantshift data list` shows the embedded ones"):
        source_at("irs")


def test_experiments_name_embedded_sets(tmp_path):
    file = tmp_path / "mine.toml"
    text = 'name = "mine"\nquantifiers = ["CC"]\n[shift]\nkind = "prior"\n[data]\nsets = '
    file.write_text(f'{text}["iris", "wine"]\n')
    experiment = load_experiment(file)
    expected = (EmbeddedSource("iris"), EmbeddedSource("wine"))
    assert sources_of(experiment, [], n_documents=10) == expected
    assert sources_of(experiment, ["digits"], n_documents=10) == (EmbeddedSource("digits"),)
    # A folder beside the file is told apart as one in the working directory is.
    (tmp_path / "wine").mkdir()
    with pytest.raises(UserError, match=r"write './wine' for the folder"):
        sources_of(experiment, [], n_documents=10)
    file.write_text(f'{text}["irs"]\n')
    with pytest.raises(UserError, match=r"data\.sets.*there is no folder"):
        load_experiment(file)
