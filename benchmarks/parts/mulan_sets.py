"""The seven data sets of Mulan for the benchmarks of several labels: where they are, their role.

The files (NAME-train.arff.gz, NAME-test.arff.gz, NAME.xml) are read from the folder that
QUANTSHIFT_MULAN names; they are never part of the repository, and without the variable a benchmark
says so and ends. `DEVELOPMENT` sets may be used to choose a constant; the sets `KEPT_ASIDE` only
report.

The protocol is that of A. Moreo, M. Francisco and F. Sebastiani, "Multi-Label Quantification"
(TKDD 2023), on their reduced sets: at most ten labels, samples of 100 test items. The samples are
those of `quantshift.lab.experiments.label_results`.
"""

import os
from pathlib import Path

import numpy as np

from quantshift.base.types import Reals
from quantshift.lab.data import load_mulan
from quantshift.lab.experiments.label_results import LabelProblem
from quantshift.metrics import rae
from quantshift.multilabel import LabelTable
from quantshift.multilabel.label_tables import FEWEST
from quantshift.multilabel.related_labels import frequent_together

DEVELOPMENT = ("emotions", "yeast", "birds", "genbase", "medical")
KEPT_ASIDE = ("enron", "delicious")
TABLES = {"dev": DEVELOPMENT, "kept": KEPT_ASIDE, "all": DEVELOPMENT + KEPT_ASIDE}

MOST_LABELS = 10
SIZE = 100


def mulan_dir() -> Path:
    """The folder of the files; without it there is nothing to measure, and the program ends."""
    folder = os.environ.get("QUANTSHIFT_MULAN")
    if folder is None:
        print("skipped: this needs the data sets of Mulan; set QUANTSHIFT_MULAN to their folder")
        raise SystemExit(0)
    if not Path(folder).is_dir():
        raise SystemExit(f"QUANTSHIFT_MULAN: there is no folder {folder}")
    return Path(folder)


def load(name: str, *, most_labels: int | None = MOST_LABELS) -> LabelProblem:
    """A set by name; most_labels: None for all that can be learnt."""
    folder = mulan_dir()
    train, test = (
        load_mulan(folder / f"{name}-{part}.arff.gz", folder / f"{name}.xml")
        for part in ("train", "test")
    )
    if most_labels is None:
        counts = train.labels.has.sum(axis=0)
        chosen = np.flatnonzero(np.minimum(counts, len(train.labels) - counts) >= FEWEST)
    else:
        chosen = frequent_together(train.labels.has, most_labels)
    labels, labels_test = (
        LabelTable(part.labels.has[:, chosen], part.labels.names[chosen]) for part in (train, test)
    )
    return LabelProblem(name, train.X, labels, test.X, labels_test)


def errors_by_label(p_true: Reals, p_hat: Reals, measure: str) -> Reals:
    """The error of every sample and label, (n_samples, n_labels).

    The relative error is that of the two classes "has the label" and "has it not", smoothed by
    1 / (2 * sample size). This is what the printed errors of MLPE agree with.
    """
    if measure == "ae":
        return np.abs(p_hat - p_true)
    with_label, estimated = (np.stack([p, 1 - p], axis=-1) for p in (p_true, p_hat))
    return rae(with_label, estimated, smoothing=1 / (2 * SIZE))
