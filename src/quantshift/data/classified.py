"""A data set whose items a classifier has seen: its posteriors, and what its last layer sees.

Training a network takes long, so it is done once. Quantifiers then read what was kept:

- posteriors: those of a training item come from the model of the fold that held it out, those of a
  test item are the mean over the models of all folds;
- embeddings, if requested: they come from the model of the first fold. Only items that it was not
  trained on are kept, the held-out ones of that fold and the test items, because networks see the
  items that they were trained on differently.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from quantshift.base.extras import missing_package
from quantshift.base.forks import uses_tables
from quantshift.base.imports import is_import_path
from quantshift.base.options import OPTIONS, option
from quantshift.base.types import Indices, Posteriors
from quantshift.classify.classifier import cross_fit, predict_posteriors
from quantshift.classify.folds import N_FOLDS, stratified_folds
from quantshift.classify.named import named_classifier, unknown_classifier
from quantshift.data.content import Content, RowCounts
from quantshift.data.dataset import Dataset
from quantshift.data.folder import DATA_SET, DataFolder, write_folder
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.prevalence.labels import encode_labels
from quantshift.tables.columns.names import folder_name
from quantshift.tables.reading import Progress

CONVOLUTIONAL, FOREST = "convolutional", "forest"

CLASSIFIERS = {
    CONVOLUTIONAL: "quantshift.classify.images.convolutional:ConvolutionalClassifier",
    FOREST: "sklearn.ensemble:RandomForestClassifier",
}
"""Classifiers by name; any other is given as package.module:name."""

_SEEDS = ("seed", "random_state")
"""What classifiers call their seed."""


@runtime_checkable
class Embeds(Protocol):
    """A classifier that can say what its last layer sees of items."""

    def embed(self, X: Any) -> NDArray[np.float64]:
        """A row of numbers for each item."""


@dataclass(frozen=True, kw_only=True)
class ClassifyOptions:
    """How items are classified.

    classifier  "convolutional" (a wide residual network on images, in PyTorch), "forest"
                (scikit-learn's random forest, for a quick trial) or package.module:name
    folds       each is held out once
    seed        of the folds and of the classifier
    overwrite   replace older data sets, once the new ones are complete
    """

    classifier: str = option(
        CONVOLUTIONAL,
        f"{CONVOLUTIONAL}: a wide residual network on images (needs PyTorch; hours without a GPU). "
        f"{FOREST}: scikit-learn's random forest, for a quick trial. Others: package.module:name.",
        metavar="NAME",
        panel=OPTIONS,
    )
    folds: int = option(N_FOLDS, "Each fold is held out once.", metavar="N", least=2, panel=OPTIONS)
    seed: int = option(
        0, "Seed of the folds and of the classifier.", metavar="N", least=0, panel=OPTIONS
    )
    overwrite: bool = option(
        False, "Replace older data sets, once the new ones are complete.", panel=OPTIONS
    )


@uses_tables
def classify_items(
    folder: str | Path,
    out: str | Path,
    *,
    embeddings: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    options: ClassifyOptions = ClassifyOptions(),  # noqa: B008 - frozen
    progress: Progress = None,
) -> tuple[DataFolder, ...]:
    """Make a data set of posteriors from one of numbers and, if requested, one of embeddings.

    settings: parameters of the classifier. The split into training and test items is kept.
    """
    data = DataFolder.open(folder)
    outs = [Path(out), *([] if embeddings is None else [Path(embeddings)])]
    for path in outs:
        DATA_SET.check_free(path, overwrite=options.overwrite, inputs=[folder])
    dataset = data.dataset()
    if data.kind != "matrix":
        raise UserError(f"{folder}: items of kind {data.kind}; import a matrix or images")
    if embeddings is not None and dataset.test is None:
        raise UserError(f"{folder}: only a data set that is split can have embeddings")
    classifier = _make_classifier(options, settings or {}, data)
    if embeddings is not None and not isinstance(classifier, Embeds):
        raise UserError(f"{type(classifier).__name__} has no embeddings; leave them out")
    about = {
        "name": options.classifier,
        "settings": dict(settings or {}),
        "folds": options.folds,
        "seed": options.seed,
    }
    if progress is not None:
        progress(f"training {options.folds} models", 0, 1)
    classified = classify_dataset(dataset, classifier, options, embeds=embeddings is not None)
    folders = [_write_content(data, outs[0], classified.content(dataset), about, options.overwrite)]
    if embeddings is not None:
        content = classified.embedded_content(dataset)
        folders.append(_write_content(data, outs[1], content, about, options.overwrite))
    return tuple(folders)


@dataclass(frozen=True, eq=False)
class ClassifiedItems:
    """Posteriors of all items, a column for each of the sorted classes.

    embedded_rows: the items that the first model was not trained on; embedded: what it sees of
    them.
    """

    posteriors: Posteriors
    embedded_rows: Indices | None = None
    embedded: NDArray[np.float64] | None = None

    def content(self, dataset: Dataset) -> Content:
        """A data set of posteriors."""
        everything = np.arange(len(dataset))
        return Content(posteriors=self.posteriors, **_other_fields(dataset, everything))

    def embedded_content(self, dataset: Dataset) -> Content:
        """A data set of embeddings."""
        assert self.embedded_rows is not None
        return Content(matrix=self.embedded, **_other_fields(dataset, self.embedded_rows))


def classify_dataset(
    dataset: Dataset, classifier: BaseEstimator, options: ClassifyOptions, *, embeds: bool
) -> ClassifiedItems:
    """Train the models of all folds on the training items, and classify all items."""
    if len(dataset.labelled) < len(dataset):
        raise DataError(f"{dataset.title}: items without labels cannot be classified out of fold")
    classes = np.unique(dataset.labels)
    test = np.empty(0, np.int64) if dataset.test is None else dataset.test
    train = np.setdiff1d(np.arange(len(dataset)), test)
    codes = encode_labels(dataset.labels[train], classes=classes)[1]
    folds = stratified_folds(codes, options.folds, seed=options.seed)
    matrix = dataset.view(train).transform(train)
    posteriors = np.empty((len(dataset), len(classes)))
    posteriors[train], models = cross_fit(classifier, matrix, codes, classes, folds)
    if not len(test):
        return ClassifiedItems(posteriors)
    test_matrix = dataset.view(train).transform(test)
    posteriors_of_models = [predict_posteriors(model, test_matrix, classes) for model in models]
    posteriors[test] = np.mean(posteriors_of_models, axis=0)
    if not embeds:
        return ClassifiedItems(posteriors)
    held_out = np.flatnonzero(folds == 0)
    embedded = np.concatenate([models[0].embed(matrix[held_out]), models[0].embed(test_matrix)])
    return ClassifiedItems(posteriors, np.concatenate([train[held_out], test]), embedded)


def _other_fields(dataset: Dataset, rows: Indices) -> dict[str, Any]:
    """What a data set has beside the features or posteriors of its items."""
    test = None if dataset.test is None else np.flatnonzero(np.isin(rows, dataset.test))
    return {
        "labels": pl.Series("label", dataset.labels[rows].tolist()),
        "classes": tuple(dataset.classes.tolist()),
        "ordinal": dataset.ordinal,
        "categories": None if dataset.categories is None else _names(dataset.categories[rows]),
        "groups": {name: _names(values[rows]) for name, values in dataset.groups.items()},
        "test": test,
    }


def _names(values: NDArray[Any]) -> pl.Series:
    return pl.Series(values.tolist(), dtype=pl.String)


def _write_content(
    data: DataFolder, out: Path, content: Content, about: Mapping[str, Any], overwrite: bool
) -> DataFolder:
    n_items = len(content.labels)
    copied = ("title", "label", "category", "class_names")
    manifest = {
        "name": folder_name(out.absolute().name),
        "kind": content.kind,
        "items": n_items,
        "unlabelled": 0,
        "rows": asdict(RowCounts(n_items, n_items)),
        **content.described(),
        **{name: data.manifest[name] for name in copied if name in data.manifest},
        "notes": [f"by the classifier {about['name']}, from {data.name} ({data.hash[:12]})"],
        "classifier": about,
    }
    return write_folder(out, content, manifest, overwrite=overwrite)


def _make_classifier(
    options: ClassifyOptions, settings: Mapping[str, Any], data: DataFolder
) -> BaseEstimator:
    """The classifier with its settings; if it takes them, also the seed and the shape of images."""
    name = options.classifier
    if name not in CLASSIFIERS and not is_import_path(name):
        raise unknown_classifier(name, CLASSIFIERS)
    try:
        classifier = named_classifier(CLASSIFIERS.get(name, name))
    except UserError as error:
        cause = error.__cause__
        missing = None
        if isinstance(cause, ModuleNotFoundError):
            missing = missing_package(cause, f"the classifier {name!r} needs")
        raise missing or error from None
    parameters = classifier.get_params()
    for setting in settings:
        if setting not in parameters:
            raise unknown_name(f"setting of {name}:", setting, parameters)
    derived: dict[str, Any] = {seed: options.seed for seed in _SEEDS if seed in parameters}
    if "shape" in parameters and "image_shape" in data.manifest:
        derived["shape"] = tuple(data.manifest["image_shape"])
    return classifier.set_params(**{**derived, **settings})
