"""The demo: on a tiny run, the table, the page, and that a second call is quick."""

import polars as pl
import pytest

from quantshift import demo
from quantshift.data import SyntheticSource
from quantshift.experiments.loading import load_experiment

TINY = {
    "shift.train_size": 300,
    "shift.train_repeats": 1,
    "shift.test_size": 60,
    "shift.test_repeats": 1,
    "selection.repeats": 1,
    "selection.size": 60,
}


@pytest.fixture
def tiny(monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(demo, "EXPERIMENTS", ("prior", "local"))
    monkeypatch.setattr(
        demo,
        "load_experiment",
        lambda name, profile, overrides=None: load_experiment(
            name, profile=profile, overrides={**TINY, **(overrides or {})}
        ),
    )
    monkeypatch.setattr(demo, "SyntheticSource", lambda: SyntheticSource(6_000))


@pytest.mark.usefixtures("tiny")
def test_a_table_with_every_method_and_kind_of_shift(tmp_path) -> None:  # type: ignore[no-untyped-def]
    seen: list[int] = []
    store = demo.run_demo(tmp_path / "demo", n_workers=1, progress=lambda p: seen.append(p.done))
    table = demo.error_table(store.read().collect())
    assert table.columns == ["method", "prior", "local", "local-control"]
    paper = [method.name for method in load_experiment("prior").methods]
    assert sorted(table["method"]) == sorted([*paper, demo.DEFAULT_METHOD])
    smm, pacc = (table.filter(method=name).drop("method").row(0) for name in ("SMM", "PACC"))
    assert smm == pytest.approx(pacc, abs=1e-9)  # the same method if there are two classes
    assert seen == list(range(1, 13))
    errors = dict(table.select("method", "prior").iter_rows())
    assert errors["SLD"] < errors["PCC"] < errors["MLPE"]
    assert table.select(pl.exclude("method")).null_count().sum_horizontal().item() == 0
    again: list[int] = []
    demo.run_demo(tmp_path / "demo", n_workers=1, progress=lambda p: again.append(p.done))
    assert again == []
