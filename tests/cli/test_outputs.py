"""What the verbs write, and what they would rather not: one line, exit code 2, nothing changed."""

import os
import subprocess
import sys

import polars as pl
import pytest

from quantshift.lab.data import DataFolder


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with labelled.csv and new.csv, which is the working directory."""
    n = 60
    noise = [(i * 7919 % 1000) / 1000 for i in range(n)]
    frame = pl.DataFrame(
        {
            "id": [f"n{i:03}" for i in range(n)],
            "x": [noise[i] + 1.2 * (i % 2) for i in range(n)],
            "y": ["yes" if i % 2 else "no" for i in range(n)],
        }
    )
    monkeypatch.chdir(tmp_path)
    frame.write_csv("labelled.csv")
    frame.drop("y").write_csv("new.csv")
    return tmp_path


def content(folder):
    """The files of a folder, without those that Python keeps for the modules it imports."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }


TRAIN = ("--train", "labelled.csv", "--label", "y", "--features", "x")
QUANTIFY = ("quantify", *TRAIN, "--sample", "new.csv", "--method", "PACC", "--replicates", 100)
PLAN = ("plan", "quantify", *TRAIN, "--sample", "new.csv", "--precision", 0.2)
SYNTHETIC = ("data", "synthetic", "--documents", 50)
REVIEWS = ("data", "import", "--layout", "reviews", "A=reviews.txt", "--min-chars", 0)
IMPORT = ("data", "import", "labelled.csv", "--label", "y")


@pytest.fixture
def refuses(quantshift, place):
    """Calls the command; says what it says, if it is one line and nothing has changed."""

    def call(*arguments):
        before = content(place)
        code, out, err = quantshift(*arguments)
        assert (code, out) == (2, "")
        # On a busy machine, lines of progress may come first.
        *progress, last = err.splitlines()
        assert all(line.endswith(" so far") for line in progress)
        assert last.startswith("error: ")
        assert content(place) == before
        return last.removeprefix("error: ")

    return call


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
@pytest.mark.parametrize(
    ("arguments", "option", "file"),
    [
        (QUANTIFY, "--html", "new.csv"),
        (QUANTIFY, "--html", "labelled.csv"),
        (QUANTIFY, "--html", "link.csv"),
        (PLAN, "--out", "new.csv"),
        (PLAN, "--out", "labelled.csv"),
        (PLAN, "--out", "link.csv"),
    ],
)
def test_an_output_is_never_an_input(refuses, place, arguments, option, file, overwrite):
    (place / "link.csv").symlink_to("new.csv")
    line = refuses(*arguments, option, file, *overwrite)
    assert line.startswith(f"{file} is read by the same command; name another file")


@pytest.mark.parametrize(
    "arguments",
    [
        (*QUANTIFY, "--csv"),
        (*QUANTIFY, "--html"),
        ("train", *TRAIN, "--out"),
        ("run", "tables-prior", "--profile", "quick", "--out"),
        ("bench", "tables-prior", "--methods", "PCC", "--out"),
    ],
)
def test_a_dash_is_no_file(refuses, arguments):
    """It became a file or folder called `-`."""
    assert refuses(*arguments, "-").startswith("- stands for standard output")


@pytest.mark.parametrize(
    ("option", "file", "line"),
    [
        ("--csv", "o.xlsx", "o.xlsx: the name says xlsx, and csv would be written; name it o.csv"),
        ("--csv", "o.html", "o.html: the name says html, and csv would be written; name it o.csv"),
        ("--html", "o.csv", "o.csv: the name says csv, and html would be written; name it o.html"),
        (
            "--html",
            "o.JSON",
            "o.JSON: the name says json, and html would be written; name it o.html",
        ),
    ],
)
def test_the_ending_of_a_name_is_that_of_the_format(refuses, option, file, line):
    """A table was written as CSV under the name of a workbook."""
    assert refuses(*QUANTIFY, option, file) == line


def test_conditions_on_unknown_classes_are_refused_before_samples_are_read(refuses, monkeypatch):
    """They were refused after all the work."""
    monkeypatch.setattr("quantshift.quantifying.estimating.row_sample.read_pool", None)
    line = refuses(*QUANTIFY, "--fail-if", "nope>0.1")
    assert line.startswith("unknown class 'nope'")


def test_an_audited_sheet_is_no_page(refuses, quantshift, place):
    quantshift(*PLAN, "--out", "audit.csv")
    asked = (*QUANTIFY, "--audit", "audit.csv", "--html", "audit.csv", "--overwrite")
    assert refuses(*asked).startswith("audit.csv is read by the same command")


