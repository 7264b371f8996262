"""The tables of an experiment's TOML: their keys, with types and ranges.

Strict: a number in quotes is not a number, and an unknown key is an error. The [shift] table has
the fields of the protocol's dataclass, so a protocol is described in one place.
"""

import math
import re
from typing import Annotated, Any, Literal, get_args

from numpy.typing import ArrayLike
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationError,
    create_model,
)
from pydantic_core import ErrorDetails

from quantshift.errors import unknown_name
from quantshift.lab.experiments.documents.document import Document
from quantshift.lab.results.description import check_new_name
from quantshift.lab.shifts.protocol import AbstractProtocol

LONGEST_NAME = 100
"""Most characters of an experiment's name, which is the name of a folder and prefix of files."""


def _verbatim(value: Any) -> Any:
    for item in value if isinstance(value, tuple) else (value,):
        if not isinstance(item, bool | int | float | str | tuple):
            raise ValueError("must be a number, a string, true, false or a list of them")
    return value


def _option(value: Any) -> Any:
    return null_for_none(_verbatim(value))


def null_for_none(value: Any) -> Any:
    """TOML has no null: the string "none" stands for Python's None."""
    if isinstance(value, tuple):
        return tuple(null_for_none(item) for item in value)
    return None if value == "none" else value


