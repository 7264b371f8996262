"""What may have changed: the assumptions behind an estimate, and what tests say."""

from typing import Self

from quantshift.claims.worded import Worded


class Assumption(Worded):
    """An assumption about what has changed since training, or since a judge was checked.

    words: its condition, in an answer after a share. technical: as experts call it. meaning: what
    it says about items, where it can be declared. `{parts}` stands for topics or subgroups,
    `{method}` for the method that makes the assumption.
    """

    technical: str
    meaning: str

    def __new__(cls, value: str, words: str = "", technical: str = "", meaning: str = "") -> Self:
        """A member with its words."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words, member.technical, member.meaning = words, technical, meaning
        return member

    @property
    def page(self) -> str:
        """Where it is explained."""
        return "guides/assumptions.md"

    PRIOR = (
        "prior",
        "if only the shares of the classes changed",
        "prior shift",
        "items of a class look as they did in training",
    )
    COVARIATE = (
        "covariate",
        "if only the mix of items changed",
        "covariate shift",
        "items that look alike have the label as often as in training",
    )
    BOTH = "both", "if both changed", "prior and covariate shift"
    LOCAL = "local", "if {parts} changed within a class", "local shift"
    BETWEEN = "between", "if something between the two holds", "between the two"
    NOTHING = "nothing", "if nothing changed", "no change"
    GROUPS = "groups", "if it differs as your own groups do", "like the groups"
    PERIODS = "periods", "if it changes as it did before", "like earlier periods"
    JOINT = (
        "joint",
        "if only the shares of the labels and of their combinations changed",
        "joint shift",
    )
    POSTERIORS = "posteriors", "if your posteriors are right", "posteriors are right"
    RATES = (
        "rates",
        "if the judge errs as often here as among the labelled items",
        "rates carry over",
    )
    VERDICTS = (
        "verdicts",
        "if a verdict means the same here as among the labelled items",
        "verdicts mean the same",
    )
    GIVEN_RATES = (
        "given_rates",
        "if the judge errs here as often as you say",
        "rates as given",
    )
    METHOD = "method", "as {method} assumes", "as {method} assumes"
    """What the method assumes that the user has chosen."""


LEARNT = (Assumption.GROUPS, Assumption.PERIODS)
"""What left-out groups of the training table teach."""


class Explanation(Worded):
    """What tests of a sample say about how it differs from training."""

    def __new__(cls, value: str, words: str = "") -> Self:
        """A member with its words."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        return member

    PRIOR = "prior", "changed shares of the classes explain it, or there is nothing to explain"
    COVARIATE = "covariate", "the mix of items has changed"
    LOCAL = "local", "the mix of items has changed within a class"
    JOINT = "joint", "changed shares of several labels and of their combinations explain it"
    ASSUMED = "assumed", "not tested: no items can contradict what is declared"
    IN_DOUBT = "in_doubt", "changed shares of the classes explain most of it, but not all"
    OUTSIDE = "outside", "the items are unlike those of training"
    UNEXPLAINED = "unexplained", "none of the method's kinds of shift explains the items"
    UNLIKE = "unlike_every_class", "some of the items look like those of no class"
