"""The keys of an experiment's TOML file as a table, read from pydantic models and protocols."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, get_args

from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike
from pydantic.fields import FieldInfo

from quantshift import metrics
from quantshift.lab.experiments.documents.toml_tables import (
    ClassifierTable,
    DataTable,
    ExperimentTable,
    QuantifierTable,
    SelectionTable,
    TomlTable,
)
from quantshift.lab.shifts.catalogue import protocols
from website.tables import code, table

TABLES: Mapping[str, type[TomlTable]] = {
    "": ExperimentTable,
    "data": DataTable,
    "classifier": ClassifierTable,
    "selection": SelectionTable,
    "quantifier": QuantifierTable,
}

# Explanations of fields that the docstrings of the models do not explain.
MEANING = {
    "base": "A TOML file in the same folder; its values apply unless this file overrides them.",
    "name": "Names the folder of its results.",
    "title": "Its title in reports.",
    "seed": "Random seed of all draws.",
    "quantifiers": "Methods by name, or import paths such as `my_lab.methods:Mine`.",
    "data.sets": "Folders made by `quantshift data import`, or names of embedded data sets; "
    "`--data` takes precedence.",
    "data.cut_point": "Ordered labels (stars) above it are positive, those below negative, and "
    'equal ones are dropped; default for reviews: 3; `"none"`: every level is a class.',
    "data.features": "File of numeric features (`.npy`, `.npz`, or a table such as `.parquet` or "
    "`.csv`), instead of data sets.",
    "data.posteriors": "File of posteriors of your own model, instead of features.",
    "data.labels": "File, or column of a table (`items.csv:label`), of the labels.",
    "data.categories": "The same for the categories; needed by shifts between two categories.",
    "classifier.name": "`logistic`, or the import path of a scikit-learn classifier.",
    "classifier.options": "Its arguments.",
    "classifier.grid": "Lists of values to choose from, by argument.",
    "selection.enabled": "If false, the first value of every list is used.",
    "selection.train_share": "Share of the training set that the candidates are trained on.",
    "selection.prevalences": "Number of equally spaced prevalences of the validation samples; with "
    "more than two classes `prevalences` x `repeats` of them are drawn from the simplex.",
    "selection.repeats": "Validation samples at each prevalence.",
    "selection.size": "Items in a validation sample.",
    "selection.rule": "Prevalences of the validation samples: `uniform`, or `protocol`: new ones, "
    "drawn in the same way as those of the test samples (kind `uniform`).",
    "selection.measure": f"Error to minimise: {', '.join(metrics.MEASURES)}.",
    "quantifier.name": "Its name in tables.",
    "quantifier.method": "A name of the catalogue, or an import path.",
    "quantifier.options": "Arguments of the method.",
    "quantifier.grid": "Lists of values to choose from, by argument, with the classifier's grid.",
}

TYPES = {"data.cut_point": 'number or `"none"`'}
"""Types that the models do not specify."""

SHIFT_MEANING = {
    "test_size": "Items in a test sample.",
    "train_size": "Items in a training set.",
    "test_repeats": "Test samples at each point of the grid.",
    "train_repeats": "Training sets at each point of the grid.",
    "test_prevalences": "Of the positive class, in test samples; vectors, with more classes.",
    "train_prevalences": "Of the positive class, in training sets; vectors, with more classes.",
    "test_alphas": "Shares of category A in test samples.",
    "train_alphas": "Shares of category A in training sets.",
    "test_cuts": "Cut points of the stars in test samples.",
    "train_cuts": "Cut points of the stars in training sets.",
    "test_prevalence": "If given, test samples are forced to it.",
    "train_prevalence": "If given, training sets are forced to it.",
    "whole_pool": "Train on all items of the training pool, once for each split.",
    "splits": "With `whole_pool`, how many splits of the data there are, a training set for each.",
    "concentration": "Of a Dirichlet distribution of prevalences; 1 is uniform.",
    "smoothest": "For ordered classes, the share of the prevalences to keep, the smoothest ones.",
    "prevalences": "Of the class `label`, in test samples; the others share the rest.",
    "removed": "Shares of the items of a class or region that are removed.",
    "strengths": "Noise, in standard deviations of each feature.",
    "label": "The class that changes; default: the last.",
    "region": "The group or category that items are removed from; default with `by`: the last.",
    "replace": "Draw with replacement, so that a small pool is enough.",
    "with_control": "Also draw the control of every sample.",
    "positive": "The class that the prevalences refer to; default: the last.",
    "part": "Only the samples of this part, e.g. `test`; default: all.",
    "category_a": "Category A; default: the first.",
    "category_b": "Category B; default: the second.",
    "by": "The column of the groups; default: the categories.",
    "design": "`leave-one-out`: train on all groups but one; `one-to-others`: on one; `forward`: "
    "on all up to one, in order.",
    "every": "Group dates by `day`, `week`, `month`, `quarter` or `year`.",
    "chunks": "Divide the values of the column, in order, into this many groups of equal size.",
    "ahead": "With `forward`, how many of the next groups are estimated.",
    "smallest": "Groups of fewer items are left out.",
}


def spec_fields() -> str:
    """Every key except those of `[shift]`, table by table."""
    # The base is read before the tables, so no model has it.
    rows = [(code("base"), "text", "", MEANING["base"])]
    for name, model in TABLES.items():
        described = _described(model)
        for field, info in model.model_fields.items():
            key = f"{name}.{field}".removeprefix(".")
            if key in ("shift", *TABLES):
                continue
            meaning = MEANING[key] if key in MEANING else described[field]
            kind = TYPES.get(key) or _type(info)
            rows.append((code(key), kind, _default(info), meaning))
    return table(["key", "type", "default", "meaning"], rows)


def shift_fields() -> str:
    """The keys of `[shift]`, with the kinds that have them and their defaults."""
    kinds = sorted(protocols().values(), key=lambda cls: cls.name)
    fields: dict[str, dict[str, dataclasses.Field[Any]]] = {}
    for cls in kinds:
        for item in cls.option_fields():
            fields.setdefault(item.name, {})[cls.name] = item
    rows = [(code("kind"), "text", "required", "", _codes(cls.name for cls in kinds))]
    for name, by_kind in sorted(
        fields.items(), key=lambda item: list(SHIFT_MEANING).index(item[0])
    ):
        for default, having in _by_default(by_kind).items():
            kind_names = "all" if len(having) == len(kinds) else _codes(having)
            kind = _shift_type(by_kind[having[0]].type)
            rows.append((code(name), kind, default, kind_names, SHIFT_MEANING[name]))
    header = ["key of `[shift]`", "type", "default", "kinds", "meaning"]
    return table(header, rows)


def _by_default(fields: Mapping[str, dataclasses.Field[Any]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for kind, item in fields.items():
        grouped.setdefault(_default_text(item.default), []).append(kind)
    return grouped


def _codes(names: Iterator[str] | list[str]) -> str:
    return ", ".join(map(code, names))


def _described(model: type[TomlTable]) -> dict[str, str]:
    """The docstring's text on each field: `name   words`, continued under the words."""
    described: dict[str, str] = {}
    for line in inspect.cleandoc(model.__doc__ or "").splitlines():
        if (entry := re.fullmatch(r"(\w+) {2,}(.+)", line)) and entry[1] in model.model_fields:
            name, described[entry[1]] = entry.groups()
        elif described and line.startswith("   "):
            described[name] += f" {line.strip()}"
    return {name: text[0].upper() + text[1:].rstrip(".") + "." for name, text in described.items()}


