"""Every method and product gives what it gave: the code may move, the numbers may not."""

import math
from typing import Any

import numpy as np
import pytest

from tests.end_to_end import product_digests as digests
from tests.quick_methods import speed_of


@pytest.fixture(scope="module")
def stored(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.config.getoption("--write-digests", default=False):
        digests.write()
    return digests.load()


@pytest.mark.parametrize(
    ("name", "n_classes", "weighted"),
    [
        pytest.param(
            *case, marks=[] if case[1] == 3 and speed_of(case[0]) == [] else pytest.mark.slow
        )
        for case in digests.methods()
    ],
)
def test_every_method_gives_the_same_estimates(
    name: str, n_classes: int, weighted: bool, stored: dict[str, Any]
) -> None:
    before = stored["methods"][digests.key_of(name, n_classes, weighted)]
    now = digests.of_method(name, n_classes, weighted=weighted)
    assert before.keys() == now.keys()
    if "refused" in before:
        assert now == before
        return
    np.testing.assert_allclose(now["estimates"], before["estimates"], rtol=0, atol=digests.NEAR)
    if stored["processor"] == digests.processor() and name not in digests.BY_BLAS:
        assert now["digest"] == before["digest"]


def test_every_product_gives_the_same_shares_and_limits(stored: dict[str, Any]) -> None:
    same_processor = stored["processor"] == digests.processor()
    assert differences(stored["products"], digests.of_products(), exactly=same_processor) == []


def differences(before: Any, now: Any, *, exactly: bool, where: str = "") -> list[str]:
    """Where two nested answers differ."""
    if isinstance(before, dict) and isinstance(now, dict) and before.keys() == now.keys():
        pairs = [(before[key], now[key], f"{where}/{key}") for key in before]
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = [(a, b, f"{where}/{i}") for i, (a, b) in enumerate(zip(before, now, strict=True))]
    else:
        return [] if _equal(before, now, exactly=exactly) else [f"{where}: {before} was, {now} is"]
    return [d for a, b, place in pairs for d in differences(a, b, exactly=exactly, where=place)]


def _equal(before: Any, now: Any, *, exactly: bool) -> bool:
    if isinstance(before, float) and isinstance(now, float) and not exactly:
        return math.isclose(before, now, rel_tol=0, abs_tol=digests.NEAR)
    return before == now
