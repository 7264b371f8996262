"""An embedded synthetic corpus of reviews whose P(star | document) is known exactly.

Two categories, five ordered stars, and documents that are bags of words. A document has a category
a, a star s, a length n and an intensity h (how outspoken its writer is); its n words are drawn
independently with

    P(w | a, s, h)  proportional to  frequency[a, w] * exp(h * (s - 3) * polarity[a, w])

Only a, s and the words are seen. The intensity has a few levels with known shares, so the
likelihood of a document is a sum of as many terms, and its posterior under any prior over (a, s)
is a closed form: an oracle for every method that estimates posteriors or prevalences.

It is a mixture of multinomials with log-linear tilts, in the manner of the multinomial inverse
regression of M. Taddy, JASA 108 (2013). The formulas, the parameters and what the corpus shows are
in docs/synthetic.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import logsumexp

from quantshift import prevalence
from quantshift.corpora.corpus import CorpusWriter, check_free
from quantshift.errors import DataError, UserError
from quantshift.seeding import generator

CATEGORY_NAMES = ("Novels", "Gadgets")
STARS = np.arange(1, 6)
STAR_SHARES = ((0.093, 0.071, 0.094, 0.160, 0.582), (0.193, 0.079, 0.093, 0.178, 0.457))
"""Shares of one to five stars per category: those of Books and Electronics in the paper."""

MIN_WORDS = 41
"""No document is shorter: 41 words of 4 letters and their blanks are 204 characters."""
LENGTH_MEDIAN = 70
LENGTH_SPREAD = 0.5

_BLOCK = 20_000
"""Documents drawn at a time; bounds the memory and does not change the result."""

# Sentiment words: (positive, negative) for every category and for each category alone.
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

_N_COMMON, _N_TOPIC = 5000, 4000
"""Made-up words that both categories use alike, and topic words of each category."""

_MASS_COMMON, _MASS_TOPIC, _MASS_SHARED, _MASS_OWN = 0.62, 0.30, 0.018, 0.022
"""Weight of each group of words in a neutral document of the category that owns it."""

_ZIPF_SHIFT = 1.0
"""Within common and topic words, frequency falls as 1 / (rank + shift)."""
_TOPIC_LEAK = 0.05
"""Frequency of a topic word in the other category, relative to its own."""

_FAINT_POLARITY = 0.27
"""Standard deviation of the polarity of the rarest common and topic words."""
_POLARITY_RANGE = (0.1, 1.2)
"""Log-odds per star of the sentiment words, weakest and strongest."""

_OWN_LEAKS = (0.5, 0.1)
"""Frequency of a category's own (positive, negative) words in the other one, relative to its own.

Unequal on purpose: words that praise here and mean little there mislead a classifier that was
trained on one category alone, the more so the methods that magnify its bias.
"""
_OWN_TRANSFER = 0.2
"""Polarity of a category's own words in the other one, relative to its own."""

_INTENSITIES = (0.4, 0.7, 1.1)
_INTENSITY_SHARES = (0.35, 0.45, 0.20)


