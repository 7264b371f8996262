"""Files become data sets: tables, texts, arrays, posteriors; what was left out is counted."""

import gzip

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, issparse, save_npz

from quantshift.errors import DataError, UserError
from quantshift.lab.data import DataFile, ImportOptions, import_arrays, import_table
from quantshift.tables.preparation import TableColumns

N = 60


def write(table, path):
    if path.suffix == ".parquet":
        table.write_parquet(path)
        return path
    separator = "\t" if ".tsv" in path.name else ";" if "semi" in path.name else ","
    content = table.write_csv(separator=separator).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_classes_that_differ_only_in_case_are_told(tmp_path):
    """They were four classes without a word, and two with a warning in `quantify`."""
    labels = ["no", "NO", "yes", "Yes"] * 15
    pl.DataFrame({"x": np.arange(60) * 7 % 11, "y": labels}).write_csv(tmp_path / "t.csv")
    data = import_table(tmp_path / "t.csv", tmp_path / "d", label="y")
    assert data.manifest["notes"] == [
        "the classes NO and no differ only in case; are they one?",
        "the classes Yes and yes differ only in case; are they one?",
    ]


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "semi.csv", "t.txt"]
)
def test_a_table_is_the_same_data_set_from_every_format(name, table, tmp_path):
    expected = import_table(
        write(table, tmp_path / "expected.csv"), tmp_path / "e", label="churn", categories="land"
    )
    data = import_table(
        write(table, tmp_path / name), tmp_path / "d", label="churn", categories="land"
    )
    assert data.hash == expected.hash
    dataset = data.dataset()
    assert dataset.name == "d"
    assert dataset.title == name
    assert len(dataset) == N
    assert dataset.labels.tolist() == table["churn"].to_list()
    assert dataset.classes.tolist() == ["ja", "nein"]
    assert dataset.categories.tolist() == table["land"].to_list()
    assert isinstance(dataset.features, TableColumns)
    assert dataset.features.number_names == ("age", "größe", "member")
    assert dataset.features.category_names == ("farbe",)
    assert dataset.view(np.arange(40)).transform(np.arange(N)).shape == (N, 7)
    left_out = {column["name"]: column["reason"] for column in data.manifest["left_out"]}
    assert left_out == {
        "churn": "the label",
        "land": "the categories",
        "id": "60 different values in 60 rows, like names or ids",
        "empty": "all missing",
        "same": "constant",
    }
    columns = {column["name"]: column for column in data.manifest["columns"]}
    age = {key: columns["age"][key] for key in ("name", "kind", "gaps", "levels", "odd")}
    assert age == {"name": "age", "kind": "number", "gaps": 9, "levels": None, "odd": 0}
    assert columns["farbe"]["levels"] == 3


def test_groups_and_dropped_columns_are_no_features(table, tmp_path):
    data = import_table(
        write(table, tmp_path / "t.csv"),
        tmp_path / "d",
        label="churn",
        groups=["land", "member"],
        drop=["age"],
        codes=["größe"],
    )
    dataset = data.dataset()
    assert dataset.groups["land"].tolist() == table["land"].to_list()
    assert set(dataset.groups["member"]) == {"true", "false"}
    assert dataset.features.number_names == ()
    assert dataset.features.category_names == ("größe", "farbe")


def test_rows_without_label_are_left_out_and_counted(table, tmp_path):
    gappy = table.with_columns(
        pl.when(pl.int_range(N) % 10 == 4).then(None).otherwise("churn").alias("churn")
    )
    data = import_table(write(gappy, tmp_path / "t.csv"), tmp_path / "d", label="churn")
    assert data.manifest["rows"] == {
        "read": N,
        "used": N - 6,
        "left_out": {"no label": 6},
        "of_samples": 0,
    }
    kept = gappy.filter(pl.col("churn").is_not_null())
    dataset = data.dataset()
    assert dataset.labels.tolist() == kept["churn"].to_list()
    assert dataset.labelled.tolist() == list(range(N - 6))
    assert_allclose(dataset.features.numbers[:, 1], kept["größe"].to_numpy())


