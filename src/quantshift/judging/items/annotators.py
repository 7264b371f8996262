"""Labels of several people: what most of them say, and how far they agree.

The label of an item is that of most people who labelled it. Where as many say one thing as another,
the item is undecided: estimates are made with either answer, and the limits allow for both.

Agreement is Krippendorff's alpha for classes: 1 in everything, 0 as by chance; its limits are
quantiles of a bootstrap of the items. If two people disagree on a share d of the items, and each
errs with probability e independently of the other, then d = 2 e (1 - e).

Reference: K. Krippendorff, "Content Analysis", 2004, ch. 11.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import bdtrc

from quantshift.base.seeding import generator
from quantshift.base.types import Reals
from quantshift.claims import Estimated
from quantshift.judging.result import DisputedItem, PeopleAgreement

N_DRAWS = 1_000

Votes = tuple[Mapping[str, str], ...]
"""For each item, the label that each person gave."""


def majority(votes: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The label of most people, twice; of labels with as many votes, the first and the last.

    >>> majority({"a": "yes", "b": "yes", "c": "no"})
    ('yes', 'yes')
    >>> majority({"a": "yes", "b": "no"})
    ('no', 'yes')
    """
    counts = Counter(votes.values())
    if not counts:
        return None, None
    most = max(counts.values())
    tied = sorted(label for label, n in counts.items() if n == most)
    return tied[0], tied[-1]


def agreement_of(
    votes: Votes,
    rows: Sequence[int],
    ids: Sequence[str | None] | None,
    *,
    level: float,
    seed: int,
) -> PeopleAgreement | None:
    """How far people agree; None if no item has labels of two."""
    several = [i for i, item_votes in enumerate(votes) if len(item_votes) > 1]
    if not several:
        return None
    labels = sorted({label for item_votes in votes for label in item_votes.values()})
    columns = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(several), len(labels)))
    for row, i in enumerate(several):
        for label in votes[i].values():
            counts[row, columns[label]] += 1
    alone = np.ones((1, len(several)))
    rng = generator(seed, purpose="judge", side="people")
    drawn = rng.multinomial(len(several), np.full(len(several), 1 / len(several)), size=N_DRAWS)
    low, high = np.quantile(
        _alpha(counts, drawn.astype(np.float64)), [(1 - level) / 2, (1 + level) / 2]
    )
    alpha = float(_alpha(counts, alone)[0])
    m = counts.sum(axis=1)
    disagreements = float((m**2 - (counts**2).sum(axis=1)).sum() / (m * (m - 1)).sum())
    disputed = [i for i in several if len(set(votes[i].values())) > 1]
    undecided = [i for i in disputed if len(set(majority(votes[i]))) > 1]
    order = [*undecided, *(i for i in disputed if i not in set(undecided))]
    return PeopleAgreement(
        people=tuple(sorted({name for item_votes in votes for name in item_votes})),
        n_items=len(several),
        agreement=1 - disagreements,
        alpha=Estimated("alpha", alpha, min(float(low), alpha), max(float(high), alpha)),
        error_rate=_error_rate(disagreements) if len(labels) == 2 else None,
        n_undecided=len(undecided),
        disputed=tuple(
            DisputedItem(int(rows[i]), None if ids is None else ids[i], dict(votes[i]))
            for i in order
        ),
    )


def panel_error(error_rate: float, votes: Votes) -> float:
    """How often the majority errs, on average over labelled items; a tie counts half."""
    sizes = Counter(len(item_votes) for item_votes in votes if item_votes)
    total = sum(sizes.values())
    error = 0.0
    for m, n in sizes.items():
        # The chance of more than half wrong votes, and that of at least half.
        wrong = bdtrc([m // 2, (m - 1) // 2], m, error_rate)
        error += n / total * float(wrong.mean())
    return error


def true_share(share: float, error_rate: float) -> float:
    """The share of a class if labels are wrong so often, whatever the class."""
    return float(np.clip((share - error_rate) / (1 - 2 * error_rate), 0, 1))


def _error_rate(disagreements: float) -> float:
    """The e of 2 e (1 - e) = d.

    >>> round(_error_rate(0.18), 3)
    0.1
    """
    return float((1 - np.sqrt(max(1 - 2 * disagreements, 0.0))) / 2)


def _alpha(counts: Reals, weights: Reals) -> Reals:
    """Krippendorff's alpha, for each row of weights of items with counts of labels."""
    m = counts.sum(axis=1)
    observed = weights @ ((m**2 - (counts**2).sum(axis=1)) / (m - 1))
    n, of_labels = weights @ m, weights @ counts
    expected = (n**2 - (of_labels**2).sum(axis=1)) / np.maximum(n - 1, 1)
    return np.asarray(np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1), 1))
