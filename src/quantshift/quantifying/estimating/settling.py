"""Which of two named shares the labels of an audit settle, where the items alone cannot tell.

The two are the share if only the shares of the classes changed and the share if only the mix of
items did, of the class for which they are furthest apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Posteriors
from quantshift.claims import (
    AGREEING,
    AGREEING_SCORES,
    Assumption,
    Kind,
    Reason,
    shares_by_assumption,
)
from quantshift.labelling.deciding import FIRST, SECOND, TRUST, decide, expected_labels
from quantshift.labelling.sequence import Scores
from quantshift.quantifying.estimating.sample import ScoredBatch
from quantshift.quantifying.estimating.unlabelled import Evidence
from quantshift.quantifying.result import Settled


@dataclass(frozen=True)
class Question:
    """Two shares of a class, either of which may be true.

    code, label: of the class. first, second: its share under prior and under covariate shift.
    """

    code: int
    label: str
    first: float
    second: float

    @classmethod
    def of(cls, evidence: Evidence, classes: Sequence[str]) -> "Question | None":
        """What the items leave open; None if it is not "either this or that"."""
        found = shares_by_assumption(evidence.alternatives)
        grounds = evidence.grounds
        is_open = grounds.reason is Reason.NO_EVIDENCE and grounds.rests_on is not Assumption.JOINT
        if not is_open or not {Assumption.PRIOR, Assumption.COVARIATE} <= found.keys():
            return None
        first, second = found[Assumption.PRIOR], found[Assumption.COVARIATE]
        differences = np.abs(first - second)
        # With two classes both differences are equal: take the second class, the positive one.
        code = len(classes) - 1 - int(np.argmax(np.round(differences[::-1], 12)))
        if differences[code] < (AGREEING_SCORES if grounds.kind is Kind.EITHER else AGREEING):
            return None
        return cls(code, classes[code], float(first[code]), float(second[code]))

    def labels_needed(self, posteriors: Posteriors) -> int:
        """About how many random labels settle it."""
        explained = float(posteriors[:, self.code].var())
        n_items = len(posteriors)
        return min(expected_labels(self.first, self.second, explained), n_items)

    def settled(self, scored: ScoredBatch, posteriors: Posteriors) -> Settled:
        """What the labels of a batch say. posteriors: of its items, right or wrong."""
        items, codes = np.array(list(scored.labelled)), np.array(list(scored.labelled.values()))
        y = (codes == self.code).astype(np.float64)
        n_items, scores = None, None
        if scored.counts is None:
            n_items = len(posteriors)
            scores = Scores.of(posteriors[:, self.code], items, y, trust=TRUST)
        decision = decide(y, self.first, self.second, n_items=n_items, scores=scores)
        names = {FIRST: Assumption.PRIOR, SECOND: Assumption.COVARIATE}
        return Settled(
            label=self.label,
            shares={Assumption.PRIOR: self.first, Assumption.COVARIATE: self.second},
            outcome=names.get(decision.outcome, decision.outcome),
            n_labels=decision.n_labels,
            n_needed=self.labels_needed(posteriors),
        )
