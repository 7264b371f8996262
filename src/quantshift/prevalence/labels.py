"""Label vectors of any kind, as sorted classes and integer codes.

Users hold labels as booleans, strings, {1, 2}, {-1, 1}, pandas or polars columns. Everything
inside quantshift works on codes, so that no kind of label can change an estimate. Anything that
would need guessing (missing values, mixed types, continuous numbers) is refused here. Columns of
other libraries are read through numpy's conversion; none of these libraries is imported.
"""

import sys
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes
from quantshift.errors import DataError
from quantshift.prevalence.masks import unmasked

_FAMILIES = {"b": "booleans", "i": "integers", "f": "floats", "U": "strings"}
_HALVES = (0xD800, 0xDFFF)
"""The codes of halves of characters, which no text has."""


def encode_labels(
    y: ArrayLike, *, classes: ArrayLike | None = None, name: str = "labels"
) -> tuple[NDArray[Any], Codes]:
    """The sorted classes of `y` and, for every label, its position among them.

    With `classes` given, the classes are those in that order, and a label outside them is an error.
    `name` is what error messages call the vector.

    >>> encode_labels(["spam", "ham", "spam"])
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    """
    values = column(y, name=name)
    if values.dtype.kind == "f" and np.any(values != np.floor(values)):
        position = int(np.flatnonzero(values != np.floor(values))[0])
        raise DataError(
            f"{name} look continuous: {values[position]:g} at position {position}; "
            "bin them into classes first"
        )
    if classes is None:
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, codes.astype(np.int64, copy=False)
    class_labels = column(classes, name="classes")
    ranks = np.argsort(class_labels)
    if np.any(class_labels[ranks][1:] == class_labels[ranks][:-1]):
        raise DataError(f"classes name a class twice: {class_labels.tolist()}")
    return class_labels, ranks[_codes_among(values, class_labels[ranks], name)]


def declared_order(y: Any, distinct: NDArray[Any]) -> NDArray[Any] | None:
    """The distinct labels in the order that their column declares; None if it declares none.

    An ordered categorical column of pandas and an Enum of polars declare one.
    """
    dtype = getattr(y, "dtype", None)
    if not (getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"):
        return None
    categories = column(list(dtype.categories), name="categories")  # type: ignore[union-attr]
    return categories[np.isin(categories, distinct)]


def column(values: ArrayLike, *, name: str = "labels") -> NDArray[Any]:
    """The values as a one-dimensional array of booleans, int64, float64 or strings.

    Missing values, infinities, mixed types and anything that is not a vector are refused.
    """
    values = unmasked(values, name)
    # A list goes through objects, because numpy would silently turn [1, "a"] into strings and
    # [True, 2] into integers.
    is_list = isinstance(values, list | tuple)
    array = np.array(values, dtype=object) if is_list else np.asarray(values)
    if array.ndim != 1:
        raise DataError(
            f"{name} must be one column, got an array of shape {array.shape}; "
            "pass a vector with one value per item"
        )
    if array.size == 0:
        raise DataError(f"{name} are empty; give at least one item")
    return _plain(array, name)


def _plain(array: NDArray[Any], name: str) -> NDArray[Any]:
    kind = array.dtype.kind
    if kind in "OT":
        return _from_objects(array.astype(object), name)
    if kind in "iu":
        if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
            raise DataError(f"{name} hold integers beyond 64 bits; recode them as strings")
        return array.astype(np.int64, copy=False)
    if kind == "f":
        finite = np.isfinite(array)
        if not finite.all():
            position = int(np.flatnonzero(~finite)[0])
            if np.isnan(array[position]):
                raise _missing(name, position)
            raise DataError(f"{name} hold {array[position]} at position {position}; drop it")
        return array.astype(np.float64, copy=False)
    if kind not in "bU":
        raise _unsupported(name, str(array.dtype), 0)
    check_texts(array, name)
    return array


def check_texts(array: NDArray[Any], name: str) -> None:
    """Refuse codes that an array may hold and no text has: halves of characters, for example."""
    if array.dtype.kind != "U":
        return
    # Checked as numbers: numpy makes strings of any codes, and other libraries crash on them.
    codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), np.uint32)
    if np.any((codes > sys.maxunicode) | ((codes >= _HALVES[0]) & (codes <= _HALVES[1]))):
        raise DataError(f"{name} hold text that is not Unicode; is the file damaged?")


def _from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    # Types first: a set of a million types is fast, a test of each value is not.
    families = {kind: _family(kind) for kind in set(map(type, array))}
    kinds = set(families.values())
    if kinds == {"strings"}:
        return array.astype(np.str_)
    for position, value in enumerate(array):
        if _is_missing(value):
            raise _missing(name, position)
    for kind, family in families.items():
        if family is None:
            raise _unsupported(name, kind.__name__, _first(array, {kind}))
    if kinds == {"booleans"}:
        return array.astype(np.bool_)
    if kinds <= {"integers", "floats"}:
        try:
            numbers = array.astype(np.float64 if "floats" in kinds else np.int64)
        except OverflowError:
            message = f"{name} hold integers beyond 64 bits; recode them as strings"
            raise DataError(message) from None
        return _plain(numbers, name)
    first = {
        str(family): _first(array, {k for k, f in families.items() if f == family})
        for family in kinds
    }
    where = ", ".join(f"{family} (position {first[family]})" for family in sorted(first))
    raise DataError(f"{name} mix types: {where}; convert them to one type")


def _family(kind: type) -> str | None:
    if issubclass(kind, str):
        return "strings"
    if issubclass(kind, bool | np.bool_):
        return "booleans"
    if issubclass(kind, Integral):
        return "integers"
    if issubclass(kind, float | np.floating):
        return "floats"
    return None


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if _family(type(value)) in {"strings", "booleans", "integers"}:
        return False
    try:
        return bool(value != value)  # NaN and NaT differ from themselves
    except TypeError:  # pandas' NA refuses to be a truth value
        return True
    except ValueError:  # an array: wrong, but not missing
        return False


def _first(array: NDArray[Any], kinds: Iterable[type]) -> int:
    types = set(kinds)
    return next(position for position, value in enumerate(array) if type(value) in types)


def _codes_among(values: NDArray[Any], classes: NDArray[Any], name: str) -> Codes:
    families = _FAMILIES[values.dtype.kind], _FAMILIES[classes.dtype.kind]
    if families[0] != families[1] and set(families) != {"integers", "floats"}:
        raise DataError(f"{name} are {families[0]} but the classes are {families[1]}; recode one")
    codes = np.minimum(np.searchsorted(classes, values), classes.size - 1).astype(np.int64)
    outside = classes[codes] != values
    if outside.any():
        examples = ", ".join(repr(value) for value in np.unique(values[outside])[:3].tolist())
        raise DataError(
            f"{int(outside.sum())} {name} are outside the classes {classes.tolist()}, first at "
            f"position {int(np.flatnonzero(outside)[0])}, e.g. {examples}; "
            "drop those items or name all classes"
        )
    return codes


def _missing(name: str, position: int) -> DataError:
    return DataError(f"{name} have a missing value at position {position}; drop or fill it")


def _unsupported(name: str, kind: str, position: int) -> DataError:
    return DataError(
        f"{name} of type {kind} (position {position}) are not supported; "
        "convert them to strings, integers or booleans"
    )