@pytest.mark.slow
def test_files_that_quantshift_did_not_make_are_kept(refuses, quantshift, place):
    (place / "notes.html").write_text("<p>years of work</p>")
    (place / "notes.csv").write_text("a,b\n1,2\n")
    line = "exists and was not made by quantshift; name another file, or overwrite it (--overwrite)"
    assert refuses(*QUANTIFY, "--html", "notes.html") == f"notes.html {line}"
    assert refuses(*PLAN, "--out", "notes.csv") == f"notes.csv {line}"
    for file in ("notes.html", "new page.html"):
        assert quantshift(*QUANTIFY, "--html", file, "--overwrite")[0] == 0
        assert quantshift(*QUANTIFY, "--html", file)[0] == 0  # A page of ours by now.
    assert quantshift(*PLAN, "--out", "notes.csv", "--overwrite")[0] == 0
    assert quantshift(*PLAN, "--out", "notes.csv")[0] == 0


@pytest.mark.slow
def test_labels_of_people_are_kept(refuses, quantshift, place):
    quantshift(*PLAN, "--out", "audit.csv")
    sheet = pl.read_csv("audit.csv", infer_schema=False)
    sheet.with_columns(y=pl.lit("yes")).write_csv("audit.csv")
    assert refuses(*PLAN, "--out", "audit.csv") == (
        f"{place}/audit.csv holds {len(sheet)} labels; name another file, or overwrite it "
        "(--out, --overwrite)"
    )
    assert quantshift(*PLAN, "--out", "audit.csv", "--overwrite")[0] == 0
    assert "yes" not in (place / "audit.csv").read_text()


