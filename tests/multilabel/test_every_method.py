"""All methods for several labels pass the public checks, and the checks can fail."""

import numpy as np
import pytest

from quantshift import PCC, SLD
from quantshift.checks.every_multilabel import yield_multilabel_checks
from quantshift.multilabel import LabelByLabel, RegressedShares, SetsAsClasses, TiltedLabelSets

pytestmark = pytest.mark.slow

METHODS = (
    TiltedLabelSets(),
    TiltedLabelSets(largest_group=2),
    LabelByLabel(SLD()),
    LabelByLabel(PCC()),
    SetsAsClasses(),
    RegressedShares(n_samples=400),
)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{method} {name}".replace("\n", " "))
        for method in METHODS
        for name, check in yield_multilabel_checks(method)
    ],
)
def test_methods_pass_the_public_checks(check):
    check()


class Reversed(LabelByLabel):
    """Gives each label the share of another one."""

    def predict(self, X, samples=None, *, sample_weight=None):
        return super().predict(X, samples, sample_weight=sample_weight)[..., ::-1]


class Unweighted(LabelByLabel):
    """Ignores the weights of a sample."""

    def predict(self, X, samples=None, *, sample_weight=None):
        return super().predict(X, samples)


class OrderDependent(LabelByLabel):
    """Estimates from the first half of the items."""

    def predict(self, X, samples=None, *, sample_weight=None):
        if samples is None:
            X, sample_weight = X[: max(1, len(X) // 2)], None
        return super().predict(X, samples, sample_weight=sample_weight)


class FirstLabel(RegressedShares):
    """Takes the posteriors of the first label for those of all labels."""

    def _learn(self, posteriors, table, weights):
        super()._learn(np.repeat(posteriors[:, :1], posteriors.shape[1], axis=1), table, weights)

    def _solve(self, posteriors, index, weights):
        posteriors = np.repeat(posteriors[:, :1], posteriors.shape[1], axis=1)
        return super()._solve(posteriors, index, weights)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (Reversed(), "correctness"),
        (Unweighted(), "weights_are_counts"),
        (OrderDependent(), "item_permutation"),
        (FirstLabel(n_samples=400), "label_permutation"),
    ],
    ids=["reversed", "unweighted", "order", "first label"],
)
def test_wrong_methods_fail(wrong, name):
    check = dict(yield_multilabel_checks(wrong))[name]
    with pytest.raises(AssertionError):
        check()


def test_a_single_label_equals_the_binary_method_bit_for_bit():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    X = y[:, None] * 1.5 + rng.normal(size=(200, 2))
    new = X[rng.integers(200, size=80)]
    alone = SLD().fit(X, y).predict(new)[1]
    assert LabelByLabel(SLD()).fit(X, y[:, None]).predict(new)[0] == alone
    assert SetsAsClasses(SLD()).fit(X, y[:, None]).predict(new)[0] == alone
    tilted = TiltedLabelSets().fit(X, y[:, None])
    held_out = tilted.held_out_posteriors_[:, 0]
    binary = SLD().fit_posteriors(np.column_stack([1 - held_out, held_out]), y)
    posteriors = tilted.posteriors(new)[:, 0]
    assert (
        tilted.predict(new)[0] == binary.aggregate(np.column_stack([1 - posteriors, posteriors]))[1]
    )
