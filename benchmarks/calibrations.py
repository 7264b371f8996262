"""More than two classes: the error of SLD by calibration, and which one "auto" takes.

    python benchmarks/calibrations.py [--tables digits,uci_image_seg] [--first-repeat 100]
        [--repeats 5] [--sizes 300,1000] [--learner logistic]

Training sets of each size; 40 samples of 500 items each, prevalences uniform on the simplex, drawn
with replacement from the rest of the table. Mean absolute error times 1,000, and its standard error
over training sets. "before": what "auto" was without the scaling calibrations. Tables of
`real_tables.DEVELOPMENT` may choose constants, the others only report; digits are scikit-learn's.
"""

import argparse
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from quantshift import SLD
from quantshift.base.seeding import generator
from quantshift.classify.calibration import calibration
from real_tables import draw, load

NAMES = ("none", "temperature", "nbvs", "bcts", "vs", "sigmoid", "isotonic", "before", "auto")
LEARNERS: dict[str, Any] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
    "forest": lambda: RandomForestClassifier(50, min_samples_leaf=2, random_state=0),
    "bayes": GaussianNB,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", default="digits,uci_image_seg")
    parser.add_argument("--sizes", default="300,1000")
    parser.add_argument("--learner", default="logistic", choices=list(LEARNERS))
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'':28}", *(f"{name:>12}" for name in NAMES))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for table in options.tables.split(","):
            for n_train in map(int, options.sizes.split(",")):
                report(table, n_train, options)


def report(table: str, n_train: int, options: Any) -> None:
    chosen: Counter[str] = Counter()
    rows = []
    for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
        X, y, X_pool, y_pool = parts(table, n_train, repeat)
        rng = generator(0, purpose="calibrations", table=table, n=n_train, repeat=repeat)
        n_classes = len(np.unique(y))
        scorer = SLD(LEARNERS[options.learner](), calibration="sigmoid", cv=5).fit(X, y)
        held_out, pool = scorer.held_out_posteriors_, scorer.items(X_pool).posteriors
        members = [np.flatnonzero(y_pool == k) for k in scorer.classes_]
        truth = rng.dirichlet(np.ones(n_classes), 40)
        counts = np.stack([rng.multinomial(500, p) for p in truth])
        index = np.stack(
            [
                np.concatenate(
                    [rng.choice(m, c) for m, c in zip(members, sample_counts, strict=True)]
                )
                for sample_counts in counts
            ]
        )
        row = []
        for name in NAMES:
            fitted = SLD(calibration="auto" if name == "before" else name)
            if name == "before":
                now = calibration._RIVALS_OF_MANY
                calibration._RIVALS_OF_MANY = calibration._RIVALS
            fitted.fit_posteriors(held_out, y)
            if name == "before":
                calibration._RIVALS_OF_MANY = now
            if name == "auto":
                chosen[chosen_name(fitted, held_out, y)] += 1
            p_hat = fitted.aggregate(pool, index)
            row.append(1000 * np.abs(p_hat - counts / 500).mean())
        rows.append(row)
    error = np.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
    cells = [f"{m:6.2f}+-{e:4.2f}" for m, e in zip(np.mean(rows, axis=0), error, strict=True)]
    print(
        f"{table + ' ' + str(n_train):28}", *(f"{c:>12}" for c in cells), dict(chosen), flush=True
    )


def chosen_name(fitted: SLD, held_out: np.ndarray, y: np.ndarray) -> str:
    """The name of the calibration that "auto" has taken."""
    codes = np.unique(y, return_inverse=True)[1]
    now = fitted.calibrator_(held_out)
    names = ("bcts", "vs", "sigmoid", "beta", "smooth", "isotonic")
    distances = {
        n: np.abs(calibration.CALIBRATIONS[n](held_out, codes)(held_out) - now) for n in names
    }
    return min(distances, key=lambda name: float(distances[name].max()))


def parts(table: str, n_train: int, repeat: int) -> tuple[np.ndarray, ...]:
    """Training items and the pool that samples are drawn from."""
    if table == "digits":
        X, y = load_digits(return_X_y=True)
        order = generator(0, purpose="calibrations", repeat=repeat).permutation(len(y))
        return X[order[:n_train]], y[order[:n_train]], X[order[n_train:]], y[order[n_train:]]
    data = draw(load(table, binary=False), n_train, repeat=repeat)
    return data.X_train, data.y_train, data.X_pool, data.y_pool


if __name__ == "__main__":
    main()
