"""The suite of several labels, by name and on data sets in folders."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift import SLD
from quantshift.errors import UserError
from quantshift.lab.data import generate_labelled_items, import_labelled_items
from quantshift.lab.experiments.label_results import LabelProtocols, run_label_experiments
from quantshift.lab.experiments.label_running import (
    PosteriorsByLabel,
    label_methods,
    label_problems,
    label_protocols,
)
from quantshift.multilabel import TiltedLabelSets


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    items = generate_labelled_items(200)
    columns = {f"x{j}": column for j, column in enumerate(items.X.T)}
    columns |= dict(zip(items.labels.names.tolist(), items.labels.has.T.astype(int), strict=True))
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    names = items.labels.names.tolist()
    import_labelled_items([tmp_path / "t.csv"], tmp_path / "tickets", label=names)
    return tmp_path / "tickets"


def test_a_folder_is_a_problem_with_features_on_one_scale(folder: Path) -> None:
    (problem,) = label_problems([folder])
    assert problem.name == "tickets"
    assert (len(problem.labels), len(problem.labels_test)) == (133, 67)
    np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(problem.X.std(axis=0), 1)


def test_data_that_do_not_fit_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two data sets are called 'tickets'"):
        label_problems([folder, folder])
    with pytest.raises(UserError, match=r"does not exist; create one with .*--layout labels"):
        label_problems([tmp_path / "none"])
    (tmp_path / "manifest.json").write_text('{"format": "quantshift-dataset"}')
    with pytest.raises(UserError, match="has one label per item"):
        label_problems([tmp_path])


def test_methods_are_chosen_by_name() -> None:
    assert list(label_methods()) == [
        *("MLPE", "PCC by label", "PACC by label", "SLD by label"),
        *("SetsAsClasses", "RegressedShares", "TiltedLabelSets"),
    ]
    assert list(label_methods(["TiltedLabelSets"])) == ["TiltedLabelSets"]
    with pytest.raises(UserError, match="unknown method for several labels 'SLD'"):
        label_methods(["SLD"])


def test_the_full_size_is_that_of_the_benchmark() -> None:
    assert label_protocols("paper") == LabelProtocols(repeats=5, n_natural=500)
    assert label_protocols("quick") == label_protocols(None) == LabelProtocols()


def test_each_label_is_estimated_from_its_own_posteriors() -> None:
    train, test = generate_labelled_items(300), generate_labelled_items(200, seed=1)
    quantifier = PosteriorsByLabel(SLD()).fit(train.X, train.labels.has)
    held_out, pool = quantifier.held_out_posteriors_, quantifier.posteriors(test.X)
    shares = quantifier.predict(test.X)
    for j in range(5):
        alone = SLD().fit_posteriors(
            np.column_stack([1 - held_out[:, j], held_out[:, j]]), train.labels.has[:, j]
        )
        assert shares[j] == alone.aggregate(np.column_stack([1 - pool[:, j], pool[:, j]]))[1]


def test_classifiers_are_fitted_once_for_all_methods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quantshift.lab.experiments import label_results

    fits, fit = [], label_results.fit_label_models
    monkeypatch.setattr(
        label_results, "fit_label_models", lambda *args: fits.append(1) or fit(*args)
    )
    problem = label_problems()[0]
    methods = {**label_methods(["MLPE", "PCC by label"]), "tilted": TiltedLabelSets(cv=3)}
    steps = []
    store = run_label_experiments(
        [problem],
        methods,
        tmp_path / "out",
        LabelProtocols(size=20, points=3, n_natural=3),
        lambda *step: steps.append(step),
    )
    assert len(fits) == 2
    assert steps == [
        ("tickets, MLPE", 0, 3),
        ("tickets, PCC by label", 1, 3),
        ("tickets, tilted", 2, 3),
    ]
    rows = store.read(["multilabel-npp"], methods=["tilted"]).collect()
    index = dict(LabelProtocols(size=20, points=3, n_natural=3).samples(problem.labels_test))
    fitted = TiltedLabelSets(cv=3).fit(problem.X, problem.labels.has)
    expected = fitted.predict(problem.X_test, index["multilabel-npp"])
    assert rows["p_hat"].list.get(1).to_list() == expected.ravel().tolist()
