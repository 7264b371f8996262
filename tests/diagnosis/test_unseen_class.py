"""Items like those of no training class."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.diagnosis import unseen_class
from quantshift.diagnosis.unseen_class import FEWEST_OF_A_CLASS, unlike_every_class
from quantshift.quantifying import quantify, train
from quantshift.quantifying.findings import Advice, BatchFindings
from tests.found import codes_of, numbers_of

FAST = {"replicates": 100}


class Placed:
    """A method that knows positions, for tests without training."""

    def __init__(self, known, codes):
        self.known, self.codes = known, codes

    def training_positions(self):
        return self.known, self.codes

    def positions(self, items):
        return items


def ring(rng, n, angle):
    """A class at an angle of a ring; between two of them there is room for another."""
    centre = 4 * np.array([np.cos(angle), np.sin(angle), 0.0])
    return rng.normal(size=(n, 3)) + centre


def known_items(rng):
    X = np.concatenate([ring(rng, 400, 0.0), ring(rng, 300, 2.0)])
    return Placed(X, np.repeat([0, 1], [400, 300]))


@pytest.mark.slow
def test_a_tenth_of_an_unseen_class_is_found_and_its_share_is_a_lower_bound():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(5):
        sample = np.concatenate([ring(rng, 270, 0.0), ring(rng, 270, 2.0), ring(rng, 60, 4.0)])
        found += unlike_every_class(known_items(rng), sample, [np.arange(600)])
    assert all(share is not None and 0.05 < share <= 0.12 for share in found)


@pytest.mark.slow
def test_other_shares_of_the_known_classes_and_moderate_selection_are_not_an_unseen_class():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(6):
        n = rng.multinomial(600, [seed / 5, 1 - seed / 5])
        sample = np.concatenate([ring(rng, n[0], 0.0), ring(rng, n[1], 2.0)])
        found += unlike_every_class(known_items(rng), sample, [np.arange(600)])
        pool = np.concatenate([ring(rng, 3000, 0.0), ring(rng, 3000, 2.0)])
        chance = np.exp(0.7 * pool[:, 2])
        picked = pool[rng.choice(6000, 600, replace=False, p=chance / chance.sum())]
        found += unlike_every_class(known_items(rng), picked, [np.arange(600)])
    assert sum(share is not None for share in found) <= 1


def test_features_of_dates_do_not_make_an_unseen_class():
    """New items are later than those of training in every sample."""
    rng = np.random.default_rng(3)
    later = np.array([0.0, 0.0, 9.0])
    sample = later + np.concatenate([ring(rng, 100, 0.0), ring(rng, 100, 2.0)])
    known, rows = known_items(rng), [np.arange(200)]
    (share,) = unlike_every_class(known, sample, rows)
    assert share == pytest.approx(1.0, abs=0.1)
    assert unlike_every_class(known, sample, rows, ignored=[np.arange(3) == 2]) == [None]
    assert unlike_every_class(known, sample, rows, ignored=[np.arange(3) >= 0]) == [None]


def test_small_samples_are_not_examined():
    rng = np.random.default_rng(2)
    assert unlike_every_class(known_items(rng), ring(rng, 40, 4.0), [np.arange(40)]) == [None]


@pytest.mark.slow
def test_an_answer_begins_with_the_share_of_none_of_these():
    rng = np.random.default_rng(3)
    names = ["a", "b", "c"]
    drawn = {c: ring(rng, 700, angle) for c, angle in zip(names, (0.0, 2.0, 4.0), strict=True)}

    def frame(rows):
        parts = [
            pl.DataFrame(drawn[c][low:high], schema=["x", "y", "z"]).with_columns(kind=pl.lit(c))
            for c, (low, high) in rows.items()
        ]
        return pl.concat(parts)

    model = train(frame({"a": (0, 300), "b": (0, 300)}), label="kind")
    new = frame({"a": (300, 500), "b": (300, 500), "c": (0, 60)}).drop("kind")
    found = quantify(new, model=model, **FAST)
    (batch,) = found.batches
    assert 0.05 < batch.none_of_these <= 60 / 460
    assert found.to_text(details=True).splitlines()[0].startswith(f"{found.headline}: ")
    assert "perhaps because they are of a class that it does not have" in found.to_text(
        details=True
    )
    assert Advice.AUDIT_WOULD_CONFIRM not in codes_of(batch.findings)
    assert numbers_of(batch.findings, BatchFindings.NONE_OF_THESE)["share"] == batch.none_of_these
    assert (batch.reason, batch.kind) == ("refuted", "range")
    halves = quantify([new[:200], new[200:]], model=model, **FAST)
    assert halves.batches[0].none_of_these is None
    assert "sample 2: at least" in halves.to_text(details=True)
    (same,) = quantify(frame({"a": (300, 500), "b": (300, 500)}), model=model, **FAST).batches
    assert same.none_of_these is None


LEFT_OUT = [("uci_image_seg", 1), ("uci_image_seg", 2), ("uci_image_seg", 7)]
"""Classes that do not overlap with the others."""

OVERLAPPING = [
    ("uci_yeast", 1),
    ("uci_cmc", 2),
    ("uci_abalone", 8),
    ("uci_waveform-v1", 0),
    ("uci_page_block", 2),
]
"""Classes that do, in the other sets: a tenth of them in a sample is not found, or not always."""


def without_a_class(name: str, left_out: int):
    """A table, rows of the other classes to train on, and samples without and with the class."""
    folder = os.environ.get("QUANTSHIFT_TABLES")
    if folder is None:
        pytest.skip("QUANTSHIFT_TABLES names no folder of tables")
    frame = pl.read_csv(Path(folder) / f"{name}.csv")
    sizes = frame["label"].value_counts().filter(pl.col("count") >= 80)["label"]
    frame = frame.filter(pl.col("label").is_in(sizes.implode()))
    frame = frame.sample(fraction=1, shuffle=True, seed=0)
    other = frame.filter(pl.col("label") != left_out)
    unseen = frame.filter(pl.col("label") == left_out)
    half = len(other) // 2
    n = min(600, half)
    known = other[half : half + n]
    return other[:half], known, pl.concat([known, unseen[: n // 9]])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "left_out"), LEFT_OUT)
def test_classes_left_out_of_real_tables_are_found(name, left_out):
    training, known, with_unseen = without_a_class(name, left_out)
    model = train(training, label="label")
    for sample, expected in ((known, False), (with_unseen, True)):
        (batch,) = quantify(sample.drop("label"), model=model, **FAST).batches
        assert (batch.none_of_these is not None) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("name", "left_out"), OVERLAPPING)
def test_tables_whose_classes_overlap_raise_no_false_alarm(name, left_out):
    training, known, _ = without_a_class(name, left_out)
    model = train(training, label="label")
    (batch,) = quantify(known.drop("label"), model=model, **FAST).batches
    assert batch.none_of_these is None


def test_a_class_of_few_training_items_does_not_say_how_many_may_look_new(monkeypatch):
    """One of 20 training items that looks new allows for 14 % in the sample, one of 19 for none."""
    scores = np.concatenate([np.linspace(0, 0.5, 399), [1.0]])
    sample = np.repeat([0.0, 2.0], [170, 30])
    monkeypatch.setattr(unseen_class, "_scores", lambda *arguments: (scores, sample))
    for n_of_class, found in ((FEWEST_OF_A_CLASS, None), (FEWEST_OF_A_CLASS - 1, 0.15)):
        codes = np.repeat([0, 1], [400 - n_of_class, n_of_class])
        placed = Placed(np.zeros((len(codes), 2)), codes)
        (share,) = unlike_every_class(placed, np.zeros((200, 2)), [np.arange(200)])
        assert share == found
