"""An embedded synthetic corpus of reviews whose P(star | document) is known exactly.

Two categories, five ordered stars, and documents that are bags of words. A document has a category
a, a star s, a length n and a mood e (its text sounds happier or unhappier than its star); its n
words are drawn independently with

    P(w | a, s, e)  proportional to  frequency[a, w] * exp((s - 3 + e) * polarity[a, w])

Only a, s and the words are observed. The mood has a few levels with known shares, so the likelihood
of a document is a sum of as many terms, and its posterior under any prior over (a, s) has a closed
form: ground truth for every method that estimates posteriors or prevalences.

It is a mixture of multinomials with log-linear tilts, similar to the multinomial inverse regression
of M. Taddy, JASA 108 (2013). The distributions of frequencies and polarities over the words follow
measurements on real reviews of books and electronics. The formulas, the parameters and the
properties of the corpus are in docs/reference/synthetic.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from quantshift.base.seeding import generator
from quantshift.errors import DataError, UserError
from quantshift.prevalence import simplex

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from quantshift.lab.data.sets.folder import DataFolder

CATEGORY_NAMES = ("Novels", "Gadgets")
STARS = np.arange(1, 6)
STAR_SHARES = ((0.093, 0.071, 0.094, 0.160, 0.582), (0.193, 0.079, 0.093, 0.178, 0.457))
"""Shares of one to five stars per category: those of Books and Electronics in the paper."""

DOCUMENT_BYTES = 2400
"""The memory per document needed to generate a corpus."""

MIN_WORDS = 41
"""The shortest document: 41 words of 4 letters with their blanks have 204 characters."""
LENGTH_MEDIAN = 84
LENGTH_SPREAD = 0.75

_BLOCK = 20_000
"""Documents drawn at a time; bounds the memory and does not change the result."""

# Names for words of strong polarity: (positive, negative), for both categories and for each one.
_SHARED_SENTIMENT = (
    "excellent great wonderful perfect love loved amazing best superb fantastic delighted enjoy "
    "enjoyed recommend pleased happy brilliant favorite outstanding beautiful good nice glad "
    "impressed worth terrific lovely satisfied treasure flawless",
    "terrible awful horrible worst poor disappointed disappointing waste wasted hate hated "
    "useless regret avoid boring worthless annoying garbage mediocre refund sadly unfortunately "
    "lacking junk mess ridiculous dreadful pointless inferior flawed",
)
_OWN_SENTIMENT = (
    (
        "gripping moving witty poetic vivid riveting enchanting captivating heartfelt insightful "
        "memorable lyrical tender suspenseful engrossing uplifting timeless charming",
        "predictable cliched rambling contrived tedious preachy shallow confusing dull wooden "
        "repetitive implausible pretentious skimmed unfinished lifeless bland dragged",
    ),
    (
        "reliable sturdy crisp fast durable compact responsive accurate seamless powerful "
        "lightweight bright sleek intuitive affordable solid portable quick",
        "broken defective flimsy returned overheats crashed noisy cracked stopped faulty failed "
        "laggy scratched dead leaking unreliable stuck static",
    ),
)

_N_PAIRS = 5000
"""Words come in pairs of equal frequency and opposite polarity.

Otherwise, by chance, the words of one category would sound better to a classifier trained on the
other, by an uncontrolled amount. `_LEAN` controls this amount.
"""
_ZIPF_SHIFT, _ZIPF_EXPONENT = 10.0, 1.1
"""The frequency of a word falls as (rank + shift) ** -exponent."""
_AFFINITY_RANKS, _AFFINITIES = (15, 60, 300, 1000), (0.2, 1.0, 1.0, 1.6)
"""Standard deviation, by rank, of the log ratio of a word's frequencies in the two categories."""

_POLARITY_GROWTH, _POLARITY_RANK, _POLARITY_CAP = 0.0425, 15.0, 0.204
"""Standard deviation of the polarity: min(cap, growth * log(1 + rank / reference rank))."""
_POLARITY_CORRELATION = 0.5
"""Correlation of a word's polarities in the two categories."""
_LEAN = 0.01
"""Mean polarity of a rare word that only one category uses: details are slightly positive.

A classifier trained on the other category misses this, and its errors are biased to one side.
"""

_NAMED_PAIRS = 1000
"""Only the most frequent pairs get a name from the lists above."""
_OWN_SHARE = 0.9
"""A word belongs to a category if this share of its occurrences is there."""

_MOODS = (-0.5, 0.0, 0.5)
_MOOD_SHARES = (0.25, 0.5, 0.25)


