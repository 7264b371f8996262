"""Tasks: items of a world, drawn by a family of shifts, with a classifier's posteriors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import array_api_compat.torch as xp
import torch
from torch import Tensor

from quantshift.quantifiers.pretrained.summaries import TaskBatch, logistic_regression
from training.families import FAMILIES
from training.families.family import Family
from training.worlds import N_COLUMNS, Pool, draw_pool, gumbel, pick, uniform

POOL = 4
"""How many times more items a pool has than a task."""

FOLDS = 3
RANDOM_FEATURES = 48
CLASSIFIER_STEPS = 6


@dataclass(frozen=True)
class Batch:
    """Tasks with their answers.

    task: what the quantifier sees. y: 1 for items of the sample that are of the class,
    (n_tasks, n_sample). family: position of the family in the list. valid: whether the task is one
    that a user could have: both classes occur in training.
    """

    task: TaskBatch
    y: Tensor
    family: Tensor
    valid: Tensor

    @property
    def share(self) -> Tensor:
        """The share of the class in the sample, (n_tasks,)."""
        return self.y.mean(1)


@torch.no_grad()
def draw_tasks(
    n_tasks: int,
    n_train: int,
    n_sample: int,
    device: torch.device,
    families: Sequence[Family] = FAMILIES,
) -> Batch:
    """Tasks of random worlds and families, all of the same sizes."""
    n_items = POOL * (n_train + n_sample)
    shares = torch.tensor([family.share for family in families], device=device)
    of_family = torch.multinomial(shares, n_tasks, replacement=True)
    # Training items are from the first part of time and those of the sample from the last part
    # where that makes a difference.
    times = torch.arange(n_items, device=device) / (n_items - 1)
    environments = torch.zeros(n_tasks, n_items, 2, device=device)
    apart = torch.zeros(n_tasks, dtype=torch.bool, device=device)
    for position, family in enumerate(families):
        places = family.environments(n_tasks, times)
        if places is not None:
            of_it = of_family == position
            environments = torch.where(of_it[:, None, None], places, environments)
            apart |= of_it
    pool = draw_pool(environments, (n_train / n_items, n_sample / n_items))
    log_weights = [torch.zeros(n_tasks, n_items, device=device) for _ in range(2)]
    for position, family in enumerate(families):
        of_it = (of_family == position)[:, None]
        for i, log_weight in enumerate(family.log_weights(pool)):
            log_weights[i] = log_weights[i] + torch.where(of_it, log_weight, 0.0)
    late = times > 0.5
    log_weights[0] = log_weights[0] - 1e4 * (apart[:, None] & late)
    log_weights[1] = log_weights[1] - 1e4 * (apart[:, None] & ~late)
    chosen = (log_weights[0] + gumbel((n_tasks, n_items), device)).topk(n_train, 1).indices
    log_weights[1].scatter_(1, chosen, -1e6)
    sampled = (log_weights[1] + gumbel((n_tasks, n_items), device)).topk(n_sample, 1).indices
    chosen = chosen.gather(1, torch.rand(n_tasks, n_train, device=device).argsort(1))
    return _batch(pool, chosen, sampled, of_family)


def _batch(pool: Pool, chosen: Tensor, sampled: Tensor, of_family: Tensor) -> Batch:
    def take(rows: Tensor) -> Tensor:
        return pool.columns.gather(1, rows[:, :, None].expand(-1, -1, N_COLUMNS))

    y, y_sample = pool.y.gather(1, chosen), pool.y.gather(1, sampled)
    X, sample = _as_in_tables(take(chosen), take(sampled), pool.shown)
    members = y.sum(1)
    least = max(8.0, 0.02 * y.shape[1])
    valid = (members >= least) & (y.shape[1] - members >= least)
    logits, sample_logits = _classified(X, y, sample)
    labelled = _labelled(y_sample)
    task = TaskBatch(
        X=X,
        y=y,
        logits=logits,
        sample=sample,
        sample_logits=sample_logits,
        shown=pool.shown,
        weights=torch.full_like(y, 1 / y.shape[1]),
        sample_weights=torch.full_like(y_sample, 1 / y_sample.shape[1]),
        size=torch.full_like(y[:, 0], y.shape[1]),
        sample_size=torch.full_like(y[:, 0], y_sample.shape[1]),
        labelled=labelled,
        labels=y_sample * labelled,
    )
    return Batch(task, y_sample, of_family, valid)


def _labelled(y: Tensor) -> Tensor:
    """Which items of the sample have a label: none in half of the tasks, else up to 100."""
    n_tasks, n_items = y.shape
    number = pick((n_tasks,), [0, 0, 0, 0, 0, 5, 10, 20, 30, 50, 100], y.device)
    number = number.clamp_max(n_items // 2)
    rank = torch.rand(n_tasks, n_items, device=y.device).argsort(1).argsort(1)
    return (rank < number[:, None]).float()


def _as_in_tables(X: Tensor, sample: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
    """Columns as in tables: skewed, with gaps (set to the mean), some empty in the sample."""
    n_tasks, _, n_columns = X.shape
    device = X.device

    def random() -> Tensor:
        return torch.rand(n_tasks, 1, n_columns, device=device)

    skewed, power = random() < 0.2, uniform((n_tasks, 1, n_columns), 0.3, 1.2, device)
    X, sample = (
        torch.where(skewed, torch.exp(power * part.clamp(-4, 4)), part) for part in (X, sample)
    )
    centre, deviation = X.mean(1, keepdim=True), X.std(1, keepdim=True)
    varies = (deviation > 1e-3) * shown[:, None]
    X, sample = (
        ((part - centre) / deviation.clamp_min(1e-3)).clamp(-5, 5) * varies for part in (X, sample)
    )
    has_gaps = (torch.rand(n_tasks, 1, 1, device=device) < 0.25) & (random() < 0.25)
    rate = random() ** 2
    rate_sample = torch.where(random() < 0.5, rate, random())
    rate_sample = torch.where(random() < 0.12, 1.0, rate_sample)
    X = torch.where(has_gaps & (torch.rand_like(X) < rate), 0.0, X)
    sample = torch.where(has_gaps & (torch.rand_like(sample) < rate_sample), 0.0, sample)
    return X, sample


def _classified(X: Tensor, y: Tensor, sample: Tensor) -> tuple[Tensor, Tensor]:
    """Logits by cross-fitted regressions: linear ones, or with random features."""
    inputs, inputs_sample = _inputs(X, sample)
    fold = torch.arange(y.shape[1], device=y.device) % FOLDS
    ridge = math.exp(float(uniform((1,), -1.5, 2.5, y.device)))
    masks = [torch.ones_like(y)] + [(fold != k).float().expand_as(y) for k in range(FOLDS)]
    fits = [
        logistic_regression(inputs, y, mask, ridge, xp, steps=CLASSIFIER_STEPS) for mask in masks
    ]
    logits = torch.stack([(inputs @ fit[:, :, None])[..., 0] for fit in fits[1:]], 0)
    out_of_fold = logits.gather(0, fold.expand(1, *y.shape))[0]
    of_sample = (inputs_sample @ fits[0][:, :, None])[..., 0]
    return out_of_fold.clamp(-9, 9), of_sample.clamp(-9, 9)


def _inputs(X: Tensor, sample: Tensor) -> tuple[Tensor, Tensor]:
    parts = [[torch.ones_like(part[..., :1]), part] for part in (X, sample)]
    if torch.rand(()) < 0.5:
        n_columns = X.shape[2]
        directions = torch.randn(n_columns, RANDOM_FEATURES, device=X.device)
        directions = directions * (torch.rand_like(directions) < 0.3)
        offsets = torch.randn(RANDOM_FEATURES, device=X.device)
        for part in parts:
            part.append(torch.tanh(part[1] @ directions * 0.7 + offsets))
    return torch.cat(parts[0], 2), torch.cat(parts[1], 2)
