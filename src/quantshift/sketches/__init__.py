"""Counts of scores in place of rows: a billion rows are as easy as a thousand."""

from typing import TYPE_CHECKING

from quantshift.lazy import lazy_exports
from quantshift.sketches.sketch_table import Sketch, load_sketch

if TYPE_CHECKING:
    from quantshift.sketches.job import quantify_sketch
    from quantshift.sketches.making import sketch
    from quantshift.sketches.sql import sketch_sql
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "quantshift.sketches.job": ("quantify_sketch",),
            "quantshift.sketches.making": ("sketch",),
            "quantshift.sketches.sql": ("sketch_sql",),
        },
    )

__all__ = ["Sketch", "load_sketch", "quantify_sketch", "sketch", "sketch_sql"]
