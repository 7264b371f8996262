"""Counts and tf-idf against scikit-learn's vectorisers, entry by entry."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from quantshift.base.seeding import generator
from quantshift.texts.counts import CountMatrix
from quantshift.texts.tfidf import TfidfView

HOSTILE = [
    "",
    " ",
    "a I x",
    "The İstanbul ISPARTA ısı IŞIK İİ",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ. ΑΣ' ΣΣ αΣ\u0301 ΑΣ-Β",
    "cafe\u0301 café CAFE\u0301 \u0301\u0301 a\u0308b",
    "中文分词 日本語テスト ﾊﾝｶｸ ｆｕｌｌ 한국어 한국어",
    "٣٤٥ ۴۵ १२३ हिन्दी தமிழ் ภาษาไทย עברית العربية لا إله",
    "good😀 👍🏽👍🏽 👩‍👩‍👧 🇩🇪 ok",
    "_ __ ___ a_b _a a_ snake_case",
    "nul\x00nul \x00 \x00\x00ab\x00",
    "x" * 70_000 + " " + "é" * 70_000,
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐐀𐐨 𐐀𐐁 𠀀𠀁 \U0001e900\U0001e922",
    "ǅungla Ǆ ß ẞẞ ﬁﬂ ŉŉ ǰǰ \u1e9e",
    "x² ½¼ Ⅳ ⅳⅳ ①② ﷺ",
    "tab\tnew\nline\r\nret\x0bvt\x0cff\x85nel\u2028ls\u2029ps\u00a0nbsp\ufeffbom",
    "soft\u00adhyphen zero\u200bwidth join\u200der non\u200cjoiner",
    "good film good Good GOOD",
    "good film 中文分词 𐐀𐐁 ΣΑΣ",
    "good book 中文分词 𐐀𐐁 ΣΑΣ İİ",
    "it's don't e.g. U.S.A. 3.14 1,000 a-b C++ C#",
    "".join(map(chr, range(0x20, 0x3000))),
    "".join(f"{chr(i)}{chr(i)} " for i in range(0x80, 0x2000)),
    "".join(f"{chr(i)}{chr(i)} " for i in range(0x1D400, 0x1E000)),
    " ".join(f"a{chr(i)}b" for i in range(0x300, 0x3000)),
]


def read_reviews(folder: Path, *, every: int) -> list[str]:
    texts = []
    for path in sorted((folder / "reviews").glob("*.txt.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            texts += [line.partition("\t")[2] for i, line in enumerate(lines) if i % every == 0]
    return texts


def assert_equal_counts(counts: CountMatrix, texts: list[str]) -> None:
    counter = CountVectorizer()
    expected = counter.fit_transform(texts)
    expected.sort_indices()
    assert counts.vocabulary.to_pylist() == counter.get_feature_names_out().tolist()
    assert np.array_equal(counts.indptr, expected.indptr)
    assert np.array_equal(counts.indices, expected.indices)
    assert np.array_equal(counts.data, expected.data)


def assert_equal_tfidf(
    counts: CountMatrix, texts: list[str], train: np.ndarray, *, min_df: int
) -> None:
    view = TfidfView.fit(counts, train, min_df=min_df)
    vectoriser = TfidfVectorizer(min_df=min_df, sublinear_tf=True)
    vectoriser.fit([texts[i] for i in train])
    ours, theirs = view.transform(np.arange(len(texts))), vectoriser.transform(texts)
    assert view.feature_names.tolist() == vectoriser.get_feature_names_out().tolist()
    np.testing.assert_allclose(view.idf, vectoriser.idf_, rtol=1e-14)
    assert ours.shape == theirs.shape
    assert np.array_equal(ours.indptr, theirs.indptr)
    assert np.array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-14)


@pytest.mark.parametrize("min_df", [1, 2, 3])
def test_hostile_texts(min_df: int) -> None:
    counts = CountMatrix.from_texts(HOSTILE)
    assert_equal_counts(counts, HOSTILE)
    assert_equal_tfidf(counts, HOSTILE, np.arange(len(HOSTILE)), min_df=min_df)
    assert_equal_tfidf(counts, HOSTILE, np.arange(15, len(HOSTILE)), min_df=min_df)


@pytest.mark.slow
def test_every_code_point_between_letters() -> None:
    texts = [
        " ".join(f"a{chr(i)}B {chr(i)}Σ{chr(i)}" for i in range(start, min(start + 4096, 0x110000)))
        for start in range(0, 0x110000, 4096)
    ]
    assert_equal_counts(CountMatrix.from_texts(texts), texts)


def test_real_reviews(reviews_dir: Path) -> None:
    texts = read_reviews(reviews_dir, every=50)
    train = generator(0, what="train").choice(len(texts), 1000, replace=False)
    counts = CountMatrix.from_texts(texts)
    assert_equal_counts(counts, texts)
    assert_equal_tfidf(counts, texts, train, min_df=3)


@pytest.mark.slow
def test_all_real_reviews(reviews_dir: Path) -> None:
    texts = read_reviews(reviews_dir, every=1)
    train = generator(1, what="train").choice(len(texts), 5000, replace=False)
    counts = CountMatrix.from_texts(texts)
    assert_equal_counts(counts, texts)
    assert_equal_tfidf(counts, texts, train, min_df=3)
