"""What `quantify` finds, as plain data: numbers and sentences, ready for any rendering."""

from collections.abc import Mapping
from dataclasses import dataclass

FORMAT = 1
"""Version of the JSON that `render_json` writes."""


@dataclass(frozen=True)
class Share:
    """The prevalence of one class between its limits; no estimate without items."""

    label: str
    estimate: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Assumption:
    """The estimate under one assumption about what has changed since training.

    weight: how much of the evidence speaks for it, if the method weighs it.
    """

    name: str
    method: str
    prevalence: Mapping[str, float]
    weight: float | None = None


@dataclass(frozen=True)
class Audited:
    """What the labelled items of a batch say, with and without the help of the posteriors."""

    n_labelled: int
    weight: float
    shares: tuple[Share, ...]
    counted: tuple[Share, ...]
    contradicts: bool


@dataclass(frozen=True)
class Shift:
    """Whether more than the prevalence has changed.

    kind: prior (nothing more), covariate, local, or outside (items unlike those of training).
    p_value: of the test that only the prevalence has changed.
    """

    rejected: bool
    kind: str
    p_value: float


@dataclass(frozen=True)
class Batch:
    """One sample.

    shares: the estimates to use: the audited ones if there is an audit, else the method's.
    unaudited: the method's own shares.
    assumptions: estimates under each assumption, the method's own among them.
    shift: None where nothing was tested.
    change: labels of classes whose share differs from the batch before by more than chance.
    scores: histogram of the posteriors of each class, shares of items in bins of equal width.
    verdict, warnings, advice: sentences for people.
    """

    name: str
    n_items: int
    shares: tuple[Share, ...]
    unaudited: tuple[Share, ...]
    assumptions: tuple[Assumption, ...]
    shift: Shift | None
    audit: Audited | None
    change: tuple[str, ...]
    scores: Mapping[str, tuple[float, ...]]
    verdict: str
    warnings: tuple[str, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True)
class TrainingSide:
    """The training set as the reader needs it; n_items is 0 without training.

    scores: per class that is scored, per true class, the histogram of held-out posteriors.
    """

    source: str
    n_items: int
    prevalence: Mapping[str, float]
    classifier: str
    accuracy: float | None
    scores: Mapping[str, Mapping[str, tuple[float, ...]]]


@dataclass(frozen=True)
class Quantification:
    """The answer to one call of `quantify`.

    simultaneous: whether the intervals of a batch hold for all classes at once or for each on its
        own; those of an audit hold for each.
    """

    classes: tuple[str, ...]
    level: float
    simultaneous: bool
    method: str
    reason: str
    assumption: str
    training: TrainingSide
    batches: tuple[Batch, ...]
    warnings: tuple[str, ...]