@dataclass(frozen=True, kw_only=True)
class SyntheticModel:
    """The parameters of the corpus, and the closed forms they give.

    With C categories, W words and M moods: `vocabulary` W words, sorted; `frequencies` (C, W)
    positive, rows sum to 1: word probabilities of a three-star document in mood 0; `polarities`
    (C, W): log-odds per star above three; `moods` (M,) in stars, and their `mood_shares` (M,).
    """

    vocabulary: tuple[str, ...]
    frequencies: NDArray[np.float64]
    polarities: NDArray[np.float64]
    moods: NDArray[np.float64]
    mood_shares: NDArray[np.float64]

    def log_word_probabilities(self) -> NDArray[np.float64]:
        """Log P(word | mood, category, star), shape (M, C, 5, W)."""
        tilt = np.add.outer(self.moods, STARS - 3.0)[:, np.newaxis, :, np.newaxis]
        logits = np.log(self.frequencies)[:, np.newaxis] + tilt * self.polarities[:, np.newaxis]
        logits -= logits.max(axis=-1, keepdims=True)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))

    def log_likelihoods(self, counts: "csr_array") -> NDArray[np.float64]:
        """Log P(words | category, star, length) of each document, shape (n_documents, C, 5).

        It is the probability of the words in one given order; the number of orders and the law
        of the length depend on neither category nor star and cancel in every posterior.
        """
        if counts.shape[1] != len(self.vocabulary):
            raise DataError(
                f"counts have {counts.shape[1]} columns, the model {len(self.vocabulary)} words; "
                "pass counts over the model's vocabulary"
            )
        log_p = self.log_word_probabilities()
        given_mood = counts @ log_p.reshape(-1, log_p.shape[-1]).T
        terms = given_mood.reshape(counts.shape[0], *log_p.shape[:-1])
        shares = _logarithms(self.mood_shares)[:, np.newaxis, np.newaxis]
        return np.asarray(np.logaddexp.reduce(terms + shares, axis=1))

    def star_posteriors(self, counts: "csr_array", prior: ArrayLike) -> NDArray[np.float64]:
        """P(star | words) of each document, shape (n_documents, 5).

        `prior` is P(category, star), shape (C, 5); a row of zeros rules out that category.
        """
        log_joint = self._log_star_joint(counts, prior)
        return np.asarray(np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True)))

    def positive_posteriors(
        self, counts: "csr_array", prior: ArrayLike, cut_point: float
    ) -> NDArray[np.float64]:
        """P(star > cut point | words, star != cut point) of each document."""
        positive, negative = cut_point < STARS, cut_point > STARS
        if not (positive.any() and negative.any()):
            raise UserError(f"cut point {cut_point} leaves one class empty; use one within 1 to 5")
        log_joint = self._log_star_joint(counts, prior)
        log_positive = np.logaddexp.reduce(log_joint[:, positive], axis=1)
        log_negative = np.logaddexp.reduce(log_joint[:, negative], axis=1)
        return np.asarray(np.exp(log_positive - np.logaddexp(log_positive, log_negative)))

    def _log_star_joint(self, counts: "csr_array", prior: ArrayLike) -> NDArray[np.float64]:
        weights = np.asarray(prior, dtype=np.float64)
        shape = (len(self.frequencies), len(STARS))
        if weights.shape != shape:
            raise DataError(f"a prior over (category, star) has shape {shape}, got {weights.shape}")
        simplex.check(weights.ravel())
        terms = self.log_likelihoods(counts) + _logarithms(weights)
        return np.asarray(np.logaddexp.reduce(terms, axis=1))


