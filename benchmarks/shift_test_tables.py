"""False alarms of the shift test on real tables where only the prevalence has changed.

    python benchmarks/shift_test_tables.py [--tables kept] [--first-repeat 100] [--repeats 4]
        [--samples 4] [--classifiers logistic,boosting,forest] [--train-sizes 300,2000]

--tables is `development`, `kept` or names separated by commas. Every repetition draws a training
set with the table's own share of positives and, from the other rows, --samples samples of 500 items
at each prevalence of .1, .3, .5, .7 and .9. Alarms are defined as in `quantshift quantify`: prior
shift rejected at 5%, or items out of the training support. Training sets with one cluster cannot be
tested and raise no alarm; their share is in the last column.

The standard error is clustered by training set. Tables in `real_tables.DEVELOPMENT` may be used to
choose constants; those in `real_tables.KEPT_ASIDE` are for reporting only.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from coverage_tables import TABLES, clustered_error
from quantshift import SubclassSLD
from quantshift.base.seeding import generator
from quantshift.diagnosis import shift_tests
from quantshift.quantifying.training.classifiers import CLASSIFIERS
from real_tables import Draw, draw, load, prior_shift_sample

SIZE, PREVALENCES, LEVEL = 500, (0.1, 0.3, 0.5, 0.7, 0.9), 0.05
VIEWS: dict[str, list[str]] = {
    "by classifier and training rows": ["classifier", "n_train"],
    "by prevalence": ["prevalence"],
    "by table": ["table"],
    "pooled": [],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", default="development")
    parser.add_argument("--classifiers", default="logistic,boosting,forest")
    parser.add_argument("--train-sizes", default="300,2000")
    parser.add_argument("--first-repeat", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--samples", type=int, default=4, help="of each prevalence")
    parser.add_argument("--n-bootstrap", type=int, default=200)
    options = parser.parse_args()
    begun = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tests = pd.DataFrame(list(run(options)))
    for title, columns in VIEWS.items():
        print(f"\n{title}")
        print(summarise(tests, columns))
    print(f"\n{time.perf_counter() - begun:.0f} s")


def run(options: Any) -> Iterator[dict[str, Any]]:
    """A row for every test."""
    for name in TABLES.get(options.tables) or options.tables.split(","):
        table = load(name)
        for n_train in map(int, options.train_sizes.split(",")):
            for classifier in options.classifiers.split(","):
                for repeat in range(options.first_repeat, options.first_repeat + options.repeats):
                    key = {"table": name, "n_train": n_train, "classifier": classifier}
                    data = draw(table, n_train, repeat=repeat)
                    for row in of_training_set(data, key, repeat, options):
                        yield {**key, "training_set": "/".join(map(str, key.values())), **row}


def of_training_set(
    data: Draw, key: dict[str, Any], repeat: int, options: Any
) -> Iterator[dict[str, Any]]:
    """The tests of all samples of one training set."""
    rng = generator(0, purpose="shift test of tables", repeat=repeat, **key)
    available = np.bincount(data.y_pool)
    prevalences, rows = [], []
    for p in PREVALENCES:
        shares = np.array([1 - p, p])
        if np.any(SIZE * shares + 3 * np.sqrt(SIZE * p * (1 - p)) > available):
            continue
        for _ in range(options.samples):
            prevalences.append(p)
            rows.append(prior_shift_sample(data.y_pool, shares, SIZE, rng))
    if not rows:
        return
    used, positions = np.unique(np.concatenate(rows), return_inverse=True)
    learner = CLASSIFIERS[key["classifier"]](repeat)
    quantifier = SubclassSLD(learner, seed=repeat).fit(data.X_train, data.y_train)
    divided = len(quantifier.model_.shares) > 1
    if not divided:
        outcomes = [(False, False)] * len(rows)
    else:
        tests = shift_tests(
            quantifier,
            quantifier.items(data.X_pool[used]),
            list(positions.reshape(len(rows), SIZE)),
            level=LEVEL,
            n_bootstrap=options.n_bootstrap,
            seed=repeat,
        )
        outcomes = [(test.p_value < LEVEL, test.out_of_support) for test in tests]
    for p, (rejected, outside) in zip(prevalences, outcomes, strict=True):
        yield {
            "repeat": repeat,
            "prevalence": p,
            "rejected": rejected,
            "outside": outside,
            "divided": divided,
        }


def summarise(tests: pd.DataFrame, columns: list[str]) -> str:
    """Share of alarms with its clustered standard error."""
    lines = [
        f"{' '.join(f'{name:>22}' for name in columns)} {'alarm':>6} {'+-':>6} {'prior':>6} "
        f"{'outside':>7} {'n':>6} {'sets':>5} {'one cluster':>11}"
    ]
    for key, part in tests.groupby(columns) if columns else [((), tests)]:
        alarm = (part["rejected"] | part["outside"]).to_numpy().astype(float)
        sets = (part["training_set"] + "/" + part["repeat"].astype(str)).to_numpy()
        lines.append(
            f"{' '.join(f'{value:>22}' for value in key)} {alarm.mean():6.3f} "
            f"{clustered_error(alarm, sets):6.3f} {part['rejected'].mean():6.3f} "
            f"{part['outside'].mean():7.3f} {len(part):6d} {len(np.unique(sets)):5d} "
            f"{1 - part['divided'].mean():11.2f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
