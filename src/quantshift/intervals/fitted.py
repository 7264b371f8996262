"""What intervals need of a fitted quantifier: what it declares, and how it is fitted again."""

from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from quantshift.base.types import Codes, Indices, Prevalences
from quantshift.items.estimate import Estimate
from quantshift.items.items import Items
from quantshift.items.samples import Samples


class Declared(Protocol):
    """What a method declares about itself, as far as intervals depend on it (see `Tags`)."""

    @property
    def sees(self) -> frozenset[str]:
        """What it uses of items."""

    @property
    def crisp(self) -> bool:
        """Whether it works on hard predictions."""

    @property
    def adjusts(self) -> bool:
        """Whether it learns from held-out items how the classifier behaves on each class."""

    @property
    def trusts_posteriors(self) -> bool:
        """Whether it takes posteriors as they are."""

    @property
    def beyond_prior_shift(self) -> bool:
        """Whether samples need not be mixtures of training classes."""

    @property
    def own_classifier(self) -> bool:
        """Whether it fits its classifier itself."""

    @property
    def draws_resample_training(self) -> bool:
        """Whether its draws come from resampled training items."""

    @property
    def draws_of_items(self) -> bool:
        """Whether its draws are of the share among the items themselves."""

    @property
    def no_interval(self) -> str:
        """Why it has none, if so."""


class Fitted(Protocol):
    """A fitted quantifier, as far as intervals know it."""

    classes_: NDArray[Any]
    prior_: Prevalences
    classifier_: Any
    held_out_: Items
    held_out_codes_: Codes

    @property
    def tags(self) -> Declared:
        """What it declares."""

    @property
    def takes_weights(self) -> bool:
        """Whether items may have weights."""

    def items(self, X: Any, sample_weight: ArrayLike | None = None) -> Items:
        """What it sees of items."""

    def estimate_items(self, items: Items, samples: Samples | None = None) -> Estimate:
        """Estimates of samples of items."""

    def refitter(self) -> Callable[[Indices], Any]:
        """Fits it again, on some of its training items."""

    def draws(
        self, items: Items, samples: Samples, n_draws: int, *, random_state: int = 0
    ) -> Prevalences | None:
        """Draws of each sample's posterior, if it has one."""
