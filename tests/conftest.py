"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: a shared two-core machine stalls now and then, and a stall is not a defect.
settings.register_profile("quantshift", deadline=None, max_examples=40)
settings.load_profile("quantshift")


@pytest.fixture(scope="session")
def reviews_dir() -> Path:
    """The folder of real reviews (`reviews/`, `raw/`), for tests that want real text."""
    default = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("QUANTSHIFT_REVIEWS", default))
    if not (path / "reviews").is_dir():
        pytest.skip(f"no real reviews in {path}; set QUANTSHIFT_REVIEWS to run this test")
    return path
