"""The designs there are, and the ways to plan labels, listed once."""

from collections.abc import Iterator
from contextlib import contextmanager

from quantshift.errors import UserError, unknown_name
from quantshift.judging.designs.at_random import AtRandom
from quantshift.judging.designs.by_label import ByLabel
from quantshift.judging.designs.by_score import ByScore
from quantshift.judging.designs.by_verdict import ByVerdict
from quantshift.judging.designs.design import Design, Plannable
from quantshift.judging.designs.external import External
from quantshift.judging.designs.given_rates import KnownRates
from quantshift.judging.designs.picked import Picked
from quantshift.judging.designs.planned import Planned
from quantshift.judging.designs.unknown import Unknown

_registered: dict[str, Design | Plannable] = {}


def register(way: Design | Plannable) -> None:
    """Add a design or a way to plan; its class must say all that the others say."""
    kinds, cls = [k for k in (Design, Plannable) if isinstance(way, k)], type(way).__name__
    for attribute in (name for kind in kinds for name in kind.__annotations__):
        if not hasattr(way, attribute):
            raise TypeError(f"{cls} does not define {attribute!r}")
    if isinstance(way, Design):
        if bool(way.help) == bool(way.cannot_be_stated):
            raise TypeError(f"{cls} needs either 'help' or a reason in 'cannot_be_stated'")
        if isinstance(way, Plannable) == bool(way.cannot_be_planned):
            raise TypeError(f"{cls} is Plannable or has a reason in 'cannot_be_planned'")
    if way.name in _registered:
        raise ValueError(f"there is a design {way.name!r} already")
    _registered[way.name] = way


@contextmanager
def registered(way: Design | Plannable) -> Iterator[None]:
    """Register a design or a way to plan for as long as the context lasts."""
    register(way)
    try:
        yield
    finally:
        del _registered[way.name]


for _way in (
    AtRandom(),
    ByVerdict(),
    ByScore(),
    ByLabel(),
    External(),
    Picked(),
    Unknown(),
    Planned(),
    KnownRates(),
):
    register(_way)


def designs() -> tuple[Design, ...]:
    """All designs."""
    return tuple(way for way in _registered.values() if isinstance(way, Design))


def stated_designs() -> tuple[Design, ...]:
    """The designs that a user can state."""
    return tuple(design for design in designs() if not design.cannot_be_stated)


def plans() -> tuple[Plannable, ...]:
    """All ways to plan labels."""
    return tuple(way for way in _registered.values() if isinstance(way, Plannable))


def design_named(name: str) -> Design:
    """The design of a name."""
    for design in designs():
        if design.name == name:
            return design
    raise unknown_name("design of the labels", name, [design.name for design in designs()])


def stated_design(name: str) -> Design:
    """The design that a user states."""
    way = _registered.get(name)
    if isinstance(way, Design) and way.cannot_be_stated:
        raise UserError(
            f"labels {way.chosen} are not stated as {name}: {way.cannot_be_stated}",
            arguments=["labels"],
        )
    if isinstance(way, Design):
        return way
    raise unknown_name("way to choose labels", name, [d.name for d in stated_designs()])


def plan_named(name: str) -> Plannable:
    """The way to plan labels of a name."""
    way = _registered.get(name)
    if isinstance(way, Plannable):
        return way
    if isinstance(way, Design):
        raise UserError(
            f"labels {way.chosen} cannot be planned: {way.cannot_be_planned}", arguments=["how"]
        )
    raise unknown_name("plan", name, [plan.name for plan in plans()])
