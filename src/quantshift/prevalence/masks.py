"""What numpy's conversions to numbers lose: masks, imaginary parts, the meaning of dates."""

from types import MappingProxyType
from typing import Any

import numpy as np

from quantshift.errors import DataError

NOT_REAL = MappingProxyType({"c": "complex numbers", "M": "dates", "m": "durations"})
"""Kinds of arrays that numpy converts to real numbers, though they hold none."""


def real_numbers(values: Any, name: str) -> Any:
    """The values, unless a conversion to real numbers would lose or change what they hold."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind in NOT_REAL:
        raise DataError(f"{name} must be real numbers, not {NOT_REAL[kind]}; convert them first")
    return unmasked(values, name)


def unmasked(values: Any, name: str) -> Any:
    """The values; for a masked array its data, refused if anything in it is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        position = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise DataError(
            f"{name}: a missing value at position {position} (it is masked); drop or fill it"
        )
    return np.ma.getdata(values)
