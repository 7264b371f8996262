"""The options of `quantify` that are about sketches, declared once."""

from dataclasses import dataclass
from typing import Any

from quantshift.base.options import TABLES, option


@dataclass(frozen=True)
class SketchSources:
    """Sketches in place of tables: a `Sketch`, or the file of one.

    sketch: of a sample. train_sketch: one with labels, of scores by the same model, on items that
    it was not trained on.
    """

    sketch: Any = option(
        None,
        "Instead of --sample: counts of its scores (see `quantshift sketch`).",
        reads="file",
        metavar="FILE",
        panel=TABLES,
    )
    train_sketch: Any = option(
        None,
        "With --sketch: counts of the scores of labelled items.",
        reads="file",
        metavar="FILE",
        panel=TABLES,
    )
