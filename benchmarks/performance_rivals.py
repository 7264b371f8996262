"""Performance without labels, beside nannyml's CBPE: errors and coverage in five worlds.

    python benchmarks/performance_rivals.py draw FOLDER [--tables development] [--repeats 1]
    OTHER/bin/python benchmarks/performance_rivals.py nannyml FOLDER
    python benchmarks/performance_rivals.py report FOLDER

`draw` trains logistic regressions and draws samples as `shifted_classifier.py` does, estimates them
with `quantshift.performance` (nothing declared) and writes all of it to FOLDER. `nannyml` runs in
an environment of its own that has nannyml 0.13, which needs other versions of the same packages; of
its methods CBPE is in the open package, PAPE and M-CBPE are not. Both get the same out-of-fold
probabilities of the training rows as a reference. `report` prints mean absolute errors of accuracy,
precision, recall and AUC by world, with standard errors over tasks (a table and a world), and the
coverage of what is called a confidence interval. `training` takes the value in training. Where a
range is too wide `performance` gives no estimate; such samples count for no method.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from quantshift.claims import Kind

MEASURES = ("accuracy", "precision", "recall", "auc")
NANNYML = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "auc": "roc_auc"}
WORLDS = "prior,feature,score,mixed,natural"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("draw", "nannyml", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", default="development")
    parser.add_argument("--worlds", default=WORLDS)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    {"draw": draw, "nannyml": rival, "report": report}[options.step](options)


def draw(options: Any) -> None:
    """Samples with their truths and our estimates: a file for each task."""
    import shifted_classifier as made

    made.learners = lambda repeat: {"logistic": made.LogisticRegression(max_iter=2000)}
    made.measured = estimated
    options.first_repeat = 0
    made.warnings.simplefilter("ignore", made.ConvergenceWarning)
    number = 0
    for row in made.run(options):
        task = row.pop("arrays")
        np.savez_compressed(options.folder / f"{number:05}.npz", **task)
        pd.Series(row).to_json(options.folder / f"{number:05}.json")
        number += 1
    print(f"{number} samples in {options.folder}")


def estimated(classifier: Any, X: Any, y: Any, samples: Any) -> Any:
    """A row for each sample: truth, our estimates and limits, and arrays for the rival."""
    from quantshift import performance
    from quantshift.measuring import MEASURES as KNOWN
    from quantshift.measuring import LabelledScores

    trained = classifier.examiner_.plain
    reference, codes = trained.held_out_posteriors_[:, 1], trained.held_out_codes_
    raw = classifier.predict_proba(X)
    for rows in samples[:4]:
        found = performance(classifier, X[rows], measures=MEASURES, n_bootstrap=60)
        items = LabelledScores.of_labels(raw[rows], raw[rows].argmax(axis=1), y[rows])
        row: dict[str, Any] = {"kind": found.kind, "reason": found.reason}
        for name in MEASURES:
            measure, label = KNOWN[name], None if name == "accuracy" else 1
            truth = (
                measure.overall(items)  # type: ignore[misc]
                if measure.overall
                else measure.of_classes(items)[1]  # type: ignore[misc]
            )
            each = found.of(name, label)
            row |= {f"true {name}": truth, f"ours {name}": each.estimate}
            row |= {f"low {name}": each.low, f"high {name}": each.high}
            row[f"training {name}"] = each.training
        arrays = {"reference": reference, "codes": codes, "sample": raw[rows, 1]}
        yield {**row, "arrays": arrays}


def rival(options: Any) -> None:
    """Estimates by CBPE, added to the files of the folder."""
    os.environ["NML_DISABLE_USAGE_LOGGING"] = "1"  # it reports every call otherwise
    import nannyml  # type: ignore[import-not-found]

    for path in sorted(options.folder.glob("*.npz")):
        arrays = np.load(path)
        p, sample = arrays["reference"], arrays["sample"]
        known = pd.DataFrame({"p": p, "predicted": (p > 0.5).astype(int), "y": arrays["codes"]})
        new = pd.DataFrame({"p": sample, "predicted": (sample > 0.5).astype(int)})
        try:
            estimator = nannyml.CBPE(
                y_pred_proba="p",
                y_pred="predicted",
                y_true="y",
                problem_type="classification_binary",
                metrics=list(NANNYML.values()),
                chunk_number=1,
            ).fit(known)
            frame = estimator.estimate(new).filter(period="analysis").to_df()
            values = {m: float(frame[n]["value"].iloc[0]) for m, n in NANNYML.items()}
        except Exception as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            values = {}
        pd.Series(values, dtype=float).to_json(path.with_suffix(".nannyml"))


def report(options: Any) -> None:
    """Print errors by world, and coverage."""
    rows = []
    for path in sorted(options.folder.glob("*.json")):
        row = pd.read_json(path, typ="series").to_dict()
        other = path.with_suffix(".nannyml")
        values = pd.read_json(other, typ="series").to_dict() if other.exists() else {}
        rows.append({**row, **{f"cbpe {name}": values.get(name) for name in MEASURES}})
    found = pd.DataFrame(rows)
    print("errors of the samples for which there is an estimate, and how many of all these are")
    for world, part in (*found.groupby("world", sort=False), ("all", found)):
        print(f"{world}: {part.groupby(['world', 'table', 'task']).ngroups} tasks, {len(part)}")
        for name in MEASURES:
            cells = []
            told = part[part[f"ours {name}"].notna()]
            tasks = [told["world"], told["table"], told["task"]]
            for method in ("ours", "cbpe", "training"):
                errors = (told[f"{method} {name}"].astype(float) - told[f"true {name}"]).abs()
                by_task = errors.groupby(tasks).mean()
                error = by_task.std() / np.sqrt(by_task.count())
                cells.append(f"{method} {by_task.mean():.3f} ±{error:.3f}")
            inside = (part[f"low {name}"] <= part[f"true {name}"] + 1e-9) & (
                part[f"true {name}"] <= part[f"high {name}"] + 1e-9
            )
            interval = part["kind"] != Kind.RANGE
            covered = f"{inside[interval].mean():.2f}" if interval.any() else "-"
            ranges = f"{inside[~interval].mean():.2f}" if (~interval).any() else "-"
            print(
                f"  {name:9} {len(told) / len(part):.2f}  {'  '.join(cells)}  coverage: intervals "
                f"{covered} of "
                f"{interval.mean():.2f}, ranges {ranges}"
            )


if __name__ == "__main__":
    main()
