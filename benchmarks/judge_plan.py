"""Rare classes: labels by score strata against random labels, for intervals of the same width.

    python benchmarks/judge_plan.py [--prevalence 0.005] [--repeats 300] [--calibrated]
    python benchmarks/judge_plan.py --rounds 2 [--repeats 300]

50,000 items with a score that is normal in either class; the classes' means are `separation`
standard deviations apart (2.5: AUC .961, 3: .983, 3.5: .993; -0.5 and 0: a score that misleads or
says nothing, for coverage alone). The plan knows the scores and no label; scores are normal, so
that it has to guess, or with --calibrated probabilities, which it takes at their word. Its items
are labelled, the strata are given to `estimate`, and the width and coverage of the interval are
compared with those of random labels: by counting them, and by the audit with calibrated scores. The
number of random labels for the same width is interpolated in its logarithm. `--rounds`: the labels
come in so many plans of the same size, each of which knows the labels before it. The mean estimate
shows whether that makes a bias. `+-` is the Monte Carlo standard error.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from quantshift.base.seeding import generator
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.items.judged_items import JudgedItems, KnownDraw, Settings
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.plans.planning import Goal, plan
from quantshift.labelling.audit import audit_interval, count_interval

N_ITEMS = 50_000
BOTH = Meaning.of_codes(2)
RANDOM = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)


def drawn(
    p: float, separation: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Classes, scores, and calibrated scores."""
    y = (rng.random(N_ITEMS) < p).astype(np.int64)
    score = rng.normal(size=N_ITEMS) + separation * y
    return y, score, expit(separation * score - separation**2 / 2 + logit(p))


def random_widths(p: float, separation: float, repeats: int, seed: int) -> NDArray[np.float64]:
    """Mean widths by counting and by the audit, (2, len(RANDOM))."""
    widths = np.zeros((2, len(RANDOM)))
    for repeat in range(repeats):
        rng = generator(seed, purpose="judge plan random", separation=separation, repeat=repeat)
        y, _, f = drawn(p, separation, rng)
        posteriors = np.column_stack([1 - f, f])
        for i, n in enumerate(RANDOM):
            alone = count_interval(y[:n], 2)
            helped = audit_interval(posteriors, np.arange(n), y[:n])
            widths[:, i] += [float((one.high - one.low)[1]) for one in (alone, helped)]
    return widths / repeats


def planned(
    p: float, separation: float, n: int, repeat: int, *, rounds: int, calibrated: bool, seed: int
) -> tuple[float, float, float, float]:
    """Estimate, limits, and the width that the last plan foresaw."""
    rng = generator(seed, purpose="judge plan", separation=separation, repeat=repeat)
    y, score, probability = drawn(p, separation, rng)
    if calibrated:
        score = probability
    labels, so_far = np.full(N_ITEMS, -1), None
    for number in range(rounds):
        items = JudgedItems.of(None, labels, BOTH, score=score, drawn=so_far)
        found = plan(
            items,
            Goal(n_labels=n // rounds),
            how="by-score",
            settings=Settings(seed=repeat + 10_000 * number, of="population"),
        )
        labels[found.items], so_far = y[found.items], KnownDraw(found.inclusion)
    by_strata = KnownDraw(strata=found.strata)
    items = JudgedItems.of(None, labels, BOTH, score=score, drawn=by_strata)
    judged = estimate(items, None, Settings(of="population")).shares
    return (
        float(judged.prevalence[1]),
        float(judged.low[1]),
        float(judged.high[1]),
        2 * found.half_width,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prevalence", type=float, default=0.005)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--labels", type=int, nargs="*", default=[500, 1_000, 2_000, 3_000])
    parser.add_argument("--separations", type=float, nargs="*", default=[2.5, 3.0, 3.5])
    parser.add_argument("--calibrated", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    p, repeats = options.prevalence, options.repeats
    print(
        "separation labels  coverage +-     width +-       foreseen  mean estimate +-  "
        "random labels (times)  by audit (times)"
    )
    with threadpool_limits(1):
        for separation in options.separations:
            others = random_widths(p, separation, max(repeats // 3, 20), options.seed)
            for n in options.labels:
                found = [
                    planned(
                        p,
                        separation,
                        n,
                        repeat,
                        rounds=options.rounds,
                        calibrated=options.calibrated,
                        seed=options.seed,
                    )
                    for repeat in range(repeats)
                ]
                estimates, low, high, foreseen = np.array(found).T
                widths, share = high - low, float(((low <= p) & (p <= high)).mean())
                width = float(widths.mean())
                error = np.sqrt(max(share * (1 - share), 0.01) / repeats)
                need = [np.exp(np.interp(-width, -w, np.log(RANDOM))) for w in others]
                print(
                    f"{separation:10} {n:6} {share:9.3f} {error:.3f} {width:9.5f} "
                    f"{widths.std() / np.sqrt(repeats):.5f} {foreseen.mean():9.5f} "
                    f"{estimates.mean():9.5f} {estimates.std() / np.sqrt(repeats):.5f} "
                    f"{need[0]:12.0f} ({need[0] / n:.2f}) {need[1]:12.0f} ({need[1] / n:.2f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
