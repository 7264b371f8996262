"""What users declare about a shift: an assumption, or what the columns are to the label.

Columns that are effects of the label (symptoms, words, pixels) look the same in every item of a
class, so that a change of the classes is prior shift; columns that are its causes (age, income,
contract) leave items that look alike with the label as often as before, which is covariate shift.
A saved model keeps what was declared when it was trained, and every answer repeats it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from quantshift.base.options import option
from quantshift.claims import Assumption
from quantshift.errors import UserError, unknown_name
from quantshift.quantifiers.base.guarding import ASSUMPTIONS, AUTO

CAUSES, EFFECTS = "causes", "effects"

IF_COLUMNS_ARE: Mapping[str, Assumption] = MappingProxyType(
    {CAUSES: Assumption.COVARIATE, EFFECTS: Assumption.PRIOR}
)
"""The assumption that follows from what the columns are to the label."""


@dataclass(frozen=True)
class Declaration:
    """What is declared about the shift.

    assume: "prior" (items of a class look as in training), "covariate" (items that look alike have
    the label as often as in training) or "auto" (nothing is declared, and without evidence the
    answer is a range). columns: what all of them are to the label, "causes" or "effects", from
    which the assumption follows. With neither, what the model was trained with.
    """

    assume: str | None = option(
        None,
        "Assumption about the shift. prior: items of a class look as in training (the label causes "
        "the features, like the words of a review). covariate: items that look alike have the "
        "label as often as in training (an outcome is predicted from its causes). auto: neither; "
        "without evidence for one of them the answer is a range. Default: as the model was "
        "trained, else auto.",
        metavar="auto|prior|covariate",
        shows_default=False,
    )
    columns: str | None = option(
        None,
        "What the columns are to the label: causes of it (age, income; the assumption "
        "covariate) or effects (symptoms, words; the assumption prior). A saved model keeps it, "
        "and every answer repeats it.",
        metavar="causes|effects",
        shows_default=False,
    )

    def __post_init__(self) -> None:
        if self.assume is not None and self.assume not in ASSUMPTIONS:
            raise unknown_name("assumption", self.assume, ASSUMPTIONS)
        if self.columns is None:
            return
        if not isinstance(self.columns, str) or self.columns not in IF_COLUMNS_ARE:
            raise UserError(
                f"columns are {CAUSES} or {EFFECTS} of the label, not {self.columns!r}; names of "
                "columns are given as features or text",
                arguments=["columns", "features", "text"],
            )
        implied = IF_COLUMNS_ARE[self.columns]
        if self.assume not in (None, implied):
            raise UserError(
                f"if the columns are {self.columns} of the label, the assumption is {implied}, not "
                f"{self.assume}; declare one of the two",
                arguments=["columns", "assume"],
            )

    @property
    def assumption(self) -> str:
        """The assumption that is declared: "prior", "covariate", or "auto" if none is."""
        if self.columns is not None:
            return IF_COLUMNS_ARE[self.columns]
        return self.assume or AUTO

    def or_else(self, before: "Declaration") -> "Declaration":
        """What is declared now or, if nothing is, what was declared before."""
        return before if self == NOTHING_DECLARED else self

    @property
    def sentence(self) -> str:
        """What is declared, in words; empty if nothing is.

        >>> Declaration(columns="effects").sentence
        'the columns are effects of the label, so items of a class look as they did in training'
        """
        if self.assumption == AUTO:
            return ""
        if self.columns is None:
            return Assumption(self.assumption).meaning
        meaning = Assumption(self.assumption).meaning
        return f"the columns are {self.columns} of the label, so {meaning}"


NOTHING_DECLARED = Declaration()


def makes_its_own_assumption(method: str) -> UserError:
    """The error for a declaration together with a method that makes its own assumption."""
    return UserError(
        f"{method} makes its own assumption; leave the declaration out, or the method",
        arguments=["assume", "columns", "method"],
    )
