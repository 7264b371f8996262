"""The names of what can happen to a batch, for scripts that must stop then."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from quantshift.errors import unknown_name

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "shift": "more has changed than the shares of the classes, according to the test",
        "changed": "a share differs from that of the previous batch by more than chance (only if "
        "batches are dates or numbered, and for batches of 30 items or more)",
        "unreliable": "it cannot be estimated, its limits are more than 40 points apart, or the "
        "answer is a range, because the items contradict that only the shares of the classes "
        "changed or cannot tell, and no audit overrides it",
    }
)
"""Named conditions that can be checked for every batch, and what they mean."""


def check_events(names: Sequence[str], allowed: Mapping[str, str] = EVENTS) -> None:
    """Raise an error for an unknown name."""
    for name in names:
        if name not in allowed:
            raise unknown_name("condition", name, allowed)
