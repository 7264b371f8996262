"""Files that earlier versions have written."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import load_sketch, quantify_sketch, sketch
from quantshift.sketches.cells import WIDE
from quantshift.sketches.sketch_batches import batches_of

FILES = Path(__file__).parent / "written_before"

MEANS = [0.4318526449388938, 0.31081730030404503, 0.2573300547570612]
"""Of the posteriors of the 1,500 rows of each file."""


def test_two_classes_are_in_wide_cells():
    made = load_sketch(FILES / "two_classes_v2.parquet")
    assert made.n_rows == 1500
    assert made.batches == ["x", "y"]
    assert made.table["cell"].max() < WIDE.end
    items = made.to_items()
    # A cell is at most 1/4096 wide.
    assert items.weights @ items.posteriors[:, 1] / 1500 == pytest.approx(MEANS[0], abs=1e-4)


def test_three_classes_keep_means_spread_and_marginal_cells():
    made = load_sketch(FILES / "three_classes_v2.parquet")
    assert made.n_rows == 1500
    items = made.to_items()
    # Sums are in units of 2**-20.
    assert items.weights @ items.posteriors / 1500 == pytest.approx(MEANS, abs=1e-6)
    for batch in batches_of(made, [0, 1, 2]).values():
        joint = batch.sample.joint
        assert joint.expected is None
        assert [numbers.sum() for _, numbers in joint.marginals] == [batch.n_items] * 3
        spread = joint.spread()
        # Joint cells of version 2 are half an octave wide, so that their spread is small.
        assert (np.linalg.eigvalsh(joint.covariances)[:, -1] < 0.05).all()
        assert spread.weights @ spread.posteriors == pytest.approx(
            joint.counts @ joint.posteriors, rel=1e-6
        )


def test_older_sketches_are_quantified_and_merged():
    made = load_sketch(FILES / "three_classes_v2.parquet")
    training = load_sketch(FILES / "three_labelled_v2.parquet")
    assert training.n_rows == 300
    answer = quantify_sketch(made, training, replicates=20)
    shares = [share.estimate for share in answer.batches[0].shares]
    # Drawn with shares of 50%, 30% and 20%; seven standard errors of 300 training items.
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.2)
    rng = np.random.default_rng(0)
    newer = sketch(
        pl.DataFrame(rng.dirichlet([1, 1, 1], 1200), schema=list("abc")).with_columns(
            day=pl.lit("x")
        ),
        posteriors=list("abc"),
        batch="day",
        bins=True,
    )
    both = made.merge(newer)
    assert both.n_rows == 2700
    assert newer.merge(made).to_bytes() == both.to_bytes()


def test_exact_scores_stay_exact():
    made = load_sketch(FILES / "three_exact_v2.parquet")
    assert made.is_exact
    assert made.n_rows == 40
    assert made.binned().n_rows == 40
