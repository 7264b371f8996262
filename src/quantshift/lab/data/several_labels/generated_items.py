"""Generated items with several labels whose joint distribution is known.

Messages to a shop have any of five labels. Some go together (a refund is often asked for after a
bad delivery), others exclude each other. The share of every set of labels follows from a log-linear
model with terms for labels and pairs of labels; the features of an item are the sum of what each
label adds to them, and noise. So the posteriors of all sets are known too, and stay valid functions
of the set shares however these change.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Posteriors, Reals
from quantshift.errors import DataError
from quantshift.multilabel.label_tables import LabelTable

NAMES = ("account", "billing", "delivery", "quality", "refund")
N_FEATURES = 8
NOISE = 1.5
"""The standard deviation of every feature around the sum of what the labels of an item add."""

_EFFECTS = (-1.4, -1.0, -0.9, -1.2, -1.9)
_PAIRS = {(0, 1): 0.8, (0, 2): -1.0, (1, 4): 1.2, (2, 4): 1.5, (3, 4): 1.3, (2, 3): -0.4}


@dataclass(frozen=True, eq=False)
class GeneratedItems:
    """Generated items: features (n_items, 8), labels, and the shares of label sets.

    sets: all 32 sets of labels as rows of truth values, (n_sets, n_labels). set_shares: the
    probability of each set that the items were drawn with.
    """

    X: Reals
    labels: LabelTable
    sets: Flags
    set_shares: Reals

    @property
    def set_posteriors(self) -> Posteriors:
        """The true probability of each set given the features of an item, (n_items, n_sets)."""
        means = self.sets @ _directions()
        distances = ((self.X[:, np.newaxis, :] - means) ** 2).sum(axis=2)
        with np.errstate(divide="ignore"):
            logs = np.log(self.set_shares) - distances / (2 * NOISE**2)
        return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def generate_labelled_items(
    n_items: int = 2000, *, set_shares: ArrayLike | None = None, seed: int = 0
) -> GeneratedItems:
    """Items with any of five labels, the same on every machine for a seed.

    set_shares: the probability of each set of labels, in the order of `GeneratedItems.sets`; by
        default that of the model. Other shares are a shift in which the items of a set look as they
        did before.

    >>> items = generate_labelled_items(500)
    >>> items.X.shape, items.labels.names.tolist()
    ((500, 8), ['account', 'billing', 'delivery', 'quality', 'refund'])
    >>> (items.set_shares @ items.sets).round(2)  # the share of each label
    array([0.21, 0.42, 0.37, 0.32, 0.41])
    """
    sets = _all_sets()
    shares = model_shares() if set_shares is None else _checked(set_shares, len(sets))
    rng = generator(seed, data="generated labels")
    drawn = rng.choice(len(sets), n_items, p=shares)
    noise = rng.standard_normal((n_items, N_FEATURES))
    # Rounded, so that the items are the same on every machine.
    X = np.round(sets[drawn] @ _directions() + NOISE * noise, 4)
    return GeneratedItems(X, LabelTable(sets[drawn], np.array(NAMES)), sets, shares)


def model_shares() -> Reals:
    """The probability of each set of labels by the log-linear model, (n_sets,)."""
    sets = _all_sets()
    logs = sets @ np.array(_EFFECTS)
    for (a, b), strength in _PAIRS.items():
        logs += strength * (sets[:, a] & sets[:, b])
    return np.asarray(np.exp(logs - logsumexp(logs)))


def _all_sets() -> Flags:
    numbers = np.arange(2 ** len(NAMES))
    return np.asarray((numbers[:, np.newaxis] >> np.arange(len(NAMES))) & 1 == 1)


def _directions() -> Reals:
    """What each label adds to the features, (n_labels, 8); labels share features."""
    angles = np.arange(N_FEATURES) * np.arange(1, len(NAMES) + 1)[:, np.newaxis]
    return np.asarray(np.round(1.3 * np.cos(angles), 2))


def _checked(set_shares: ArrayLike, n_sets: int) -> Reals:
    shares = np.asarray(set_shares, dtype=np.float64)
    if shares.shape != (n_sets,) or not (shares >= 0).all() or not np.isfinite(shares).all():
        raise DataError(f"set_shares must be {n_sets} numbers that are not negative")
    if not np.isclose(shares.sum(), 1):
        raise DataError(f"set_shares add up to {shares.sum():.6g}: they must add up to 1")
    return np.asarray(shares / shares.sum())