@dataclass(frozen=True, kw_only=True)
class SyntheticCorpus:
    """Documents drawn from a model: words, stars and categories, row by row.

    `categories` are positions in `category_names`; `prior` (2, 5) is the P(category, star) the
    documents were drawn with; `tokens` holds the words of all documents in their order, those of
    document i at `offsets[i]:offsets[i + 1]`.
    """

    stars: NDArray[np.int8]
    categories: NDArray[np.int8]
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    prior: NDArray[np.float64]
    model: SyntheticModel
    category_names: tuple[str, ...] = CATEGORY_NAMES

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.stars)

    @cached_property
    def counts(self) -> "csr_array":
        """Word counts (n_documents, n_words), a column per word of the sorted vocabulary."""
        # Imported only now, because texts can be drawn without SciPy.
        from scipy.sparse import csr_array

        counts = csr_array(
            (np.ones(len(self.tokens), dtype=np.int32), self.tokens, self.offsets),
            shape=(self.n_documents, len(self.vocabulary)),
            copy=True,  # the next line merges repeated words in place
        )
        counts.sum_duplicates()
        return counts

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words, one per column of `counts`, in alphabetical order."""
        return self.model.vocabulary

    def text(self, index: int) -> str:
        """The text of one document, at least 200 characters; `counts` has its word counts."""
        return self.texts([index])[0]

    def texts(self, indices: Iterable[int] | None = None) -> list[str]:
        """The texts of the documents at `indices`, or of all."""
        word_of = self.vocabulary.__getitem__
        rows = range(self.n_documents) if indices is None else indices
        spans = (self.tokens[self.offsets[i] : self.offsets[i + 1]].tolist() for i in rows)
        return [" ".join(map(word_of, span)) for span in spans]


def generate(
    n_documents: int, *, seed: int = 0, star_shares: ArrayLike | None = None
) -> SyntheticCorpus:
    """A corpus of `n_documents` independent documents, the same for the same seed.

    A category is drawn with equal chances, then a star with `star_shares` (5 shares for both
    categories, or 2 x 5; by default those of the paper), then mood, length and words. The
    first k documents do not depend on how many follow: a larger corpus extends a smaller one.
    """
    if n_documents < 1:
        raise UserError(f"a corpus needs at least 1 document, got n_documents={n_documents}")
    if n_documents * DOCUMENT_BYTES > (memory := psutil.virtual_memory().total):
        raise UserError(
            f"a synthetic corpus of {n_documents:,} documents needs about "
            f"{n_documents * DOCUMENT_BYTES / 1e9:,.0f} GB of memory, this machine has "
            f"{memory / 1e9:,.0f}; ask for fewer documents",
            arguments=["documents"],
        )
    model = default_model()
    prior = _prior(STAR_SHARES if star_shares is None else star_shares)
    categories = _pick(np.full(2, 0.5), _uniforms(n_documents, seed, "category"))
    star_uniforms = _uniforms(n_documents, seed, "star")
    stars = np.empty(n_documents, dtype=np.int64)
    for category in range(len(CATEGORY_NAMES)):
        rows = categories == category
        stars[rows] = _pick(prior[category], star_uniforms[rows])
    levels = _pick(model.mood_shares, _uniforms(n_documents, seed, "mood"))
    offsets = np.concatenate([[0], np.cumsum(_lengths(n_documents, seed))])
    log_p = model.log_word_probabilities()
    components = np.ravel_multi_index((levels, categories, stars), log_p.shape[:-1])
    tokens = _tokens(components, offsets, np.exp(log_p).reshape(-1, log_p.shape[-1]), seed)
    return SyntheticCorpus(
        stars=STARS[stars].astype(np.int8),
        categories=categories.astype(np.int8),
        tokens=tokens,
        offsets=offsets,
        prior=prior,
        model=model,
    )


def write_synthetic(out: str | Path, *, n_documents: int, seed: int = 0) -> "DataFolder":
    """Write `generate(n_documents, seed=seed)` as a data set into the folder `out`."""
    # Imported only now, because generating reviews needs none of the packages for data sets.
    from quantshift.lab.data.importing.review_folder import new_reviews
    from quantshift.lab.data.sets.folder import DATA_SET

    DATA_SET.check_free(Path(out), overwrite=False)
    corpus = generate(n_documents, seed=seed)
    with new_reviews(out, corpus.category_names) as writer:
        for start in range(0, n_documents, _BLOCK):
            rows = slice(start, start + _BLOCK)
            texts = corpus.texts(range(start, min(start + _BLOCK, n_documents)))
            writer.write(corpus.categories[rows], corpus.stars[rows], texts)
        return writer.commit({"synthetic": {"documents": n_documents, "seed": seed}})


@cache
def default_model() -> SyntheticModel:
    """The model of the embedded corpus; its parameters do not depend on the user's seed."""
    rng = generator(0, corpus="synthetic", part="model")
    ranks = 2.0 * np.arange(_N_PAIRS) + 1.5  # the mean rank of the two words of a pair
    affinity = rng.normal(0, np.interp(np.log(ranks), np.log(_AFFINITY_RANKS), _AFFINITIES))
    shares = expit(np.stack([affinity, -affinity]))
    weights = shares / (ranks + _ZIPF_SHIFT) ** _ZIPF_EXPONENT
    strength = _POLARITY_GROWTH * np.log1p(ranks / _POLARITY_RANK)
    strength = np.minimum(_POLARITY_CAP, strength)
    shared, *category_specific = rng.laplace(scale=np.sqrt(0.5), size=(3, _N_PAIRS))
    polarity = strength * (
        np.sqrt(_POLARITY_CORRELATION) * shared
        + np.sqrt(1 - _POLARITY_CORRELATION) * np.stack(category_specific)
    )
    lean = _LEAN * strength / _POLARITY_CAP * shares
    words = _words(polarity, shares, rng).ravel()
    order = np.argsort(words)
    frequencies = np.tile(weights, 2)[:, order]
    return SyntheticModel(
        vocabulary=tuple(words[order].tolist()),
        frequencies=frequencies / frequencies.sum(axis=1, keepdims=True),
        polarities=np.concatenate([lean + polarity, lean - polarity], axis=1)[:, order],
        moods=np.array(_MOODS),
        mood_shares=np.array(_MOOD_SHARES),
    )


