"""A table of a few items, and sheets about it."""

import polars as pl

from quantshift.labelling.sheets.drawn import DrawnSheet
from quantshift.labelling.sheets.filled import FilledSheet, in_order_of_plan, read_sheet
from quantshift.labelling.sheets.sheet_columns import OWN, PROBABILITY
from quantshift.tables.reading import OpenTable, open_table

WORDS = ("red", "green", "=blue()", "red", "grey", "pink")
DRAWN_BY = "a test"


def opened(frame: pl.DataFrame | None = None, name: str = "the table") -> OpenTable:
    """Six items, of which the first and the fourth are equal."""
    if frame is None:
        frame = pl.DataFrame({"word": WORDS, "n": [1, 2, 3, 1, 5, 6]})
    return open_table(frame, name=name)


def drawn(**changed) -> DrawnSheet:
    """The items 5, 1 and 3 in this order; 3 has a label."""
    fields = {
        "table": opened(),
        "rows": (5, 1, 3),
        "label": "y",
        "content": ("word", "n"),
        "labels": {3: "yes"},
        "probabilities": ("0.5", "0.25", "1"),
    }
    return DrawnSheet(**fields | changed)


def filled(frame: pl.DataFrame, *, ordered: bool = True) -> FilledSheet:
    """A sheet as people give it back."""
    beside = [*OWN, PROBABILITY, "word", "n"]
    sheet = read_sheet(opened(frame, "sheet"), label="y", beside=beside, missing=None)
    more = [PROBABILITY] if PROBABILITY in frame.columns else []
    return in_order_of_plan(sheet, drawn_by=DRAWN_BY, more=more) if ordered else sheet
