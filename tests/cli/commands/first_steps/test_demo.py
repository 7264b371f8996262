"""The demo: on a tiny run, the table, the page, and that a second call is quick."""

import polars as pl
import pytest

from quantshift.cli import demonstration as demo
from quantshift.cli.commands.first_steps.demo import _rendered
from quantshift.lab.data import SyntheticSource
from quantshift.lab.experiments.documents.loading import load_experiment

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


@pytest.mark.slow
@pytest.mark.usefixtures("tiny")
def test_a_table_with_every_method_and_kind_of_shift(tmp_path) -> None:  # type: ignore[no-untyped-def]
    seen: list[int] = []
    store = demo.run_demo(tmp_path / "demo", n_workers=1, progress=lambda p: seen.append(p.done))
    table = demo.errors_by_shift(store.read().collect())
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


def test_the_best_is_bold_except_under_concept_shift() -> None:
    columns = {"prior": [0.1, 0.2, 0.0], "concept": [0.3, 0.2, 0.1], "concept-forced": [0.1] * 3}
    frame = pl.DataFrame({"method": ["SubclassSLD", "CC", "MLPE"], **columns})
    methods, prior, *concept = _rendered(frame).columns
    # The baseline is never the best.
    assert list(prior.cells) == ["[bold green]0.100[/]", "0.200", "0.000"]
    assert not any("bold" in str(cell) for column in concept for cell in column.cells)
    assert methods.min_width == len("SubclassSLD")
