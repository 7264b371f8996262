"""The paper's six findings, judged from the data by stated criteria.

Each finding consists of a few claims; a finding holds if all its claims do. The criteria turn the
words of the paper into numbers, and the published tables meet them wherever they can be checked.
The limits are ours, set after seeing the published tables and first results: they summarise the
data, but they are not an independent test.

1.  Prior shift. Over all samples SLD has the lowest MAE and DyS and PACC the next two; CC and PCC
    have the two highest; the MAE of CC and PCC by |degree| has a rank correlation with |degree|
    of at least 0.8; ACC's MAE at p_train of at most 0.05 or at least 0.95 is at least twice that
    elsewhere.
2.  Pure covariate shift. PCC has the lowest MAE in at least 90% of the rows (p_train, degree); SLD
    the highest at the largest |degree|, over all p_train.
3.  Mixed covariate shift. The MAE of CC and of PCC is at least twice that under pure shift; SLD has
    the lowest MAE in more than half of the rows (p_train, p_test, degree).
4.  Local covariate shift. At degrees other than 0, the MAE of ACC, PACC, DyS and SLD is at least
    1.5 times that in the control; the MAE of CC and of PCC is below that in the control.
5.  Concept shift. For each of the six methods the MAE grows from each |degree| to the next, and
    the MAE over all samples is between 0.15 and 0.25 times their mean |degree|.
6.  Forced priors. PCC's MAE at some degree other than 0 is below that at 0, and so is its absolute
    bias there (two biases cancel), whereas without forced priors its MAE at that degree is above
    that at 0.

The setup that a row belongs to follows from its kind of shift, its facet and its coordinates,
whatever the experiment is called (`quantshift.lab.paper.setups`); experiments and data sets of the
same kind are pooled. Only the paper's six methods and data sets with two classes count. A cell in
which one of the methods failed is left out for all methods, so that means are over the same
samples. A claim cannot be decided (None) if a method or the setup it needs is missing. In shares
all rows (degrees) count equally; in means all samples do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl
from scipy import stats

from quantshift.lab.analysis import PAPER_METHODS
from quantshift.lab.paper.setups import (
    CONCEPT,
    CONTROL,
    FORCED,
    LOCAL,
    MIXED,
    PRIOR,
    PURE,
    setups_of,
)

GROWTH_CORRELATION = 0.8
EXTREME_TRAINING = 0.05
INSTABILITY = 2.0
NEARLY_EVERY = 0.9
DEGRADED = 2.0
MUCH_WORSE = 1.5
CONCEPT_RATE = (0.15, 0.25)

SAME_DEGREE = 1e-6

Test = Callable[[pl.DataFrame], tuple[bool, str]]
"""Takes the frame of `mean_errors`, and returns whether a criterion is met and the figures."""

COORDINATES = ("setup", "p_train", "p_test", "degree")


@dataclass(frozen=True)
class Claim:
    """A criterion in words, whether it is met (None: cannot be decided), and the figures."""

    text: str
    holds: bool | None
    figures: str


@dataclass(frozen=True)
class Verdict:
    """A finding of the paper and whether the data support its claims."""

    number: int
    title: str
    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool | None:
        """False if a claim fails, True if all hold, None if it cannot be decided."""
        outcomes = [claim.holds for claim in self.claims]
        if False in outcomes:
            return False
        return None if None in outcomes else True


def verdicts(frame: pl.DataFrame) -> list[Verdict]:
    """The verdict on each of the six findings, from raw outcomes."""
    return verdicts_of_means(mean_errors(frame))


def mean_errors(frame: pl.DataFrame) -> pl.DataFrame:
    """Mean absolute error, bias and number of estimates of the paper's methods per coordinates."""
    rows = setups_of(frame)
    if rows.is_empty():
        return pl.DataFrame(
            schema={
                **dict.fromkeys(COORDINATES, pl.Float64),
                "setup": pl.String,
                "method": pl.String,
                "mean": pl.Float64,
                "bias": pl.Float64,
                "n": pl.UInt32,
            }
        )
    cell = ["setup", "experiment", "dataset", "cell"]
    # In row order, so that sums of sums do not depend on threads.
    means = rows.group_by([*COORDINATES, *cell[1:], "method"], maintain_order=True).agg(
        pl.len().alias("n"), pl.col("error", "signed").sum()
    )
    methods = means.group_by("setup").agg(_methods=pl.col("method").n_unique())
    # A cell counts if it has every method that its setup has anywhere.
    complete = (
        means.join(methods, on="setup", maintain_order="left")
        .filter(pl.col("method").n_unique().over(cell) == pl.col("_methods"))
        .group_by([*COORDINATES, "method"])
        .agg(pl.col("n", "error", "signed").sum())
    )
    return complete.select(
        *COORDINATES,
        "method",
        mean=pl.col("error") / pl.col("n"),
        bias=pl.col("signed") / pl.col("n"),
        n="n",
    )


