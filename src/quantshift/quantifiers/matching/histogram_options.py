"""The options of methods that match histograms: bins and a divergence, by name or as a function."""

from quantshift.errors import UserError, unknown_name
from quantshift.optimise.divergences import DIVERGENCES, Divergence


def divergence_called(divergence: str | Divergence) -> Divergence:
    """The divergence of that name, or the function itself; an unknown name is an error."""
    if not isinstance(divergence, str):
        return divergence
    if divergence not in DIVERGENCES:
        raise unknown_name("divergence", divergence, DIVERGENCES)
    return DIVERGENCES[divergence]


def check_histograms(n_bins: int, divergence: str | Divergence) -> None:
    """Refuse options of matched histograms that cannot be used."""
    if n_bins < 2:
        raise UserError(f"n_bins must be at least 2, got {n_bins}")
    divergence_called(divergence)
