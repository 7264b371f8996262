"""Audits of sketches: the columns that are read."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.quantifying.training.model import without_training
from quantshift.sketches import sketch
from quantshift.sketches.estimating.audit import _audit_columns, audited_items

SCORES = pl.DataFrame({"p": [0.1, 0.6, 0.8], "q": [0.9, 0.4, 0.2], "day": ["1", "1", "2"]})


@pytest.mark.parametrize("sequential", [False, True])
def test_an_audit_has_batches_if_the_sketch_has(sequential):
    without = _audit_columns(sketch(SCORES, score="p"), {}, sequential=sequential)
    made = sketch(SCORES, score="p", batch="day")
    plain = _audit_columns(made, {}, sequential=sequential)
    named = _audit_columns(made, {"batch": "site", "label": "y"}, sequential=sequential)
    assert [c.batch for c in (without, plain, named)] == [None, "batch", "site"]
    assert [c.label for c in (without, plain, named)] == ["label", "label", "y"]
    assert all(("place" in c.keys) == sequential for c in (without, plain, named))


def test_a_sequential_audit_has_no_gap():
    scores = np.arange(1, 101) / 128
    table = pl.DataFrame({"p": scores, "place": np.arange(1, 101), "label": ["p", "not p"] * 50})
    made = sketch(table, score="p")
    model = without_training(made.about.classes, "auto", cure="train")

    def audited(rows):
        return audited_items(rows, made, model, [0, 1], {}, sequential=True)

    by_batch, n_unlabelled, findings = audited(table)
    (items,) = by_batch.values()
    assert items.codes.tolist() == [1, 0] * 50
    assert (n_unlabelled, findings) == (0, [])
    with pytest.raises(DataError, match="place 7"):
        audited(table.filter(pl.col("place") != 7))
