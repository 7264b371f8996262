"""What `quantshift judge` says beside the share of a class, and how fast: coverage and alarms.

    python benchmarks/judge_checks.py rates [--repeats 400] [--labels 50 100 200]
    python benchmarks/judge_checks.py together [--repeats 400]
    python benchmarks/judge_checks.py check [--repeats 2000]
    python benchmarks/judge_checks.py compare [--repeats 400]
    python benchmarks/judge_checks.py speed

With the verdicts and the choices of labels of `judge_coverage.py`. `rates`: 95% intervals of error
rates and of kappa. `together`: those of shares, with labels of two sources or of two rounds.
`check`: how often designs that are what they are said to be are contradicted, and how often even
numbers are recognised. `compare`: differences of two systems. `speed`: 1,000 batches of counts.

`+-` is the Monte Carlo standard error; a lowest cell is low by chance too.
"""

import argparse
import itertools
import time
import warnings

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from judge_coverage import DESIGNS, SETTINGS, Labelled, Settings, Tally, chosen, simulated
from quantshift.base.seeding import generator
from quantshift.errors import UserError
from quantshift.judging.designs.guessing import check_design, guess_design
from quantshift.judging.designs.parts.judge_quality import cohens_kappa
from quantshift.judging.designs.registry import design_named
from quantshift.judging.estimating.differences import difference
from quantshift.judging.estimating.estimation import estimate
from quantshift.judging.estimating.judged import Judged
from quantshift.judging.items.judged_items import JudgedItems, KnownDraw
from quantshift.judging.items.judged_items import Settings as EstimateSettings
from quantshift.judging.items.meaning import Meaning
from quantshift.judging.plans.planning import Goal, plan
from quantshift.labelling import transfer

INSIST = EstimateSettings(insist=True, of="population", assume="rates")


def judged(data: Labelled, design: str) -> Judged:
    return estimate(data.items, design, INSIST)


def check(settings: Settings, repeats: int, seed: int) -> None:
    """False alarms where the design is true, and even numbers recognised."""
    print(f"{'':24} {'labels':>6} " + " ".join(f"{d:>22}" for d in DESIGNS))
    print(" " * 32 + " ".join(f"{'alarms recognised':>22}" for _ in DESIGNS))
    for (name, setting), k in itertools.product(settings.items(), (40, 50, 100, 200)):
        draw, K = simulated(*setting), len(setting[0])
        said = []
        for design in DESIGNS:
            alarms = recognised = 0
            for repeat in range(repeats):
                rng = generator(
                    seed, purpose="judge check", name=name, k=k, design=design, r=repeat
                )
                data = chosen(design, draw, K, 10_000, k, rng)
                alarms += not check_design(design_named(design), data.items).ok
                if design in ("by-verdict", "by-label"):
                    try:
                        told = guess_design(data.items).design.name
                    except UserError as asked:
                        told = str(asked)
                    like = check_design(design_named("random"), data.items).looks_like or ""
                    recognised += design in told and design in like
            share = recognised / repeats if design in ("by-verdict", "by-label") else np.nan
            said.append(f"{alarms / repeats:13.3f} {share:8.3f}")
        print(f"{name:24} {k:6} " + " ".join(said), flush=True)


def rates_and_kappa(settings: Settings, repeats: int, labels: list[int], seed: int) -> None:
    """Coverage of intervals of error rates (the lowest of all) and of kappa."""
    error = np.sqrt(0.95 * 0.05 / repeats)
    print(
        f"+- {error:.3f}; of rates: the lowest, the mean, and their width; of kappa, and its width"
    )
    for (name, (p, R)), k, design in itertools.product(settings.items(), labels, DESIGNS):
        draw, truth = simulated(p, R), np.array(R)
        kappa = float(cohens_kappa(np.array(p)[:, None] * truth, ordered=False))
        held, agreed, width = np.zeros_like(truth), 0, np.zeros(2)
        for repeat in range(repeats):
            rng = generator(seed, purpose="judge rates", name=name, k=k, design=design, r=repeat)
            (found,) = judged(chosen(design, draw, len(p), 2_000, k, rng), design).judges
            held += (found.rates_low - 1e-9 <= truth) & (truth <= found.rates_high + 1e-9)
            agreed += found.kappa_low <= kappa <= found.kappa_high
            width += (found.rates_high - found.rates_low).mean(), found.kappa_high - found.kappa_low
        held /= repeats
        print(
            f"{name:24} {k:6} {design:>10} {held.min():6.3f} {held.mean():6.3f} "
            f"{width[0] / repeats:6.3f} {agreed / repeats:8.3f} {width[1] / repeats:6.3f}",
            flush=True,
        )


