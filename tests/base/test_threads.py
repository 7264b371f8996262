"""BLAS and OpenMP have one thread while we work, and what the caller gave them afterwards."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from quantshift import GuardedSLD, ShiftedClassifier, performance, probabilities, quantify, train
from quantshift.base.threads import in_one_thread
from tests.end_to_end.frozen_methods import problem
from tests.end_to_end.frozen_products import tables


def numbers_of_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    with threadpool_limits(limits=2):
        yield


def test_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    assert numbers_of_threads() == {2}
    assert in_one_thread(numbers_of_threads)() == {1}
    assert numbers_of_threads() == {2}


def test_an_error_gives_the_threads_back() -> None:
    def fails() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        in_one_thread(fails)()
    assert numbers_of_threads() == {2}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of threads whenever gradient boosting learns or predicts."""
    numbers: list[int] = []

    def spied(function: Callable[..., Any]) -> Callable[..., Any]:
        def spy(*args: Any, **options: Any) -> Any:
            numbers.extend(numbers_of_threads())
            return function(*args, **options)

        return spy

    for name in ("fit", "predict_proba"):
        method = getattr(HistGradientBoostingClassifier, name)
        monkeypatch.setattr(HistGradientBoostingClassifier, name, spied(method))
    return numbers


def test_products_work_in_one_thread(seen: list[int], tmp_path: Path) -> None:
    labelled, new = tables(tmp_path)
    model = train(labelled, label="label")
    assert set(seen) == {1}
    for work in (
        lambda: quantify(new, model=model),
        lambda: probabilities(new, tmp_path / "scores.csv", model=model),
    ):
        seen.clear()
        work()
        assert set(seen) == {1}
        assert numbers_of_threads() == {2}


def test_estimators_that_choose_their_classifier_work_in_one_thread(seen: list[int]) -> None:
    X, y, X_new = problem(2)
    fitted = GuardedSLD().fit(X, y)
    assert set(seen) == {1}
    seen.clear()
    fitted.predict(X_new)
    assert set(seen) == {1}


def test_the_performance_of_any_classifier_is_measured_in_one_thread(seen: list[int]) -> None:
    X, y, X_new = problem(2)
    classifier = ShiftedClassifier(HistGradientBoostingClassifier(max_iter=5)).fit(X, y)
    seen.clear()
    performance(classifier, np.tile(X_new, (4, 1)), measures=["accuracy"], n_bootstrap=50)
    assert set(seen) == {1}
