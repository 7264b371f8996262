"""Random causal models, many at once: columns that cause each other, an outcome among them.

Every world has layers of variables. A variable is a small random function of some variables of
earlier layers (its causes), plus noise; some are categories. The outcome is a threshold on one of
them, so that the columns are causes of the outcome, effects of it, or both.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

LAYERS, PER_LAYER, UNITS = 10, 4, 8
"""Layers of variables, variables in each, and units of each random function."""

N_COLUMNS = 32
"""The most columns that are shown."""

LEVELS = 7
"""The most categories of a variable."""


@dataclass(frozen=True)
class Pool:
    """Items of many worlds, from which training items and samples are drawn.

    columns: (n_tasks, n_items, N_COLUMNS); shown: 1 for columns that exist. y: 1 for the class.
    hidden: a variable related to the class. needed: shares of the pool that training items and the
    sample take up.
    """

    columns: Tensor
    shown: Tensor
    y: Tensor
    hidden: Tensor
    needed: tuple[float, float]


def uniform(shape: Sequence[int], low: float, high: float, device: torch.device) -> Tensor:
    """Random numbers between two borders."""
    return low + (high - low) * torch.rand(tuple(shape), device=device)


def pick(shape: Sequence[int], values: Sequence[float], device: torch.device) -> Tensor:
    """Values drawn at random, with replacement."""
    chosen = torch.randint(0, len(values), tuple(shape), device=device)
    return torch.tensor(values, device=device, dtype=torch.float32)[chosen]


def standardised(x: Tensor) -> Tensor:
    """Mean 0 and deviation 1 over the items."""
    return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True).clamp_min(1e-4)


def ranks(x: Tensor) -> Tensor:
    """Ranks of the items between 0 and 1."""
    return x.argsort(1).argsort(1).float() / x.shape[1]


def gumbel(shape: Sequence[int], device: torch.device) -> Tensor:
    """Noise that turns the largest log-weights into a draw by these weights."""
    return -torch.log(-torch.log(torch.rand(tuple(shape), device=device).clamp(1e-9, 1 - 1e-7)))


def draw_pool(environments: Tensor, needed: tuple[float, float]) -> Pool:
    """Items of as many worlds as there are environments, (n_tasks, n_items, 2)."""
    n_tasks, n_items, _ = environments.shape
    device = environments.device
    outcome = torch.randint(2, LAYERS, (n_tasks,), device=device)
    outcome_at = torch.randint(0, PER_LAYER, (n_tasks,), device=device)
    share = torch.sigmoid(-0.4 + 1.1 * torch.randn(n_tasks, 1, device=device)).clamp(0.04, 0.96)
    flipped = torch.rand(n_tasks, 1, device=device) < 0.5
    seen_as_class = torch.rand(n_tasks, device=device) < 0.6
    outcome_noise = torch.exp(uniform((n_tasks, 1), -3.5, -0.3, device))
    habits = _Habits.draw(n_tasks, device)
    variables = torch.empty(n_tasks, n_items, LAYERS * PER_LAYER, device=device)
    y = torch.zeros(n_tasks, n_items, device=device)
    tasks = torch.arange(n_tasks, device=device)
    for layer in range(LAYERS):
        first = layer * PER_LAYER
        x = _mechanism(variables[:, :, :first], environments, habits)
        here = outcome == layer
        latent = x[tasks, :, outcome_at]
        latent = latent + outcome_noise * torch.randn(n_tasks, n_items, device=device)
        latent = torch.where(flipped, -latent, latent)
        border = latent.sort(1).values.gather(1, (share * (n_items - 1)).long())
        members = (latent < border).float()
        y = torch.where(here[:, None], members, y)
        is_outcome = here[:, None] & (torch.arange(PER_LAYER, device=device) == outcome_at[:, None])
        x = torch.where(is_outcome[:, None], x, _some_categories(x, habits))
        as_class = (is_outcome & seen_as_class[:, None])[:, None]
        x = torch.where(as_class, standardised(members)[:, :, None], x)
        variables[:, :, first : first + PER_LAYER] = x
    return _shown(variables, y, outcome * PER_LAYER + outcome_at, needed)


@dataclass(frozen=True)
class _Habits:
    """What the variables of a world have in common, each (n_tasks, 1)."""

    causes: Tensor
    linear: Tensor
    least_noise: Tensor
    most_noise: Tensor
    categories: Tensor
    hit: Tensor
    """The share of mechanisms that environments change."""

    @classmethod
    def draw(cls, n_tasks: int, device: torch.device) -> "_Habits":
        one = (n_tasks, 1)
        return cls(
            causes=uniform(one, 1.3, 5.5, device),
            linear=pick(one, [0, 0, 0, 0.5, 0.5, 1], device),
            least_noise=uniform(one, -2.5, -0.8, device),
            most_noise=uniform(one, -1.2, 0.3, device),
            categories=pick(one, [0, 0.3, 0.6, 0.9], device),
            hit=pick(one, [0.05, 0.05, 0.05, 0.15, 0.15, 0.4, 0.8], device),
        )


def _mechanism(causes: Tensor, environments: Tensor, habits: _Habits) -> Tensor:
    """The variables of a layer, (n_tasks, n_items, PER_LAYER), from those of earlier ones."""
    n_tasks, n_items, n_causes = causes.shape
    device = causes.device
    kind = torch.randint(0, 7, (n_tasks, PER_LAYER), device=device)
    kind = torch.where(torch.rand(n_tasks, PER_LAYER, device=device) < habits.linear, 0, kind)
    hit = (torch.rand(n_tasks, PER_LAYER, device=device) < habits.hit).float()
    hit = hit[:, None, :, None]
    bias = 0.7 * torch.randn(n_tasks, 1, PER_LAYER, UNITS, device=device)
    pushed = torch.randn(n_tasks, 2, PER_LAYER, UNITS, device=device) * hit
    inner = bias + (environments @ pushed.flatten(2)).view(n_tasks, n_items, PER_LAYER, UNITS)
    if n_causes:
        is_cause = torch.rand(n_tasks, n_causes, PER_LAYER, device=device)
        is_cause = (is_cause < (habits.causes / n_causes).clamp_max(1)[:, :, None]).float()
        size = torch.exp(uniform((n_tasks, 1, PER_LAYER, 1), -0.5, 0.8, device))
        size = size * is_cause.sum(1, keepdim=True).clamp_min(1).rsqrt()[..., None]
        slopes = torch.randn(n_tasks, n_causes, PER_LAYER, UNITS, device=device)
        slopes = slopes * is_cause[..., None] * size
        inner = inner + (causes @ slopes.flatten(2)).view(n_tasks, n_items, PER_LAYER, UNITS)
    units = _activated(inner, kind[:, None, :, None], bias)
    changed = 0.4 * torch.randn(n_tasks, 2, PER_LAYER, UNITS, device=device) * hit
    changed = (environments @ changed.flatten(2)).view(n_tasks, n_items, PER_LAYER, UNITS)
    outer = torch.randn(n_tasks, 1, PER_LAYER, UNITS, device=device)
    x = (units * outer * (1 + changed)).sum(-1)
    any_environment = (environments.abs().amax((1, 2)) > 0)[:, None, None]
    x = standardised(x) if n_causes else 0.5 * standardised(x) * any_environment
    between = torch.rand(n_tasks, 1, PER_LAYER, device=device)
    span = (habits.most_noise - habits.least_noise)[:, :, None]
    noise = torch.exp(habits.least_noise[:, :, None] + between * span)
    return standardised(x + noise * _noise((n_tasks, n_items, PER_LAYER), device))


def _activated(inner: Tensor, kind: Tensor, bias: Tensor) -> Tensor:
    units = torch.where(kind == 0, inner, torch.tanh(inner))
    units = torch.where(kind == 2, torch.relu(inner), units)
    units = torch.where(kind == 3, torch.sin(2 * inner), units)
    units = torch.where((kind == 4) | (kind == 5), (inner > 0).float(), units)
    units = torch.where(kind == 6, inner.abs(), units)
    products = (kind == 5) | ((kind == 6) & (bias[..., :1] > 0))  # like trees, with steps
    return torch.where(products, units * units.roll(1, -1), units)


def _noise(shape: tuple[int, int, int], device: torch.device) -> Tensor:
    """Normal, uniform, logistic or heavy-tailed."""
    kind = torch.randint(0, 4, (shape[0], 1, shape[2]), device=device)
    normal, even = torch.randn(shape, device=device), torch.rand(shape, device=device)
    even = even.clamp(1e-6, 1 - 1e-6)
    noise = torch.where(kind == 1, (even - 0.5) * 3.46, normal)
    noise = torch.where(kind == 2, torch.logit(even) * 0.55, noise)
    return torch.where(kind == 3, normal * normal.abs() * 0.7, noise)


def _some_categories(x: Tensor, habits: _Habits) -> Tensor:
    """Some of the variables as categories, with ordered or arbitrary values."""
    n_tasks, n_items, n_variables = x.shape
    device = x.device
    borders = torch.randint(1, LEVELS, (n_tasks, 1, n_variables), device=device)
    two = torch.rand(n_tasks, 1, n_variables, device=device) < 0.4
    borders = torch.where(two, 1, borders)
    places = 0.8 * torch.randn(n_tasks, 1, n_variables, LEVELS - 1, device=device)
    used = torch.arange(LEVELS - 1, device=device) < borders[..., None]
    code = ((x[..., None] > places) & used).sum(-1)
    values = torch.randn(n_tasks, 1, n_variables, LEVELS, device=device)
    values = values.expand(-1, n_items, -1, -1).gather(3, code[..., None])[..., 0]
    arbitrary = torch.rand(n_tasks, 1, n_variables, device=device) < 0.5
    category = torch.where(arbitrary & (borders > 1), values, code.float())
    is_category = torch.rand(n_tasks, n_variables, device=device) < habits.categories
    return torch.where(is_category[:, None], standardised(category), x)


def _shown(variables: Tensor, y: Tensor, outcome: Tensor, needed: tuple[float, float]) -> Pool:
    """Which variables are columns, and which one selects; the more related to the class the more
    likely they are."""
    n_tasks, n_items, n_variables = variables.shape
    device = y.device
    tasks = torch.arange(n_tasks, device=device)
    related = torch.einsum("bpd,bp->bd", variables, standardised(y)).abs() / n_items
    never = torch.zeros(n_tasks, n_variables, device=device)
    never[tasks, outcome] = -1e9
    chance = gumbel((n_tasks, n_variables), device)
    selecting = related * pick((n_tasks, 1), [3, 8, 16], device) + chance + never
    hidden = selecting.topk(2, 1).indices
    second = pick((n_tasks, 1), [0, 0, 0.5, 1], device)
    selector = variables[tasks, :, hidden[:, 0]] + second * variables[tasks, :, hidden[:, 1]]
    also_column = torch.rand(n_tasks, device=device) < 0.12
    never[tasks, hidden[:, 0]] = torch.where(also_column, 0.0, -1e9)
    chance = gumbel((n_tasks, n_variables), device)
    chosen = related * pick((n_tasks, 1), [4, 10, 22], device) + chance + never
    chosen = chosen.topk(N_COLUMNS, 1).indices
    number = torch.exp(uniform((n_tasks,), math.log(3), math.log(N_COLUMNS + 5), device)).long()
    shown = (torch.arange(N_COLUMNS, device=device) < number[:, None]).float()
    columns = variables.gather(2, chosen[:, None].expand(-1, n_items, -1))
    return Pool(columns * shown[:, None], shown, y, selector, needed)