def together(settings: Settings, repeats: int, labels: list[int], seed: int) -> None:
    """Labels of two sources: random ones and others from elsewhere, or two rounds of a plan."""
    for (name, (p, R)), k in itertools.product(settings.items(), labels):
        draw, K, truth = simulated(p, R), len(p), np.array(p)
        for kind in ("random + elsewhere", "random, then a plan"):
            tally = Tally()
            for repeat in range(repeats):
                rng = generator(seed, purpose="judge together", name=name, k=k, kind=kind, r=repeat)
                v, y = draw(None, 2_000, rng)
                known = np.isin(np.arange(2_000), rng.permutation(2_000)[: k // 2])
                labels_ = np.where(known, y, -1)
                if kind == "random + elsewhere":
                    other = draw(np.full(K, 1 / K), k // 2, rng)
                    data = Labelled(v, labels_, K, other)
                    found = estimate(data.items, "random", INSIST).shares
                else:
                    items, goal = Labelled(v, labels_, K).items, Goal(n_labels=k // 2)
                    more = plan(
                        items, goal, settings=EstimateSettings(seed=repeat, of="population")
                    )
                    labels_[more.items] = y[more.items]
                    draw_ = KnownDraw(strata=more.strata)
                    items = JudgedItems.of(v, labels_, Meaning.of_codes(K), drawn=draw_)
                    found = estimate(items, None, INSIST).shares
                limits = zip(found.low.tolist(), found.high.tolist(), strict=True)
                tally.add(list(limits), truth)
            error = np.sqrt(0.95 * 0.05 / repeats)
            print(f"{name:24} {k:6} {kind:>20} {tally!s} +- {error:.3f}", flush=True)


def compare(repeats: int, seed: int) -> None:
    """Coverage of differences of two systems with rates .8 and .7 and answers that go together."""
    for design, paired in itertools.product(("random", "by-label", "elsewhere"), (True, False)):
        covered, widths = 0, []
        for repeat in range(repeats):
            rng = generator(seed, purpose="judge compare", design=design, paired=paired, r=repeat)
            ease = rng.normal(size=(2, 1_000))
            found = []
            rows = rng.permutation(1_000)[:150]
            older = rng.random(150) < 0.6
            told = np.where(rng.random(150) < 0.88, older, ~older).astype(int)
            for i, rate in enumerate((0.8, 0.7)):
                noise = rng.normal(size=1_000)
                own = ease[0 if paired else i] * 0.8 + noise * 0.6
                y = (own < stats.norm.ppf(rate)).astype(int)
                v = np.where(rng.random(1_000) < 0.88, y, 1 - y)
                labels = np.full(1_000, -1)
                if design == "random":
                    labels[rows] = y[rows]
                elif design == "by-label":
                    for c in (0, 1):
                        take = rng.permutation(np.flatnonzero(y == c))[:75]
                        labels[take] = c
                other = (told, older.astype(int)) if design == "elsewhere" else None
                found.append(judged(Labelled(v, labels, 2, other), design))
            d = difference(*found, paired=paired, shared=design == "elsewhere")
            covered += d.low[1] <= 0.1 <= d.high[1]
            widths.append(d.high[1] - d.low[1])
        share = covered / repeats
        error = np.sqrt(share * (1 - share) / repeats)
        print(
            f"{design:>10} {'paired' if paired else 'unpaired':>9} {share:.3f} +- {error:.3f}",
            end=" ",
        )
        print(f"width {np.mean(widths):.3f}", flush=True)


def speed() -> None:
    """1,000 batches in one call; also where two classes are absent, and where no p fits."""
    rng = generator(0, purpose="judge speed")
    for name, (p, R) in SETTINGS.items():
        labelled = np.array([rng.multinomial(50, row) for row in R])
        rows = np.array(R)
        for said, q in (
            ("", np.array(p) @ rows),
            (", border", rows[0]),
            (", no p fits", np.eye(len(p))[0]),
        ):
            counts = rng.multinomial(1_000, q, size=1_000)
            start, cpu = time.perf_counter(), time.process_time()
            transfer.prevalences(labelled, counts)
            print(f"{name + said:35} {time.perf_counter() - start:6.2f} ms a batch,", end=" ")
            print(f"{time.process_time() - cpu:6.2f} ms of CPU", flush=True)


WHAT = ("rates", "together", "check", "compare", "speed")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--labels", type=int, nargs="*", default=[50, 100, 200])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settings", default="", help="the beginning of their names")
    options = parser.parse_args()
    settings = {n: s for n, s in SETTINGS.items() if n.startswith(options.settings)}
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    with threadpool_limits(1):
        if options.what == "rates":
            rates_and_kappa(settings, options.repeats, options.labels, options.seed)
        elif options.what == "together":
            together(settings, options.repeats, options.labels, options.seed)
        elif options.what == "check":
            check(settings, options.repeats, options.seed)
        elif options.what == "compare":
            compare(options.repeats, options.seed)
        else:
            speed()


if __name__ == "__main__":
    main()
