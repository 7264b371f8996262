import json
from pathlib import Path

import numpy as np
import pytest

from quantshift.data.corpus import Corpus, CorpusWriter
from quantshift.data.corpus_description import Lengths, describe, render
from quantshift.data.importing.reviews import Source, import_reviews
from quantshift.errors import UserError


@pytest.fixture
def corpus(tmp_path) -> Corpus:
    (tmp_path / "b.txt").write_text(
        "5\t" + "alpha " * 30 + "\n3\tbe\x1b[31mta gamma\n1\té😀\n" + "4\tdelta\n" * 7, "utf-8"
    )
    (tmp_path / "m_1.txt").write_text("2\tepsilon\n0\tzero\n")
    sources = [Source("Books", tmp_path / "b.txt"), Source("R&B", tmp_path / "m_1.txt")]
    return import_reviews(sources, tmp_path / "c", min_chars=0).corpus


def test_figures(corpus):
    found = describe(corpus, n_samples=1)
    books, music = found.categories
    assert (books.n_documents, books.n_without_middle) == (10, 9)
    assert books.star_shares == (0.1, 0.0, 0.1, 0.7, 0.1)
    lengths = np.array([180, 15, 2, *[5] * 7])
    assert books.lengths == Lengths(
        mean=lengths.mean(),
        median=5.0,
        p5=np.percentile(lengths, 5),
        p95=np.percentile(lengths, 95),
    )
    assert music.lengths == Lengths(7.0, 7.0, 7.0, 7.0)
    assert [(s.row, s.category, s.stars) for s in found.samples] == [
        (0, "Books", 5),
        (10, "R&B", 2),
    ]
    assert sum(source.tally.zero_stars for source in found.sources) == 1


def test_text(corpus):
    text = render(describe(corpus, n_samples=2))
    assert text.replace(corpus.hash[:12], "HASH") == (
        "Reviews and star shares (corpus HASH)\n"
        "category  instances  without 3 stars  1 star  2 stars  3 stars  4 stars  5 stars\n"
        "Books            10                9   0.100    0.000    0.100    0.700    0.100\n"
        "R&B               1                1   0.000    1.000    0.000    0.000    0.000\n"
        "\n"
        "Length in characters\n"
        "category  mean  median  5%  95%\n"
        "Books       23       5   3  106\n"
        "R&B          7       7   7    7\n"
        "\n"
        "Rows read and kept\n"
        "source   category  rows  malformed  undecodable  0 stars  short  unvoted  kept\n"
        "b.txt       Books    10          0            0        0      0        0    10\n"
        "m_1.txt       R&B     2          0            0        1      0        0     1\n"
        "all                  12          0            0        1      0        0    11\n"
        "\n"
        "First rows\n"
        "0 Books 5* alpha alpha alpha alpha alpha alpha alpha alpha alpha alpha alpha alp...\n"
        "1 Books 3* be [31mta gamma\n"
        "10 R&B 2* epsilon"
    )


def test_latex_is_the_papers_table(corpus):
    latex = render(describe(corpus), "latex")
    assert latex.splitlines()[1:9] == [
        r"\begin{tabular}{lrrrrrrr}",
        r"\toprule",
        "category & instances & without 3 stars & "
        r"1 star & 2 stars & 3 stars & 4 stars & 5 stars \\",
        r"\midrule",
        r"Books & 10 & 9 & 0.100 & 0.000 & 0.100 & 0.700 & 0.100 \\",
        r"R\&B & 1 & 1 & 0.000 & 1.000 & 0.000 & 0.000 & 0.000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert r"m\_1.txt & R\&B & 2" in latex
    assert "alpha" not in latex


def test_markdown_and_json(corpus):
    markdown = render(describe(corpus, n_samples=0), "markdown")
    assert "| Books | 10 | 9 | 0.100 | 0.000 | 0.100 | 0.700 | 0.100 |" in markdown.splitlines()
    assert "First rows" not in markdown
    found = json.loads(render(describe(corpus, n_samples=1), "json"))
    assert found["hash"] == corpus.hash
    assert found["categories"][0]["star_shares"] == [0.1, 0.0, 0.1, 0.7, 0.1]
    assert found["samples"][1] == {"row": 10, "category": "R&B", "stars": 2, "text": "epsilon"}


def test_a_corpus_that_was_not_imported(tmp_path: Path):
    with CorpusWriter(tmp_path / "c", categories=("A", "Empty")) as writer:
        writer.write([0], [3], ["a"])
        corpus = writer.commit(origin={"kind": "mine"})
    found = describe(corpus)
    assert found.sources == ()
    assert found.categories[1].n_documents == 0
    assert "Rows read" not in render(found)


def test_wrong_options(corpus):
    with pytest.raises(UserError, match="must not be negative"):
        describe(corpus, n_samples=-1)
    with pytest.raises(UserError, match=r"unknown format 'markdwn'; did you mean 'markdown'\?"):
        render(describe(corpus), "markdwn")
