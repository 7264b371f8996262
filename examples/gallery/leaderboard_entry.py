"""Your own method compared with five others: synthetic reviews, two kinds of shift, one table."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from quantshift import ACC, CC, PACC, PCC, SLD, CovariateShift, PriorShift, evaluate
from quantshift.lab.data import generate
from quantshift.quantifiers import AbstractAggregative, Tags, sample_means


class Halfway(AbstractAggregative):
    """Halfway: the mean of the training prevalence and of the mean posterior."""

    tags = Tags(
        assumption="the sample is halfway between the training prevalence and PCC", adjusts=False
    )

    def __init__(self, classifier=None):
        self.classifier = classifier

    def _fit_aggregation(self, posteriors, codes, weights=None):
        pass

    def _represent(self, posteriors):
        return np.ascontiguousarray(posteriors.T)

    def _solve(self, representation, index, weights=None):
        return (sample_means(representation, index, weights) + self.prior_) / 2, {}


corpus = generate(8_000, seed=0)
kept = np.flatnonzero(corpus.stars != 3)
X = TfidfTransformer(sublinear_tf=True).fit_transform(corpus.counts[kept])
y = np.where(corpus.stars[kept] > 3, "positive", "negative")
category = np.array(corpus.category_names)[corpus.categories[kept]]
train = np.concatenate([np.flatnonzero(y == name)[:600] for name in ("negative", "positive")])
test = np.setdiff1d(np.arange(len(y)), train)
protocols = {
    "prior": PriorShift(test_size=200, test_repeats=10),
    "covariate": CovariateShift(test_size=200, test_repeats=10, test_prevalences=[0.5]),
}

rows = []
for method in (CC, PCC, ACC, PACC, SLD, Halfway):
    quantifier = method(LogisticRegression(C=10)).fit(X[train], y[train])
    for shift, protocol in protocols.items():
        frame = evaluate(quantifier, protocol, X[test], y[test], category[test])
        rows.append((method.__name__, shift, frame["ae"].mean()))
board = pl.DataFrame(rows, schema=["method", "shift", "error"], orient="row")
board = board.pivot("shift", index="method", values="error").sort("prior")

figure, panels = plt.subplots(1, 2, figsize=(7, 2.6), sharey=True, layout="constrained")
print("mean absolute error    " + "  ".join(f"{shift:>9}" for shift in protocols))
for row, (name, *errors) in enumerate(board.iter_rows()):
    print(f"{row + 1}. {name:18}  " + "  ".join(f"{error:9.3f}" for error in errors))
    for axes, error in zip(panels, errors, strict=True):
        axes.barh(row, error, color="firebrick" if name == "Halfway" else "teal")
for axes, shift in zip(panels, protocols, strict=True):
    axes.set_title(f"{shift} shift", fontsize=11)
    axes.set_xlabel("mean absolute error")
panels[0].set_yticks(range(len(board)), board["method"])
panels[0].invert_yaxis()
figure.savefig("leaderboard_entry.png", dpi=100)