def verdicts_of_means(means: pl.DataFrame) -> list[Verdict]:
    """The verdicts from the frame of `mean_errors`."""
    return [
        Verdict(number, title, tuple(_judge(text, test, means) for text, test in claims))
        for number, (title, claims) in enumerate(FINDINGS.items(), start=1)
    ]


class _MissingError(Exception):
    """The data lack something that a claim needs."""


def _judge(text: str, test: Test, means: pl.DataFrame) -> Claim:
    try:
        holds, figures = test(means)
    except _MissingError as missing:
        return Claim(text, None, str(missing))
    return Claim(text, holds, figures)


def _sld_least(means: pl.DataFrame) -> tuple[bool, str]:
    order = _ranking(means, PRIOR)
    return next(iter(order)) == "SLD", _listed(order)


def _dys_pacc_next(means: pl.DataFrame) -> tuple[bool, str]:
    order = _ranking(means, PRIOR)
    return {*list(order)[1:3]} == {"DyS", "PACC"}, _listed(order)


def _cc_pcc_greatest(means: pl.DataFrame) -> tuple[bool, str]:
    order = _ranking(means, PRIOR)
    return {*list(order)[-2:]} == {"CC", "PCC"}, _listed(order)


def _cc_pcc_grow(means: pl.DataFrame) -> tuple[bool, str]:
    growth = {}
    for method in ("CC", "PCC"):
        by_degree = _by_absolute_degree(means, PRIOR, method)
        growth[method] = float(stats.spearmanr(list(by_degree), list(by_degree.values())).statistic)
    figures = "rank correlation with |degree|: " + _listed(growth, digits=2)
    return min(growth.values()) >= GROWTH_CORRELATION, figures


def _acc_unstable(means: pl.DataFrame) -> tuple[bool, str]:
    edge = (pl.col("p_train") <= EXTREME_TRAINING) | (pl.col("p_train") >= 1 - EXTREME_TRAINING)
    extreme = _mae(means.filter(edge), PRIOR, ("ACC",), where="at extreme p_train")["ACC"]
    other = _mae(means.filter(~edge), PRIOR, ("ACC",), where="at other p_train")["ACC"]
    figures = f"ACC {extreme:.4f} at extreme p_train, {other:.4f} elsewhere"
    return extreme >= INSTABILITY * other, figures


def _pcc_best_when_pure(means: pl.DataFrame) -> tuple[bool, str]:
    wins, rows = _wins(means, PURE, "PCC")
    return wins >= NEARLY_EVERY * rows, f"PCC best in {wins} of {rows} rows"


def _sld_worst_at_extremes(means: pl.DataFrame) -> tuple[bool, str]:
    sizes = means.filter(pl.col("setup") == PURE)["degree"].abs().to_list()
    largest = max(sizes, default=0.0)
    order = _ranking(means.filter(pl.col("degree").abs() > largest - SAME_DEGREE), PURE)
    return list(order)[-1] == "SLD", f"at |degree| {largest:g}: {_listed(order)}"


def _cc_pcc_degrade(means: pl.DataFrame) -> tuple[bool, str]:
    mixed = _mae(means, MIXED, ("CC", "PCC"))
    pure = _mae(means, PURE, ("CC", "PCC"))
    holds = all(mixed[method] >= DEGRADED * pure[method] for method in mixed)
    return holds, _contrast(mixed, "mixed", pure, "pure")


def _sld_mostly_best_when_mixed(means: pl.DataFrame) -> tuple[bool, str]:
    wins, rows = _wins(means, MIXED, "SLD")
    return wins > rows / 2, f"SLD best in {wins} of {rows} rows"


def _adjusted_hurt(means: pl.DataFrame) -> tuple[bool, str]:
    shifted, control = _local_and_control(means, ("ACC", "PACC", "DyS", "SLD"))
    holds = all(shifted[method] >= MUCH_WORSE * control[method] for method in shifted)
    return holds, _contrast(shifted, "shifted", control, "control")


def _counting_spared(means: pl.DataFrame) -> tuple[bool, str]:
    shifted, control = _local_and_control(means, ("CC", "PCC"))
    holds = all(shifted[method] < control[method] for method in shifted)
    return holds, _contrast(shifted, "shifted", control, "control")


