"""Items judged with known error rates, and labels of some chosen in each way."""

import numpy as np
import pytest


class Judging:
    """2,000 items of two classes, 80% of class 1, with a judge of rates .95 and .8 and a score."""

    def __init__(self, n=2000, share=0.8, seed=0):
        self.rng = np.random.default_rng(seed)
        self.y = (self.rng.random(n) < share).astype(np.int64)
        right = self.rng.random(n) < np.where(self.y == 1, 0.95, 0.8)
        self.verdicts = np.where(right, self.y, 1 - self.y)
        self.score = self.rng.normal(size=n) + 2.5 * self.y

    def labels(self, rows):
        found = np.full(len(self.y), -1)
        found[rows] = self.y[rows]
        return found

    def random(self, k):
        return self.labels(self.rng.choice(len(self.y), k, replace=False))

    def even(self, by, k):
        rows = [self.rng.choice(np.flatnonzero(by == c), k // 2, replace=False) for c in (0, 1)]
        return self.labels(np.concatenate(rows))

    def by_verdict(self, k):
        return self.even(self.verdicts, k)

    def by_label(self, k):
        return self.even(self.y, k)


@pytest.fixture
def judging():
    return Judging()
