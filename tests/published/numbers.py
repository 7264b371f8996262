"""A number that others give, and ours."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """A number that others give. places: its decimals; exact: it is computed and not rounded."""

    source: str
    what: str
    value: float
    places: int = 3

    @property
    def text(self) -> str:
        return f"{self.value:.{self.places}f}"


@dataclass(frozen=True)
class Ours:
    """What we get. error: its standard error by simulation; apart: how far it may be from theirs
    for the reason `why`, rounding and simulation aside.
    """

    value: float
    error: float = 0.0
    apart: float = 0.0
    why: str = ""


def row_of(printed: Printed, ours: Ours) -> tuple[str, ...]:
    error = f"{ours.error:.{printed.places + 1}f}" if ours.error else ""
    value = f"{ours.value:.{printed.places + bool(ours.error)}f}"
    return (printed.source, printed.what, printed.text, value, error, ours.why)