def _type(info: FieldInfo) -> str:
    kind = _type_name(info.annotation)
    bounds = [
        f"≥{m.ge}" if isinstance(m, Ge) else f">{m.gt}" if isinstance(m, Gt) else f"<{m.lt}"
        for m in _metadata(info)
        if isinstance(m, Ge | Gt | Lt)
    ]
    return f"{kind}, {', '.join(bounds)}" if bounds else kind


def _metadata(info: FieldInfo) -> Iterator[Any]:
    for item in info.metadata:
        yield from getattr(item, "metadata", None) or [item]


def _type_name(annotation: Any) -> str:
    names = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    if annotation in names:
        return names[annotation]
    if isinstance(annotation, str):  # a word of a closed list
        return "text"
    parts = [part for part in get_args(annotation) if part is not NoneType]
    if getattr(annotation, "__origin__", None) is dict:
        return "table"
    if getattr(annotation, "__origin__", None) is tuple:
        return "list"
    return _type_name(parts[0]) if parts else "value"


def _shift_type(annotation: Any) -> str:
    if annotation == ArrayLike:
        return "list of numbers"
    return "label" if annotation is Any else _type_name(annotation)


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    return _default_text(info.get_default(call_default_factory=True))


def _default_text(value: Any) -> str:
    if value is None or value in ("", {}, ()):
        return ""
    if isinstance(value, bool):
        return code(str(value).lower())
    if isinstance(value, tuple) and len(value) > 4:
        return code(f"[{value[0]:g}, {value[1]:g}, ..., {value[-1]:g}]")
    if isinstance(value, tuple):
        return code(f"[{', '.join(f'{item:g}' for item in value)}]")
    return code(value)
