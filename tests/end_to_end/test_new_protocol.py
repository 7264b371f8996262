"""A new protocol is one class: the command runs it, and tables, pages and scores follow."""

import csv

import pytest

MODULE = '''
"""Samples in which one class is drawn twice as often as the other, or half as often."""

from dataclasses import dataclass
from typing import ClassVar

from quantshift.lab.shifts import (
    AbstractShift,
    Coordinate,
    Recipe,
    Words,
    class_strata,
    grid_values,
)


@dataclass(frozen=True, kw_only=True)
class Tilted(AbstractShift):
    """Tilted samples: positives are some times as frequent as negatives."""

    name: ClassVar[str] = "tilted"
    changes: ClassVar[str] = "the odds of the classes"

    odds: tuple[float, ...] = (0.5, 2.0)

    def words(self):
        return Words(title="Tilted samples", degree="distance from even odds", digits=2)

    def _declared(self):
        return (Coordinate("odds", "test", "float", "odds of the sample", "o"),)

    def _train_grid(self):
        return [{}]

    def _test_grid(self):
        return [{"odds": odds} for odds in grid_values("odds", self.odds, low=0, high=100)]

    def _strata(self, y, categories):
        return class_strata(y, categories, None)

    def _train_recipes(self, strata, labels):
        return [Recipe({}, [self.train_size // 2] * 2, labels, self._repeats("train"))]

    def _test_recipes(self, strata, labels):
        return [
            Recipe(point, self._counts(point["odds"]), labels, self._repeats("test"))
            for point in self._test_grid()
        ]

    def _counts(self, odds):
        positives = round(self.test_size * odds / (1 + odds))
        return [self.test_size - positives, positives]

    def _degree(self, coordinates):
        odds = coordinates.get("odds")
        return float("nan") if odds is None else abs(odds / (1 + odds) - 0.5)
'''

EXPERIMENT = """
name = "tilts"
quantifiers = ["CC", "PCC"]

[shift]
kind = "tilted_samples:Tilted"
odds = [0.25, 1.0, 4.0]
train_size = 100
train_repeats = 2
test_size = 50
test_repeats = 2

[selection]
enabled = false
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "tilted_samples.py").write_text(MODULE)
    (tmp_path / "tilts.toml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_from_a_class_to_tables_and_pages(folder, quantshift):
    code, said, _ = quantshift("run", "tilts.toml", "--out", "runs", "--dry-run")
    assert code == 0
    assert "tilts" in said
    small = ("--jobs", 1, "--documents", 800)
    code, _, wrong = quantshift("run", "tilts.toml", "--out", "runs", *small)
    assert (code, wrong) == (0, "")
    code, said, _ = quantshift("verify", "runs")
    assert (code, said) == (0, "4 results, 0 damaged, 0 missing or failed\n")
    code, _, wrong = quantshift("report", "runs", "-f", "csv", "-f", "md", "-f", "html")
    assert (code, wrong) == (0, "")
    report = folder / "runs" / "report"
    table = (report / "tables" / "tilts.md").read_text()
    assert "Tilted samples: mean absolute error by degree (distance from even odds)" in table
    with (report / "tables" / "tilts.csv").open() as file:
        degrees = {row["row"] for row in csv.DictReader(file)}
    assert {"0.00", "0.30"} <= degrees
    assert "odds of the sample" in (report / "report.html").read_text()


def test_its_keys_are_checked_like_those_of_others(folder, quantshift):
    code, _, wrong = quantshift("run", "tilts.toml", "--out", "runs", "--set", "shift.odds=[-1.0]")
    assert code == 2
    assert "shift.odds" in wrong
    code, _, wrong = quantshift("run", "tilts.toml", "--out", "runs", "--set", "shift.odd=[1.0]")
    assert code == 2
    assert "did you mean 'odds'" in wrong
