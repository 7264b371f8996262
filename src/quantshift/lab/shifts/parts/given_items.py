"""Which items of a data set come as training items and as samples, with their true prevalences."""

import dataclasses
from dataclasses import dataclass
from typing import Self

import numpy as np

from quantshift.base.types import Indices, Prevalences
from quantshift.errors import DataError, UserError
from quantshift.lab.shifts.parts.pools import checked_pool
from quantshift.prevalence import simplex

PART = "/"
"""Separates the part of a sample from its own name."""


@dataclass(frozen=True, eq=False)
class Given:
    """The training items and the samples of a data set; everything is a position in it.

    train        positions of the training items
    samples      positions of each sample's items; an item may be in several samples
    prevalences  true prevalences, shape (n_samples, n_classes), in the order of the sorted classes
    names        the name of each sample; if samples have parts, it begins with the part and a
                 slash, as in "dev/17"
    """

    train: Indices
    samples: tuple[Indices, ...]
    prevalences: Prevalences
    names: tuple[str, ...]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.prevalences.shape[1])

    def of_part(self, part: str) -> Self:
        """Only the samples of a part."""
        chosen = [i for i, name in enumerate(self.names) if name.startswith(f"{part}{PART}")]
        if not chosen:
            parts = dict.fromkeys(name.partition(PART)[0] for name in self.names if PART in name)
            listed = ", ".join(parts) or "none"
            raise UserError(f"part={part!r} has no given samples; the parts of the data: {listed}")
        return dataclasses.replace(
            self,
            samples=tuple(self.samples[i] for i in chosen),
            prevalences=self.prevalences[chosen],
            names=tuple(self.names[i] for i in chosen),
        )

    def check(self, n_items: int | None = None) -> None:
        """Raise an error for inconsistent entries, or positions outside `n_items` if given."""
        truth = np.asarray(self.prevalences)
        if truth.ndim != 2 or not len(truth):
            raise DataError(f"true prevalences must have one row per sample, got {truth.shape}")
        simplex.check(truth)
        if not len(self.samples) == len(truth) == len(self.names):
            raise DataError(
                f"there are {len(self.samples)} samples, {len(truth)} rows of true prevalences "
                f"and {len(self.names)} names; give one of each per sample"
            )
        if len(set(self.names)) < len(self.names):
            raise DataError("two given samples have the same name; rename one")
        self._check_positions(n_items)

    def _check_positions(self, n_items: int | None) -> None:
        sizes = [len(sample) for sample in self.samples]
        if 0 in sizes:
            raise DataError(f"sample {self.names[sizes.index(0)]!r} has no items")
        sampled = np.concatenate(self.samples)
        limit = 1 + int(max(sampled.max(), np.max(self.train, initial=0)))
        n_positions = limit if n_items is None else n_items
        checked_pool(np.unique(sampled), n_positions)
        in_training = np.zeros(n_positions, dtype=np.bool_)
        in_training[checked_pool(self.train, n_positions)] = True
        shared = np.flatnonzero(in_training[sampled])
        if shared.size:
            number = int(np.searchsorted(np.cumsum(sizes), shared[0], side="right"))
            raise DataError(
                f"sample {self.names[number]!r} holds the training item {sampled[shared[0]]}; "
                "samples must not contain training items"
            )
