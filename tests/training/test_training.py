"""Training of the network: needs PyTorch, which neither the package nor `make test` installs."""

import csv
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch")
xp = pytest.importorskip("array_api_compat.torch", reason="training needs array-api-compat")

from quantshift.quantifiers.pretrained import trained  # noqa: E402
from quantshift.quantifiers.pretrained.network import cell_shares, log_density  # noqa: E402
from quantshift.quantifiers.pretrained.summaries import TaskBatch, task_summaries  # noqa: E402
from training.evaluate import LABELS, main  # noqa: E402
from training.families import FAMILIES  # noqa: E402
from training.tasks import draw_tasks  # noqa: E402
from training.train import SMALL, initial_weights, log_score, train  # noqa: E402

CPU = torch.device("cpu")


@pytest.fixture
def shares():
    return cell_shares(xp, dtype=torch.float32, device=CPU)


def test_the_network_sees_the_same_in_training_and_in_use(shares):
    torch.manual_seed(1)
    batch = draw_tasks(8, 200, 100, CPU)
    seen = task_summaries(batch.task, shares, xp)
    weights = initial_weights(seen, SMALL, 0)
    weights["head.out.weight"] = torch.randn_like(weights["head.out.weight"]) * 0.1
    task = TaskBatch(
        **{f.name: getattr(batch.task, f.name).double().numpy() for f in fields(TaskBatch)}
    )
    also = task_summaries(task, shares.double().numpy(), np)
    for name in ("overall", "columns", "anchors", "counts"):
        np.testing.assert_allclose(getattr(also, name), getattr(seen, name).numpy(), atol=2e-3)
    arrays = {name: tensor.double().numpy() for name, tensor in weights.items()}
    np.testing.assert_allclose(
        log_density(arrays, also, np), log_density(weights, seen, xp).numpy(), atol=0.05
    )


def test_families_are_what_they_say(shares):
    """SLD is right under prior shift, PCC under covariate shift."""
    torch.manual_seed(0)
    errors = {}
    for family in FAMILIES:
        batch = draw_tasks(24, 1000, 500, CPU, families=(family,))
        estimates = task_summaries(batch.task, shares, xp).overall[:, :3]
        error = (estimates - batch.share[:, None]).abs()[batch.valid].mean(0)
        errors[type(family).__name__] = dict(
            zip(("prior", "pcc", "sld"), error.tolist(), strict=True)
        )
    assert errors["Prior"]["sld"] < errors["Prior"]["pcc"] < errors["Prior"]["prior"]
    assert errors["Covariate"]["pcc"] < min(
        errors["Covariate"]["sld"], errors["Covariate"]["prior"]
    )
    assert errors["Score"]["pcc"] < min(errors["Score"]["sld"], errors["Score"]["prior"])
    assert errors["NoShift"]["prior"] < 0.05


def test_the_log_score_is_the_log_density():
    uniform = torch.full((1, 256), -float(np.log(256)))
    np.testing.assert_allclose(log_score(uniform, torch.tensor([0.3])).numpy(), 0, atol=1e-5)


def test_a_run_learns_and_goes_on_where_it_ended(tmp_path):
    train(SMALL, 8, tmp_path, seed=0)
    first = torch.load(tmp_path / "network-0.pt")["step"]
    train(SMALL, 600, tmp_path, seed=0)
    state = torch.load(tmp_path / "network-0.pt")
    assert 0 < first <= state["step"] == SMALL.planned_steps


def test_an_evaluation_has_a_row_for_every_task_and_number_of_labels(tmp_path, monkeypatch):
    monkeypatch.setattr("training.evaluate.FAMILIES", FAMILIES[-1:])
    weights = Path(trained.__file__).with_name(trained.FILE)
    main([str(weights), str(tmp_path / "rows.csv"), "--batches", "1", "--tasks", "4"])
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {int(row["k"]) for row in rows} == set(LABELS)
    assert len(rows) % len(LABELS) == 0
    for row in rows:
        low, median, high = (float(row[name]) for name in ("low", "median", "high"))
        assert low < median < high
        assert (float(row["below"]) < 0.5) == (float(row["truth"]) < median)
