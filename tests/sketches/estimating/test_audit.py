"""Audits of sketches: the columns that are read."""

import numpy as np
import polars as pl
import pytest

from quantshift.errors import DataError
from quantshift.quantifying.training.model import without_training
from quantshift.sketches import sketch
from quantshift.sketches.estimating.audit import AuditedItems, _audit_columns, audited_items
from quantshift.sketches.estimating.batches import batches_of

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


@pytest.mark.parametrize("n_scores", [3, 2000])
def test_audited_items_are_counted_ones(n_scores):
    """Exact scores and cells: an item that was not counted is told from one that was."""
    scores = np.resize(np.linspace(0.05, 0.95, n_scores), 4000)
    made = sketch(pl.DataFrame({"p": scores}), score="p")
    assert made.is_exact == (n_scores == 3)
    (batch,) = batches_of(made, [0, 1]).values()
    own = scores[:5]
    items = AuditedItems(np.column_stack([1 - own, own]), np.array([0, 1, 0, 1, 1]))
    assert items.uncounted(batch) == 0
    rows, _, codes = items.among(batch)
    assert rows[list(codes), 1] == pytest.approx(own, abs=0.01)
    assert list(codes.values()) == items.codes.tolist()
    new = np.array([0.512, 0.01])
    others = AuditedItems(np.column_stack([1 - new, new]), np.array([0, 1]))
    assert others.uncounted(batch) >= 1