@pytest.mark.slow
def test_a_sheet_of_what_a_pipe_brings(place):
    command = [sys.executable, "-c", "from quantshift.cli.app import main; main()"]
    asked = [*map(str, PLAN), "--out", "audit.csv"]
    asked[asked.index("new.csv")] = "-"
    done = subprocess.run(
        [*command, *asked], input=(place / "new.csv").read_bytes(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(pl.read_csv("audit.csv")) >= 10


def test_a_sheet_is_of_one_table(refuses):
    assert refuses(*PLAN, "--sample", "labelled.csv", "--out", "audit.csv").startswith(
        "an audit is drawn from one table, not from 2; name one"
    )


@pytest.mark.slow
def test_a_sheet_is_known_by_ids(refuses, quantshift, place):
    asked = (*QUANTIFY, "--id", "id")
    new = pl.read_csv("new.csv")
    labels = pl.read_csv("labelled.csv")["y"]
    audited = new.with_columns(y=labels, x=pl.lit(0))[:20].sample(20, seed=1)
    audited.with_columns(item=pl.lit(1)).write_csv("audited.csv")
    assert "if it is no such sheet, rename its column 'item'" in refuses(
        *asked, "--audit", "audited.csv"
    )
    audited.write_csv("audited.csv")
    code, out, err = quantshift(*asked, "--audit", "audited.csv")
    assert code == 0, err
    assert "with 20 labels" in out
    other = audited.with_columns(id=pl.col("id").replace("n003", "n999"))
    other.write_csv("audited.csv")
    row = audited["id"].to_list().index("n003") + 1
    assert refuses(*asked, "--audit", "audited.csv").startswith(
        f"audited.csv: row {row}: there is no id 'n999' in the sample; audit items of the sample"
    )
    pl.concat([audited, audited[3:4]]).write_csv("audited.csv")
    assert refuses(*asked, "--audit", "audited.csv") == (
        f"audited.csv: id {audited['id'][3]!r} is labelled twice (rows 4 and 21); remove one"
    )
    audited.write_csv("audited.csv")
    pl.concat([new, new]).write_csv("new.csv")
    assert "; ids of audited items must be unique" in refuses(*asked, "--audit", "audited.csv")


@pytest.mark.parametrize(
    "arguments",
    [
        (*QUANTIFY, "--html", "{}/page.html"),
        (*PLAN, "--out", "{}/audit.csv"),
        ("train", *TRAIN, "--out", "{}/model"),
        (*SYNTHETIC, "--out", "{}/reviews"),
        (*IMPORT, "--out", "{}/data"),
        (*REVIEWS, "--out", "{}/reviews"),
    ],
)
def test_places_that_cannot_be_written_are_one_line_before_the_work(
    refuses, place, arguments, monkeypatch
):
    (place / "reviews.txt").write_text("5\tgood\n")
    told = "choose another place"
    assert told in refuses(*(str(a).format("/proc") for a in arguments))
    disk = place / "disk"
    disk.mkdir()
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=16k,ro", "tmpfs", str(disk)]
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"cannot mount a small tmpfs: {error}")
    try:
        line = refuses(*(str(a).format("disk") for a in arguments))
        assert line.startswith(f"no permission to write in {disk}; {told}")
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        (disk / "full").write_bytes(b"x" * (8 * 1024))
        with pytest.raises(OSError, match="No space"):
            (disk / "fuller").write_bytes(b"x" * (16 * 1024))
        line = refuses(*(str(a).format("disk") for a in arguments))
        assert line.startswith("no space left on the disk of ")
        assert sorted(os.listdir(disk)) == ["full", "fuller"]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_foreign_files_in_folders_stay(quantshift, place):
    (place / "reviews.txt").write_text("5\tgood\n")
    for out, arguments in (
        ("model", ("train", *TRAIN, "--method", "PACC")),
        ("data", (*IMPORT, "--overwrite")),
        ("reviews", (*REVIEWS, "--overwrite")),
    ):
        code, _, err = quantshift(*arguments, "--out", out)
        assert code == 0, err
        before = set(os.listdir(out))
        (place / out / "notes.txt").write_text("mine")
        code, _, err = quantshift(*arguments, "--out", out)
        assert code == 0, err
        assert (place / out / "notes.txt").read_text() == "mine"
        assert set(os.listdir(out)) == before | {"notes.txt"}
    DataFolder.open("data").verify()


def test_a_data_set_does_not_become_its_own_source(refuses, quantshift, place):
    quantshift(*IMPORT, "--out", "data")
    asked = ("data", "import", "data/items.parquet", "--label", "label", "--overwrite")
    assert refuses(*asked, "--out", "data").startswith(
        "data/items.parquet is part of the data set that would be replaced; choose another folder"
    )


def test_a_model_that_cannot_be_saved_is_not_trained(refuses, place, monkeypatch):
    (place / "own.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "class Mine(LogisticRegression):\n    pass\n"
    )
    monkeypatch.syspath_prepend(place)
    line = refuses("train", *TRAIN, "--classifier", "own:Mine", "--out", "model")
    assert line.startswith("own.Mine cannot be saved: a model can only hold parts of scikit-learn")


@pytest.mark.parametrize("name", ["texts.parquet", "counts/data.npy", "counts/vocabulary.parquet"])
def test_damaged_reviews_are_not_run(refuses, quantshift, place, name):
    quantshift(*SYNTHETIC, "--out", "reviews")
    file = place / "reviews" / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    line = refuses("run", "prior", "--data", "reviews", "--out", "runs", "--jobs", 1)
    assert f"{file} does not match its manifest; " in line
    assert line.endswith("again")


def test_a_damaged_data_set_is_not_run(refuses, quantshift, place):
    quantshift(*IMPORT, "--out", "data")
    file = place / "data" / "columns.parquet"
    data = bytearray(file.read_bytes())
    data[8] ^= 1
    file.write_bytes(data)
    line = refuses("run", "prior", "--data", "data", "--out", "runs", "--jobs", 1)
    assert line == (f"damaged data set: {file} does not match its manifest; import the data again")


def test_a_report_keeps_what_is_not_of_a_report(refuses, quantshift, place):
    sizes = {"train_prevalences": "[0.5]", "test_prevalences": "[0.0, 1.0]", "train_size": 100}
    sizes |= {"train_repeats": 1, "test_size": 20, "test_repeats": 1}
    small = [f"--set=shift.{key}={value}" for key, value in sizes.items()]
    methods = ('--set=quantifiers=["CC"]', "--set=selection.enabled=false")
    quantshift("run", "prior", "--documents=1000", "--jobs=1", *small, *methods, "--out", "runs")
    mine = place / "mine"
    mine.mkdir()
    (mine / "summary.md").write_text("# My thesis")
    asked = ("report", "runs", "--formats", "md", "--out", "mine")
    line = "exists and was not made by quantshift; name another file, or overwrite it (--overwrite)"
    assert refuses(*asked) == f"mine/summary.md {line}"
    (mine / "summary.md").unlink()
    (mine / "tables").mkdir()
    (mine / "tables" / "prior.md").write_text("# My table")
    assert refuses(*asked) == f"mine/tables/prior.md {line}"
    assert quantshift(*asked, "--overwrite")[0] == 0
    assert quantshift(*asked)[0] == 0
