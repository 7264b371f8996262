"""A protocol of one's own is one class: what a user writes, and what it then can do."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from quantshift import PCC, evaluate
from quantshift.base.seeding import generator
from quantshift.errors import UserError
from quantshift.lab.shifts import (
    AbstractProtocol,
    AbstractShift,
    Coordinate,
    Draw,
    Recipe,
    Words,
    class_strata,
    grid_values,
    nominal,
    split_pools,
)

Y = np.arange(800) % 2


@dataclass(frozen=True, kw_only=True)
class LabelNoise(AbstractShift):
    """Label noise: a share of the training labels is wrong, those of test samples are right."""

    name: ClassVar[str] = "noise"
    changes: ClassVar[str] = "the labels of training sets"

    train_noise: tuple[float, ...] = (0.0, 0.2)

    def words(self) -> Words:
        return Words(
            "Label noise", r"$\eta$", digits=1, facets={"clean": "clean", "noisy": "noisy"}
        )

    def facet(self, coordinates) -> str:
        if "noise_train" not in coordinates:
            return ""
        return "noisy" if coordinates["noise_train"] else "clean"

    def _declared(self):
        return (Coordinate("noise_train", "train", "float", "label noise", r"\eta"),)

    def _train_grid(self):
        shares = grid_values("train_noise", self.train_noise, low=0, high=1)
        return [{"noise_train": share} for share in shares]

    def _test_grid(self):
        return [{}]

    def _strata(self, y, categories):
        return class_strata(y, categories, None)

    def _train_recipes(self, strata, labels):
        halves = [self.train_size // 2] * 2
        return [
            Recipe(point, halves, self._noisy(labels, point["noise_train"]), self._repeats("train"))
            for point in self._train_grid()
        ]

    def _test_recipes(self, strata, labels):
        return [Recipe({}, [self.test_size // 2] * 2, labels, self._repeats("test"))]

    def _noisy(self, labels, share):
        rng = generator(self.seed, shift=self.name, draws="noise", noise_train=share)
        return np.where(rng.random(labels.size) < share, 1 - labels, labels)

    def _degree(self, coordinates) -> float:
        return nominal(coordinates.get("noise_train", math.nan))


SHIFT = LabelNoise(test_size=40, train_size=100, test_repeats=3, train_repeats=2)


def test_it_declares_itself():
    assert [item.name for item in SHIFT.coordinates()] == ["noise_train", "repeat"]
    assert SHIFT.count_training_sets() == 4
    assert SHIFT.count_samples() == 3
    assert SHIFT.training_points()[2] == {"noise_train": 0.2, "train_repeat": 0}
    assert "train_noise" in SHIFT.options()
    assert SHIFT.bind(["no", "yes"], None) == SHIFT


def test_it_draws():
    train_pool, test_pool = split_pools(Y)
    SHIFT.check_pools(Y, None, train_pool=train_pool, test_pool=test_pool)
    drawn = []
    for point in SHIFT.training_points():
        train = SHIFT.training_set(point, Y, pool=train_pool)
        assert train.coordinates == point
        wrong = (train.labels != Y[train.indices]).mean()
        assert wrong == pytest.approx(point["noise_train"], abs=0.15)
        assert (wrong > 0) == (point["noise_train"] > 0)
        for draw in SHIFT.samples(Y, pool=test_pool, train=train.coordinates):
            assert draw.coordinates["noise_train"] == draw.degree == point["noise_train"]
            assert draw.facet == ("noisy" if point["noise_train"] else "clean")
            assert draw.labels.tolist() == Y[draw.indices].tolist()
            drawn.append(tuple(draw.indices))
    # Its coordinate is an axis of the seeds: every training set has samples of its own.
    assert len(set(drawn)) == len(drawn) == 12


def test_its_coordinate_is_known_to_it_alone():
    with pytest.raises(UserError, match="did you mean 'noise_train'"):
        SHIFT.samples(Y, train={"noise_trian": 0.2})


@dataclass(frozen=True, kw_only=True)
class Weeks(AbstractProtocol):
    """Weeks: a model is trained in some week and used in all later ones."""

    name: ClassVar[str] = "weeks"
    changes: ClassVar[str] = "whatever time changes"

    n_weeks: int = 4

    def coordinates(self):
        return (
            Coordinate("week_train", "train", "int", "week of training"),
            Coordinate("week_test", "test", "int", "week"),
        )

    def words(self) -> Words:
        return Words("Weeks", "weeks since training", digits=0)

    def count_training_sets(self) -> int:
        return self.n_weeks - 1

    def count_samples(self) -> None:
        return None

    def training_points(self):
        return [{"week_train": week, "train_repeat": 0} for week in range(self.n_weeks - 1)]

    def training_set(self, point, y, categories=None, *, pool=None) -> Draw:
        week = self._week(point["week_train"], len(y))
        return Draw(week, np.asarray(y)[week], point, math.nan)

    def samples(self, y, categories=None, *, pool=None, train=None) -> Iterator[Draw]:
        for number in range(train["week_train"] + 1, self.n_weeks):
            week, gone = self._week(number, len(y)), number - train["week_train"]
            yield Draw(week, np.asarray(y)[week], {**train, "week_test": number}, float(gone))

    def _week(self, number, n_items):
        return np.array_split(np.arange(n_items), self.n_weeks)[number]


def test_a_protocol_need_not_be_a_shift():
    protocol = Weeks()
    protocol.check_pools(Y, None, train_pool=None, test_pool=None)
    assert protocol.bind([0, 1], None) is protocol
    assert protocol.class_order([0, 1]) == (0, 1)
    assert protocol.facet({}) == ""
    assert protocol.options() == {"n_weeks": 4}
    posteriors = np.column_stack([1 - Y, Y]).astype(float)
    point = protocol.training_points()[1]
    train = protocol.training_set(point, Y)
    quantifier = PCC().fit_posteriors(posteriors[train.indices], train.labels)
    frame = evaluate(quantifier, protocol, posteriors, Y, posteriors=True, train=train.coordinates)
    assert frame["week_test"].to_list() == [2, 3]
    assert frame["degree"].to_list() == [1, 2]
    assert frame["ae"].max() == 0