@dataclass(frozen=True, kw_only=True)
class SyntheticModel:
    """The parameters of the corpus, and the closed forms they give.

    With C categories, W words and H levels of intensity: `vocabulary` W words, sorted;
    `frequencies` (C, W) positive, rows sum to 1: word probabilities of a three-star document;
    `polarities` (C, W): log-odds per star above three; `intensities` and `intensity_shares` (H,).
    """

    vocabulary: tuple[str, ...]
    frequencies: NDArray[np.float64]
    polarities: NDArray[np.float64]
    intensities: NDArray[np.float64]
    intensity_shares: NDArray[np.float64]

    def log_word_probabilities(self) -> NDArray[np.float64]:
        """Log P(word | intensity, category, star), shape (H, C, 5, W)."""
        tilt = np.multiply.outer(self.intensities, STARS - 3.0)[:, np.newaxis, :, np.newaxis]
        logits = np.log(self.frequencies)[:, np.newaxis] + tilt * self.polarities[:, np.newaxis]
        return np.asarray(logits - logsumexp(logits, axis=-1, keepdims=True))

    def log_likelihoods(self, counts: csr_array) -> NDArray[np.float64]:
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
        given_intensity = counts @ log_p.reshape(-1, log_p.shape[-1]).T
        terms = given_intensity.reshape(counts.shape[0], *log_p.shape[:-1])
        weights = self.intensity_shares[:, np.newaxis, np.newaxis]
        return np.asarray(logsumexp(terms, axis=1, b=weights))

    def star_posteriors(self, counts: csr_array, prior: ArrayLike) -> NDArray[np.float64]:
        """P(star | words) of each document, shape (n_documents, 5).

        `prior` is P(category, star), shape (C, 5); a row of zeros says that the category is
        known to be another one.
        """
        log_joint = self._log_star_joint(counts, prior)
        return np.asarray(np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True)))

    def positive_posteriors(
        self, counts: csr_array, prior: ArrayLike, cut_point: float
    ) -> NDArray[np.float64]:
        """P(star > cut point | words, star != cut point) of each document."""
        positive, negative = cut_point < STARS, cut_point > STARS
        if not (positive.any() and negative.any()):
            raise UserError(f"cut point {cut_point} leaves one class empty; use one within 1 to 5")
        log_joint = self._log_star_joint(counts, prior)
        log_positive = logsumexp(log_joint[:, positive], axis=1)
        log_negative = logsumexp(log_joint[:, negative], axis=1)
        return np.asarray(np.exp(log_positive - np.logaddexp(log_positive, log_negative)))

    def _log_star_joint(self, counts: csr_array, prior: ArrayLike) -> NDArray[np.float64]:
        weights = np.asarray(prior, dtype=np.float64)
        shape = (len(self.frequencies), len(STARS))
        if weights.shape != shape:
            raise DataError(f"a prior over (category, star) has shape {shape}, got {weights.shape}")
        prevalence.check(weights.ravel())
        return np.asarray(logsumexp(self.log_likelihoods(counts), axis=1, b=weights))


@dataclass(frozen=True, kw_only=True)
class SyntheticCorpus:
    """Documents drawn from a model: word counts, stars and categories, row by row.

    `counts` (n_documents, n_words) has a column per word of the model's sorted vocabulary;
    `categories` are positions in `category_names`; `prior` (2, 5) is the P(category, star) the
    documents were drawn with; `tokens` holds the words of all documents in their order, those of
    document i at `offsets[i]:offsets[i + 1]`.
    """

    counts: csr_array
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

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words, one per column of `counts`, in alphabetical order."""
        return self.model.vocabulary

    def text(self, index: int) -> str:
        """The words of one document, at least 200 characters; they count up to its row."""
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
    categories, or 2 x 5; by default those of the paper), then intensity, length and words. The
    first k documents do not depend on how many follow: a larger corpus extends a smaller one.
    """
    if n_documents < 1:
        raise UserError(f"a corpus needs at least 1 document, got n_documents={n_documents}")
    model = default_model()
    prior = _prior(STAR_SHARES if star_shares is None else star_shares)
    categories = _pick(np.full(2, 0.5), _uniforms(n_documents, seed, "category"))
    star_uniforms = _uniforms(n_documents, seed, "star")
    stars = np.empty(n_documents, dtype=np.int64)
    for category in range(len(CATEGORY_NAMES)):
        rows = categories == category
        stars[rows] = _pick(prior[category], star_uniforms[rows])
    levels = _pick(model.intensity_shares, _uniforms(n_documents, seed, "intensity"))
    offsets = np.concatenate([[0], np.cumsum(_lengths(n_documents, seed))])
    log_p = model.log_word_probabilities()
    components = np.ravel_multi_index((levels, categories, stars), log_p.shape[:-1])
    tokens = _tokens(components, offsets, np.exp(log_p).reshape(-1, log_p.shape[-1]), seed)
    counts = csr_array(
        (np.ones(len(tokens), dtype=np.int32), tokens, offsets),
        shape=(n_documents, len(model.vocabulary)),
        copy=True,  # the next line merges repeated words in place
    )
    counts.sum_duplicates()
    return SyntheticCorpus(
        counts=counts,
        stars=STARS[stars].astype(np.int8),
        categories=categories.astype(np.int8),
        tokens=tokens,
        offsets=offsets,
        prior=prior,
        model=model,
    )


def write_corpus(out: Path, *, n_documents: int, seed: int = 0) -> None:
    """Write `generate(n_documents, seed=seed)` to the folder `out` as a corpus on disk."""
    check_free(out, overwrite=False)
    corpus = generate(n_documents, seed=seed)
    with CorpusWriter(out, categories=corpus.category_names) as writer:
        for start in range(0, n_documents, _BLOCK):
            rows = slice(start, start + _BLOCK)
            texts = corpus.texts(range(start, min(start + _BLOCK, n_documents)))
            writer.write(corpus.categories[rows], corpus.stars[rows], texts)
        writer.commit(origin={"kind": "synthetic", "documents": n_documents, "seed": seed})


