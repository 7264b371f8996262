"""Train the network: `python -m training.train --seconds 540 --out checkpoints`.

Every step draws new tasks, so that no task is seen twice. Several networks that differ in their
seed learn from the same tasks. A run is resumed from `--out`, and ends after so many seconds.
"""

import argparse
import json
import math
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import array_api_compat.torch as xp
import torch
from torch import Tensor

from quantshift.quantifiers.pretrained.network import CELLS, cell_shares, log_density, sizes_of_head
from quantshift.quantifiers.pretrained.summaries import Summaries, task_summaries
from training.families import FAMILIES
from training.tasks import Batch, draw_tasks

TRAIN_SIZES, SAMPLE_SIZES = (200, 400, 1000, 2000), (50, 100, 250, 500, 1000)
REPORT_EVERY = 100
UNLEARNT = ("centre", "scale", "heads")


@dataclass(frozen=True)
class Configuration:
    """What a run is; `--small` is one that ends within a minute on two cores.

    planned_steps: over which the learning rate falls to zero.
    """

    seeds: int = 3
    tasks: int = 512
    width: int = 160
    layers: int = 3
    heads: int = 4
    learning_rate: float = 1e-3
    planned_steps: int = 5_000
    largest: int = 2000


SMALL = Configuration(seeds=1, tasks=16, width=32, layers=1, planned_steps=60, largest=400)


def initial_weights(seen: Summaries, configuration: Configuration, seed: int) -> dict[str, Tensor]:
    """Weights of a network; summaries of some tasks scale its inputs."""
    device = seen.overall.device
    generator = torch.Generator().manual_seed(seed)
    width = configuration.width
    weights: dict[str, Tensor] = {
        "centre": seen.overall.mean(0),
        "scale": seen.overall.std(0).clamp_min(1e-2),
    }

    def linear(name: str, n_in: int, n_out: int, size: float = 1.0) -> None:
        drawn = torch.randn(n_in, n_out, generator=generator) * size / math.sqrt(n_in)
        weights[f"{name}.weight"] = drawn.to(device)
        weights[f"{name}.bias"] = torch.zeros(n_out, device=device)

    def two_layers(name: str, n_in: int, inner: int, n_out: int, size: float = 1.0) -> None:
        linear(f"{name}.in", n_in, inner)
        linear(f"{name}.out", inner, n_out, size)

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = torch.ones(width, device=device)
        weights[f"{name}.bias"] = torch.zeros(width, device=device)

    two_layers("overall", seen.overall.shape[1], 2 * width, width)
    two_layers("column", seen.columns.shape[2], width, width)
    for layer in range(configuration.layers):
        name = f"layer{layer}"
        weights[f"{name}.heads"] = torch.zeros(configuration.heads, device=device)
        norm(f"{name}.norm1")
        norm(f"{name}.norm2")
        for part in ("query", "key", "value"):
            linear(f"{name}.{part}", width, width)
        linear(f"{name}.mixed", width, width, 0.3)
        two_layers(f"{name}.change", width, 4 * width, width, 0.3)
    norm("head.norm")
    two_layers("head", width, 2 * width, sizes_of_head(), 0.0)
    return weights


class Trained:
    """A network and its optimiser."""

    def __init__(self, weights: dict[str, Tensor], learning_rate: float) -> None:
        self.weights = weights
        self.learnt = [
            tensor.requires_grad_(True)
            for name, tensor in weights.items()
            if not name.endswith(UNLEARNT)
        ]
        self.learning_rate = learning_rate
        self.optimiser = torch.optim.AdamW(
            self.learnt, lr=learning_rate, weight_decay=0.02, betas=(0.9, 0.98)
        )

    def step(self, seen: Summaries, batch: Batch, rate: float) -> Tensor:
        """One step of learning; the log score of each task, in units of a uniform density."""
        device = batch.share.device
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            cells = log_density(self.weights, seen, xp)
        scores = log_score(cells, batch.share)
        usable = batch.valid & torch.isfinite(scores)
        loss = -torch.where(usable, scores, 0.0).clamp_min(-12).sum() / usable.sum().clamp_min(1)
        for group in self.optimiser.param_groups:
            group["lr"] = self.learning_rate * rate
        self.optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.learnt, 1.0)
        self.optimiser.step()
        return scores.detach()


