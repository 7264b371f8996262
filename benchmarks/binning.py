"""How much an estimate changes when cells of a sketch take the place of rows, for every method.

    python benchmarks/binning.py               two classes, about 4 minutes of processor time
    python benchmarks/binning.py --classes 3
    python benchmarks/binning.py --methods SLD,MS --rows 1_000_000
    python benchmarks/binning.py --classes 3 --separation 1.5 --sharpness 1 --rows 200_000

Posteriors are drawn (seed 0) from classes with normal scores: separation is how far that of an
item's own class is above the others, in standard deviations, and odds are the exponential of
sharpness times the score. Each method is fitted on 4,000
labelled items and estimates samples of several prevalences twice: from all rows, and from the
sketch of these rows. The error is the difference of the two, for the class that is rarest in the
sample: absolute, and relative to the estimate from all rows (if that is 0.001 at least; of 0 there
is no part). Printed are the largest over the samples and the mean.
`training rounded` has the labelled items rounded as well, as those of more than 65,536 different
scores are; otherwise a sketch keeps their scores as they are, also if a database counts them.
"""

import argparse

import numpy as np
import polars as pl

from quantshift.base.seeding import generator
from quantshift.errors import UserError
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractClassifying
from quantshift.sketches import sketch
from quantshift.sketches.cells import rounded
from quantshift.sketches.cells import score as cells
from quantshift.sketches.estimating.batches import batches_of
from quantshift.sketches.estimating.counts import point_estimates

SHARES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
N_TRAINING = 4000
LEAST, GOAL = 0.001, 1e-3
SLOW = {"BayesianKDEy", "LEIP", "BayesianCC"}
"""They draw at random, or take minutes for each sample."""


def posteriors(
    codes: np.ndarray,
    n_classes: int,
    rng: np.random.Generator,
    separation: float,
    sharpness: float,
) -> np.ndarray:
    """Of classes whose items have normal scores around the corners of a simplex."""
    scores = rng.normal(size=(len(codes), n_classes))
    scores[np.arange(len(codes)), codes] += separation
    odds = np.exp(sharpness * scores)
    return odds / odds.sum(axis=1, keepdims=True)


def drawn(
    share: float,
    n: int,
    n_classes: int,
    *axes: object,
    separation: float = 2.2,
    sharpness: float = 2.2,
) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors and codes; the first class has the share, the others equal parts of the rest."""
    rng = generator(0, axes=str(axes), share=share, n=n, n_classes=n_classes)
    rest = (1 - share) / (n_classes - 1)
    codes = rng.choice(n_classes, n, p=[share] + [rest] * (n_classes - 1))
    return posteriors(codes, n_classes, rng, separation, sharpness), codes


def frame(p: np.ndarray) -> pl.DataFrame:
    """As a table; two classes by the score of the second."""
    first = 1 if p.shape[1] == 2 else 0
    return pl.DataFrame({f"p{k}": p[:, k] for k in range(first, p.shape[1])})


def fitted_twice(
    kind: type[AbstractClassifying], p: np.ndarray, codes: np.ndarray
) -> tuple[AbstractClassifying, AbstractClassifying]:
    """The method fitted on the labelled items, and on rounded ones in the same order."""
    n_classes = p.shape[1]
    if n_classes == 2:
        scores = cells.NARROW.stands_for(cells.NARROW.of(p[:, 1]))
        binned = np.column_stack([1 - scores, scores])
    else:
        binned = rounded.stands_for(*rounded.rounded_cells(cells.rescaled(p)))
    classes = range(n_classes)
    return (
        kind().fit_posteriors(p, codes, classes=classes),
        kind().fit_posteriors(binned, codes, classes=classes),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--rows", type=lambda text: int(text.replace("_", "")), default=50_000)
    parser.add_argument("--shares", type=lambda t: [float(s) for s in t.split(",")], default=SHARES)
    parser.add_argument("--methods", type=lambda text: text.split(","))
    parser.add_argument("--separation", type=float, default=2.2)
    parser.add_argument("--sharpness", type=float, default=2.2)
    options = parser.parse_args()
    methods = {
        name: kind
        for name, kind in catalogue.quantifiers().items()
        if issubclass(kind, AbstractClassifying) and not kind.tags.sees - {"posteriors"}
        if (name in options.methods if options.methods else name not in SLOW)
    }
    kind_of_scores = {"separation": options.separation, "sharpness": options.sharpness}
    labelled, codes = drawn(0.4, N_TRAINING, options.classes, "training", **kind_of_scores)
    samples = [
        (drawn(share, options.rows, options.classes, **kind_of_scores)[0], share)
        for share in options.shares
    ]
    counted, size = [], 0
    for p, _ in samples:
        names = frame(p).columns
        asked = {"score": names[0]} if options.classes == 2 else {"posteriors": names}
        made = sketch(frame(p), bins=True, **asked)
        size = max(size, len(made.to_bytes()))
        (batch,) = batches_of(made, list(range(options.classes))).values()
        counted.append(batch.sample)
    print(f"{options.classes} classes, samples of {options.rows:,} rows, shares {options.shares}")
    print(f"a sketch has up to {size:,} bytes")
    print("                 training as it is                       training rounded")
    print("method           absolute  relative  mean relative       absolute  relative")
    for name, kind in methods.items():
        try:
            fitted, coarse = fitted_twice(kind, labelled, codes)
            estimates = []
            for (p, _), sample in zip(samples, counted, strict=True):
                all_rows = fitted.aggregate(p)
                rarest = int(all_rows.argmin())
                from_cells = [point_estimates(q, sample)[0][rarest] for q in (fitted, coarse)]
                estimates.append([all_rows[rarest], *from_cells])
        except UserError as error:
            print(f"{name:16} {error}")
            continue
        exact, trained_on_rows, trained_on_cells = np.array(estimates).T
        large = exact >= LEAST
        lines = []
        for other in (trained_on_rows, trained_on_cells):
            error = np.abs(other - exact)
            relative = (error / np.maximum(exact, LEAST))[large]
            lines.append((error.max(), relative.max(initial=0.0), relative.mean()))
        (absolute, worst, mean), (absolute_too, worst_too, _) = lines
        verdict = "" if worst <= GOAL else "  above 1e-3"
        print(
            f"{name:16} {absolute:8.1e}  {worst:8.1e}  {mean:8.1e}            "
            f"{absolute_too:8.1e}  {worst_too:8.1e}{verdict}",
            flush=True,
        )


if __name__ == "__main__":
    main()
