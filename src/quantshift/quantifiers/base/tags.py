"""What a quantifier is, declared once in its class: `tags = Tags(...)`.

Everything outside a method decides by its tags and never by its class or name: what to compute for
it, how to make an interval, how a sketch must present its counts, what to say about its assumption.
A subclass inherits the tags of its base, or replaces some of them:

    tags = dataclasses.replace(ACC.tags, ordered=True)

What depends on the options of a method is not a tag but a function of it, such as `shrinks`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from quantshift.errors import UserError, unknown_name

POSTERIORS: frozenset[str] = frozenset({"posteriors"})
"""What most methods see."""

FEATURES: frozenset[str] = frozenset({"features"})
"""What methods without a shared classifier see."""

PARTS = ("posteriors", "committee", "features")
"""What there is to see of items."""

SAMPLE_ONLY = "the interval shows the error of drawing the items, not the bias of the method"
"""The `interval_note` of methods that do not correct their bias."""


class Reading(StrEnum):
    """Which part of an item's posteriors an estimate depends on.

    A sketch of large batches knows the posteriors of each class, of predicted classes and so on
    well, but not all of them together for every item; it has to know which of them a method needs.
    """

    JOINT = "joint"
    """All posteriors of an item together, as in a mean or a likelihood."""

    ONE_AGAINST_REST = "one against rest"
    """Those of each class alone, whatever the others are."""

    PREDICTIONS = "predictions"
    """The predicted class (the largest posterior) alone: hard predictions serve as well."""

    PREDICTED = "predicted posteriors"
    """The predicted class and its posterior."""

    EXPECTED = "expected class"
    """The expected class, the mean of the class numbers 0, 1, ..."""

    MEMBERS = "members"
    """Whatever its members read: it has `members_`, and combines their estimates by `combined`."""


@dataclass(frozen=True, kw_only=True)
class Tags:
    """What a quantifier declares about itself.

    assumption: what must hold between training set and sample for the estimate to be right, in a
        line for experts. plain_assumption: the same for readers who know no formulas.
    sees: what it uses of items: any of "posteriors", "committee" (those by each of the models that
        made the out-of-fold ones) and "features". Nothing: only the training set counts.
    reads: which part of the posteriors it uses, as in `Reading`. None: not declared; then sketches
        of more than two classes refuse the method.
    smooth: a small change of a posterior changes the estimate a little. Not so for methods that
        count items on either side of borders of their own, such as thresholds or bins; sketches
        are slower for these, and right for any method if this is False.
    adjusts: corrects for the classifier's behaviour on each class, which it learns from held-out
        posteriors, rather than counting predictions.
    trusts_posteriors: trusts posteriors as they are; held-out items do not teach it to correct
        wrong ones. Intervals then also use other training items to account for its bias.
    beyond_prior_shift: also adjusts for other shifts, so that samples need not be mixtures of
        training classes.
    ordered: assumes that the classes are ordered as in `classes_`; another order changes the
        problem. `fit` takes the order of ordered categorical columns; other labels are sorted.
    positive_class: the second of two classes is the positive one: swapping them changes the
        estimates.
    own_classifier: fits its own classifier on features, given by the parameter `classifier`.
    draws_resample_training: its `draws` come from posteriors under resampled training items. They
        are biased as the estimates of a bootstrap are, and intervals treat them alike.
    draws_of_items: its `draws` are of the share among the items of the sample themselves, not of a
        prevalence from which the items were drawn.
    no_interval: why replicates do not show the method's error, and what to use instead.
    interval_note: what the interval covers, if not the prevalence under the assumption.

    >>> Tags(assumption="P(X|Y) is the same in the sample (prior shift)", adjusts=False).adjusts
    False
    """

    assumption: str = "not stated"
    plain_assumption: str = ""
    sees: frozenset[str] = POSTERIORS
    reads: Reading | str | None = None
    smooth: bool = False
    adjusts: bool = True
    trusts_posteriors: bool = False
    beyond_prior_shift: bool = False
    ordered: bool = False
    positive_class: bool = False
    own_classifier: bool = False
    draws_resample_training: bool = False
    draws_of_items: bool = False
    no_interval: str = ""
    interval_note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sees", _checked_parts(self.sees))
        if self.reads is not None:
            readings = [str(reading) for reading in Reading]
            if self.reads not in readings:
                raise unknown_name("reading of posteriors", self.reads, readings)
            object.__setattr__(self, "reads", Reading(self.reads))

    @property
    def in_words(self) -> str:
        """The assumption in plain words or, if there are none, as it is stated."""
        return self.plain_assumption or self.assumption

    @property
    def crisp(self) -> bool:
        """Whether it works on hard predictions (argmax) rather than posteriors."""
        return self.reads == Reading.PREDICTIONS

    @property
    def has_borders(self) -> bool:
        """Whether borders of its own may run anywhere between two posteriors."""
        return bool(self.sees) and not (self.smooth or self.crisp)

    @property
    def sees_posteriors_only(self) -> bool:
        """Whether posteriors are all it needs to know about items."""
        return self.sees <= POSTERIORS


READING = ("_represent", "_represent_items", "_solve")
"""Functions of a quantifier that decide what an estimate depends on."""


def tags_for_reading(cls: type[Any]) -> Tags:
    """The tags of a quantifier; `reads` and `smooth` only if they are meant for its own functions.

    A subclass that replaces what its base does with posteriors, and has no tags of its own, may
    read them in another way than the tags it has inherited say.
    """
    tags: Tags = cls.tags
    declared = next(i for i, c in enumerate(cls.__mro__) if "tags" in vars(c))
    for name in READING:
        definitions = [
            i
            for i, c in enumerate(cls.__mro__)
            if name in vars(c) and not getattr(vars(c)[name], "__isabstractmethod__", False)
        ]
        if definitions and definitions[0] < declared <= definitions[-1]:
            return replace(tags, reads=None, smooth=False)
    return tags


TAG_NAMES: frozenset[str] = frozenset(field.name for field in fields(Tags))


def _checked_parts(sees: Iterable[str]) -> frozenset[str]:
    if isinstance(sees, str):
        raise UserError(f'`sees` is a set of names: write frozenset({{"{sees}"}})')
    parts = frozenset(sees)
    for part in sorted(parts.difference(PARTS)):
        raise unknown_name("part of items", part, PARTS)
    return parts


PRIOR_SHIFT = Tags(
    assumption="P(X|Y) is the same in the sample (prior shift)",
    plain_assumption="items of a class look as they did in training",
)
"""The tags of a method that is right if only the shares of the classes change."""

CALIBRATED_IN_WORDS = "the classifier's probabilities are right on average"

CALIBRATED_PRIOR_SHIFT = Tags(
    assumption=f"{PRIOR_SHIFT.assumption}, posteriors calibrated",
    plain_assumption=f"{PRIOR_SHIFT.plain_assumption}, {CALIBRATED_IN_WORDS}",
)
"""The same, if posteriors must be right as well."""
