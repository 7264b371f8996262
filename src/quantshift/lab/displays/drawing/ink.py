"""Greys and tints."""

from matplotlib.colors import to_rgb

INK = "#222222"
"""Nearly black, for outlines and text."""

MUTED = "#767676"
"""The grey of guide lines and notes, dark enough to be legible."""

_LUMA = (0.299, 0.587, 0.114)
_DARKEST = 0.67


def tint(colour: str, share: float = 0.6) -> tuple[float, float, float]:
    """A mix of the colour with white; share: that of the colour, less for very dark colours."""
    parts = to_rgb(colour)
    darkness = 1 - sum(weight * part for weight, part in zip(_LUMA, parts, strict=True))
    colour_share = share * min(1.0, _DARKEST / max(darkness, _DARKEST))
    red, green, blue = (1 - colour_share * (1 - part) for part in parts)
    return red, green, blue
