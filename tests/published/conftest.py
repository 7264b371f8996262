"""Numbers of others, ours beside them, and the table of both on the page "Others' numbers".

    pytest -n 0 -m "slow or not slow" tests/published --write-numbers

measures all of them again and writes the table. Every other run compares what it measures with the
printed number, and with the row of the table.
"""

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.published.numbers import Ours, Printed, row_of

TABLE = Path("docs/figures/as-shown/others-numbers.csv")
HEADER = ("source", "of what", "theirs", "ours", "Monte Carlo error", "why they differ")
ERRORS = 4
"""How many standard errors two numbers may be apart."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """For this folder, when it is named on the command line."""
    parser.addoption("--write-numbers", action="store_true", help="store what is measured anew")


@pytest.fixture(scope="session")
def numbers(request: pytest.FixtureRequest) -> Iterator[Callable[..., None]]:
    """Takes the rows that were measured; compares them with the table, or writes it anew."""
    path = request.config.rootpath / TABLE
    write = request.config.getoption("--write-numbers", default=False)
    if write and "PYTEST_XDIST_WORKER" in os.environ:
        raise pytest.UsageError("--write-numbers needs -n 0: two workers would write one file")
    rows: list[tuple[str, ...]] = []
    shown = {}
    if not write:
        with path.open(encoding="utf-8", newline="") as file:
            shown = {tuple(row[:2]): row for row in csv.reader(file)}

    def take(row: tuple[str, ...]) -> None:
        rows.append(row)
        if not write:
            assert row[:2] in shown, "measure the table again: --write-numbers"
            before = shown[row[:2]]
            assert [*row[:3], row[5]] == [*before[:3], before[5]]
            # Simulations are seeded; other kernels of BLAS may move a sample across a limit.
            assert float(row[3]) == pytest.approx(float(before[3]), abs=2e-3)

    yield take
    if write:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


@pytest.fixture
def meets(numbers: Callable[..., None]) -> Callable[[Printed, Ours], None]:
    """Our number is theirs: up to rounding, simulation, and what the reason explains."""

    def compare(printed: Printed, ours: Ours) -> None:
        assert bool(ours.apart) <= bool(ours.why), "a deviation has a reason"
        tolerance = 0.5 * 10**-printed.places + ERRORS * ours.error + ours.apart
        assert ours.value == pytest.approx(printed.value, abs=tolerance + 1e-12), printed.what
        numbers(row_of(printed, ours))

    return compare
