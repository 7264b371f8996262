"""Lee et al., "How to correctly report LLM-as-a-judge evaluations" (2511.21140): figure 4.

A judge of specificity .7 and sensitivity .9 sees 1,000 answers; 250 right and 250 wrong ones are
labelled elsewhere. The figure shows coverage and length of 95% intervals by the true accuracy; it
prints no numbers, so theirs are those of the script behind it, with its own seed and 10,000 draws
(github.com/UW-Madison-Lee-Lab/LLM-judge-reporting, commit 082884d, run/figure4_monte_carlo.py).
Ours is `judge` with these labels, told that the judge errs as often here as there. Without that it
says that labels of one other source cannot tell, which their calculation assumes silently.
"""

import numpy as np
import polars as pl
import pytest

from quantshift.judging import judge
from tests.published.numbers import Ours, Printed

FIGURE = "Lee et al. 2025, script of figure 4"
SPECIFICITY, SENSITIVITY, N, HALF = 0.7, 0.9, 1000, 250
LENGTHS = {0.0: 0.0972, 0.05: 0.1393, 0.3: 0.1747, 0.5: 0.1539, 0.8: 0.1393, 1.0: 0.0640}
COVERAGES = {0.0: 0.9702, 0.05: 0.9498, 0.3: 0.9511, 0.5: 0.9485, 0.8: 0.9502, 1.0: 0.9717}
DRAWS = 300
EDGE = "near 0 and 1 ours follow from a posterior, theirs are cut off there"


def draw(accuracy: float, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Verdicts without labels, and labelled ones of elsewhere."""
    right = rng.binomial(N, accuracy)
    passed = rng.binomial(right, SENSITIVITY) + rng.binomial(N - right, 1 - SPECIFICITY)
    hits, rejects = rng.binomial(HALF, SENSITIVITY), rng.binomial(HALF, SPECIFICITY)
    verdicts = pl.DataFrame({"judge": ["right"] * passed + ["wrong"] * (N - passed)})
    said = ["right"] * hits + ["wrong"] * (HALF - hits)
    said += ["wrong"] * rejects + ["right"] * (HALF - rejects)
    known = pl.DataFrame({"judge": said, "human": ["right"] * HALF + ["wrong"] * HALF})
    return verdicts, known


def limits(verdicts: pl.DataFrame, known: pl.DataFrame) -> tuple[float, float]:
    answer = judge(
        verdicts,
        verdict="judge",
        label="human",
        labelled=known,
        positive="right",
        of="population",
        assume="rates",
        insist=True,
    )
    (share,) = (s for s in answer.overall.shares if s.label == "right")
    return share.low, share.high


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", LENGTHS)
def test_coverage_and_length_of_the_figure(accuracy, meets):
    rng = np.random.default_rng(int(100 * accuracy))
    found = np.array([limits(*draw(accuracy, rng)) for _ in range(DRAWS)])
    lengths = found[:, 1] - found[:, 0]
    held = (found[:, 0] <= accuracy) & (accuracy <= found[:, 1])
    what = f"accuracy {accuracy}: coverage of the 95% interval"
    error = np.sqrt(held.mean() * (1 - held.mean()) / DRAWS)
    why = EDGE if accuracy <= 0.05 or accuracy == 1 else ""
    edge = 0.04 if why else 0.0
    meets(
        Printed(FIGURE, what, COVERAGES[accuracy], 4),
        Ours(float(held.mean()), error=float(error), apart=edge, why=why),
    )
    meets(
        Printed(FIGURE, f"accuracy {accuracy}: mean length", LENGTHS[accuracy], 4),
        Ours(
            float(lengths.mean()),
            error=float(lengths.std() / np.sqrt(DRAWS)),
            apart=edge,
            why=why,
        ),
    )


def test_without_the_assumption_it_cannot_be_estimated():
    verdicts, known = draw(0.3, np.random.default_rng(0))
    answer = judge(verdicts, verdict="judge", label="human", labelled=known)
    assert answer.overall.kind == "cannot"
