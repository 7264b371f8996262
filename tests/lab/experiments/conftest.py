"""A small experiment on synthetic reviews: seconds for all its cells."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quantshift.lab.data.sets.dataset import Dataset
from quantshift.lab.data.sources import SyntheticSource, open_source
from quantshift.lab.experiments.cell import run_cell
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.planning import cells_of
from quantshift.lab.experiments.population import Population, population_of

SMALL: Mapping[str, Any] = {
    "shift.train_prevalences": [0.3, 0.5],
    "shift.test_prevalences": [0.0, 0.4, 1.0],
    "shift.train_size": 200,
    "shift.train_repeats": 1,
    "shift.test_size": 60,
    "shift.test_repeats": 2,
    "classifier.grid.C": [0.1, 10.0],
    "selection.prevalences": 3,
    "selection.repeats": 2,
    "selection.size": 40,
}

SIZES = "train_size = 200\ntrain_repeats = 1\ntest_size = 60\ntest_repeats = 2"

TOML = """
name = "prior"
quantifiers = {methods}
[data]
{data}
[shift]
kind = "{kind}"
{grid}
{sizes}
{more}
"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Experiment]:
    """The same experiment from a file of its own, with the tables given."""

    def load(
        more: str = "",
        *,
        data: str = "cut_point = 3",
        methods: str = '["CC", "PACC", "SLD", "MLPE"]',
        train: str = "[0.3, 0.5]",
        kind: str = "prior",
        sizes: str = SIZES,
    ) -> Experiment:
        path = tmp_path / "experiment.toml"
        grid = f"train_prevalences = {train}\ntest_prevalences = [0.0, 0.4, 1.0]"
        path.write_text(
            TOML.format(
                methods=methods,
                data=data,
                kind=kind,
                grid=grid if kind == "prior" else "",
                sizes=sizes,
                more=more,
            )
        )
        return load_experiment(path)

    return load


@pytest.fixture(scope="session")
def small_source() -> SyntheticSource:
    return SyntheticSource(2000)


@pytest.fixture(scope="session")
def small() -> Callable[..., Experiment]:
    """The prior experiment with few and small draws; overrides by dotted key."""

    def load(overrides: Mapping[str, Any] | None = None) -> Experiment:
        return load_experiment("prior", profile="quick", overrides={**SMALL, **(overrides or {})})

    return load


@pytest.fixture(scope="session")
def items(small: Callable[..., Experiment], small_source: SyntheticSource):
    """The data set and the population of the small experiment."""
    dataset = open_source(small_source)
    return dataset, population_of(small(), dataset)


@pytest.fixture(scope="session")
def cell_rows(items: tuple[Dataset, Population]) -> Callable[..., pl.DataFrame]:
    """Rows of one cell of an experiment, of all or some of its methods."""

    def run(
        experiment: Experiment,
        methods: list[str] | None = None,
        data: tuple[Dataset, Population] = items,
    ) -> pl.DataFrame:
        chosen = [experiment.method(m) for m in methods] if methods else experiment.methods
        cells = cells_of(experiment.name, data[0].name, experiment.shift)
        cell = next(c for c in cells if c.key == "p_train-0.5,train_repeat-0")
        return run_cell(experiment, cell, chosen, *data)

    return run


LAB = """
import os, signal
from pathlib import Path
from quantshift import CC

HERE = Path(__file__).parent

def at_first_point(prior):
    return abs(prior[1] - 0.3) < 1e-9

class Fine(CC):
    pass

class Raising(CC):
    def _solve(self, representation, index):
        if at_first_point(self.prior_) and not (HERE / "mended").exists():
            raise RuntimeError("no luck at 0.3\\nsecond line")
        return super()._solve(representation, index)

class Bare(CC):
    def estimate_items(self, items, samples=None):
        return super().estimate_items(items, samples).prevalence

class Blank(CC):
    def estimate_items(self, items, samples=None):
        estimate = super().estimate_items(items, samples)
        return type(estimate)(estimate.prevalence * float("nan"), estimate.classes, {})

class Deadly(CC):
    def _solve(self, representation, index):
        if at_first_point(self.prior_):
            with (HERE / "deaths").open("a") as file:
                file.write("x")
            if not (HERE / "mended").exists():
                os.kill(os.getpid(), signal.SIGKILL)
        return super()._solve(representation, index)

class DeadlyOnce(CC):
    def _solve(self, representation, index):
        if at_first_point(self.prior_) and not (HERE / "deaths").exists():
            (HERE / "deaths").write_text("x")
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._solve(representation, index)
"""


@dataclass(frozen=True)
class Lab:
    """A user's module of quantifiers that misbehave at p_train = 0.3, until mended."""

    folder: Path
    module: str

    def mend(self) -> None:
        (self.folder / "mended").touch()

    def deaths(self) -> int:
        path = self.folder / "deaths"
        return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    folder = tmp_path / "lab"
    folder.mkdir()
    # A name of its own: modules stay imported for the rest of the session.
    module = f"lab_{secrets.token_hex(4)}"
    (folder / f"{module}.py").write_text(LAB)
    monkeypatch.syspath_prepend(str(folder))
    return Lab(folder, module)
