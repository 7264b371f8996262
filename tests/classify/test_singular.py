"""Posteriors that are all but the same: every calibration gives an answer."""

from itertools import product

import numpy as np
import pytest

from quantshift import SLD, SubclassSLD


def _posteriors(how: str, codes: np.ndarray, n_classes: int) -> np.ndarray:
    same = np.full((len(codes), n_classes), 1 / n_classes)
    if how == "all but the same":
        same[0, :2] += [1e-12, -1e-12]
    elif how == "always one class":
        same = np.eye(n_classes)[np.zeros(len(codes), dtype=np.int64)]
    elif how == "always right":
        same = np.eye(n_classes)[codes]
    return same


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("how", "n_classes", "n_items"),
    list(
        product(
            ("the same", "all but the same", "always one class", "always right"), (2, 3), (20, 500)
        )
    ),
)
def test_posteriors_that_are_all_but_the_same(how: str, n_classes: int, n_items: int) -> None:
    codes = np.arange(n_items) % n_classes
    posteriors = _posteriors(how, codes, n_classes)
    clusters = np.arange(n_items) // 3 % 4
    for quantifier in (
        SLD().fit_posteriors(posteriors, codes),
        SubclassSLD().fit_posteriors(posteriors, codes),
        SubclassSLD().fit_posteriors(posteriors, codes, clusters=clusters),
    ):
        found = quantifier.aggregate_interval(posteriors, n_bootstrap=20)
        assert found.prevalence.sum() == pytest.approx(1)
        if how != "always right":
            assert not found.informative.any()
            assert found.low.tolist() == [0] * n_classes
            assert found.high.tolist() == [1] * n_classes
