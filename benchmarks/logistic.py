"""The batched logistic regression against scikit-learn's, on the two stages of one cell.

Selection: 3,000 documents, 12 settings x (all + 5 folds) = 72 problems. Final: 5,000 documents, 6
settings x (all + 5 folds) = 36 problems. One core for both. The documents are real reviews, read
from the folder named by QUANTSHIFT_REVIEWS; without it, a sparse matrix with Zipf-like word
frequencies is used instead.

    python benchmarks/logistic.py [--prevalence 0.01 0.5 0.99] [--solver quantshift:1e-6 lbfgs:1e-4]
        [--repeats 3] [--seed 0] [--classes 3 5 20] [--small]

A solver is one of scikit-learn's or ours, with its tolerance: the relative excess of the objective
for ours, the largest entry of the gradient of the mean loss for scikit-learn's (newton-cg:1e-6 is
the former criterion of ours). Times are processor seconds of the one thread for both stages
together, the best of the repeats, so that other work on the machine matters little; compilation is
not counted. Then, for each C, over all problems of both stages: products with the matrix (ours
only; the sum), the largest excess of the objective over its minimum as a share of the minimum, and
how far estimates are from those of the exact solution (a gap of 1e-14). These are estimates by PCC
and by SLD, as usual from held-out posteriors of the training set, of 220 samples of 500 documents
with 0 to 100% positives: the mean difference, its standard error over the samples, and the largest.

--classes is for more than two classes: generated documents of that many classes, the selection
stage. Scikit-learn solves only the problems of all items and of one fold, because of the time it
takes. Printed are processor seconds per problem, by C, the largest excess, and the largest
difference of a posterior from that of the exact solution.
"""

import argparse
import gzip
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from parts.real_reviews import review_files
from quantshift import PCC, SLD
from quantshift.base.seeding import generator
from quantshift.classify.folds import stratified_folds
from quantshift.classify.logistic.models import balanced_weights, fit_logistic, posteriors_of

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
SETTINGS = [(C, balanced) for C in GRID for balanced in (False, True)]
WINNERS = [(1.0, False), (10.0, False), (10.0, True), (100.0, False), (100.0, True), (1000.0, True)]
STAGES = [("selection", 3000, SETTINGS), ("final", 5000, WINNERS)]
SOLVERS = ["quantshift:1e-6", "quantshift:1e-8", "lbfgs:1e-4", "lbfgs:1e-8", "newton-cg:1e-8"]
OURS = "quantshift"
N_FOLDS = 5
POOL, SAMPLE, REPEATS = 2000, 500, 20


