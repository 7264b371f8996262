"""Is my method better? Your own quantifier, checked and compared under two shifts.

python examples/own_method.py
"""

import numpy as np

from quantshift import ACC, PCC, SLD, CovariateShift, PriorShift, evaluate
from quantshift.checks import check_quantifier
from quantshift.quantifiers import AbstractAggregative, Tags, adjust, class_means, sample_means


class FM(AbstractAggregative):
    """Friedman's Method: ACC with the training prevalence as the threshold."""

    tags = Tags(
        assumption="P(X|Y) is the same in the sample (prior shift)",
        plain_assumption="items of a class look as they did in training",
        reads="one against rest",
    )
    diagnostics = ACC.diagnostics

    def __init__(self, classifier=None, *, cv=5, random_state=0):
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(self, posteriors, codes, weights=None):
        self.rates_ = class_means(self._represent(posteriors).T, codes, weights)

    def _represent(self, posteriors):
        return np.asarray(self.prior_[:, np.newaxis] <= posteriors.T, dtype=float)

    def _solve(self, representation, index, weights=None):
        return adjust(sample_means(representation, index, weights), self.rates_, self.prior_)


def main() -> None:
    check_quantifier(FM())
    print("FM passes all checks")
    rng = np.random.default_rng(0)
    y, category = rng.integers(0, 2, 12_000), rng.choice(["north", "south"], 12_000)
    X = rng.normal(np.outer(1.2 * y, [1, 1]) + np.outer(category == "south", [0.8, -0.8]), 1.0)
    train, new = slice(0, 2000), [column[2000:] for column in (X, y, category)]
    protocols = {
        "prior": PriorShift(test_size=250, test_repeats=20),
        "covariate": CovariateShift(test_size=250, test_repeats=20, test_prevalences=[0.5]),
    }
    print("mean absolute error  " + "  ".join(f"{name:>9}" for name in protocols))
    for quantifier in (PCC(), ACC(), FM(), SLD()):
        quantifier.fit(X[train], y[train])
        frames = [evaluate(quantifier, p, *new) for p in protocols.values()]
        errors = "  ".join(f"{frame['ae'].mean():9.4f}" for frame in frames)
        print(f"{type(quantifier).__name__:<19}  {errors}")


if __name__ == "__main__":
    main()