def test_ragged_rows_and_broken_letters_are_counted(tmp_path):
    lines = [b"x,c,label", *(b"%d,w%d,%d" % (i, i % 3, i % 2) for i in range(30))]
    lines += [b"1,2", b"3,caf\xe9,1"]
    (tmp_path / "t.csv").write_bytes(b"\n".join(lines) + b"\n")
    data = import_table(tmp_path / "t.csv", tmp_path / "d", label="label")
    assert data.manifest["rows"]["read"] == 32
    assert data.manifest["rows"]["left_out"] == {"too many or too few cells": 1}
    assert "1 cells were not UTF-8" in data.manifest["notes"][0]
    assert "caf�" in data.dataset().features.levels[0]


def test_small_classes_can_be_left_out(tmp_path):
    labels = [*["a"] * 20, *["b"] * 12, *["c"] * 3, None]
    pl.DataFrame({"x": [i % 30 for i in range(36)], "y": labels}).sample(
        fraction=1, shuffle=True, seed=0
    ).write_csv(tmp_path / "t.csv")
    data = import_table(
        tmp_path / "t.csv", tmp_path / "d", label="y", options=ImportOptions(fewest=10)
    ).manifest
    assert data["classes"] == [{"name": "a", "items": 20}, {"name": "b", "items": 12}]
    assert data["rows"]["left_out"] == {"no label": 1, "class of fewer than 10 rows": 3}
    with pytest.raises(DataError, match="no class has 100 rows"):
        import_table(
            tmp_path / "t.csv", tmp_path / "e", label="y", options=ImportOptions(fewest=100)
        )


@pytest.mark.parametrize(
    ("cells", "options", "classes", "kind"),
    [
        (["0", "1"], {}, [0, 1], "i"),
        (["1.0", "2.0"], {}, [1, 2], "i"),
        (["-1", "10"], {}, [-1, 10], "i"),
        (["b", "a"], {}, ["a", "b"], "U"),
        (["b", "a"], {"positive": "a"}, ["b", "a"], "U"),
        (["0", "1"], {"positive": "0"}, [1, 0], "i"),
        (["true", "false"], {}, [False, True], "b"),
        (["10", "9", "1"], {"ordinal": True}, [1, 9, 10], "i"),
        (["z", "ä", "a"], {}, ["a", "z", "ä"], "U"),
    ],
)
def test_labels_of_any_kind(cells, options, classes, kind, tmp_path):
    pl.DataFrame({"x": [0.5, 2.5] * 15, "y": (cells * 30)[:30]}).write_csv(tmp_path / "t.csv")
    data = import_table(
        tmp_path / "t.csv", tmp_path / "d", label="y", options=ImportOptions(**options)
    )
    dataset = data.dataset()
    assert dataset.classes.tolist() == classes
    assert dataset.classes.dtype.kind == dataset.labels.dtype.kind == kind
    assert dataset.ordinal is options.get("ordinal", False)
    assert sum(entry["items"] for entry in data.manifest["classes"]) == 30


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        (["a"], {}, "are all 'a'; at least two classes"),
        (["0.5", "1"], {}, r"look continuous \(0.5\)"),
        ([""], {}, "are all missing"),
        ([f"k{i}" for i in range(30)], {}, "30 different values in 30 rows, too many"),
        (["low", "high"], {"ordinal": True}, "ordered labels must be numbers"),
        (["a", "b", "c"], {"positive": "a"}, "have 3 classes"),
        (["spam", "ham"], {"positive": "spm"}, "did you mean 'spam'"),
        (["1", "2"], {"ordinal": True, "positive": "1"}, "a positive class cannot be named"),
        (["1", "2"], {"name": "a/b"}, "for instance 'a-b'"),
    ],
)
def test_labels_that_are_none_are_refused(cells, options, message, tmp_path):
    pl.DataFrame({"x": [0.5, 2.5] * 15, "y": (cells * 30)[:30]}).write_csv(tmp_path / "t.csv")
    with pytest.raises(UserError, match=message):
        import_table(
            tmp_path / "t.csv", tmp_path / "d", label="y", options=ImportOptions(**options)
        )
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "chrun"}, "no column 'chrun'; did you mean 'churn'"),
        ({"label": "churn", "categories": "city"}, "no column 'city'"),
        ({"label": "churn", "drop": ["x"]}, "no column 'x'"),
        ({"label": "churn", "text": "churn"}, "is the label and cannot also be the text"),
        ({"label": "churn", "groups": ["churn"]}, "'churn' is the label"),
    ],
)
def test_columns_that_cannot_be_are_refused(options, message, table, tmp_path):
    with pytest.raises(UserError, match=message):
        import_table(write(table, tmp_path / "t.csv"), tmp_path / "d", **options)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("x,y\n", "a header without rows"),
        ("x,x,y\n1,2,3\n", "two columns are called 'x'"),
        ("same,y\n1,a\n1,b\n", r"no column is left as a feature: same \(constant\)"),
        ("y\na\nb\n", "no column is left as a feature"),
        ("PAR1 and so on", "a Parquet file, though its name ends in .csv"),
    ],
)
def test_broken_tables_are_refused(content, message, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        import_table(tmp_path / "t.csv", tmp_path / "d", label="y")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_texts_become_counts(tmp_path):
    texts = ["good book", "ein schöner Tag, ein guter Tag", "", "?!", "two\nlines good"]
    pl.DataFrame(
        {"text": texts, "y": [0, 1, 0, 1, 0], "city": ["a", None, "a", "b", "b"]}
    ).write_csv(tmp_path / "t.csv")
    data = import_table(
        tmp_path / "t.csv", tmp_path / "d", label="y", text="text", categories="city"
    )
    data.verify()
    dataset = data.dataset()
    words = dataset.features.vocabulary.to_pylist()
    assert words == ["book", "ein", "good", "guter", "lines", "schöner", "tag", "two"]
    row = dataset.features.rows([1]).toarray()[0]
    assert dict(zip(words, row.tolist(), strict=True))["ein"] == 2
    assert dataset.categories.tolist() == ["a", "(missing)", "a", "b", "b"]
    assert dataset.features.rows([2, 3]).nnz == 0
    assert data.manifest["kind"] == "text"
    assert "2 texts have no words; they are used all the same" in data.manifest["notes"]
    assert "1 items have no category: it is set to (missing)" in data.manifest["notes"]


def save_matrix(folder, kind, X):
    if kind == "npz":
        save_npz(folder / "x.npz", csr_array(X))
    elif kind == "npy":
        np.save(folder / "x.npy", X)
    else:
        pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])]).write_csv(folder / "x.csv")
    return folder / f"x.{kind}"


