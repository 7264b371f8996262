"""Colours of everything that is drawn: pages, figures and plots.

They are those of Okabe & Ito, "Color universal design" (2008), which can be distinguished with any
common form of colour vision; the yellow is darkened, because the original is hardly visible on
white.
"""

from collections.abc import Mapping
from types import MappingProxyType

ON_DARK: Mapping[str, str] = MappingProxyType(
    {
        "#000000": "#F5F5F5",
        "#7F7F7F": "#A6A6A6",
        "#7B3FA0": "#B58AD6",
        "#8C4A2F": "#C98A6B",
        "#B5004F": "#F0618F",
    }
)
"""Colours to be replaced on a dark background; the others work on both."""

PALETTE = (
    *("#7B3FA0", "#E69F00", "#009E73", "#8C4A2F", "#56B4E9", "#D55E00"),
    *("#0072B2", "#B5004F", "#B8A600", "#CC79A7", "#000000", "#7F7F7F"),
)
"""Twelve colours: those of the paper's methods and three more."""
