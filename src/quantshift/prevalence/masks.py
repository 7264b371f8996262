"""Masked arrays: masked values are missing, but numpy's conversions drop the mask."""

from typing import Any

import numpy as np

from quantshift.errors import DataError


def unmasked(values: Any, name: str) -> Any:
    """The values; for a masked array its data, refused if anything in it is masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if np.ma.is_masked(values):
        place = int(np.argwhere(np.ma.getmaskarray(values))[0][0])
        raise DataError(
            f"{name}: a missing value at position {place} (it is masked); drop or fill it"
        )
    return np.ma.getdata(values)