def _local_and_control(
    means: pl.DataFrame, methods: Sequence[str]
) -> tuple[dict[str, float], dict[str, float]]:
    moved = means.filter(pl.col("degree").abs() > SAME_DEGREE)
    return _mae(moved, LOCAL, methods), _mae(moved, CONTROL, methods)


def _all_grow_under_concept(means: pl.DataFrame) -> tuple[bool, str]:
    curves = {name: _by_absolute_degree(means, CONCEPT, name) for name in PAPER_METHODS}
    holds = all((np.diff(list(curve.values())) > 0).all() for curve in curves.values())
    last = max(next(iter(curves.values())))
    figures = f"MAE at |degree| {last:g}: "
    return holds, figures + _listed({name: curve[last] for name, curve in curves.items()})


def _concept_rates(means: pl.DataFrame) -> tuple[bool, str]:
    errors = _mae(means, CONCEPT, PAPER_METHODS)
    sizes = _by_method(means.filter(pl.col("setup") == CONCEPT), pl.col("degree").abs())
    if not min(sizes.values()):
        raise _MissingError("setup concept needs degrees other than 0")
    rates = {method: error / sizes[method] for method, error in errors.items()}
    low, high = CONCEPT_RATE
    holds = all(low <= rate <= high for rate in rates.values())
    return holds, "MAE per unit of |degree|: " + _listed(rates, digits=3)


def _pcc_dips(means: pl.DataFrame) -> tuple[bool, str]:
    curve = _by_degree(means, FORCED, "PCC")
    dip = _dip(curve)
    return curve[dip][0] < curve[0.0][0], (
        f"PCC's MAE {curve[0.0][0]:.4f} at degree 0, {curve[dip][0]:.4f} at {dip:+g}"
    )


def _biases_cancel(means: pl.DataFrame) -> tuple[bool, str]:
    curve = _by_degree(means, FORCED, "PCC")
    dip = _dip(curve)
    return abs(curve[dip][1]) < abs(curve[0.0][1]), (
        f"PCC's bias {curve[0.0][1]:+.4f} at degree 0, {curve[dip][1]:+.4f} at {dip:+g}"
    )


def _no_dip_unforced(means: pl.DataFrame) -> tuple[bool, str]:
    dip = _dip(_by_degree(means, FORCED, "PCC"))
    curve = _by_degree(means, CONCEPT, "PCC")
    if dip not in curve:
        raise _MissingError(f"no results of PCC in setup concept at degree {dip:+g}")
    return curve[dip][0] > curve[0.0][0], (
        f"PCC's MAE without forced priors {curve[0.0][0]:.4f} at degree 0, "
        f"{curve[dip][0]:.4f} at {dip:+g}"
    )


def _dip(curve: Mapping[float, tuple[float, float]]) -> float:
    """The degree other than 0 with the lowest error."""
    return min((degree for degree in curve if degree), key=lambda degree: curve[degree][0])


def _mae(
    means: pl.DataFrame, setup: str, methods: Sequence[str], *, where: str = ""
) -> dict[str, float]:
    """MAE over all samples of the setup, per method."""
    mean_of = _by_method(means.filter(pl.col("setup") == setup), pl.col("mean"))
    lacking = [method for method in methods if method not in mean_of]
    if lacking:
        where = f"setup {setup} {where}".rstrip()
        raise _MissingError(f"no results of {', '.join(lacking)} in {where}")
    return {method: mean_of[method] for method in methods}


def _by_method(rows: pl.DataFrame, value: pl.Expr) -> dict[str, float]:
    """Mean of a value over the samples of each method."""
    weighted = (value * pl.col("n")).sum() / pl.col("n").sum()
    return dict(rows.group_by("method").agg(weighted).iter_rows())


def _ranking(means: pl.DataFrame, setup: str) -> dict[str, float]:
    """MAE of the paper's methods in the setup, lowest first."""
    overall = _mae(means, setup, PAPER_METHODS)
    return dict(sorted(overall.items(), key=lambda item: item[1]))


def _wins(means: pl.DataFrame, setup: str, method: str) -> tuple[int, int]:
    """The number of rows of the paper's tables where the method has the lowest MAE, and of all."""
    _mae(means, setup, PAPER_METHODS)
    won_rows = (
        means.filter(pl.col("setup") == setup)
        .group_by(COORDINATES)
        .agg(
            won=pl.col("mean").filter(pl.col("method") == method).min() <= pl.col("mean").min(),
        )["won"]
    )
    return int(won_rows.sum()), len(won_rows)