def _label(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("must be a label: a string, a number, true or false")
    return value


def _cut_point(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or value == "none" or (number and math.isfinite(value)):
        return float(value) if number else value
    raise ValueError('must be a number, or "none"')


def _file_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", value) or len(value) > LONGEST_NAME:
        raise ValueError(
            f"must be letters, digits, '-', '_' and '.', at most {LONGEST_NAME}, because it "
            "names a folder of the results"
        )
    check_new_name("experiment", value)
    return value


def _not_empty(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    return value


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _name(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("must be a name on one line")
    return value


Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]
Option = Annotated[Any, PlainValidator(_option)]
Verbatim = Annotated[Any, PlainValidator(_verbatim)]
Text = Annotated[str, AfterValidator(_not_empty)]

_NUMBERS, _VECTORS = "list of numbers", "list of vectors"


def _grid_form(value: Any) -> str:
    vectors = isinstance(value, tuple) and value and isinstance(value[0], tuple)
    return _VECTORS if vectors else _NUMBERS


_Grid = Annotated[
    Annotated[tuple[float, ...], Field(min_length=1), Tag(_NUMBERS)]
    | Annotated[
        tuple[Annotated[tuple[float, ...], Field(min_length=1)], ...],
        Field(min_length=1),
        Tag(_VECTORS),
    ],
    Discriminator(_grid_form),
]
"""A grid of a protocol: numbers, or vectors with one number per class."""


class TomlTable(BaseModel):
    """What all tables share: strict types, no unknown keys, frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class DataTable(TomlTable):
    """[data]: data sets (here or given at run time) or files of arrays, relative to the TOML file.

    sets                folders of data sets, or names of embedded data sets
    cut_point           ordered labels (stars) above are positive, below negative, equal ones
                        dropped; "none": every level is a class. By default, stars of reviews are
                        cut at 3, and other ordered labels are not cut. Labels without an order
                        are used as they are
    train_share         share of the training pool, unless the data set was split when it was made
    max_test_documents  largest size of the test pool, spread evenly over categories; 0: no limit
    """

    sets: Annotated[tuple[Text, ...], Field(min_length=1)] | None = None
    cut_point: Annotated[Any, PlainValidator(_cut_point)] = None
    train_share: Share = 0.6
    max_test_documents: Annotated[int, Field(ge=0)] = 100_000
    features: Text | None = None
    posteriors: Text | None = None
    labels: Text | None = None
    categories: Text | None = None


class ClassifierTable(TomlTable):
    """[classifier]: the batched "logistic" or an importable class, with options and a grid."""

    name: Text = "logistic"
    options: dict[str, Option] = Field(default_factory=dict)
    grid: dict[str, Annotated[tuple[Option, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )


class SelectionTable(TomlTable):
    """[selection]: how the hyper-parameters are chosen, by artificial-prevalence samples.

    prevalences is the number of equally spaced ones; train_share the share of the training set
    that the candidates are trained on. rule: "uniform" takes prevalences from a grid (two classes)
    or uniformly from the simplex; "protocol" draws new ones as the test samples' are drawn.
    """

    enabled: bool = True
    train_share: Share = 0.6
    prevalences: Annotated[int, Field(ge=2)] = 11
    repeats: Count = 10
    size: Count = 500
    measure: Text = "ae"
    rule: Literal["uniform", "protocol"] = "uniform"

    def matters(self) -> dict[str, Any]:
        """What determines a choice.

        The rule was added later; the original one is left out, so that older results stay valid.
        """
        return self.model_dump(exclude={"rule"} if self.rule == "uniform" else None)


class QuantifierTable(TomlTable):
    """[[quantifier]]: a method with options under a name of its own.

    grid  values of options to choose from, jointly with the classifier's setting
    """

    name: Annotated[str, AfterValidator(_name)]
    method: Text
    options: dict[str, Verbatim] = Field(default_factory=dict)
    grid: dict[str, Annotated[tuple[Verbatim, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )


class ExperimentTable(TomlTable):
    """The whole file without its profiles; the fields of `shift` depend on its kind."""

    name: Annotated[str, AfterValidator(_file_name)]
    title: Annotated[str, AfterValidator(_one_line)] = ""
    seed: Annotated[int, Field(ge=0)] = 0
    data: DataTable = DataTable()
    shift: TomlTable
    classifier: ClassifierTable | None = None
    selection: SelectionTable | None = None
    quantifiers: tuple[Text, ...] = ()
    quantifier: tuple[QuantifierTable, ...] = ()


def validate(document: Document, protocol: type[AbstractProtocol]) -> ExperimentTable:
    """The document's values, checked; one error that names the place and the key."""
    model = create_model(
        "ExperimentTable", __base__=ExperimentTable, shift=(_shift_table(protocol), ...)
    )
    try:
        return model.model_validate(document.values)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        # A mistyped key is often also missing under its right name: the former error says more.
        worst = min(errors, key=lambda error: error["type"] != "extra_forbidden")
        raise document.error(_dotted(worst["loc"]), _wording(worst, model)) from None


def _shift_table(protocol: type[AbstractProtocol]) -> type[TomlTable]:
    # The seed is at the top of the file, not in this table.
    fields: dict[str, Any] = {
        field.name: (_toml_type(field.type), field.default) for field in protocol.option_fields()
    }
    return create_model("ShiftTable", __base__=TomlTable, kind=(str, ...), **fields)


def _toml_type(annotation: Any) -> Any:
    if annotation == ArrayLike:
        return _Grid
    if annotation is Any:
        return Annotated[Any, PlainValidator(_label)]
    # Integers in a protocol are sizes and repeats.
    return Count if annotation is int else annotation


def _dotted(location: tuple[int | str, ...]) -> str:
    dotted = ""
    for part in location:
        if part in (_NUMBERS, _VECTORS):
            continue  # a tag of the grid, not a key
        dotted += f"[{part}]" if isinstance(part, int) else f".{part}"
    return dotted.removeprefix(".")


_TYPES = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be finite",
    "bool_type": "must be true or false",
    "string_type": "must be a string in quotes",
    "tuple_type": "must be a list [...]",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "too_short": "must hold at least one value",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than": ("less than", "lt"),
}


def _wording(error: ErrorDetails, model: type[TomlTable]) -> str:
    kind = error["type"]
    if kind == "missing":
        return "is missing; add it"
    if kind == "extra_forbidden":
        *tables, key = error["loc"]
        return str(unknown_name("key", str(key), _keys(model, tables)))
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        what = f"must be {words} {error['ctx'][bound]:g}"
    elif kind == "value_error":
        what = str(error["ctx"]["error"])
    else:
        what = _TYPES.get(kind, error["msg"])
    return f"{what}, got {_excerpt(error['input'])}"


def _keys(model: type[TomlTable], tables: list[int | str]) -> list[str]:
    for name in tables:
        if isinstance(name, str):
            model = _model_of(model.model_fields[name].annotation)
    return list(model.model_fields)


def _model_of(annotation: Any) -> Any:
    """The table among the parts of an annotation such as `T | None` or `tuple[T, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, TomlTable):
        return annotation
    return next(filter(None, map(_model_of, get_args(annotation))), None)


def _excerpt(value: Any) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else f"{text[:57]}..."
