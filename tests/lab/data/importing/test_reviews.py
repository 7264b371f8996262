import errno
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from quantshift.errors import DataError, UserError
from quantshift.lab.data import (
    DataFolder,
    ImportOptions,
    ReviewFile,
    describe,
    import_reviews,
    render,
)
from quantshift.lab.data.importing.review_layouts import ReviewTally
from tests.lab.data.made_reviews import tally_of, texts_of

LONG = "x" * 200
AGAIN = ImportOptions(overwrite=True)
LAYOUTS = "quantshift.lab.data.importing.review_layouts"


def review(text: str = LONG, stars: float = 5, **fields: object) -> str:
    return json.dumps({"reviewText": text, "overall": stars, **fields}) + "\n"


def test_filters_count_each_row_once_under_its_first_reason(tmp_path):
    lines = [
        review(helpful=[1, 1]),
        review(vote="1,234"),
        "garbage\n",
        review(stars=4.5),
        '{"reviewText": "caf\udcff", "overall": 5}\n',
        review("short", stars=0),
        review("x" * 199, helpful=[0, 1]),
        review("é" * 199, vote="2"),
        review("😀" * 200, stars=1, vote="2"),
        review(helpful=[0, 3]),
        review(),
        review(stars=2, helpful=[7, 9]),
    ]
    path = tmp_path / "a.json"
    # The lone surrogate stands for a byte that is not UTF-8.
    path.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    data = import_reviews([ReviewFile("A", path)], tmp_path / "c")
    assert tally_of(data) == ReviewTally(
        rows=12, malformed=2, undecodable=1, zero_stars=1, short=2, unvoted=2, kept=4
    )
    assert data.dataset().labels.tolist() == [5, 5, 1, 2]
    assert data.manifest["sources"][0]["first_malformed"] == "line 3: not a JSON object"
    assert data.manifest["rows"] == {
        "read": 12,
        "used": 4,
        "left_out": {
            "malformed": 2,
            "not UTF-8": 1,
            "0 stars": 1,
            "fewer than 200 characters": 2,
            "fewer useful votes than 1": 2,
        },
        "of_samples": 0,
    }