@pytest.mark.parametrize("kind", ["npz", "npy", "csv"])
def test_matrices(kind, tmp_path):
    X = np.where(np.arange(80).reshape(20, 4) % 3 == 0, np.arange(80).reshape(20, 4) / 7, 0)
    pl.DataFrame(
        {"y": ["a", "b", None, "c"] * 5, "city": ["u", "v"] * 10, "age": range(20)}
    ).write_csv(tmp_path / "y.csv")
    data = import_arrays(
        tmp_path / "d",
        features=save_matrix(tmp_path, kind, X),
        labels=DataFile(tmp_path / "y.csv", "y"),
        categories=DataFile(tmp_path / "y.csv", "city"),
        groups=[DataFile(tmp_path / "y.csv", "age")],
    )
    data.verify()
    dataset = data.dataset()
    kept = np.arange(20) % 4 != 2
    matrix = dataset.features.matrix
    assert issparse(matrix) == (kind == "npz")
    assert_allclose(matrix.toarray() if issparse(matrix) else matrix, X[kept])
    assert dataset.labels.tolist() == ["a", "b", "c"] * 5
    assert dataset.categories.tolist() == np.array(["u", "v"] * 10)[kept].tolist()
    assert dataset.groups["age"].tolist() == [str(i) for i in np.flatnonzero(kept)]
    assert data.manifest["rows"]["left_out"] == {"no label": 5}
    view = dataset.view([0])
    assert_allclose(view.scores([1, 3], np.eye(4), np.zeros(4)), X[kept][[1, 3]])


def posteriors_of(n, k):
    values = 1 + np.arange(n * k, dtype=float).reshape(n, k) % 7
    return values / values.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["npy", "sorted", "named"])
@pytest.mark.parametrize("positive", [None, "a"])
def test_posteriors_in_the_order_of_the_sorted_classes(kind, positive, tmp_path):
    P = posteriors_of(20, 2)
    np.save(tmp_path / "y.npy", np.array(["a", "b"] * 10))
    path = tmp_path / "p.npy"
    np.save(path, P)
    if kind != "npy":
        path = tmp_path / "p.csv"
        names = ["b", "a"] if kind == "named" else ["p0", "p1"]
        values = P[:, ::-1] if kind == "named" else P
        pl.DataFrame(values, schema=names).write_csv(path)
    data = import_arrays(
        tmp_path / "d",
        posteriors=path,
        labels=DataFile(tmp_path / "y.npy"),
        options=ImportOptions(positive=positive),
    )
    data.verify()
    dataset = data.dataset()
    assert dataset.classes.tolist() == (["a", "b"] if positive is None else ["b", "a"])
    assert_allclose(dataset.posteriors, P)
    assert dataset.features is None


