"""Any text at all, in any blocks: the words are those of the regular expression."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from quantshift.texts.counts import CountMatrix, tokenise
from quantshift.texts.tfidf import TfidfView

# Few letters, so that words recur, and letters whose case is not that of ASCII.
NASTY = st.text(alphabet=st.sampled_from("aAbB_ 1.'ΣσςİıßẞéÉe\u0301中𐐀𐐨😀\x00\u200d٣"), max_size=40)
# Lone surrogates too: a str may hold them.
ANY = st.text(st.characters(exclude_categories=[]), max_size=40)
TEXTS = st.lists(st.one_of(NASTY, ANY), max_size=12)
VALID = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)


def words_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?u)\b\w\w+\b", text.lower()))


def counted(counts: CountMatrix) -> list[Counter[str]]:
    words = counts.vocabulary.to_pylist()
    return [
        Counter({words[counts.indices[j]]: int(counts.data[j]) for j in range(start, stop)})
        for start, stop in pairwise(counts.indptr)
    ]


@given(TEXTS)
def test_words_are_those_of_the_pattern(texts: list[str]) -> None:
    counts = CountMatrix.from_texts(texts)
    assert counted(counts) == [words_of(text) for text in texts]
    assert counts.vocabulary.to_pylist() == sorted(set().union(*map(words_of, texts)))


@given(
    st.lists(st.one_of(NASTY, VALID), min_size=1, max_size=12),
    st.lists(st.integers(0, 12), max_size=4),
    st.integers(1, 3),
)
def test_blocks_and_workers_do_not_matter(texts: list[str], cuts: list[int], workers: int) -> None:
    edges = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    blocks = [(start, pa.array(texts[start:stop], pa.string())) for start, stop in pairwise(edges)]
    split, whole = tokenise(blocks, workers=workers), CountMatrix.from_texts(texts)
    assert split.vocabulary.to_pylist() == whole.vocabulary.to_pylist()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(split, name), getattr(whole, name))


@given(TEXTS, st.lists(NASTY, min_size=1, max_size=8), st.integers(1, 3), st.data())
def test_tfidf_is_that_of_scikit_learn(
    pool: list[str], train: list[str], min_df: int, data: st.DataObject
) -> None:
    # A word in every training document, so that there is something to keep.
    texts = [*(f"{text} kept" for text in train), *pool]
    rows = data.draw(st.lists(st.integers(0, len(train) - 1), min_size=min_df, max_size=10))
    view = TfidfView.fit(CountMatrix.from_texts(texts), rows, min_df=min_df)
    vectoriser = TfidfVectorizer(min_df=min_df, sublinear_tf=True)
    vectoriser.fit([texts[row] for row in rows])
    assert view.feature_names.tolist() == vectoriser.get_feature_names_out().tolist()
    everything = np.arange(len(texts))
    expected = vectoriser.transform(texts).toarray()
    np.testing.assert_allclose(view.transform(everything).toarray(), expected, rtol=1e-14)

    coef = np.linspace(-3, 5, 2 * len(view.columns)).reshape(-1, 2)
    scores = view.scores(everything, coef, [0.5, -2.0])
    np.testing.assert_allclose(scores, expected @ coef + [0.5, -2.0], atol=1e-10)
