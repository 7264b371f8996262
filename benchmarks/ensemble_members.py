"""EoQ on reviews under prior shift: how far its members' posteriors can be trusted as they are.

    python benchmarks/ensemble_members.py REVIEWS.txt.gz [--members 10] [--seed 0]

REVIEWS: lines of stars, a tab and a text; three stars are left out, more are the positive class.
2,000 reviews in training, samples of 300 from the other half at prevalences 0, .1, ..., 1. Mean
absolute errors over the samples, with their standard error, and the range over the members.
"""

import argparse
import gzip
from itertools import islice

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import quantshift as qs

N_REVIEWS, N_TRAIN, SIZE, PER_PREVALENCE = 30_000, 2_000, 300, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("reviews")
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    X, y = read(options.reviews, rng)
    half = len(y) // 2

    def drawn(p: float, size: int, begin: int, end: int) -> np.ndarray:
        counts = {1: round(p * size), 0: size - round(p * size)}
        return np.concatenate(
            [
                rng.choice(begin + np.flatnonzero(y[begin:end] == k), n, replace=False)
                for k, n in counts.items()
            ]
        )

    p_true = np.repeat(np.linspace(0, 1, 11), PER_PREVALENCE)
    for p_train in (0.5, 0.1):
        train = drawn(p_train, N_TRAIN, 0, half)
        index = np.stack([drawn(p, SIZE, half, len(y)) for p in p_true])
        for name, quantifier in methods(options.members).items():
            quantifier.fit(X[train], y[train])
            error = np.abs(quantifier.predict(X, index)[:, 1] - p_true)
            line = f"{error.mean():.4f} (+- {error.std() / np.sqrt(len(error)):.4f})"
            if isinstance(quantifier, qs.EoQ):
                of_members = [
                    np.abs(member.predict(X, index)[:, 1] - p_true).mean()
                    for member in quantifier.members_
                ]
                line += f", members {min(of_members):.3f} to {max(of_members):.3f}"
            print(f"trained at {p_train}: {name:22} {line}", flush=True)


def methods(n_members: int) -> dict[str, qs.AbstractQuantifier]:
    model = LogisticRegression()
    return {
        "SLD, not calibrated": qs.SLD(model, calibration="none"),
        "SLD": qs.SLD(model),
        "PACC": qs.PACC(model),
        "EoQ, not calibrated": qs.EoQ(classifier=model, n_members=n_members, calibration="none"),
        "EoQ": qs.EoQ(classifier=model, n_members=n_members),
        "EoQ of PACC": qs.EoQ(qs.PACC(), classifier=model, n_members=n_members),
    }


def read(path: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t", 1) for line in islice(lines, N_REVIEWS)]
    kept = [row for row in rows if row[0] != "3"]
    X = TfidfVectorizer(min_df=10, max_features=8000).fit_transform(text for _, text in kept)
    y = np.array([int(stars) > 3 for stars, _ in kept]).astype(int)
    order = rng.permutation(len(y))
    return X[order], y[order]


if __name__ == "__main__":
    main()