def test_posteriors_of_many_classes_and_the_labels_in_one_table(tmp_path):
    P = posteriors_of(30, 3)
    table = pl.DataFrame(P, schema=["1", "2", "10"])
    table.with_columns(pl.Series("y", [1, 2, 10] * 10)).write_csv(tmp_path / "t.csv")
    data = import_arrays(
        tmp_path / "d",
        posteriors=tmp_path / "t.csv",
        labels=DataFile(tmp_path / "t.csv", "y"),
    )
    assert data.dataset().classes.tolist() == [1, 2, 10]
    assert_allclose(data.dataset().posteriors, P)


@pytest.mark.parametrize(
    ("P", "message"),
    [
        (posteriors_of(20, 3), "3 columns of posteriors for 2 classes"),
        (posteriors_of(19, 2), "19 rows, but 20 labels"),
        (
            2 * posteriors_of(20, 2),
            "sum to 1, and their sum is 2; divide every row by its sum",
        ),
    ],
)
def test_posteriors_that_do_not_fit_are_refused(P, message, tmp_path):
    np.save(tmp_path / "y.npy", np.array([0, 1] * 10))
    np.save(tmp_path / "p.npy", P)
    with pytest.raises(DataError, match=message):
        import_arrays(
            tmp_path / "d", posteriors=tmp_path / "p.npy", labels=DataFile(tmp_path / "y.npy")
        )
    assert not (tmp_path / "d").exists()


def test_features_and_labels_of_one_numpy_archive(tmp_path):
    path = tmp_path / "mine.npz"
    X, y = np.arange(80.0).reshape(20, 4), np.array(["a", "b"] * 10)
    np.savez(path, X=X, y=y, other=X)
    labels = DataFile(path, "y")
    data = import_arrays(tmp_path / "d", features=DataFile(path, "X"), labels=labels)
    assert_allclose(data.dataset().features.matrix, X)
    assert data.dataset().labels.tolist() == y.tolist()
    with pytest.raises(DataError, match="which array"):
        import_arrays(tmp_path / "e", features=path, labels=labels)


def test_progress_reaches_the_end_of_a_file(table, tmp_path):
    path = write(table, tmp_path / "t.csv")
    seen = []
    import_table(path, tmp_path / "d", label="churn", progress=lambda *report: seen.append(report))
    assert seen[-1] == ("t.csv", path.stat().st_size, path.stat().st_size)


def test_texts_are_left_out_of_tables_and_dates_are_used_by_their_parts(tmp_path):
    words = ["fine", "slow", "kind", "rude", "warm", "late", "calm"]
    frame = pl.DataFrame(
        {
            "note": [
                " ".join(words[(i * k) % 7] for k in range(1, 10)) + f" {i}" for i in range(60)
            ],
            "day": [f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(60)],
            "when": ["2024-01-01"] * 60,
            "y": ["a", "b", "a"] * 20,
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    data = import_table(tmp_path / "t.csv", tmp_path / "d", label="y")
    left_out = {column["name"]: column["reason"] for column in data.manifest["left_out"]}
    assert left_out["note"] == "text; import it as the text column to use its words"
    assert left_out["when"] == "constant"
    assert data.dataset().features.number_names == (
        "day: month (sine)",
        "day: month (cosine)",
        "day: weekday (sine)",
        "day: weekday (cosine)",
    )
    texts = import_table(tmp_path / "t.csv", tmp_path / "e", label="y", text="note")
    assert texts.kind == "text"


@pytest.mark.parametrize("other", ["no\u200b", "caf\u0065\u0301"])
def test_classes_that_look_the_same_are_one_line(other, tmp_path):
    """There used to be two classes of the same name."""
    name = "no" if other.startswith("no") else "caf\u00e9"
    frame = pl.DataFrame({"x": [1, 2] * (N // 2), "y": [name, other, "yes"] * (N // 3)})
    with pytest.raises(DataError, match="look the same: they differ in characters that cannot be"):
        import_table(write(frame, tmp_path / "t.csv"), tmp_path / "d", label="y")