def log_score(cells: Tensor, share: Tensor) -> Tensor:
    """The log-density of the true shares in the angle, interpolated between cells."""
    at = torch.asin(share.clamp(0, 1).sqrt()) / (math.pi / 2) * CELLS - 0.5
    low = at.floor().clamp(0, CELLS - 2)
    part = (at - low).clamp(0, 1)
    of_low = cells.gather(1, low.long()[:, None])[:, 0]
    of_high = cells.gather(1, low.long()[:, None] + 1)[:, 0]
    return torch.logaddexp(of_low + torch.log1p(-part + 1e-9), of_high + torch.log(part + 1e-9)) + (
        math.log(CELLS)
    )


def sizes(rng: random.Random, largest: int) -> tuple[int, int]:
    """Numbers of training items and of items in the sample."""
    n_train = rng.choice([size for size in TRAIN_SIZES if size <= largest])
    return n_train, rng.choice([size for size in SAMPLE_SIZES if size <= largest])


def next_batch(
    rng: random.Random, configuration: Configuration, shares: Tensor
) -> tuple[Batch, Summaries]:
    """New tasks, and what a network sees of them."""
    n_train, n_sample = sizes(rng, configuration.largest)
    batch = draw_tasks(configuration.tasks, n_train, n_sample, shares.device)
    with torch.no_grad():
        return batch, task_summaries(batch.task, shares, xp)


def train(configuration: Configuration, seconds: float, out: Path, seed: int) -> None:
    """Train until the time is over or the planned steps are done; go on where a run had ended."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    states = [torch.load(path, map_location=device) for path in sorted(out.glob("network-*.pt"))]
    step = states[0]["step"] if states else 0
    torch.manual_seed(seed + step)
    rng = random.Random(seed + step)
    shares = cell_shares(xp, dtype=torch.float32, device=device)
    _, seen = next_batch(rng, configuration, shares)
    networks = [
        Trained(initial_weights(seen, configuration, seed + i), configuration.learning_rate)
        for i in range(configuration.seeds)
    ]
    for network, state in zip(networks, states, strict=False):
        for name, tensor in state["weights"].items():
            network.weights[name].data.copy_(tensor)
        network.optimiser.load_state_dict(state["optimiser"])
    out.mkdir(parents=True, exist_ok=True)
    start, scores = time.monotonic(), []
    while step < configuration.planned_steps and time.monotonic() - start < seconds:
        batch, seen = next_batch(rng, configuration, shares)
        warm, fraction = min(1.0, (step + 1) / 200), step / configuration.planned_steps
        rate = warm * (0.01 + 0.99 * (1 + math.cos(math.pi * fraction)) / 2)
        usable = batch.valid
        scores.append(
            (
                batch.family[usable].cpu(),
                torch.stack([n.step(seen, batch, rate)[usable] for n in networks], 1).cpu(),
            )
        )
        step += 1
        if step % REPORT_EVERY == 0 or step == configuration.planned_steps:
            print(f"{time.monotonic() - start:.0f} s, step {step}: {_report(scores)}", flush=True)
            scores = []
            save(networks, step, out)
    save(networks, step, out)
    (out / "configuration.json").write_text(json.dumps({**asdict(configuration), "steps": step}))


def save(networks: list[Trained], step: int, folder: Path) -> None:
    """Write a checkpoint of each network; the one before stays until the new one is whole."""
    for i, network in enumerate(networks):
        part = folder / f"network-{i}.part"
        weights = {name: tensor.detach() for name, tensor in network.weights.items()}
        state = {"step": step, "weights": weights, "optimiser": network.optimiser.state_dict()}
        torch.save(state, part)
        part.replace(folder / f"network-{i}.pt")


def _report(scores: list[tuple[Tensor, Tensor]]) -> str:
    family, score = torch.cat([s[0] for s in scores]), torch.cat([s[1] for s in scores])
    score = torch.nan_to_num(score, nan=-12.0).clamp_min(-12)
    parts = [f"log score {' '.join(f'{value:.3f}' for value in score.mean(0).tolist())}"]
    for position, known in enumerate(FAMILIES):
        of_family = score[family == position]
        if len(of_family):
            parts.append(f"{type(known).__name__} {of_family.mean():.2f}")
    return "; ".join(parts)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=540, help="end after so many seconds")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", action="store_true", help="a trial for two cores")
    parser.add_argument("--steps", type=int, help="steps over which the learning rate falls")
    given = parser.parse_args()
    configuration = SMALL if given.small else Configuration()
    if given.steps:
        configuration = Configuration(**{**asdict(configuration), "planned_steps": given.steps})
    train(configuration, given.seconds, given.out, given.seed)


if __name__ == "__main__":
    main()
