"""The table of equal calls in `from-quapy.md`: both calls of every row give the same numbers."""

import re
import warnings

import numpy as np
import pytest

from website.examples import blocks
from website.pages import DOCS

pytest.importorskip("quapy")

PAGE = (DOCS / "guides" / "from-quapy.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| ([\d.e-]+) \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def names():
    """The names that the page defines before its table."""
    found = {}
    exec(next(block.body for block in blocks(PAGE) if block.language == "python"), found)
    return found


def test_the_table_has_rows():
    assert len(ROWS) >= 20
    assert PAGE.count("| equal up to |") == 1


def speed(row):
    """Marks of a row: quick are those without cross-validation or a search."""
    return [] if float(row[2]) < 1e-3 else [pytest.mark.slow]


@pytest.mark.parametrize(
    ("theirs", "ours", "tolerance"),
    [pytest.param(*row, marks=speed(row), id=row[1]) for row in ROWS],
)
def test_both_calls_give_the_same(theirs, ours, tolerance, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of QuaPy
        expected = eval(theirs, names)
    found = eval(ours, names)
    np.testing.assert_allclose(found, expected, rtol=0, atol=float(tolerance))
