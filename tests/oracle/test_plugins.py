"""Methods that stay with their libraries take part through `wrap`, where the library is there.

PyTorch (QuaNet, HistNetQ, GMNet) and the compiled svm_perf are not among the packages for tests:
their tests run where somebody has installed them.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from quapy.method.non_aggregative import ReadMe

from quantshift import PriorShift, evaluate
from quantshift.quantifiers import AbstractQuantifier, wrap


def words(n: int, p: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Words that are present or absent, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < n * p, "positive", "negative"))
    rates = np.where((y == "positive")[:, None], np.linspace(0.1, 0.9, 10), 0.5)
    return (rng.random((n, 10)) < rates).astype(int), y


@pytest.fixture(scope="module")
def readme() -> AbstractQuantifier:
    options = {
        "bootstrap_trials": 3,
        "bagging_trials": 10,
        "bagging_range": 5,
        "random_state": 0,
        "region": "ellipse",
    }
    return wrap(ReadMe, **options).fit(*words(800, 0.5, 0))


def test_readme_takes_part(readme: AbstractQuantifier) -> None:
    """Samples in one call, with labels that are words; 500 items give the share to about .1."""
    assert readme.classes_.tolist() == ["negative", "positive"]
    X, _ = words(1000, 0.2, 1)
    together = readme.predict(X, [np.arange(500), np.arange(500, 1000)])
    assert_allclose(together[:, 1], 0.2, atol=0.15)
    # Its subsets of words are drawn anew in every call, so that two differ a little.
    assert_allclose(together[0], readme.predict(X[:500]), atol=0.1)


def test_readme_on_a_protocol(readme: AbstractQuantifier) -> None:
    X, y = words(600, 0.5, 2)
    protocol = PriorShift(test_size=100, test_repeats=1, test_prevalences=[0.1, 0.5, 0.9])
    frame = evaluate(readme, protocol, X, y)
    assert len(frame) == 3
    assert frame["ae"].mean() < 0.2


def test_pwk_takes_part() -> None:
    neighbors = pytest.importorskip("mlquantify.neighbors", reason="mlquantify is not installed")
    X, y = words(600, 0.5, 0)
    quantifier = wrap(neighbors.PWK, n_neighbors=10).fit(X.astype(float), y)
    X_new, _ = words(300, 0.3, 1)
    assert quantifier.predict(X_new.astype(float))[1] == pytest.approx(0.3, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"), [("quapy.method._histnet", "HistNetQ"), ("quapy.method._gmnet", "GMNet")]
)
def test_networks_take_part(module: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: HistNetQ and GMNet need it")
    network = getattr(pytest.importorskip(module, reason=f"{name} cannot be imported"), name)
    made = network(
        bag_size=50,
        n_bags_train=100,
        n_bags_val=20,
        train_epochs=40,
        start_lr=0.03,
        linear_sizes=(16,),
        checkpointdir=str(tmp_path),
        random_state=0,
    )
    quantifier = wrap(made).fit(*scores(400, 0.5, 0))
    assert quantifier.classes_.tolist() == ["negative", "positive"]
    low, high = (quantifier.predict(scores(300, p, 1)[0])[1] for p in (0.2, 0.8))
    # A few seconds of training: enough to see which sample has more positives.
    assert low < 0.4
    assert high > 0.6


def scores(n: int, p: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of scores, and labels."""
    y = np.where(np.arange(n) < n * p, "positive", "negative")
    log_odds = np.random.default_rng(seed).normal(np.where(y == "positive", 1.5, -1.5), 1.0)
    score = 1 / (1 + np.exp(-log_odds))
    return np.column_stack([score, 1 - score]).astype(np.float32), y
