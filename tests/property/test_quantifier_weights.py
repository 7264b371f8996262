"""Weights of items, method by method: whole ones are repeated items, equal ones are none.

Closed forms and histograms agree to rounding. Where a likelihood is maximised (SLD, SubclassSLD and
their calibrations) both ends are at the same maximum up to rounding times the inverse Hessian; the
weakest curvature is the pull of the scaling calibrations, 1e-4 of an item's: 1e-9 allows for it.
Quadratics are solved to rounding times their condition. Searches that end by a tolerance of their
own (KDEyML and RUN at 1e-6 at most; OrdinalSLD and IBU, whose steps are told to end at 1e-10, may
need thousands of them near a border) agree to 1e-6.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from quantshift import ACC, CC, MLPE, PACC, PCC, SLD, DyS, KDEyML, OrdinalSLD, SubclassSLD
from quantshift.classify.clusters.clusters import Clusters
from quantshift.intervals.limits import limits
from quantshift.items import Items
from quantshift.quantifiers import (
    IBU,
    RUN,
    SMM,
    CvMy,
    EDx,
    EDy,
    HDx,
    HDy,
    KDEyCS,
    KDEyHD,
    Median,
    MMDx,
    MMDy,
    OrdinalACC,
    OrdinalLikelihood,
    OrdinalPACC,
)
from quantshift.quantifiers.base.estimator import AbstractQuantifier

EXACT, SOLVED, SEARCHED = 1e-12, 1e-9, 1e-6
METHODS: dict[str, tuple[AbstractQuantifier, float]] = {
    "CC": (CC(), EXACT),
    "PCC": (PCC(), EXACT),
    "ACC": (ACC(), EXACT),
    "PACC": (PACC(), EXACT),
    "SMM": (SMM(), EXACT),
    "MLPE": (MLPE(), EXACT),
    "DyS": (DyS(), EXACT),
    "HDy": (HDy(), EXACT),
    "HDx": (HDx(), EXACT),
    "EDy": (EDy(), SOLVED),
    "CvMy": (CvMy(), SOLVED),
    "EDx": (EDx(), SOLVED),
    "MMDy": (MMDy(gamma=20.0), SOLVED),
    "MMDx": (MMDx(), SOLVED),
    "KDEyML": (KDEyML(), SEARCHED),
    "KDEyCS": (KDEyCS(), SOLVED),
    "KDEyHD": (KDEyHD(n_points=300), SEARCHED),
    # "auto" divides items into folds, and repeated ones otherwise than weighted ones.
    **{
        f"SLD {name}": (SLD(calibration=name), SOLVED)
        for name in ("sigmoid", "beta", "smooth", "isotonic", "bcts", "vs", "nbvs", "none")
    },
    "SLD temperature": (SLD(calibration="temperature"), SOLVED),
    "OrdinalACC": (OrdinalACC(), SOLVED),
    "OrdinalPACC": (OrdinalPACC(), SOLVED),
    "OrdinalSLD": (OrdinalSLD(calibration="none", tol=1e-10), SEARCHED),
    "OrdinalLikelihood": (OrdinalLikelihood(calibration="none"), SEARCHED),
    "IBU": (IBU(tol=1e-10), SEARCHED),
    "RUN": (RUN(), SEARCHED),
    "Median": (Median([PACC(), DyS(), SLD(calibration="sigmoid")]), SOLVED),
    "SubclassSLD": (SubclassSLD(), SOLVED),
    "SubclassSLD in clusters": (SubclassSLD(), SOLVED),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Labelled items and a sample, each with whole weights that are not all equal."""

    name: str
    items: Items
    codes: np.ndarray
    sample: Items

    def repeated(self, items: Items) -> Items:
        return items.take(repeated(items)).unweighted()


def repeated(items: Items) -> np.ndarray:
    return np.repeat(np.arange(len(items)), items.weights.astype(int))


