"""What the text of a judged table says."""

import polars as pl

from quantshift import judge


def test_with_all_items_labelled_no_more_labels_are_asked_for():
    table = pl.DataFrame({"verdict": ["yes", "no"] * 50, "human": ["yes", "no", "no", "no"] * 25})
    text = judge(table, verdict="verdict", label="human", labels="random").to_text()
    assert "Needed   all items are labelled: the share among them is known" in text
    assert "half the width" not in text
