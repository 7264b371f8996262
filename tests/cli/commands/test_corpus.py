import hashlib
import json
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner, Result

from quantshift.cli.commands.corpus import app
from quantshift.data.corpus import Corpus
from quantshift.errors import UserError
from quantshift.texts import tokenise_corpus

LONG = "word " * 40


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=True)


def error_of(result: Result) -> str:
    assert isinstance(result.exception, UserError), result.output
    return str(result.exception)


def test_import_then_describe(tmp_path):
    (tmp_path / "b.txt").write_text(f"5\t{LONG}\n3\t{LONG}\nno tab\n2\tshort\n")
    review = json.dumps({"reviewText": LONG, "overall": 1, "vote": "3"})
    (tmp_path / "e.json").write_text(review + "\n")
    out = tmp_path / "corpus"
    result = run("import", f"Books={tmp_path}/b.txt", f"Gadgets={tmp_path}/e.json", "--out", out)
    assert result.exit_code == 0, result.output
    corpus = Corpus.open(out)
    assert result.stdout == (
        "Rows read and kept\n"
        "source  category  rows  malformed  undecodable  0 stars  short  unvoted  kept\n"
        "b.txt      Books     4          1            0        0      1        0     2\n"
        "e.json   Gadgets     1          0            0        0      0        0     1\n"
        "all                  5          1            0        0      1        0     3\n"
        "\n"
        "kept: texts of at least 200 characters, useful votes at least 1\n"
        "b.txt has no votes: the filter on useful votes was not applied\n"
        "b.txt, first row skipped: line 3: no tab\n"
        f"corpus {corpus.hash[:12]} in {out}\n"
    )
    shown = run("describe", out, "--samples", 0, "--verify")
    assert "Books             2                1   0.000    0.000    0.500" in shown.stdout
    assert "First rows" not in shown.stdout
    found = json.loads(run("describe", out, "--format", "json").stdout)
    assert [category["name"] for category in found["categories"]] == ["Books", "Gadgets"]
    assert len(found["samples"]) == 3


def test_a_quote_left_open_names_its_line_and_its_cure(tmp_path):
    rows = [f"{i % 5 + 1},{LONG},x" for i in range(100)]
    for i in (20, 70):
        rows[i] = rows[i].replace("word", '"word', 1)
    (tmp_path / "a.csv").write_text("\n".join(["stars,text,note", *rows]))
    source, out = f"A={tmp_path}/a.csv", tmp_path / "corpus"
    assert "a.csv: line 22: a quote" in error_of(run("import", source, "--out", out))
    assert not out.exists()
    assert run("import", source, "--out", out, "--lenient").exit_code == 0
    assert Corpus.open(out).n_documents == 100


def test_damaged_counts_are_found_too(tmp_path):
    out = tmp_path / "corpus"
    assert run("synthetic", "--out", out, "--documents", 50).exit_code == 0
    tokenise_corpus(Corpus.open(out))
    assert run("describe", out, "--verify").exit_code == 0
    words = out / "counts" / "indices.npy"
    words.write_bytes(words.read_bytes()[:-1] + b"\x40")
    assert "indices.npy does not match its manifest" in error_of(run("describe", out, "--verify"))


def test_options_of_import_reach_it(tmp_path):
    (tmp_path / "a.csv").write_text("rating,body\n5,abc\n4,ab\n")
    result = run(
        *("import", f"A={tmp_path}/a.csv", "--out", tmp_path / "c", "--min-chars", 3),
        *("--text-column", "body", "--stars-column", "rating"),
    )
    assert result.exit_code == 0, result.output
    assert Corpus.open(tmp_path / "c").texts([0]) == ["abc"]
    again = ("import", f"A={tmp_path}/a.csv", "--out", tmp_path / "c", "--min-chars", 0)
    columns = ("--text-column", "body", "--stars-column", "rating")
    assert "already holds a corpus" in error_of(run(*again, *columns))
    assert run(*again, *columns, "--overwrite").exit_code == 0
    assert Corpus.open(tmp_path / "c").n_documents == 2


def test_useful_votes_can_be_waived(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"reviewText": LONG, "overall": 1}) + "\n")
    command = ("import", f"A={tmp_path}/a.json", "--out", tmp_path / "c")
    assert "lower min_useful, which is 1" in error_of(run(*command))
    assert run(*command, "--min-useful", 0).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "Books", "--out", "c"), "'Books' is not NAME=FILE"),
        (("import", "A=none.txt", "--out", "c"), "none.txt: no such file"),
        (("describe", "none"), "none is not a corpus: it does not exist"),
        (("fetch", "reviews", "--out", "c", "--url", "nowhere"), "'nowhere' is not a URL"),
    ],
)
def test_user_errors(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in error_of(run(*arguments))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [("import",), ("describe", "c", "--format", "word"), ("fetch", "cats", "--out", "c")],
)
def test_wrong_usage_is_exit_code_2(arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("verb", ["import", "describe", "fetch", "synthetic"])
def test_help_has_an_example(verb):
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert f"quantshift corpus {verb}" in " ".join(result.stdout.split())


def test_fetch(tmp_path):
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "Books.txt").write_text(f"5\t{LONG}\n")

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, directory=str(folder), **options)  # type: ignore[arg-type]

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        entry = {
            "key": "Books.txt",
            "size": len(LONG) + 3,
            "checksum": "md5:" + hashlib.md5((folder / "Books.txt").read_bytes()).hexdigest(),
            "links": {"self": f"{url}/Books.txt"},
        }
        (folder / "record.json").write_text(json.dumps({"files": [entry]}))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        result = run(
            *("fetch", "reviews", "--out", tmp_path / "c", "--url", f"{url}/record.json"),
            *("--downloads", tmp_path / "kept"),
        )
        server.shutdown()
    assert result.exit_code == 0, result.output
    assert Corpus.open(tmp_path / "c").categories == ("Books",)
    assert [p.name for p in (tmp_path / "kept").iterdir()] == ["Books.txt"]


def test_synthetic(tmp_path):
    out = tmp_path / "s"
    result = run("synthetic", "--out", out, "--documents", 50, "--seed", 3)
    assert result.exit_code == 0, result.output
    assert Corpus.open(out).n_documents == 50
    assert "of 50 documents" in result.stdout


def test_tokenise_counts_the_words(tmp_path):
    (tmp_path / "b.txt").write_text(f"5\t{LONG}\n1\t{LONG}another\n")
    out = tmp_path / "corpus"
    assert run("import", f"Books={tmp_path}/b.txt", "--out", out).exit_code == 0
    result = run("tokenise", out)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"2 documents, 2 distinct words, counts in {out}\n"
