"""Models and tables of several labels, as fuzzing makes and reads them."""

from pathlib import Path
from typing import Any

from quantshift.quantifying.targets.folder import load_target_models, save_target_models
from quantshift.quantifying.targets.training import train_target_models
from tests.quantifying.targets.made import LABELS, labelled, unlabelled, with_tags

QUICK = {"method": "CC", "classifier": "naive-bayes"}


def make_label_models(folder: Path) -> None:
    given = {"label": LABELS, "parents": ["hate=abuse"], "drop": ["month"], **QUICK}
    save_target_models(train_target_models(labelled(120, seed=1), **given), folder / "m")


def answer_of_label_models(folder: Path) -> Any:
    models = load_target_models(folder)
    items = unlabelled(labelled(20, seed=2))
    posteriors = [model.posteriors(model.items(items)).tolist() for model in models.models]
    return models.targets, models.parents, models.left_out, posteriors


def make_tags(folder: Path) -> None:
    items = labelled(60, seed=1)
    items.write_csv(folder / "columns.csv")
    with_tags(items).write_csv(folder / "tags.csv")
    with_tags(items).write_parquet(folder / "tags.parquet")


def answer_of_tags(path: Path) -> Any:
    labels = {"label": LABELS} if path.stem == "columns" else {"label": "tags", "separator": ";"}
    models = train_target_models(path, **labels, **QUICK, drop=["month"])
    return models.targets, models.left_out, [model.held_out[0].tolist() for model in models.models]
