"""Performance without labels, beside nannyml's CBPE: errors and coverage in five worlds.

Logistic regressions and samples are those of `shifted_classifier.py`; `quantshift.performance` is
told nothing. Both get the same out-of-fold probabilities of the training rows as a reference. Of
nannyml's methods CBPE is in the open package, PAPE and M-CBPE are not. Where a range is too wide
`performance` gives no estimate; such samples count for no method.
"""

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from quantshift.claims import Kind

MEASURES = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "auc": "roc_auc"}
"""Our names, and nannyml's."""
WORLDS = "prior,feature,score,mixed,natural"
SAMPLES = 4
"""Of each task."""


def drawn(options: Any) -> pd.DataFrame:
    """A row for each sample: truths, estimates, limits and seconds of processor time.

    options: with `tables`, `worlds`, `repeats`.
    """
    import shifted_classifier as made

    made.learners = lambda repeat: {"logistic": made.LogisticRegression(max_iter=2000)}
    made.measured = estimated
    options.first_repeat = 0
    return pd.DataFrame(list(made.run(options)))


def estimated(classifier: Any, X: Any, y: Any, samples: Any) -> Iterator[dict[str, Any]]:
    from quantshift import performance
    from quantshift.measuring import MEASURES as KNOWN
    from quantshift.measuring import LabelledScores

    trained = classifier.examiner_.plain
    reference, codes = trained.held_out_posteriors_[:, 1], trained.held_out_codes_
    raw = classifier.predict_proba(X)
    for rows in samples[:SAMPLES]:
        begun = time.process_time()
        found = performance(classifier, X[rows], measures=list(MEASURES), n_bootstrap=60)
        row: dict[str, Any] = {"kind": found.kind, "ours ms": 1e3 * (time.process_time() - begun)}
        items = LabelledScores.of_labels(raw[rows], raw[rows].argmax(axis=1), y[rows])
        for name in MEASURES:
            measure, label = KNOWN[name], None if name == "accuracy" else 1
            row[f"true {name}"] = (
                measure.overall(items)  # type: ignore[misc]
                if measure.overall
                else measure.of_classes(items)[1]  # type: ignore[misc]
            )
            each = found.of(name, label)
            row |= {f"ours {name}": each.estimate, f"training {name}": each.training}
            row |= {f"ours low {name}": each.low, f"ours high {name}": each.high}
        yield row | by_cbpe(reference, codes, raw[rows, 1])


def by_cbpe(reference: Any, codes: Any, sample: Any) -> dict[str, Any]:
    """What nannyml says; its boundaries are three standard errors of drawing the sample away."""
    os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # it reports every call otherwise
    import nannyml  # type: ignore[import-not-found]

    known = pd.DataFrame({"p": reference, "predicted": (reference > 0.5).astype(int), "y": codes})
    new = pd.DataFrame({"p": sample, "predicted": (sample > 0.5).astype(int)})
    begun = time.process_time()
    try:
        estimator = nannyml.CBPE(
            y_pred_proba="p",
            y_pred="predicted",
            y_true="y",
            problem_type="classification_binary",
            metrics=list(MEASURES.values()),
            chunk_number=1,
        ).fit(known)
        frame = estimator.estimate(new).filter(period="analysis").to_df()
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    row: dict[str, Any] = {"cbpe ms": 1e3 * (time.process_time() - begun)}
    for name, theirs in MEASURES.items():
        part = frame[theirs]
        row[f"cbpe {name}"] = float(part["value"].iloc[0])
        row[f"cbpe low {name}"] = float(part["lower_confidence_boundary"].iloc[0])
        row[f"cbpe high {name}"] = float(part["upper_confidence_boundary"].iloc[0])
    return row


def by_task(part: pd.DataFrame, method: str, name: str) -> tuple[float, float]:
    """Mean absolute error and its standard error over tasks (a table and a world)."""
    errors = (part[f"{method} {name}"].astype(float) - part[f"true {name}"]).abs()
    means = errors.groupby([part["world"], part["table"], part["task"]]).mean()
    return float(means.mean()), float(means.std() / np.sqrt(means.count()))


def covered(part: pd.DataFrame, method: str, name: str) -> float:
    truth = part[f"true {name}"]
    low, high = (part[f"{method} {end} {name}"].astype(float) for end in ("low", "high"))
    return float(((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean())


def report(found: pd.DataFrame) -> None:
    """Print errors by world, and coverage."""
    print("errors of the samples for which there is an estimate, and how many of all these are")
    for world, part in (*found.groupby("world", sort=False), ("all", found)):
        tasks = part.groupby(["world", "table", "task"]).ngroups
        print(f"{world}: {tasks} tasks, {len(part)} samples")
        for name in MEASURES:
            told = part[part[f"ours {name}"].notna()]
            cells = "  ".join(
                "{} {:.3f} ±{:.3f}".format(method, *by_task(told, method, name))
                for method in ("ours", "cbpe", "training")
            )
            interval = part["kind"] != Kind.RANGE
            kinds = {"intervals": part[interval], "ranges": part[~interval]}
            inside = ", ".join(
                f"{what} {covered(rows, 'ours', name):.2f} of {len(rows) / len(part):.2f}"
                for what, rows in kinds.items()
                if len(rows)
            )
            print(f"  {name:9} {len(told) / len(part):.2f}  {cells}  coverage: {inside}")
