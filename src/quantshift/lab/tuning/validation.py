"""Choice of hyper-parameters: the candidate with the smallest error over validation samples.

The samples are artificial-prevalence ones of the held-out part of the training set: a grid of
prevalences for two classes, prevalences drawn uniformly from the simplex for more, or prevalences
that the caller has drawn. That part is small: a class with fewer items than a sample asks for is
drawn with replacement, as is usual in the field.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from quantshift import metrics
from quantshift.base.seeding import generator
from quantshift.base.types import Codes, Prevalences
from quantshift.errors import UserError
from quantshift.items.items import Items
from quantshift.items.samples import Samples
from quantshift.lab.shifts.protocol import AbstractProtocol
from quantshift.prevalence import simplex
from quantshift.quantifiers.base.estimator import AbstractQuantifier


@dataclass(frozen=True)
class ValidationSamples:
    """Samples of held-out items: their positions, an index matrix or lists, and true prevalences.

    smoothing: of measures that need it, of all samples or of each.
    """

    index: Samples
    p_true: Prevalences
    smoothing: float | NDArray[np.float64]

    def errors(self, p_hat: Prevalences, measure: str) -> NDArray[np.float64]:
        """The measure of each sample's estimate."""
        return metrics.measure(measure, self.p_true, p_hat, smoothing=self.smoothing)


def draw_validation(
    codes: Codes,
    *,
    n_prevalences: int,
    repeats: int,
    size: int,
    seed: int,
    n_classes: int = 2,
    points: Prevalences | None = None,
) -> ValidationSamples:
    """Artificial-prevalence samples of the coded items; positions refer to `codes`.

    With two classes, a grid of `n_prevalences` prevalences, each drawn `repeats` times; with more,
    the same number of samples in total, each at a different prevalence. points: the prevalences to
    use instead, (n_samples, n_classes).
    """
    members = [np.flatnonzero(codes == code) for code in range(n_classes)]
    absent = next((code for code, pool in enumerate(members) if not pool.size), None)
    if absent is not None:
        raise UserError(
            f"class {absent} has no item for validation: draw larger training sets "
            "(shift.train_size)"
        )
    if points is not None:
        points_and_rngs = _at_points(points, size, seed)
    elif n_classes == 2:
        points_and_rngs = _grid(n_prevalences, repeats, size, seed)
    else:
        points_and_rngs = _uniform(n_prevalences * repeats, size, seed, n_classes)
    rows, counts_of = [], []
    for point, rng in points_and_rngs:
        counts = simplex.whole_counts(point, size)
        counts_of.append(counts)
        rows.append(
            np.concatenate(
                [
                    rng.choice(pool, count, replace=bool(count > pool.size))
                    for pool, count in zip(members, counts, strict=True)
                ]
            )
        )
    p_true = np.stack(counts_of) / size
    if n_classes == 2:
        p_true = simplex.of_positive(p_true[:, 1])
    return ValidationSamples(np.stack(rows), p_true, 1 / (2 * size))


def validation_errors(
    quantifier: AbstractQuantifier,
    training: Sequence[Items],
    codes: Codes,
    held_out: Sequence[Items],
    samples: ValidationSamples,
    *,
    measure: str = "ae",
) -> NDArray[np.float64]:
    """Mean error of the quantifier under each setting of the classifier, shape (n_settings,).

    training: the items of the training part as each setting shows them, with `codes`; held_out:
    those of the part that the samples index, likewise.
    """
    classes = range(samples.p_true.shape[1])
    return np.array(
        [
            estimation_error(
                clone(quantifier).fit_items(training_items, codes, classes=classes),
                held_out_items,
                samples,
                measure=measure,
            )
            for training_items, held_out_items in zip(training, held_out, strict=True)
        ]
    )


def estimation_error(
    fitted: AbstractQuantifier, held_out: Items, samples: ValidationSamples, *, measure: str = "ae"
) -> float:
    """Mean error of a fitted quantifier on the samples of held-out items."""
    p_hat = fitted.estimate_items(held_out, samples.index).prevalence
    return float(samples.errors(p_hat, measure).mean())


def drawn_by(
    protocol: AbstractProtocol, y: NDArray[Any], classes: NDArray[Any]
) -> ValidationSamples:
    """The samples that a protocol draws from held-out items with these labels."""
    draws = list(protocol.samples(y))
    sizes = np.array([len(draw.indices) for draw in draws])
    p_true = np.stack([draw.true_prevalence(classes) for draw in draws])
    return ValidationSamples([draw.indices for draw in draws], p_true, 1 / (2 * sizes))


def _grid(
    n_prevalences: int, repeats: int, size: int, seed: int
) -> Iterator[tuple[Prevalences, np.random.Generator]]:
    for p in np.linspace(0, 1, n_prevalences):
        for repeat in range(repeats):
            rng = generator(seed, purpose="validation", p=float(p), repeat=repeat, size=size)
            yield np.array([1 - p, p]), rng


def _uniform(
    n_samples: int, size: int, seed: int, n_classes: int
) -> Iterator[tuple[Prevalences, np.random.Generator]]:
    for repeat in range(n_samples):
        rng = generator(seed, purpose="validation", repeat=repeat, size=size, n_classes=n_classes)
        yield simplex.uniform(1, n_classes, rng)[0], rng


def _at_points(
    points: Prevalences, size: int, seed: int
) -> Iterator[tuple[Prevalences, np.random.Generator]]:
    for repeat, point in enumerate(points):
        yield point, generator(seed, purpose="validation", drawn="given", repeat=repeat, size=size)