@st.composite
def problems(draw: st.DrawFn, name: str) -> Problem:
    n_classes = draw(st.sampled_from([2, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    signal = draw(st.floats(1.0, 3.0))

    def drawn(codes: np.ndarray) -> Items:
        logits = signal * np.eye(n_classes)[codes] + rng.normal(size=(len(codes), n_classes))
        p = np.exp(logits)
        weights = rng.integers(0, 4, len(codes)).astype(float)
        weights[:n_classes] = rng.permutation(3)[:n_classes] + 1.0
        features: object = logits
        if name == "SubclassSLD in clusters":
            cluster = np.arange(len(codes)) // n_classes % 2
            features = Clusters(cluster, rng.random(len(codes)))
            weights[: 2 * n_classes] += 1
        elif name == "SubclassSLD" or "features" not in METHODS[name][0].tags.sees:
            features = None
        return Items(p / p.sum(axis=1, keepdims=True), None, features, weights)

    sizes = draw(st.integers(30, 90)), draw(st.integers(3, 60))
    codes = np.concatenate(
        [np.tile(np.arange(n_classes), 2), rng.integers(n_classes, size=sizes[0])]
    )
    new = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=sizes[1])])
    return Problem(name, drawn(codes), codes, drawn(new))


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(data=st.data())
def test_whole_weights_are_repeated_items(name: str, data: st.DataObject) -> None:
    method, tolerance = METHODS[name]
    problem = data.draw(problems(name))
    rows = repeated(problem.items)
    weighted = method.fit_items(problem.items, problem.codes)
    here = weighted.estimate_items(problem.sample)
    # `fit_items` returns the method itself, so what it has to say comes before the second fit.
    plain = method.fit_items(problem.repeated(problem.items), problem.codes[rows])
    there = plain.estimate_items(problem.repeated(problem.sample))
    if "separation" in there.diagnostics:
        assume(abs(there.diagnostics["separation"]) > 0.05)
    assert_allclose(here.prevalence, there.prevalence, atol=tolerance)
    assert_allclose(plain.prior_.sum(), 1)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=5)
@given(data=st.data(), weight=st.floats(1e-3, 1e3))
def test_equal_weights_are_none(name: str, data: st.DataObject, weight: float) -> None:
    method, _ = METHODS[name]
    problem = data.draw(problems(name))
    plain = method.fit_items(problem.items.unweighted(), problem.codes)
    expected = plain.estimate_items(problem.sample.unweighted()).prevalence
    known, new = (
        Items(items.posteriors, None, items.features, np.full(len(items), weight))
        for items in (problem.items, problem.sample)
    )
    assert_array_equal(
        method.fit_items(known, problem.codes).estimate_items(new).prevalence, expected
    )


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=5)
@given(data=st.data())
def test_replicates_of_weighted_items_are_those_of_repeated_ones(
    name: str, data: st.DataObject
) -> None:
    method, tolerance = METHODS[name]
    problem = data.draw(problems(name))
    rng = np.random.default_rng(0)
    weighted = method.fit_items(problem.items, problem.codes)
    kept = np.flatnonzero(problem.items.weights)
    drawn = [
        np.concatenate([np.arange(len(kept)), rng.integers(len(kept), size=len(kept))])
        for _ in range(3)
    ]
    here = [weighted.refit(rows).estimate_items(problem.sample).prevalence for rows in drawn]
    copies = np.split(
        np.arange(len(repeated(problem.items))),
        np.cumsum(problem.items.weights[kept].astype(int))[:-1],
    )
    plain = method.fit_items(
        problem.repeated(problem.items), problem.codes[repeated(problem.items)]
    )
    assume(abs(plain.estimate_items(problem.sample).diagnostics.get("separation", 1)) > 0.05)
    there = [
        plain.refit(np.concatenate([copies[i] for i in rows]))
        .estimate_items(problem.repeated(problem.sample))
        .prevalence
        for rows in drawn
    ]
    assert_allclose(here, there, atol=tolerance)
    sizes = [problem.sample.weights.sum()]
    p_hat = weighted.estimate_items(problem.sample).prevalence[np.newaxis]
    low, high = limits(p_hat, np.array(here)[np.newaxis], sizes, 0.9)
    expected = limits(p_hat, np.array(there)[np.newaxis], sizes, 0.9)
    assert_allclose([low, high], expected, atol=10 * tolerance)