@dataclass(frozen=True)
class Case:
    """One stage: problems, documents to draw samples from, and what the exact solution gives.

    minimum: (problems,). estimates: (settings, methods, samples).
    """

    X: Any
    codes: Any
    folds: Any
    C: Any
    weights: Any
    pool: Any
    samples: Any
    minimum: Any = None
    estimates: Any = None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prevalence", type=float, nargs="+", default=[0.5, 0.02])
    parser.add_argument("--solver", nargs="+", default=SOLVERS, metavar="NAME:TOL")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--classes", type=int, nargs="+", metavar="K", help="more than two")
    parser.add_argument("--small", action="store_true", help="a trial: a tenth of the documents")
    options = parser.parse_args()
    if options.classes:
        with threadpool_limits(limits=1):
            for n_classes in options.classes:
                report_classes(n_classes, options.solver, options.seed)
        return
    shrink = 10 if options.small else 1
    stages = [(name, n_items // shrink, settings) for name, n_items, settings in STAGES]
    texts = read_reviews()
    print("real reviews" if texts else "no reviews found: generated sparse data")
    with threadpool_limits(limits=1):
        for prevalence in options.prevalence:
            print(f"\nprevalence {prevalence}")
            cases = [make_case(texts, prevalence, options.seed, *stage) for stage in stages]
            for solver in options.solver:
                name, _, tol = solver.partition(":")
                report(name, float(tol), cases, options.repeats)


def make_case(
    texts: dict[bool, list[str]] | None,
    prevalence: float,
    seed: int,
    stage: str,
    n_items: int,
    settings: list[tuple[float, bool]],
) -> Case:
    rng = generator(seed, benchmark="logistic", n_items=n_items, prevalence=prevalence)
    X, codes, pool, pool_codes = documents(texts, n_items, prevalence, rng)
    folds = stratified_folds(codes, N_FOLDS, seed=seed)
    C, weights = problems(codes, folds, settings)
    exact = fit_logistic(X, codes, C, weights, tol=1e-14)
    if not exact.converged.all():
        raise RuntimeError("the reference solution has not converged")
    print(f"  {stage}: {n_items} x {X.shape[1]}, {X.nnz / n_items:.0f} per row, {len(C)} problems")
    of_class = [np.flatnonzero(pool_codes == code) for code in (0, 1)]
    samples = [
        np.concatenate([rng.choice(of_class[0], SAMPLE - k), rng.choice(of_class[1], k)])
        for k in np.tile(np.arange(0, SAMPLE + 1, SAMPLE // 10), REPEATS)
    ]
    case = Case(X, codes, folds, C, weights, pool, np.array(samples))
    solution = (case, exact.coef, exact.intercept)
    return replace(case, minimum=objectives(*solution), estimates=estimates(*solution))


def report(name: str, tol: float, cases: list[Case], repeats: int) -> None:
    seconds = 0.0
    excess: dict[float, list[float]] = {c: [] for c in GRID}
    products = dict.fromkeys(GRID, 0)
    off: dict[float, list[Any]] = {c: [] for c in GRID}
    for case in cases:
        times = []
        for _ in range(repeats if name == OURS else 1):
            start = time.thread_time()
            coef, intercept, iterations = fit(name, tol, case)
            times.append(time.thread_time() - start)
        seconds += min(times)
        relative = objectives(case, coef, intercept) / case.minimum - 1
        for c, value, n in zip(case.C, relative, iterations, strict=True):
            excess[c].append(value)
            products[c] += n
        differences = np.abs(estimates(case, coef, intercept) - case.estimates)
        for c, difference in zip(case.C[:: N_FOLDS + 1], differences, strict=True):
            off[c].append(difference)
    print(f"  {name} tol={tol:g}: {seconds:.3f} s")
    print(f"{'C':>10}{'products':>10}{'excess':>10}{'PCC: mean (se) max':>32}{'SLD':>32}")
    for c in GRID:
        by_method = np.concatenate(off[c], axis=1)
        means = by_method.mean(axis=1)
        errors = by_method.std(axis=1) / np.sqrt(by_method.shape[1])
        print(
            f"{c:>10g}{products[c]:>10}{max(excess[c]):>10.1e}"
            + "".join(
                f"{mean:>13.1e} ({error:.0e}) {largest:.1e}"
                for mean, error, largest in zip(means, errors, by_method.max(axis=1), strict=True)
            )
        )


def fit(name: str, tol: float, case: Case) -> tuple[Any, Any, Any]:
    """Coefficients (features, problems), intercepts and products with the matrix (0: unknown)."""
    if name == OURS:
        models = fit_logistic(case.X, case.codes, case.C, case.weights, tol=tol)
        return models.coef, models.intercept, models.iterations
    coef, intercept = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for c, weight in zip(case.C, case.weights, strict=True):
            inside = np.flatnonzero(weight)
            model = LogisticRegression(C=c, solver=name, tol=tol, max_iter=10_000)
            model.fit(case.X[inside], case.codes[inside], sample_weight=weight[inside])
            coef.append(model.coef_[0])
            intercept.append(model.intercept_[0])
    return np.array(coef).T, np.array(intercept), np.zeros(len(coef), int)


def objectives(case: Case, coef: Any, intercept: Any) -> Any:
    scores = (case.X @ coef + intercept).T
    losses = np.logaddexp(0, np.where(case.codes == 1, -scores, scores))
    return 0.5 * (coef**2).sum(axis=0) + case.C * (case.weights * losses).sum(axis=1)


def estimates(case: Case, coef: Any, intercept: Any) -> Any:
    """Estimated share of positives, (settings, methods, samples)."""
    scores = (case.X @ coef + intercept).T.reshape(-1, N_FOLDS + 1, len(case.codes))
    held_out = posteriors_of(scores[:, case.folds + 1, np.arange(len(case.codes))])
    of_all = slice(None, None, N_FOLDS + 1)
    pool = posteriors_of((case.pool @ coef[:, of_all] + intercept[of_all]).T)
    p_hat = [
        method.fit_posteriors(out_of_fold, case.codes).aggregate(posteriors, case.samples)[:, 1]
        for out_of_fold, posteriors in zip(held_out, pool, strict=True)
        for method in (PCC(), SLD())
    ]
    return np.reshape(p_hat, (len(pool), 2, -1))


def problems(
    codes: Any, folds: Any, settings: list[tuple[float, bool]], n_classes: int = 2
) -> tuple[Any, Any]:
    C, weights = [], []
    for c, balanced in settings:
        for fold in range(-1, N_FOLDS):
            member = folds != fold
            C.append(c)
            weights.append(
                balanced_weights(codes, member, n_classes) if balanced else member.astype(float)
            )
    return np.array(C), np.array(weights)


def report_classes(n_classes: int, solvers: list[str], seed: int) -> None:
    rng = generator(seed, benchmark="classes", n_classes=n_classes)
    _, n_items, settings = STAGES[0]
    share = 1 / np.sqrt(np.arange(n_classes) + 1)
    codes = rng.choice(n_classes, n_items, p=share / share.sum())
    X = generated(codes, rng, n_classes)
    folds = stratified_folds(codes, N_FOLDS, seed=seed)
    C, weights = problems(codes, folds, settings, n_classes)
    print(f"\n{n_classes} classes: {n_items} x {X.shape[1]}, {X.nnz / n_items:.0f} per row")
    exact = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=1e-14)
    minima = class_objectives(X, codes, C, weights, exact.coef, exact.intercept)
    few = np.flatnonzero(np.arange(len(C)) % (N_FOLDS + 1) < 2)
    for solver in solvers:
        name, _, tol = solver.partition(":")
        solved = np.arange(len(C)) if name == OURS else few
        start = time.thread_time()
        if name == OURS:
            models = fit_logistic(X, codes, C, weights, n_classes=n_classes, tol=float(tol))
            coef, intercept = models.coef, models.intercept
            by_problem = np.full(len(C), (time.thread_time() - start) / len(C))
        else:
            coef, intercept, by_problem = fit_each(
                name, float(tol), X, codes, C[solved], weights[solved]
            )
        values = class_objectives(X, codes, C[solved], weights[solved], coef, intercept)
        logits = np.moveaxis(np.tensordot(X.toarray(), coef, axes=1), 1, 0) + intercept[:, None]
        off = np.abs(posteriors_of(logits, n_classes) - exact.training_posteriors[solved])
        off = off.max(axis=(1, 2))
        print(f"  {solver}: {by_problem.mean():.4f} s per problem, {len(solved)} problems")
        print(f"{'C':>10}{'seconds':>10}{'excess':>10}{'posterior':>11}")
        for c in GRID:
            at_c = C[solved] == c
            excess = (values / minima[solved] - 1)[at_c].max()
            seconds = "" if name == OURS else f"{by_problem[at_c].mean():.4f}"
            print(f"{c:>10g}{seconds:>10}{excess:>10.1e}{off[at_c].max():>11.1e}")


def fit_each(
    name: str, tol: float, X: Any, codes: Any, C: Any, weights: Any
) -> tuple[Any, Any, Any]:
    """Coefficients (features, problems, classes), intercepts and seconds of scikit-learn."""
    coef, intercept, seconds = [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        for c, weight in zip(C, weights, strict=True):
            inside = np.flatnonzero(weight)
            start = time.thread_time()
            model = LogisticRegression(C=c, solver=name, tol=tol, max_iter=10_000)
            model.fit(X[inside], codes[inside], sample_weight=weight[inside])
            seconds.append(time.thread_time() - start)
            coef.append(model.coef_.T)
            intercept.append(model.intercept_)
    return np.stack(coef, axis=1), np.array(intercept), np.array(seconds)


def class_objectives(X: Any, codes: Any, C: Any, weights: Any, coef: Any, intercept: Any) -> Any:
    values = []
    for j, (c, weight) in enumerate(zip(C, weights, strict=True)):
        logits = X @ np.ascontiguousarray(coef[:, j]) + intercept[j]
        losses = logsumexp(logits, axis=1) - logits[np.arange(len(codes)), codes]
        values.append(0.5 * (coef[:, j] ** 2).sum() + c * weight @ losses)
    return np.array(values)


def documents(
    texts: dict[bool, list[str]] | None, n_items: int, prevalence: float, rng: np.random.Generator
) -> tuple[Any, Any, Any, Any]:
    """Training set and pool, features and codes of each; half of the pool is positive."""
    codes = np.concatenate(
        [
            rng.permutation(np.arange(n) < round(n * share))
            for n, share in ((n_items, prevalence), (POOL, 0.5))
        ]
    ).astype(np.int64)
    if texts is None:
        both = generated(codes, rng)
        X, pool = both[:n_items], both[n_items:]
    else:
        order = {label: iter(rng.permutation(len(texts[label]))) for label in (False, True)}
        chosen = [texts[bool(code)][next(order[bool(code)])] for code in codes]
        vectoriser = TfidfVectorizer(min_df=3, sublinear_tf=True)
        X = csr_array(vectoriser.fit_transform(chosen[:n_items]))
        pool = csr_array(vectoriser.transform(chosen[n_items:]))
    return X, codes[:n_items], pool, codes[n_items:]


def generated(codes: Any, rng: np.random.Generator, n_classes: int = 2) -> Any:
    """Rows of about 85 of 9,000 words, word k as frequent as 1 / (k + 10), tilted by class."""
    n_words, frequency = 9000, 1 / (np.arange(9000) + 10)
    rows, columns = [], []
    tilts = generator(0, benchmark="tilt").normal(0, 0.4, n_words) * [[-1], [1]]
    if n_classes > 2:
        tilts = generator(0, benchmark="tilts").normal(0, 0.6, (n_classes, n_words))
    for code, tilt in enumerate(tilts):
        share = frequency * np.exp(tilt)
        for i in np.flatnonzero(codes == code):
            words = np.unique(rng.choice(n_words, 130, p=share / share.sum()))
            rows.append(np.full(words.size, i))
            columns.append(words)
    row, column = np.concatenate(rows), np.concatenate(columns)
    idf = 1 + np.log(len(codes) / np.bincount(column, minlength=n_words).clip(1))
    X = csr_array((idf[column], (row, column)), shape=(len(codes), n_words))
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X


def read_reviews() -> dict[bool, list[str]] | None:
    texts: dict[bool, list[str]] = {False: [], True: []}
    for path in review_files():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                star, tab, text = line.partition("\t")
                if tab and star in "1245":
                    texts[int(star) > 3].append(text)
    return texts if texts[True] else None


if __name__ == "__main__":
    main()
