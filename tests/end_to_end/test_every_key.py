"""Every documented key of an experiment file, run from end to end with a value of its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from quantshift.lab.data import ImportOptions, import_table, open_source
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.executors import SerialExecutor
from quantshift.lab.experiments.runner import Run, run_experiments
from quantshift.lab.experiments.sources import sources_of
from quantshift.lab.results import ResultStore
from quantshift.lab.shifts.catalogue import protocols
from website.schema import TABLES

SIZES = {"train_size": "150", "test_size": "40", "train_repeats": "1", "test_repeats": "2"}

AT_RANDOM = {**SIZES, "replace": "true", "positive": '"yes"', "whole_pool": "false", "splits": "1"}

SHIFTS: Mapping[str, Mapping[str, str]] = {
    "prior": {
        **SIZES,
        "replace": "true",
        "positive": '"yes"',
        "train_prevalences": "[0.4]",
        "test_prevalences": "[0.2, 0.7]",
    },
    "covariate": {
        **SIZES,
        "replace": "true",
        "positive": '"yes"',
        "category_a": '"y"',
        "category_b": '"x"',
        "train_alphas": "[0.3]",
        "test_alphas": "[0.2, 0.8]",
        "train_prevalences": "[0.4]",
        "test_prevalences": "[0.4, 0.7]",
    },
    "local": {
        **SIZES,
        "replace": "true",
        "positive": '"yes"',
        "category_a": '"y"',
        "category_b": '"x"',
        "test_prevalences": "[0.4, 0.6]",
        "with_control": "true",
    },
    "concept": {
        **SIZES,
        "replace": "true",
        "train_cuts": "[2.5]",
        "test_cuts": "[1.5, 3.5]",
        "train_prevalence": "0.4",
        "test_prevalence": "0.6",
    },
    "natural": {**AT_RANDOM},
    "uniform": {**AT_RANDOM, "concentration": "0.5", "smoothest": "1.0"},
    "tweak-one": {**AT_RANDOM, "label": '"no"', "prevalences": "[0.3, 0.6]"},
    "knock-out": {
        **AT_RANDOM,
        "label": '"no"',
        "by": '"day"',
        "region": '"2021-01-31"',
        "removed": "[0.5, 1.0]",
    },
    "noise": {**AT_RANDOM, "strengths": "[0.0, 0.5]"},
    "given": {"train_size": "150", "train_repeats": "2", "positive": '"yes"', "part": '"late"'},
    "groups": {
        **SIZES,
        "by": '"day"',
        "design": '"forward"',
        "every": '"year"',
        "chunks": "3",
        "ahead": "2",
        "smallest": "50",
        "positive": '"yes"',
    },
}
"""Every key of [shift], by kind."""

OTHERS: Mapping[str, str] = {
    "name": 'name = "mine"',
    "title": 'title = "My experiment"',
    "seed": "seed = 3",
    "quantifiers": 'quantifiers = ["CC"]',
    "data.sets": '[data]\nsets = ["set"]',
    "data.cut_point": '[data]\nfeatures = "x.npy"\nlabels = "stars.npy"\ncut_point = 2.5',
    "data.train_share": '[data]\nfeatures = "x.npy"\nlabels = "y.npy"\ntrain_share = 0.5',
    "data.max_test_documents": '[data]\nfeatures = "x.npy"\nlabels = "y.npy"\n'
    "max_test_documents = 200",
    "data.features": '[data]\nfeatures = "x.npy"\nlabels = "y.npy"',
    "data.posteriors": '[data]\nposteriors = "p.npy"\nlabels = "y.npy"',
    "data.labels": '[data]\nfeatures = "x.npy"\nlabels = "y.npy"',
    "data.categories": '[data]\nfeatures = "x.npy"\nlabels = "y.npy"\ncategories = "c.npy"',
    "classifier.name": '[classifier]\nname = "sklearn.naive_bayes:GaussianNB"',
    "classifier.options": "[classifier]\noptions = { C = 3.0 }",
    "classifier.grid": "[classifier.grid]\nC = [0.1, 1.0]",
    "selection.enabled": "[selection]\nenabled = false\n[classifier.grid]\nC = [0.1, 1.0]",
    "selection.train_share": "[selection]\ntrain_share = 0.5\n[classifier.grid]\nC = [0.1, 1.0]",
    "selection.prevalences": "[selection]\nprevalences = 3\n[classifier.grid]\nC = [0.1, 1.0]",
    "selection.repeats": "[selection]\nrepeats = 2\n[classifier.grid]\nC = [0.1, 1.0]",
    "selection.size": "[selection]\nsize = 30\n[classifier.grid]\nC = [0.1, 1.0]",
    "selection.measure": '[selection]\nmeasure = "nkld"\n[classifier.grid]\nC = [0.1, 1.0]',
    "selection.rule": '[selection]\nrule = "uniform"\n[classifier.grid]\nC = [0.1, 1.0]',
    "quantifier.name": '[[quantifier]]\nname = "Mine"\nmethod = "SLD"',
    "quantifier.method": '[[quantifier]]\nname = "Mine"\nmethod = "DyS"',
    "quantifier.options": '[[quantifier]]\nname = "Mine"\nmethod = "SLD"\n'
    'options = { calibration = "none" }',
    "quantifier.grid": '[[quantifier]]\nname = "Mine"\nmethod = "SLD"\n'
    'grid = { calibration = ["none", "sigmoid"] }',
}
"""Every other key, with what it needs beside it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Arrays of 1,200 items of two classes in two categories, and a data set of them."""
    path = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    stars = rng.integers(1, 6, size=1200)
    labels = np.where(stars > 3, "yes", "no")
    X = rng.normal(size=(1200, 3)) + stars[:, None] / 2
    p = 1 / (1 + np.exp(3 - stars + rng.normal(size=1200)))
    categories = rng.choice(["x", "y"], size=1200)
    np.save(path / "x.npy", X)
    np.save(path / "p.npy", np.stack([1 - p, p], axis=1))
    np.save(path / "y.npy", labels)
    np.save(path / "stars.npy", stars)
    np.save(path / "c.npy", categories)
    days = [f"{2020 + i % 4}-01-31" for i in range(1200)]
    frame = {"a": X[:, 0], "b": X[:, 1], "label": labels, "category": categories, "day": days}
    pl.DataFrame(frame).write_csv(path / "table.csv")
    names = ("early/0", "late/1", "late/2")
    samples = [(n, 900 + 100 * s + row) for s, n in enumerate(names) for row in range(100)]
    pl.DataFrame(samples, schema=["sample", "row"], orient="row").write_csv(path / "samples.csv")
    import_table(
        path / "table.csv", path / "set", label="label", categories="category", groups=["day"]
    )
    samples_too = ImportOptions(samples=path / "samples.csv")
    import_table(path / "table.csv", path / "given", label="label", options=samples_too)
    return path


def _run(folder: Path, out: Path, text: str, data: Path | None = None) -> pl.DataFrame:
    (folder / "experiment.toml").write_text(text, encoding="utf-8")
    experiment = load_experiment(folder / "experiment.toml")
    sources = sources_of(experiment, [data] if data else [], n_documents=2000)
    run = Run((experiment,), {experiment.name: sources}, out)
    n_cells = len(run.plan().tasks)
    summary = run_experiments(run, SerialExecutor())
    assert summary.failures == ()
    assert summary.done == n_cells > 0
    assert open_source(sources[0]).hash
    return ResultStore.open(out).read().collect()


def test_every_key_of_the_documentation_is_here() -> None:
    documented = {
        f"{name}.{field}".removeprefix(".")
        for name, model in TABLES.items()
        for field in model.model_fields
    } - {"shift", *TABLES}
    assert set(OTHERS) == documented
    fields = {
        cls.name: {field.name for field in cls.option_fields()} for cls in protocols().values()
    }
    assert {kind: set(keys) for kind, keys in SHIFTS.items()} == fields


@pytest.mark.parametrize("key", OTHERS)
def test_a_key(key: str, folder: Path, tmp_path: Path) -> None:
    said = OTHERS[key]
    is_table = said.startswith("[")
    lines = [] if key == "name" else ['name = "any"']
    lines += [] if key == "quantifiers" else ['quantifiers = ["PACC"]']
    lines += [] if is_table else [said]
    if not key.startswith("data."):
        lines += ["[data]", 'features = "x.npy"', 'labels = "y.npy"']
    lines += ["[shift]", 'kind = "prior"']
    lines += ["train_prevalences = [0.5]", "test_prevalences = [0.3]"]
    lines += [f"{name} = {value}" for name, value in SIZES.items()]
    lines += [said] if is_table else []
    rows = _run(folder, tmp_path / "out", "\n".join(lines) + "\n")
    assert rows["experiment"].unique().to_list() == ["mine" if key == "name" else "any"]
    wanted = {"CC"} if key == "quantifiers" else {"PACC"}
    wanted |= {"Mine"} if key.startswith("quantifier.") else set()
    assert set(rows["method"].unique()) == wanted
    assert rows["p_hat"].list.sum().is_close(1.0).all()


@pytest.mark.parametrize("kind", SHIFTS)
def test_a_shift_with_all_its_keys(kind: str, folder: Path, tmp_path: Path) -> None:
    fields = "".join(f"{name} = {value}\n" for name, value in SHIFTS[kind].items())
    data, place = "", folder / ("given" if kind == "given" else "set")
    if kind == "concept":
        data, place = '[data]\nfeatures = "x.npy"\nlabels = "stars.npy"\n', None
    text = f'name = "e"\nquantifiers = ["CC", "SLD"]\n{data}[shift]\nkind = "{kind}"\n{fields}'
    rows = _run(folder, tmp_path / "out", text, place)
    assert rows["shift"].unique().to_list() == [kind]
    declared: dict[str, Any] = {c.name: c for c in _coordinates(folder)}
    assert set(declared) <= set(rows.columns)
    if "replace" in SHIFTS[kind]:
        assert rows["replace"].all()


VECTORS = {
    "numbers": ("y.npy", "[0.2, 0.6]"),
    "vectors of two classes": ("y.npy", "[[0.3, 0.7], [0.9, 0.1]]"),
    "vectors of more classes": (
        "stars.npy",
        "[[0.2, 0.2, 0.2, 0.2, 0.2], [0.6, 0.1, 0.1, 0.1, 0.1]]",
    ),
}


@pytest.mark.parametrize("form", VECTORS)
def test_samples_larger_than_the_pool_with_replacement(form, folder: Path, tmp_path: Path) -> None:
    """Whatever form the grid has: the error of a pool that is too small advises it."""
    labels, points = VECTORS[form]
    text = (
        f'name = "e"\nquantifiers = ["CC"]\n[data]\nfeatures = "x.npy"\nlabels = "{labels}"\n'
        f'[shift]\nkind = "prior"\nreplace = true\ntrain_size = 150\ntest_size = 2000\n'
        f"train_repeats = 1\ntest_repeats = 2\ntrain_prevalences = {points}\n"
        f"test_prevalences = {points}\n[selection]\nenabled = false\n"
    )
    rows = _run(folder, tmp_path / "out", text)
    assert len(rows) == 2 * 2 * 2
    assert rows["replace"].all()
    assert (rows["size"] == 2000).all()


def _coordinates(folder: Path) -> tuple[Any, ...]:
    return load_experiment(folder / "experiment.toml").shift.coordinates()