def _words(
    polarity: NDArray[np.float64], shares: NDArray[np.float64], rng: Generator
) -> NDArray[np.str_]:
    """The two words of every pair, shape (2, n_pairs): made up, except for strong polarities.

    `polarity` (2, n_pairs) is that of the first word of the pair in each category, `shares`
    (2, n_pairs) are the categories' shares of its occurrences.
    """
    lists = [_SHARED_SENTIMENT, *_OWN_SENTIMENT]
    taken = {word for sides in lists for side in sides for word in side.split()}
    made_up = _made_up_words(2 * _N_PAIRS, taken, rng).reshape(2, _N_PAIRS)
    words = made_up.astype(f"<U{max(map(len, taken))}")  # room for the longest name
    agreed = np.where(polarity.prod(axis=0) > 0, np.abs(polarity).min(axis=0), 0.0)
    owned = np.where(shares > _OWN_SHARE, np.abs(polarity), 0.0)
    # Shared names come first: a pair that fits two lists gets its name from the first.
    free = np.arange(_N_PAIRS) < _NAMED_PAIRS
    for names, claim, sign in zip(lists, [agreed, *owned], polarity[[0, 0, 1]], strict=True):
        positive, negative = (side.split() for side in names)
        pairs = np.argsort(np.where(free, -claim, 1.0), kind="stable")[: len(positive)]
        free[pairs] = False
        first = (sign[pairs] < 0).astype(np.int64)
        words[first, pairs] = positive
        words[1 - first, pairs] = negative
    return words


def _made_up_words(n_words: int, taken: set[str], rng: Generator) -> NDArray[np.str_]:
    """Distinct pronounceable words of two or three syllables, none of them taken."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    stems = ["".join(pair) for pair in product(syllables, repeat=2)]
    words = [stem + end for stem in stems for end in ("", "nda", "ris", "lon", "mo")]
    return rng.permutation([word for word in words if word not in taken])[:n_words]


def _logarithms(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of shares; minus infinity where one is 0."""
    with np.errstate(divide="ignore"):
        return np.log(shares)


def _prior(star_shares: ArrayLike) -> NDArray[np.float64]:
    shares = simplex.check(star_shares)
    if shares.shape not in {(5,), (2, 5)}:
        raise DataError(f"star_shares must have shape (5,) or (2, 5), got {shares.shape}")
    return np.broadcast_to(shares, (2, 5)) / 2


def _uniforms(size: int, seed: int, part: str) -> NDArray[np.float64]:
    return generator(seed, corpus="synthetic", part=part).random(size)


def _pick(shares: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions drawn with the given shares, by inversion."""
    cumulative = np.cumsum(shares)
    return np.asarray(np.searchsorted(cumulative / cumulative[-1], uniforms, side="right"))


def _lengths(n_documents: int, seed: int) -> NDArray[np.int64]:
    normals = generator(seed, corpus="synthetic", part="length").standard_normal(n_documents)
    lengths = np.rint(LENGTH_MEDIAN * np.exp(LENGTH_SPREAD * normals))
    return np.asarray(np.maximum(lengths, MIN_WORDS).astype(np.int64))


def _tokens(
    components: NDArray[np.int64],
    offsets: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    seed: int,
) -> NDArray[np.int32]:
    """The words of all documents; each draws from the word probabilities of its component."""
    rng = generator(seed, corpus="synthetic", part="words")
    tokens = np.empty(offsets[-1], dtype=np.int32)
    for start in range(0, len(components), _BLOCK):
        stop = min(start + _BLOCK, len(components))
        component = np.repeat(components[start:stop], np.diff(offsets[start : stop + 1]))
        uniforms = rng.random(len(component))
        words = tokens[offsets[start] : offsets[stop]]
        for k in np.unique(components[start:stop]):
            of_component = np.flatnonzero(component == k)
            words[of_component] = _pick(probabilities[k], uniforms[of_component])
    return tokens