def _by_degree(means: pl.DataFrame, setup: str, method: str) -> dict[float, tuple[float, float]]:
    """Degree -> MAE and bias of the method; needs degree 0 and at least one other."""
    _mae(means, setup, (method,))
    rows = means.filter((pl.col("setup") == setup) & (pl.col("method") == method))
    weight = pl.col("n") / pl.col("n").sum()
    curve = (
        rows.group_by(pl.col("degree").round(2) + 0.0)
        .agg((pl.col("mean") * weight).sum(), (pl.col("bias") * weight).sum())
        .sort("degree")
    )
    at_degree = {degree: (mean, bias) for degree, mean, bias in curve.iter_rows()}
    if 0.0 not in at_degree or len(at_degree) < 2:
        raise _MissingError(f"setup {setup} needs degree 0 and others, has {_degrees(at_degree)}")
    return at_degree


def _by_absolute_degree(means: pl.DataFrame, setup: str, method: str) -> dict[float, float]:
    """|degree| -> MAE of the method, in increasing order; needs at least three degrees."""
    _mae(means, setup, (method,))
    rows = means.filter((pl.col("setup") == setup) & (pl.col("method") == method))
    weight = pl.col("n") / pl.col("n").sum()
    curve = (
        rows.group_by(pl.col("degree").abs().round(2))
        .agg((pl.col("mean") * weight).sum())
        .sort("degree")
    )
    if len(curve) < 3:
        raise _MissingError(f"setup {setup} needs three |degrees|, has {_degrees(curve['degree'])}")
    return dict(curve.iter_rows())


def _degrees(degrees: Iterable[float]) -> str:
    return ", ".join(f"{degree:g}" for degree in degrees)


def _listed(values: Mapping[str, float], *, digits: int = 4) -> str:
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def _contrast(
    one: Mapping[str, float], name: str, other: Mapping[str, float], other_name: str
) -> str:
    pairs = (f"{method} {one[method]:.4f} / {other[method]:.4f}" for method in one)
    return f"{name} / {other_name}: " + ", ".join(pairs)


FINDINGS: Mapping[str, tuple[tuple[str, Test], ...]] = MappingProxyType(
    {
        "Prior shift: SLD best, then DyS and PACC; CC and PCC fail; ACC is unstable": (
            ("SLD has the lowest MAE", _sld_least),
            ("DyS and PACC have the next two", _dys_pacc_next),
            ("CC and PCC have the two highest", _cc_pcc_greatest),
            (
                "the MAE of CC and of PCC grows with |degree|: rank correlation at least "
                f"{GROWTH_CORRELATION:g}",
                _cc_pcc_grow,
            ),
            (
                f"ACC's MAE at p_train <= {EXTREME_TRAINING:g} or >= {1 - EXTREME_TRAINING:g} is "
                f"at least {INSTABILITY:g} times that elsewhere",
                _acc_unstable,
            ),
        ),
        "Pure covariate shift: PCC best at nearly every degree; SLD worst at the extremes": (
            (f"PCC has the lowest MAE in {NEARLY_EVERY:.0%} of the rows", _pcc_best_when_pure),
            ("SLD has the highest MAE at the largest |degree|", _sld_worst_at_extremes),
        ),
        "Mixed covariate shift: CC and PCC degrade; SLD mostly best": (
            (
                f"the MAE of CC and of PCC is at least {DEGRADED:g} times that under pure shift",
                _cc_pcc_degrade,
            ),
            ("SLD has the lowest MAE in more than half of the rows", _sld_mostly_best_when_mixed),
        ),
        "Local covariate shift: ACC, PACC, DyS, SLD much worse than in control; CC, PCC better": (
            (
                f"the MAE of ACC, PACC, DyS and SLD is at least {MUCH_WORSE:g} times that in the "
                "control, at degrees other than 0",
                _adjusted_hurt,
            ),
            ("the MAE of CC and of PCC is below that in the control", _counting_spared),
        ),
        "Concept shift: no method is robust; the error is about 0.2 per unit of degree": (
            ("the MAE of every method grows with each unit of |degree|", _all_grow_under_concept),
            (
                f"the MAE of every method is between {CONCEPT_RATE[0]:g} and {CONCEPT_RATE[1]:g} "
                "times the mean |degree|",
                _concept_rates,
            ),
        ),
        "Forced priors: PCC's low error at a non-zero degree is an accident of two biases": (
            ("PCC's MAE at some degree other than 0 is below that at 0", _pcc_dips),
            ("so is its absolute bias at that degree", _biases_cancel),
            ("without forced priors its MAE there is above that at 0", _no_dip_unforced),
        ),
    }
)
"""The findings: title -> claims, each a criterion in words and its test."""
