"""Options of every command that gives an answer, declared once."""

from dataclasses import dataclass

from quantshift.base.options import COLUMNS, LABELS, OUTPUT, SCRIPTS, TABLES, OptionText, option
from quantshift.errors import LARGEST_SEED

MISSING = OptionText(
    "Values that mean a missing label (default: an empty cell, NA, N/A, n/a, NaN, NULL, None).",
    reads="names",
    metavar="NA,unknown",
    panel=COLUMNS,
    shows_default=False,
)
POSITIVE = OptionText(
    "The class reported first (default: the second of two).",
    metavar="CLASS",
    panel=COLUMNS,
    shows_default=False,
)
LENIENT = OptionText(
    "Read CSV line by line where a quote is left open, instead of stopping there.", panel=TABLES
)
LEVEL = OptionText("Confidence level of the intervals.", least=0.5, most=0.999)
SEED = OptionText("Random seed.", least=0, most=LARGEST_SEED)
WHOSE_SHARE = OptionText(
    "Whose share the interval is for: items (those of the sample) or population (that they were "
    "drawn from, which is known less well).",
    metavar="items|population",
)
PRECISION = 0.05
"""Default target half-width of an interval from labels."""

PRECISION_OF_LABELS = OptionText(
    "Target half-width of the interval (margin of error; default: 0.05).",
    metavar="0.03",
    panel=LABELS,
    shows_default=False,
)
"""Options that tables with labels and tables with verdicts have in common."""


@dataclass(frozen=True)
class AmountOptions:
    """How many items to label: as many as a precision needs (default: 0.05), or a number."""

    precision: float | None = option(None, PRECISION_OF_LABELS)
    n_labels: int | None = option(
        None,
        "Instead of --precision: how many items you can label.",
        metavar="100",
        least=1,
        panel=LABELS,
    )

    @property
    def target(self) -> float | None:
        """The half-width to reach; None if the number of labels is given."""
        return PRECISION if self.precision is None and self.n_labels is None else self.precision


@dataclass(frozen=True)
class ConditionOptions:
    """Conditions on shares that make a call fail, such as "spam>5%"."""

    fail_if: tuple[str, ...] = option(
        (),
        "Exit code 3 if a share is above or below a bound. Written with >, >=, < or <=: "
        "'spam>0.05', 'spam > 5%'. 'spam.low>0.05' tests the lower limit of the interval, "
        "spam.high the upper one. If a range has shares on both sides of the bound, or nothing can "
        "be estimated, the condition is open: exit code 4. May be repeated.",
        reads="repeated",
        metavar="'CLASS>SHARE'",
        panel=SCRIPTS,
    )


@dataclass(frozen=True)
class LengthOptions:
    """How much of the answer is printed: one line, the essentials, or everything."""

    summary: bool = option(
        False,
        "Print only one line: the last batch (or the lowest and highest share, if batches are not "
        "dates or numbered), alarms and failed conditions.",
        panel=OUTPUT,
    )
    details: bool = option(
        False,
        "Print also what was tested, what is assumed, and which rows were used.",
        panel=OUTPUT,
    )


@dataclass(frozen=True)
class PrintOptions:
    """How the answer is printed."""

    as_json: bool = option(False, "Print JSON instead of text.", name="json", panel=OUTPUT)
