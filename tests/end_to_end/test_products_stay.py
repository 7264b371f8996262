"""Every method and product gives what it gave: the code may move, the numbers may not."""

from pathlib import Path

import pytest

from tests.end_to_end import frozen_json, frozen_methods, frozen_products
from tests.end_to_end.frozen import PRODUCTS, Frozen, of_method
from tests.quick_methods import speed_of


@pytest.mark.parametrize(
    ("name", "n_classes", "weighted"),
    [
        pytest.param(
            *case, marks=[] if case[1] == 3 and speed_of(case[0]) == [] else pytest.mark.slow
        )
        for case in frozen_methods.cases()
    ],
)
def test_every_method_gives_the_same_estimates(
    name: str, n_classes: int, weighted: bool, frozen: Frozen
) -> None:
    key = frozen_methods.key_of(name, n_classes, weighted)
    now = frozen_methods.estimates(name, n_classes, weighted=weighted)
    assert frozen.differences("methods", key, now, within=of_method(name)) == []


@pytest.mark.parametrize("name", frozen_products.PRODUCTS)
def test_every_product_gives_the_same_shares_and_limits(
    name: str, frozen: Frozen, tmp_path: Path
) -> None:
    now = frozen_products.PRODUCTS[name](tmp_path)
    assert frozen.differences("products", name, now, within=PRODUCTS) == []


@pytest.mark.parametrize("name", frozen_json.OUTPUTS)
def test_every_json_output_has_the_same_numbers(name: str, frozen: Frozen, tmp_path: Path) -> None:
    now = frozen_json.numbers_of(frozen_json.OUTPUTS[name](tmp_path))
    assert frozen.differences("json", name, now, within=PRODUCTS) == []


def test_what_is_stored_is_what_is_compared(frozen: Frozen) -> None:
    keys = [frozen_methods.key_of(*case) for case in frozen_methods.cases()]
    assert list(frozen.read("methods")) == keys
    assert list(frozen.read("products")) == list(frozen_products.PRODUCTS)
    assert list(frozen.read("json")) == list(frozen_json.OUTPUTS)
