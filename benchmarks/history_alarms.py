"""False alarms per year of the control charts of a history, and how soon a change is seen.

    python benchmarks/history_alarms.py            the report: seed 1
    python benchmarks/history_alarms.py --choose   weights of the average side by side: seed 0

A look is an estimate whose standard deviation is one point, sampling and usual variation together.
Every history has a baseline and then a year of looks, and is seen as `quantshift history` sees it,
at one false alarm a year. An alarm is counted at every look that alarms; alarms in a row are one
episode. Delays are looks from a change until the first alarm, when the change comes in the 11th
look after the baseline; a history that alarms before it is left out.
About a minute of processor time. Standard errors over the histories are in brackets.
"""

import argparse
from collections.abc import Callable

import numpy as np

from quantshift.history.control import WEIGHT, control_chart, level_per_look
from quantshift.seeding import generator

POINT = 0.01
SHARE = 0.1
N_ITEMS = 20_000
RATES = {"daily": 365, "weekly": 52}
BASELINES = (10, 20, 50)
CHANGES = (1, 2, 5)
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 1.0)
QUIET = 10

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
"""Deviations of looks from the usual share, and their standard errors, in points."""


def normal(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=n), np.ones(n)


def heavy_tailed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Student's t with four degrees of freedom, scaled to a standard deviation of 1."""
    return rng.standard_t(4, size=n) / np.sqrt(2), np.ones(n)


def skewed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts of a rare class: Poisson with mean 4, scaled to a standard deviation of 1."""
    return (rng.poisson(4, size=n) - 4) / 2, np.ones(n)


def unequal(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Batches of unequal sizes: standard deviations between 0.5 and 1.4, as the intervals say."""
    scales = rng.choice([0.5, 0.8, 1.0, 1.4], size=n)
    return scales * rng.normal(size=n), scales


def correlated(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Each look depends on the one before: autocorrelation 0.3, which the chart does not know."""
    steps = rng.normal(size=n) * np.sqrt(1 - 0.3**2)
    looks = np.empty(n)
    looks[0] = rng.normal()
    for i in range(1, n):
        looks[i] = 0.3 * looks[i - 1] + steps[i]
    return looks, np.ones(n)


KINDS: dict[str, Draw] = {
    "normal": normal,
    "heavy-tailed": heavy_tailed,
    "skewed": skewed,
    "unequal": unequal,
    "correlated": correlated,
}


def alarms(
    looks: np.ndarray, errors: np.ndarray, n_baseline: int, rate: int, weight: float
) -> np.ndarray:
    chart = control_chart(
        SHARE + POINT * looks,
        POINT * errors,
        np.full(len(looks), N_ITEMS),
        n_baseline=n_baseline,
        level=level_per_look(1, rate),
        weight=weight,
    )
    return chart.alarms


def quiet_years(
    kind: str, rate: int, n_baseline: int, weight: float, repeats: int, seed: int
) -> str:
    """Alarming looks and episodes in a year, and the share of years with any."""
    looks, episodes = np.empty(repeats), np.empty(repeats)
    for repeat in range(repeats):
        axes = {"kind": kind, "rate": rate, "baseline": n_baseline, "repeat": repeat}
        rng = generator(seed, **axes)
        found = alarms(*KINDS[kind](rng, n_baseline + rate), n_baseline, rate, weight)
        looks[repeat] = found.sum()
        episodes[repeat] = found[0] + np.sum(found[1:] & ~found[:-1])
    return f"{_mean(looks)}  {_mean(episodes)}  {_mean(episodes > 0)}"


def delay(change: float, rate: int, n_baseline: int, weight: float, repeats: int, seed: int) -> str:
    """Mean and 90th percentile of the looks until the first alarm; None within a year is a year."""
    waited = []
    for repeat in range(repeats):
        rng = generator(seed, change=change, rate=rate, baseline=n_baseline, repeat=repeat)
        looks = rng.normal(size=n_baseline + QUIET + rate)
        looks[n_baseline + QUIET :] += change
        found = alarms(looks, np.ones(len(looks)), n_baseline, rate, weight)
        if not found[:QUIET].any():
            after = found[QUIET:]
            waited.append(int(after.argmax()) + 1 if after.any() else rate)
    return f"{_mean(np.array(waited))} {np.percentile(waited, 90):5.0f}"


def _mean(values: np.ndarray) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):7.2f} ({error:.2f})"


def choose(repeats: int) -> None:
    print("Looks until a change is seen, mean and 90th percentile; baseline of 20 looks, seed 0")
    for name, rate in RATES.items():
        for change in CHANGES:
            told = [f"{w}: {delay(change, rate, 20, w, repeats, 0)}" for w in WEIGHTS]
            print(f"{name} {change} points  {'   '.join(told)}")
    for kind in ("normal", "heavy-tailed"):
        for weight in WEIGHTS:
            told = quiet_years(kind, 365, 20, weight, repeats, 0)
            print(f"daily {kind} weight {weight}: alarming looks, episodes, any: {told}")


def report(repeats: int) -> None:
    print(f"Weight {WEIGHT}, one false alarm a year asked for, seed 1, {repeats} histories each")
    print("looks   variation     baseline  alarming looks  episodes  years with any")
    for name, rate in RATES.items():
        for kind in KINDS:
            for n_baseline in BASELINES:
                told = quiet_years(kind, rate, n_baseline, WEIGHT, repeats, 1)
                print(f"{name:7} {kind:13} {n_baseline:8}  {told}")
    print("looks   change    baseline  looks until an alarm: mean (error), 90th percentile;")
    print("        the same by single looks instead of an average")
    for name, rate in RATES.items():
        for change in CHANGES:
            for n_baseline in BASELINES:
                own = delay(change, rate, n_baseline, WEIGHT, repeats, 1)
                single = delay(change, rate, n_baseline, 1.0, repeats, 1)
                print(f"{name:7} {change} points  {n_baseline:8}  {own}   {single}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--repeats", type=int, default=1500)
    chosen = parser.parse_args()
    (choose if chosen.choose else report)(chosen.repeats)
