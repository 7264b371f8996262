"""Which of two named shares the labels of an audit settle, where the items alone cannot tell.

The two are the share if only the shares of the classes changed and the share if only the mix of
items did, of the class for which they are furthest apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quantshift.base.types import Posteriors
from quantshift.labelling.deciding import FIRST, SECOND, TRUST, decide, expected_labels
from quantshift.labelling.sequence import Scores
from quantshift.quantifiers.base.guarding import AGREEING, NO_EVIDENCE
from quantshift.quantifying.estimating.decision import JOINT, Evidence
from quantshift.quantifying.estimating.sample import ScoredBatch
from quantshift.quantifying.output.result import COVARIATE_SHIFT, PRIOR_SHIFT, Settled


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
        prevalences = {
            assumption.name: assumption.prevalence for assumption in evidence.assumptions
        }
        decision = evidence.decision
        is_open = decision.reason == NO_EVIDENCE and decision.rests_on != JOINT
        if not is_open or not {PRIOR_SHIFT, COVARIATE_SHIFT} <= prevalences.keys():
            return None
        differences = [
            abs(prevalences[PRIOR_SHIFT][label] - prevalences[COVARIATE_SHIFT][label])
            for label in classes
        ]
        # With two classes both differences are equal: take the second class, the positive one.
        code = len(classes) - 1 - int(np.argmax(np.round(differences[::-1], 12)))
        if differences[code] < AGREEING:
            return None
        label = classes[code]
        return cls(
            code, label, prevalences[PRIOR_SHIFT][label], prevalences[COVARIATE_SHIFT][label]
        )

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
        names = {FIRST: PRIOR_SHIFT, SECOND: COVARIATE_SHIFT}
        return Settled(
            label=self.label,
            shares={PRIOR_SHIFT: self.first, COVARIATE_SHIFT: self.second},
            outcome=names.get(decision.outcome, decision.outcome),
            n_labels=decision.n_labels,
            n_needed=self.labels_needed(posteriors),
        )