def test_limits_can_be_moved(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(review("", helpful=[0, 0]) + review("ab", vote="1") + review("abc", vote="5"))
    sources = [ReviewFile("A", path)]
    kept = {
        (chars, useful): tally_of(
            import_reviews(
                sources, tmp_path / "c", min_chars=chars, min_useful=useful, options=AGAIN
            )
        ).kept
        for chars in (0, 2, 3)
        for useful in (0, 1, 5)
    }
    assert list(kept.values()) == [3, 2, 1, 2, 2, 1, 1, 1, 1]


def test_rows_are_in_the_order_of_categories_then_files(tmp_path):
    for name, content in {"b1": "1\tb1\n", "a1": "2\ta1\n3\ta2\n", "b2": "4\tb2\n"}.items():
        (tmp_path / f"{name}.txt").write_text(content)
    sources = [ReviewFile.parse(f"{n[0].upper()}={tmp_path / n}.txt") for n in ("b1", "a1", "b2")]
    data = import_reviews(sources, tmp_path / "c", min_chars=0)
    assert [entry["name"] for entry in data.manifest["categories"]] == ["B", "A"]
    assert texts_of(data) == ["b1", "b2", "a1", "a2"]
    assert data.dataset().categories.tolist() == ["B", "B", "A", "A"]


def test_the_manifest_knows_sources_by_name_and_hash(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(review(vote="3").encode()))
    import_reviews([ReviewFile("A", path)], tmp_path / "c")
    manifest = (tmp_path / "c" / "manifest.json").read_text()
    (source,) = json.loads(manifest)["sources"]
    assert source["file"] == "a.json.gz"
    assert source["bytes"] == path.stat().st_size
    assert source["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source["tally"]["kept"] == 1
    assert str(tmp_path) not in manifest


def test_the_data_set_does_not_depend_on_workers_or_block_size(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    path = tmp_path / "a.json"
    path.write_text(
        "".join(review(f"{i} " * int(rng.integers(1, 40)), 1 + i % 5) for i in range(999))
    )
    found = set()
    for workers, block_bytes in [(1, 1 << 22), (1, 300), (2, 4096), (4, 1000)]:
        monkeypatch.setattr(f"{LAYOUTS}.BLOCK_BYTES", block_bytes)
        data = import_reviews(
            [ReviewFile("A", path)],
            tmp_path / "c",
            min_chars=50,
            min_useful=0,
            workers=workers,
            options=AGAIN,
        )
        found.add((data.path / "manifest.json").read_bytes())
    assert len(found) == 1


def test_progress_reaches_the_end(tmp_path):
    sources = []
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"5\t{LONG}\n3\tshort\n")
        sources.append(ReviewFile(name, tmp_path / f"{name}.txt"))
    seen: list[tuple[str, int, int]] = []
    import_reviews(sources, tmp_path / "c", progress=lambda *step: seen.append(step))
    total = 2 * (tmp_path / "a.txt").stat().st_size
    assert seen[:2] == [("a.txt", total // 2, total), ("b.txt", total, total)]
    assert seen[-1] == ("counting words", 2, 2)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("boom")])
def test_an_interruption_leaves_nothing(tmp_path, monkeypatch, error):
    monkeypatch.setattr(f"{LAYOUTS}.BLOCK_BYTES", 500)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(f"5\t{LONG}\n".encode() * 500))

    steps = []

    def interrupt(*step: object) -> None:
        steps.append(step)
        if len(steps) > 3:
            raise error

    with pytest.raises((KeyboardInterrupt, RuntimeError)):
        import_reviews([ReviewFile("A", path)], tmp_path / "c", progress=interrupt)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt.gz"]


def test_a_fault_in_the_second_file_leaves_the_old_data_set(tmp_path):
    (tmp_path / "a.txt").write_text(f"5\t{LONG}\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(f"5\t{LONG}\n".encode() * 99)[:-9])
    old = import_reviews([ReviewFile("A", tmp_path / "a.txt")], tmp_path / "c")
    sources = [ReviewFile("A", tmp_path / "a.txt"), ReviewFile("B", tmp_path / "b.txt.gz")]
    with pytest.raises(DataError, match=r"b\.txt\.gz: truncated"):
        import_reviews(sources, tmp_path / "c", options=AGAIN)
    assert DataFolder.open(tmp_path / "c").hash == old.hash
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.txt.gz", "c"]


def test_a_taken_folder_is_refused_before_any_work(tmp_path):
    (tmp_path / "a.txt").write_text(f"5\t{LONG}\n")
    sources = [ReviewFile("A", tmp_path / "a.txt")]
    import_reviews(sources, tmp_path / "c")

    def never(*step: object) -> None:
        raise AssertionError(step)

    with pytest.raises(UserError, match="already holds a data set"):
        import_reviews(sources, tmp_path / "c", progress=never)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text(f"5\t{LONG}\n")

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("quantshift.base.storage.manifests.flush", full)
    with pytest.raises(UserError, match="no space left"):
        import_reviews([ReviewFile("A", tmp_path / "a.txt")], tmp_path / "c")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("bad", "good", "refused"), [(1, 1, False), (2, 1, True), (500, 500, False), (501, 499, True)]
)
def test_more_than_half_malformed_is_another_format(tmp_path, bad, good, refused):
    path = tmp_path / "a.txt"
    # Behind the first thousand lines anything may come: it is skipped and counted.
    path.write_text("no tab\n" * bad + "5\tgood\n" * good + "no tab\n" * 2000 * (bad >= 500))
    if refused:
        with pytest.raises(
            DataError, match=f"{bad} of the first {bad + good} lines are not reviews"
        ):
            import_reviews([ReviewFile("A", path)], tmp_path / "c", min_chars=0)
    else:
        tally = tally_of(import_reviews([ReviewFile("A", path)], tmp_path / "c", min_chars=0))
        assert tally.kept == good
        assert tally.malformed == tally.rows - good


@pytest.mark.parametrize("text", ["Books", "=file.txt", " =file.txt", "Books=", ""])
def test_a_source_is_name_and_file(text):
    with pytest.raises(UserError, match=r"is not NAME=FILE; write for instance"):
        ReviewFile.parse(text)


def test_only_the_first_equals_sign_divides():
    assert ReviewFile.parse("A=b=c.txt") == ReviewFile("A", Path("b=c.txt"))


def test_names_that_look_alike_are_refused(tmp_path):
    (tmp_path / "a.txt").write_text("5\ta\n")
    (tmp_path / "b.txt").write_text("5\tb\n")
    for first, second in [("Books", "books"), ("Books", "Books "), ("My Books", "MyBooks")]:
        sources = [ReviewFile(first, tmp_path / "a.txt"), ReviewFile(second, tmp_path / "b.txt")]
        with pytest.raises(UserError, match="differ only in case or blanks"):
            import_reviews(sources, tmp_path / "c", min_chars=0)


def test_a_file_named_twice_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("5\ta\n")
    sources = [ReviewFile("A", tmp_path / "a.txt"), ReviewFile("B", tmp_path / "." / "a.txt")]
    with pytest.raises(UserError, match="given twice"):
        import_reviews(sources, tmp_path / "c", min_chars=0)


def test_nothing_to_import_and_impossible_limits(tmp_path):
    with pytest.raises(UserError, match="nothing to import"):
        import_reviews([], tmp_path / "c")
    with pytest.raises(UserError, match="must not be negative"):
        import_reviews([ReviewFile("A", tmp_path / "a")], tmp_path / "c", min_chars=-1)
    with pytest.raises(UserError, match="at least 1 worker"):
        import_reviews([ReviewFile("A", tmp_path / "a")], tmp_path / "c", workers=0)
    with pytest.raises(UserError, match="only its name, its title and whether to overwrite"):
        import_reviews(
            [ReviewFile("A", tmp_path / "a")], tmp_path / "c", options=ImportOptions(fewest=3)
        )


@pytest.mark.parametrize(
    ("content", "cure"),
    [
        (review("short") * 3, "lower min_chars, which is 200"),
        (review() * 3, "lower min_useful, which is 1"),
    ],
)
def test_a_category_of_which_nothing_is_left(tmp_path, content, cure):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(DataError, match=f"'A': none of its 3 rows passed the filters .*{cure}"):
        import_reviews([ReviewFile("A", tmp_path / "a.json")], tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_the_description(tmp_path):
    (tmp_path / "b.json").write_text(review(vote="2") * 1500 + review("short") + review())
    (tmp_path / "e.txt").write_text(f"4\t{LONG}\nno tab\n0\t{LONG}\n")
    sources = [ReviewFile("Books", tmp_path / "b.json"), ReviewFile("R&B", tmp_path / "e.txt")]
    data = import_reviews(sources, tmp_path / "c", options=ImportOptions(title="Mine"))
    text = render(describe(data))
    overview, _, tables = text.partition("\n\nClasses")
    assert [line.rsplit(maxsplit=1) for line in overview.splitlines()[2:]] == [
        ["title", "Mine"],
        ["kind", "text"],
        ["items", "1,501"],
        ["hash", data.hash[:12]],
        ["rows read", "1,505"],
        ["rows left out: malformed", "1"],
        ["rows left out: 0 stars", "1"],
        ["rows left out: fewer than 200 characters", "1"],
        ["rows left out: fewer useful votes than 1", "1"],
    ]
    assert tables == (
        ", in their order\n"
        "stars  items  share\n"
        "4          1  0.001\n"
        "5      1,500  0.999\n"
        "\n"
        "Categories\n"
        "category  items  share\n"
        "Books     1,500  0.999\n"
        "R&B           1  0.001\n"
        "\n"
        "Shares of stars by category\n"
        "category  items  without 3      1      2      3      4      5\n"
        "Books     1,500      1,500  0.000  0.000  0.000  0.000  1.000\n"
        "R&B           1          1  0.000  0.000  0.000  1.000  0.000\n"
        "\n"
        "Length in characters\n"
        "category  mean  median   5%  95%\n"
        "Books      200     200  200  200\n"
        "R&B        200     200  200  200\n"
        "\n"
        "Rows read and kept\n"
        "file    category   rows  malformed  not UTF-8  0 stars  short  unvoted   kept\n"
        "b.json     Books  1,502          0          0        0      1        1  1,500\n"
        "e.txt        R&B      3          1          0        1      0        0      1\n"
        "\n"
        "- e.txt has no votes: the filter on useful votes was not applied\n"
        "- e.txt, first row skipped: line 2: no tab"
    )
    latex = render(describe(data), "latex")
    assert r"R\&B & 1 & 1 & 0.000 & 0.000 & 0.000 & 1.000 & 0.000 \\" in latex
    assert "no votes" not in latex


def test_real_reviews_of_mcauleys_crawl(tmp_path, reviews_dir):
    path = reviews_dir / "raw" / "reviews_Electronics.json.gz"
    tally = tally_of(import_reviews([ReviewFile("Electronics", path)], tmp_path / "c"))
    expected = [0, 0]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            expected[0] += 1
            expected[1] += len(row["reviewText"]) >= 200 and row["helpful"][0] >= 1
    assert [tally.rows, tally.kept] == expected
    assert tally.rows == 12_250


@pytest.mark.slow
def test_real_reviews_of_the_public_layout(tmp_path, reviews_dir):
    sources = [
        ReviewFile(name, reviews_dir / "reviews" / f"{name}.txt.gz")
        for name in ("Books", "Electronics")
    ]
    data = import_reviews(sources, tmp_path / "c")
    assert [[k["items"] for k in c["classes"]] for c in data.manifest["categories"]] == [
        [3107, 3231, 5311, 9748, 26045],
        [12431, 6470, 8182, 17957, 48893],
    ]
    data.verify()


@pytest.mark.slow
def test_processes_and_threads_make_the_same_data_set(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    lines = [review(vote=str(i % 3)) for i in range(300)] + ["{broken\n"] * 7
    path.write_text("".join(line if line.endswith("\n") else line + "\n" for line in lines))
    threads = import_reviews([ReviewFile("A", path)], tmp_path / "threads")
    monkeypatch.setattr("quantshift.lab.data.importing.reviews.LARGE_BYTES", 1)
    processes = import_reviews([ReviewFile("A", path)], tmp_path / "processes")
    assert processes.hash == threads.hash
    assert processes.manifest["files"] == threads.manifest["files"]
    assert tally_of(processes) == tally_of(threads)
    assert tally_of(threads).malformed == 7
