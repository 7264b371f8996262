"""Options of every command that gives an answer, declared once."""

from dataclasses import dataclass

from quantshift.base.options import OUTPUT, SCRIPTS, option


@dataclass(frozen=True)
class ConditionOptions:
    """Conditions on shares that make a call fail, such as "spam>5%"."""

    fail_if: tuple[str, ...] = option(
        (),
        "Exit code 3 if the share of a class in a batch is above (>, >=) or below (<, <=) a bound: "
        "'spam>0.05', 'spam > 5%'. 'spam.low>0.05' tests the lower limit of the interval, "
        "spam.high the upper one. May be repeated.",
        reads="repeated",
        metavar="'CLASS>SHARE'",
        panel=SCRIPTS,
    )


@dataclass(frozen=True)
class PrintOptions:
    """How the answer is printed."""

    as_json: bool = option(False, "Print JSON instead of text.", name="json", panel=OUTPUT)
