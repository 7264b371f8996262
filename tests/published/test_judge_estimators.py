"""Chen, Lu, Li, Guo and Li, "Efficient inference for noisy LLM-as-a-judge evaluation" (2601.05420).

The two articles of their package (github.com/yiqunchen/debias-llm-as-a-judge, commit 4b4879a) print
estimates and 90% intervals of six estimators: for 276 comparisons of Claude Opus 4 with Gemini 2.5
Pro judged by GPT-4o-mini, of which 28 have a label, and for 500 simulated ones with 50 labels. The
data are not printed, but their counts follow from what is: the judge prefers Claude in 15.9% of all
and 16.1% of those without a label, specificity .875 and sensitivity .25 are 21 of 24 and 1 of 4. In
the simulated example PPI, EIF, MLE and Rogan-Gladen fit one table of counts only.

Their intervals are those of a normal distribution on the log-odds scale, for the population. Ours
for labels of random items are made for few labels, by which they differ most in the first example,
with four labelled items that the judge prefers.
"""

import numpy as np
import polars as pl
import pytest

from quantshift.judging import judge
from quantshift.labelling.audit import audit_interval
from tests.published.numbers import Ours, Printed

ARTICLES = "Chen et al. 2026, articles of their package"
NAMES = ("wins", "loses")

# Labelled items by verdict and label, (yes yes, no yes, yes no, no no), and others by verdict.
REAL = ("win rate of Claude Opus 4", (1, 3, 3, 21), (40, 208))
SIMULATED = ("simulated, truth .6", (31, 5, 1, 13), (223, 227))

FEW = "ours allow for few labels; theirs are normal on the log-odds scale"
SHARES = "ours takes the share of each verdict from all items, theirs from those without a label"
SMOOTHED = "theirs adds pseudo-counts to all three rates"
CHANCE = f"{SMOOTHED}; the judge is hardly better than chance, and their interval is 0 to 1"


def table_of(labelled: tuple[int, ...], others: tuple[int, ...] = (0, 0)) -> pl.DataFrame:
    """The items; others: by verdict, without a label."""
    counts = zip([(v, y) for y in NAMES for v in NAMES], labelled, strict=True)
    pairs = [pair for pair, count in counts for _ in range(count)]
    pairs += [(v, None) for v, n in zip(NAMES, others, strict=True) for _ in range(n)]
    schema = {"judge": pl.String, "human": pl.String}
    return pl.DataFrame(pairs, schema=schema, orient="row")


def answer_of(table: pl.DataFrame, **options):
    asked = {"verdict": "judge", "label": "human", "positive": "wins", "of": "population"}
    return judge(table, **asked, level=0.9, **options).overall


def own(shares):
    return next(share for share in shares if share.label == "wins")


@pytest.mark.parametrize(
    ("example", "efficient", "apart"),
    [
        (REAL, {"EIF": (0.145, 0.066, 0.291), "MLE": (0.145, 0.066, 0.291)}, 0.0),
        (SIMULATED, {"EIF": (0.620, 0.522, 0.710), "MLE": (0.630, 0.534, 0.717)}, 0.0105),
    ],
    ids=["real", "simulated"],
)
def test_efficient_estimates(example, efficient, apart, meets):
    what, labelled, others = example
    share = own(answer_of(table_of(labelled, others), labels="random").shares)
    for name, (estimate, low, high) in efficient.items():
        theirs = f"{what}: {name}"
        reason = {"apart": apart, "why": SHARES} if name == "EIF" and apart else {}
        meets(Printed(ARTICLES, theirs, estimate), Ours(share.estimate, **reason))
        more = reason.get("apart", 0.0) + 0.02
        meets(Printed(ARTICLES, f"{theirs}, low", low), Ours(share.low, apart=more, why=FEW))
        meets(Printed(ARTICLES, f"{theirs}, high", high), Ours(share.high, apart=more, why=FEW))


@pytest.mark.parametrize(
    ("example", "tuned", "plain"),
    [(REAL, (0.145, 0.065, 0.292), 0.161), (SIMULATED, (0.631, 0.553, 0.703), 0.576)],
    ids=["real", "simulated"],
)
def test_prediction_powered_estimates(example, tuned, plain, meets):
    """PPI++ is the estimate of an audit; PPI shows that the counts are theirs."""
    what, labelled, others = example
    table = table_of(labelled, others)
    verdict = (table["judge"] == "wins").to_numpy().astype(float)
    labels = (table["human"].drop_nulls() == "wins").to_numpy().astype(int)
    k = len(labels)
    assert verdict[k:].mean() + (labels - verdict[:k]).mean() == pytest.approx(plain, abs=5e-4)
    found = audit_interval(np.column_stack([1 - verdict, verdict]), np.arange(k), labels, level=0.9)
    estimate, low, high = tuned
    values = (found.prevalence[1], found.low[1], found.high[1])
    apart = (0.001, 0.02, 0.02)
    for name, printed, value, far in zip(
        ("", ", low", ", high"), (estimate, low, high), values, apart, strict=True
    ):
        why = FEW if name else SHARES
        meets(Printed(ARTICLES, f"{what}: PPI++{name}", printed), Ours(value, apart=far, why=why))


@pytest.mark.parametrize(
    ("example", "printed", "apart", "why"),
    [
        (REAL, (0.062, 0.0, 1.0), 0.33, CHANCE),
        (SIMULATED, (0.517, 0.391, 0.640), 0.032, SMOOTHED),
    ],
    ids=["real", "simulated"],
)
def test_rogan_gladen_estimates(example, printed, apart, why, meets):
    what, labelled, others = example
    verdicts = table_of((0, 0, 0, 0), others).drop("human")
    share = own(answer_of(verdicts, labelled=table_of(labelled), assume="rates").shares)
    values = (share.estimate, share.low, share.high)
    for name, theirs, value in zip(("", ", low", ", high"), printed, values, strict=True):
        meets(
            Printed(ARTICLES, f"{what}: Rogan-Gladen{name}", theirs),
            Ours(value, apart=apart, why=why),
        )


@pytest.mark.parametrize(
    ("example", "printed", "apart"), [(REAL, 0.161, 0.002), (SIMULATED, 0.496, 0.0145)]
)
def test_the_judge_alone(example, printed, apart, meets):
    what, labelled, (yes, no) = example
    table = table_of(labelled, (yes, no))
    told = answer_of(table, labels="random").judges[0].naive["wins"]
    assert told == (table["judge"] == "wins").mean()
    assert yes / (yes + no) == pytest.approx(printed, abs=5e-4)
    meets(Printed(ARTICLES, f"{what}: naive", printed), Ours(told, apart=apart, why=SHARES))
