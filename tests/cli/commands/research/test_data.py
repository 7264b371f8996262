"""`quantshift data` as users meet it: what it makes, shows, and how it fails."""

import json
import re

import numpy as np
import polars as pl
import pytest

from quantshift.lab.data import DataFolder
from quantshift.lab.data.packaged.label_tables import LABEL_TABLES
from quantshift.lab.data.packaged.packaged import PACKAGED
from tests.lab.data.lequa_folders import make_task


@pytest.fixture
def churn(tmp_path, monkeypatch):
    """A folder with a table of sixteen customers, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame(
        {
            "age": [31, None, 44, 25] * 4,
            "plan": ["basic", "basic", "plus", "pro"] * 4,
            "country": ["DE", "FR"] * 8,
            "left": ["no", "yes", "no", "no", "no", "yes", "no", None] * 2,
        }
    )
    table.write_csv("churn.csv")
    return tmp_path


def test_import_describe_and_list(quantshift, churn):
    code, out, err = quantshift(
        *("data", "import", "churn.csv", "--label", "left", "--categories", "country"),
        *("--title", "Customers who left", "--out", "mine"),
    )
    data = DataFolder.open("mine")
    expected = (
        "Data set mine\n"
        "\n"
        "title                    Customers who left\n"
        "kind                                  table\n"
        "items                                    14\n"
        f"hash                           {data.hash[:12]}\n"
        "rows read                                16\n"
        "rows left out: no label                   2\n"
        "\n"
        "Classes (the positive one is last)\n"
        "left  items  share\n"
        "no       10  0.714\n"
        "yes       4  0.286\n"
        "\n"
        "Categories\n"
        "country  items  share\n"
        "DE           8  0.571\n"
        "FR           6  0.429\n"
        "\n"
        "Features\n"
        "column     holds  missing  levels\n"
        "age       number        4\n"
        "plan    category        0       3\n"
        "\n"
        "Columns not used as features\n"
        "column              why\n"
        "left          the label\n"
        "country  the categories\n"
        "\n"
        "- class yes has 4 items\n"
    )
    assert (code, err) == (0, "")
    assert out == expected + f"\ndata set mine ({data.hash[:12]}) in mine\n"
    assert quantshift("data", "describe", "mine") == (0, expected, "")
    found = json.loads(quantshift("data", "describe", "mine", "--format", "json")[1])
    assert found["classes"] == [{"name": "no", "items": 10}, {"name": "yes", "items": 4}]
    assert "| yes | 4 | 0.286 |" in quantshift("data", "describe", "mine", "-f", "markdown")[1]
    here = (
        "Data sets\n"
        "name   kind  items  classes  categories  given samples  folder\n"
        "mine  table     14        2           2                   mine\n"
    )
    assert quantshift("data", "list", ".") == (0, here, "")
    _, out, _ = quantshift("data", "list")
    assert out.startswith(f"{here}\nEmbedded data sets\n")
    embedded, packaged = out.split("\nData sets of other packages\n")
    assert embedded.count("\n") == 13
    names = [*PACKAGED, *LABEL_TABLES]
    assert len(re.findall(rf"^({'|'.join(names)}) ", packaged, re.MULTILINE)) == len(names)


def test_arrays_posteriors_and_samples(quantshift, churn):
    rng = np.random.default_rng(0)
    np.save("x.npy", rng.normal(size=(16, 3)))
    np.save("p.npy", rng.dirichlet([1, 1], 16))
    pl.DataFrame({"y": ["u", "v"] * 8, "city": ["a", "b"] * 8, "age": range(16)}).write_csv("y.csv")
    (churn / "s.csv").write_text("sample,row\n0,1\n0,2\n1,5\n")
    (churn / "truth.csv").write_text("id,u,v\n0,0.5,0.5\n1,0,1\n")
    code, out, _ = quantshift(
        *("data", "import", "--features", "x.npy", "--labels", "y.csv:y", "--categories", "city"),
        *("--groups", "age", "--samples", "s.csv", "--out", "vectors"),
    )
    assert code == 0
    assert "features           3 columns, dense" in out
    assert "items per sample             1 to 2" in out
    dataset = DataFolder.open("vectors").dataset()
    assert dataset.categories.tolist() == ["a", "b"] * 8
    assert dataset.groups["age"].tolist() == [str(i) for i in range(16)]
    code, _, _ = quantshift(
        *("data", "import", "--posteriors", "p.npy", "--labels", "y.csv:y", "--positive", "u"),
        *("--samples", "s.csv", "--prevalences", "truth.csv", "--out", "mine", "--name", "model"),
    )
    assert code == 0
    dataset = DataFolder.open("mine").dataset()
    # Of the sorted classes, whichever is the positive one.
    assert dataset.classes.tolist() == ["v", "u"]
    assert dataset.given.prevalences.tolist() == [[0.5, 0.5], [0, 1]]
    listed = json.loads(quantshift("data", "list", ".", "--format", "json")[1])
    assert [(d["name"], d["kind"], d["samples"]) for d in listed] == [
        ("model", "posteriors", 2),
        ("vectors", "matrix", 2),
    ]


def test_embedded_data_sets_are_described_and_listed_by_name(quantshift, churn):
    code, out, _ = quantshift("data", "describe", "iris")
    assert code == 0
    assert out.startswith("Data set iris\n")
    assert "setosa         50  0.333" in out
    assert "petal width   number        0" in out
    listed = json.loads(quantshift("data", "list", "--format", "json")[1])
    packaged = {*PACKAGED, *LABEL_TABLES}
    assert [entry["name"] for entry in listed if entry["name"] not in packaged] == [
        *("breast-cancer", "digits", "fried", "iris", "mixed-table", "waveform", "wine")
    ]
    assert packaged < {entry["name"] for entry in listed}
    assert quantshift("data", "import", "churn.csv", "--label", "left", "--out", "iris")[0] == 0
    code, _, err = quantshift("data", "describe", "iris")
    assert (code, err.count("\n")) == (2, 1)
    assert "write './iris' for the folder" in err
    assert quantshift("data", "describe", "./iris")[0] == 0


def test_lists_name_reviews_and_damaged_data_sets(quantshift, churn):
    assert quantshift("data", "list", ".")[1].startswith("no data sets found")
    assert quantshift("data", "list")[1].startswith("Embedded data sets")
    assert quantshift("data", "synthetic", "--out", "reviews", "--documents", "50")[0] == 0
    assert quantshift("data", "import", "churn.csv", "--label", "left", "--out", "mine")[0] == 0
    (churn / "mine" / "items.parquet").write_bytes(b"")
    _, out, _ = quantshift("data", "list")
    assert "damaged" in out
    assert "mine: damaged data set: mine/items.parquet has 0 bytes" in out
    assert any(line.split()[:3] == ["reviews", "text", "50"] for line in out.splitlines())
    assert quantshift("data", "list", "reviews")[1].count("\n") == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "--out", "d"), "nothing to import: give a table, --features or --posteriors"),
        (("import", "churn.csv", "--out", "d"), "name it (--label)"),
        (("import", "none.csv", "--label", "y", "--out", "d"), "none.csv: no such file"),
        (("import", "churn.csv", "--label", "lft", "--out", "d"), "did you mean 'left'?"),
        (("import", "churn.doc", "--label", "y", "--out", "d"), "unknown format"),
        (
            ("import", "churn.csv", "--label", "left", "--labels", "y.npy", "--out", "d"),
            "--labels cannot be used here",
        ),
        (("import", "--features", "x.npy", "--out", "d"), "arrays need --labels"),
        (
            ("import", "--features", "x.npy", "--labels", "y.npy", "--text", "t", "--out", "d"),
            "--text cannot be used here",
        ),
        (("import", "--features", "x.npy", "--labels", "y.npy", "--out", "d"), "not a NumPy array"),
        (("import", "churn.csv", "--label", "left", "--out", "."), "is not a data set"),
        (("describe", "nowhere"), "nowhere is not a data set: it does not exist"),
        (("list", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(quantshift, churn, arguments, message):
    code, out, err = quantshift("data", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not (churn / "d").exists()


def test_describe_checks_the_hashes(quantshift, churn):
    quantshift("data", "import", "churn.csv", "--label", "left", "--out", "mine")
    path = churn / "mine" / "columns.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    code, _, err = quantshift("data", "describe", "mine")
    assert code == 2
    assert "columns.parquet does not match its manifest" in err


@pytest.mark.parametrize("verb", ["import", "describe", "list"])
def test_help_teaches_by_example(quantshift, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = quantshift("data", verb, "--help")
    assert code == 0
    assert out.count(f"quantshift data {verb}") >= 3
    assert verb != "list" or "'quantshift[datasets]'" in out


def test_a_quote_left_open_names_its_line_and_its_cure(quantshift, churn):
    lines = (churn / "churn.csv").read_text().splitlines()
    lines[3] = lines[3].replace("plus", '"plus')
    (churn / "churn.csv").write_text("\n".join(lines))
    words = ("data", "import", "churn.csv", "--label", "left", "--out", "mine")
    code, _, err = quantshift(*words)
    assert code == 2
    assert err == (
        "error: churn.csv: line 4: a quote (\") is opened in column 'plan' and never closed; fix "
        "the line, or read the file line by line (--lenient)\n"
    )
    assert not (churn / "mine").exists()
    code, out, _ = quantshift(*words, "--lenient")
    assert code == 0
    assert re.search(r"^items +14$", out, re.MULTILINE)


def test_a_split_and_a_task_of_lequa_by_their_options(quantshift, churn):
    split = ("--label", "left", "--test-share", "0.25", "--out", "split")
    code, out, _ = quantshift("data", "import", "churn.csv", *split)
    assert code == 0
    assert any(line.split() == ["items", "to", "test", "on", "4"] for line in out.splitlines())
    code, _, err = quantshift(
        "data", "import", "churn.csv", "--label", "left", "--max-train", "9", "--out", "d"
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "give test_share too (--test-share)" in err
    public = make_task(churn, "T1")
    code, _, err = quantshift("data", "import", public, "--label", "label", "--out", "d")
    assert code == 2
    assert "--label cannot be used here: the folder of a LeQua task" in err
    code, out, _ = quantshift("data", "import", public, "--out", "d")
    assert code == 0
    assert "LeQua T1" in out


LONG = "word " * 40
REVIEWS = ("data", "import", "--layout", "reviews")


def test_reviews_are_imported_and_described(quantshift, churn):
    (churn / "b.txt").write_text(f"5\t{LONG}\n3\t{LONG}\nno tab\n2\tshort\n")
    review = json.dumps({"reviewText": LONG, "overall": 1, "vote": "3"})
    (churn / "e.json").write_text(review + "\n")
    code, out, err = quantshift(*REVIEWS, "Books=b.txt", "Gadgets=e.json", "--out", "mine")
    assert code == 0, err
    data = DataFolder.open("mine")
    assert "b.txt      Books     4          1          0        0      1        0     2\n" in out
    assert "- b.txt, first row skipped: line 3: no tab\n" in out
    assert out.endswith(f"\ndata set mine ({data.hash[:12]}) in mine\n")
    assert quantshift("data", "describe", "mine")[1] + "\n" == out.partition("data set mine (")[0]
    described = json.loads(quantshift("data", "describe", "mine", "--format", "json")[1])
    assert [category["name"] for category in described["categories"]] == ["Books", "Gadgets"]
    assert described["cut_point"] == 3
    latex = quantshift("data", "describe", "mine", "--format", "latex")[1]
    assert r"Books & 2 & 1 & 0.000 & 0.000 & 0.500 & 0.000 & 0.500 \\" in latex


def test_options_of_reviews_reach_the_import(quantshift, churn):
    (churn / "a.csv").write_text("rating;body\n5;abc\n4;ab\n")
    command = (*REVIEWS, "A=a.csv", "--text", "body", "--label", "rating", "--out", "mine")
    assert quantshift(*command, "--min-chars", 3, "--title", "Mine")[0] == 0
    assert DataFolder.open("mine").manifest["items"] == 1
    assert DataFolder.open("mine").title == "Mine"
    code, _, err = quantshift(*command, "--min-chars", 0)
    assert code == 2
    assert "already holds a data set" in err
    assert quantshift(*command, "--min-chars", 0, "--overwrite", "--name", "ours")[0] == 0
    assert DataFolder.open("mine").manifest["items"] == 2
    assert DataFolder.open("mine").name == "ours"
    (churn / "a.json").write_text(json.dumps({"reviewText": LONG, "overall": 1}) + "\n")
    command = (*REVIEWS, "A=a.json", "--out", "voted")
    assert "lower min_useful, which is 1 (--min-useful)" in quantshift(*command)[2]
    assert quantshift(*command, "--min-useful", 0)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*REVIEWS, "Books"), "'Books' is not NAME=FILE"),
        (REVIEWS, "nothing to import: give at least one file as NAME=FILE"),
        ((*REVIEWS, "A=none.txt"), "none.txt: no such file"),
        ((*REVIEWS, "A=churn.csv"), "unknown column 'text'; did you mean 'left'?; name it"),
        ((*REVIEWS, "A=churn.csv", "--groups", "x"), "--groups cannot be used here: reviews have"),
        ((*REVIEWS, "A=churn.csv", "--ordinal"), "only its name, its title and whether"),
        (("data", "import", "churn.csv", "other.csv"), "other.csv: a second table; import one"),
        (
            ("data", "import", "churn.csv", "--label", "left", "--min-chars", 3),
            "--min-chars cannot be used here: it filters reviews; add --layout reviews",
        ),
        (
            ("data", "import", "churn.csv", "--label", "left", "--min-chars", 200),
            "--min-chars cannot be used here: it filters reviews; add --layout reviews",
        ),
    ],
)
def test_wrong_reviews_are_one_line(quantshift, churn, arguments, message):
    code, out, err = quantshift(*arguments, "--out", "d")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (churn / "d").exists()


def test_synthetic_reviews(quantshift, churn):
    code, out, err = quantshift("data", "synthetic", "--out", "s", "--documents", 50, "--seed", 3)
    assert code == 0, err
    data = DataFolder.open("s")
    assert out == f"data set s ({data.hash[:12]}) of 50 documents in s\n"
    assert data.manifest["items"] == 50