@cache
def default_model() -> SyntheticModel:
    """The one model of the embedded corpus; its parameters never depend on the user's seed."""
    rng = generator(0, corpus="synthetic", part="model")
    listed = [_SHARED_SENTIMENT, *_OWN_SENTIMENT]
    taken = {word for sides in listed for side in sides for word in side.split()}
    made_up = _made_up_words(_N_COMMON + 2 * _N_TOPIC, taken, rng)
    groups = [
        _filler(made_up[:_N_COMMON], _MASS_COMMON * np.ones(2), rng),
        _filler(made_up[_N_COMMON:-_N_TOPIC], _MASS_TOPIC * np.array([1, _TOPIC_LEAK]), rng),
        _filler(made_up[-_N_TOPIC:], _MASS_TOPIC * np.array([_TOPIC_LEAK, 1]), rng),
        _shared_sentiment(rng),
        _own_sentiment(0, rng),
        _own_sentiment(1, rng),
    ]
    words = np.concatenate([group.words for group in groups])
    order = np.argsort(words)
    frequencies = np.concatenate([group.frequencies for group in groups], axis=1)[:, order]
    return SyntheticModel(
        vocabulary=tuple(words[order].tolist()),
        frequencies=frequencies / frequencies.sum(axis=1, keepdims=True),
        polarities=np.concatenate([group.polarities for group in groups], axis=1)[:, order],
        intensities=np.array(_INTENSITIES),
        intensity_shares=np.array(_INTENSITY_SHARES),
    )


class _Group(NamedTuple):
    words: NDArray[np.str_]
    frequencies: NDArray[np.float64]
    polarities: NDArray[np.float64]


def _filler(words: NDArray[np.str_], masses: NDArray[np.float64], rng: Generator) -> _Group:
    """Words that follow Zipf's law; each says little about the star, the rarer ones more."""
    ranks = np.arange(1, len(words) + 1)
    zipf = 1 / (ranks + _ZIPF_SHIFT)
    polarity = rng.normal(0, _FAINT_POLARITY * np.sqrt(ranks / len(words)))
    frequencies = np.multiply.outer(masses, zipf / zipf.sum())
    return _Group(words, frequencies, np.tile(polarity, (2, 1)))


def _shared_sentiment(rng: Generator) -> _Group:
    """Words that praise or blame alike in both categories."""
    words, signs = _signed(_SHARED_SENTIMENT)
    weights = _weights(len(words), rng)
    polarity = signs * rng.permutation(np.linspace(*_POLARITY_RANGE, len(words)))
    return _Group(words, np.tile(_MASS_SHARED * weights, (2, 1)), np.tile(polarity, (2, 1)))


def _own_sentiment(owner: int, rng: Generator) -> _Group:
    """Words that praise or blame in one category and mean little in the other."""
    words, signs = _signed(_OWN_SENTIMENT[owner])
    weights = _MASS_OWN * _weights(len(words), rng)
    polarity = signs * rng.permutation(np.linspace(*_POLARITY_RANGE, len(words)))
    leaks = np.where(signs > 0, *_OWN_LEAKS)
    order = [owner, 1 - owner]
    frequencies = np.stack([weights, leaks * weights])[order]
    return _Group(words, frequencies, np.stack([polarity, _OWN_TRANSFER * polarity])[order])


def _signed(sides: tuple[str, str]) -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    positive, negative = (side.split() for side in sides)
    return np.array(positive + negative), np.repeat([1, -1], [len(positive), len(negative)])


def _weights(size: int, rng: Generator) -> NDArray[np.float64]:
    weights = rng.permutation(np.linspace(0.3, 1, size))
    return np.asarray(weights / weights.sum())


def _made_up_words(n_words: int, taken: set[str], rng: Generator) -> NDArray[np.str_]:
    """Distinct pronounceable words of two or three syllables, none of them taken."""
    syllables = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
    stems = ["".join(pair) for pair in product(syllables, repeat=2)]
    words = [stem + end for stem in stems for end in ("", "nda", "ris", "lon", "mo")]
    return rng.permutation([word for word in words if word not in taken])[:n_words]


def _prior(star_shares: ArrayLike) -> NDArray[np.float64]:
    shares = prevalence.check(star_shares)
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
