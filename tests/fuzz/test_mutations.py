"""A changed file gives the same answer or is refused in a line; it never gives another answer.

`make fuzz` runs ten thousand mutations with a fresh seed, which it prints. To repeat it, or one
mutation of it:

    make fuzz MUTATIONS=20000 SEED=7
    make fuzz KIND=sketch SEED=7 FIRST=123 MUTATIONS=1
"""

import os

import pytest

from tests.fuzz.harness import fuzz, shares
from tests.fuzz.kinds import KINDS

QUICK = 240
"""Mutations in the quick suite, which are always the same."""

QUICK_KINDS = [kind for kind in KINDS if kind.quick]


@pytest.mark.parametrize("kind", QUICK_KINDS, ids=lambda kind: kind.name)
def test_a_few_mutations(kind, tmp_path):
    tally = fuzz(kind, tmp_path, shares(QUICK, QUICK_KINDS)[kind.name], seed=0)
    assert not tally.failures, tally.failures[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_many_mutations(kind, tmp_path, pytestconfig, capsys):
    seed = int(pytestconfig.getoption("seed") or 0)
    wanted = os.environ.get("FUZZ_KIND")
    if wanted and wanted != kind.name:
        pytest.skip(f"only {wanted}")
    n = int(os.environ.get("FUZZ_MUTATIONS") or 10_000)
    first = int(os.environ.get("FUZZ_FIRST") or 0)
    tally = fuzz(kind, tmp_path, n if wanted else shares(n)[kind.name], seed, first)
    with capsys.disabled():
        print(f"\nseed {seed}: {tally}")  # noqa: T201 - the report of the run
    assert not tally.failures, "\n".join(tally.failures[:20])
