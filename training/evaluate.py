"""How a network does on new tasks of every family that it was trained on.

    python -m training.evaluate weights.npz runs/worlds.csv

A row for every task and number of labels: the share of the class in training and in the sample,
what PCC and SLD estimate, and what the network says without its hedge: the probability of a share
below the true one (`below`), and the quantiles of an interval of 90 %. The figures of the
documentation are made of it by `python -m website.pretrained runs/worlds.csv`.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import array_api_compat.torch as xp
import numpy as np
import torch
from torch import Tensor

from quantshift.quantifiers.pretrained.network import CELLS, cell_shares, log_density
from quantshift.quantifiers.pretrained.summaries import mirrored, task_summaries
from training.families import FAMILIES
from training.tasks import Batch, draw_tasks

LABELS = (0, 10, 30, 100)
N_TRAIN, N_SAMPLE = 1000, 500
COLUMNS = (
    *("family", "batch", "task", "k", "training", "pcc", "sld"),
    *("truth", "below", "low", "median", "high"),
)


def rows_of(weights: dict[str, Tensor], batch: Batch, k: int) -> Iterator[list[float]]:
    """The numbers of a batch's tasks if k random items of each sample are labelled."""
    labelled = (torch.rand_like(batch.y).argsort(1).argsort(1) < k).float()
    task = replace(batch.task, labelled=labelled, labels=batch.y * labelled)
    shares = cell_shares(xp, dtype=torch.float32, device=batch.y.device)
    seen = task_summaries(task, shares, xp)
    cells = log_density(weights, seen, xp).exp()
    mirror = task_summaries(mirrored(task), shares, xp)
    cells = cells + log_density(weights, mirror, xp).exp().flip(1)
    cumulated = np.pad(cells.cumsum(1).cpu().numpy(), ((0, 0), (1, 0)))
    borders = np.arange(CELLS + 1) * (np.pi / 2 / CELLS)
    estimates = seen.overall[:, :3].tolist()
    for i, (share, valid) in enumerate(
        zip(batch.share.tolist(), batch.valid.tolist(), strict=True)
    ):
        if valid:
            below = cumulated[i] / cumulated[i, -1]
            of_share = np.interp(np.arcsin(np.sqrt(share)), borders, below)
            limits = np.sin(np.interp([0.05, 0.5, 0.95], below, borders)) ** 2
            yield [i, k, *(round(float(v), 4) for v in (*estimates[i], share, of_share, *limits))]


@torch.no_grad()
def evaluate(weights: dict[str, Tensor], file: Path, n_batches: int, n_tasks: int) -> None:
    """Write the rows of all families, (family, batch, task) being the same task for every k."""
    device = weights["centre"].device
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for family in FAMILIES:
            for number in range(n_batches):
                batch = draw_tasks(n_tasks, N_TRAIN, N_SAMPLE, device, families=(family,))
                for k in LABELS:
                    for row in rows_of(weights, batch, k):
                        writer.writerow([type(family).__name__, number, *row])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--batches", type=int, default=16, help="of tasks of each family")
    parser.add_argument("--tasks", type=int, default=128, help="in each batch")
    parser.add_argument("--seed", type=int, default=1_000_003)
    given = parser.parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(given.seed)
    with np.load(given.weights, allow_pickle=False) as arrays:
        weights = {name: torch.tensor(arrays[name]).float().to(device) for name in arrays.files}
    evaluate(weights, given.file, given.batches, given.tasks)


if __name__ == "__main__":
    main()
