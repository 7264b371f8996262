"""A new quantifier in 25 lines, checked and compared with two others under prior shift."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from quantshift import ACC, CC, PACC, SLD, PriorShift, evaluate
from quantshift.checks import check_quantifier
from quantshift.quantifiers import AbstractAggregative, adjust, class_means, sample_means


class Sharpened(AbstractAggregative):
    """Sharpened Scores: items with confident predictions count more than others."""

    tags = PACC.tags  # assumes what PACC does, and reads posteriors in the same way
    diagnostics = ACC.diagnostics

    def __init__(self, classifier=None, *, cv=5, random_state=0):
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def _fit_aggregation(self, posteriors, codes, weights=None):
        self.rates_ = class_means(self._represent(posteriors).T, codes, weights)

    def _represent(self, posteriors):
        squares = posteriors.T**2
        return squares / squares.sum(axis=0)

    def _solve(self, representation, index, weights=None):
        return adjust(sample_means(representation, index, weights), self.rates_, self.prior_)


check_quantifier(Sharpened())
print("Sharpened passes all checks")

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 12_000)
X = rng.normal(np.outer(1.3 * y, [1, 1]), 1.0)
protocol = PriorShift(test_size=250, test_repeats=10)

figure, panels = plt.subplots(1, 3, figsize=(7.5, 2.8), sharey=True, layout="constrained")
for axes, method in zip(panels, (CC, Sharpened, SLD), strict=True):
    quantifier = method(LogisticRegression()).fit(X[:2000], y[:2000])
    frame = evaluate(quantifier, protocol, X[2000:], y[2000:])
    print(f"{method.__name__:9}  mean absolute error {frame['ae'].mean():.3f}")
    axes.plot([0, 1], [0, 1], color="grey", lw=1)
    axes.plot(frame["p_true"], frame["p_hat"], "o", ms=3, alpha=0.4, color="teal")
    axes.set_title(method.__name__, fontsize=11)
    axes.set_xlabel("true prevalence")
panels[0].set_ylabel("estimated prevalence")
figure.savefig("new_quantifier.png", dpi=100)
