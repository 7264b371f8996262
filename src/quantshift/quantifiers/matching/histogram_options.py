"""The options of methods that match histograms: bins and a divergence, by name or as a function."""

from quantshift.optimise.divergences import DIVERGENCES, Divergence


def divergence_called(divergence: str | Divergence) -> Divergence:
    """The divergence of that name, or the function itself."""
    return DIVERGENCES[divergence] if isinstance(divergence, str) else divergence
