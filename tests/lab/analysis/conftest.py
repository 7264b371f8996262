"""Raw outcomes made up for the tests of this folder."""

from collections.abc import Callable

import polars as pl
import pytest

from tests.outcomes import make_outcomes


@pytest.fixture(scope="session")
def outcomes() -> Callable[..., pl.DataFrame]:
    """The maker of outcomes."""
    return make_outcomes
