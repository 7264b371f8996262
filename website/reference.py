"""Checks that every public name is on an API page and has a docstring."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import griffe

from website.links import anchors
from website.pages import ROOT

PUBLIC = (
    "quantshift",
    "quantshift.quantifiers",
    "quantshift.optimise.divergences",
    "quantshift.quantifiers.base.catalogue",
    "quantshift.checks.every_quantifier",
    "quantshift.lab.shifts",
    "quantshift.lab.experiments.evaluation",
    "quantshift.lab.tuning.validation",
    "quantshift.lab.displays",
    "quantshift.prevalence.simplex",
    "quantshift.metrics",
    "quantshift.lab.data",
    "quantshift.lab.data.embedded.synthetic",
    "quantshift.texts",
    "quantshift.classify",
    "quantshift.diagnosis",
    "quantshift.intervals.prediction",
    "quantshift.intervals.regions",
    "quantshift.labelling.audit",
    "quantshift.quantifying",
    "quantshift.quantifying.result",
    "quantshift.lab.leaderboard",
    "quantshift.sketches",
    "quantshift.answers",
    "quantshift.history",
    "quantshift.judging",
    "quantshift.judging.result",
    "quantshift.judging.items.judged_items",
    "quantshift.judging.items.meaning",
    "quantshift.judging.sensitivity",
    "quantshift.judging.estimating.estimation",
    "quantshift.judging.estimating.judged",
    "quantshift.judging.estimating.differences",
    "quantshift.judging.estimating.ordered",
    "quantshift.judging.plans.planning",
    "quantshift.judging.designs.parts.plan_strata",
    "quantshift.judging.designs.design",
    "quantshift.judging.designs.registry",
    "quantshift.judging.designs.guessing",
    "quantshift.judging.designs.parts.share_estimate",
    "quantshift.judging.designs.parts.judge_quality",
    "quantshift.judging.designs.parts.label_evidence",
    "quantshift.lab.experiments",
    "quantshift.lab.results",
    "quantshift.lab.analysis",
    "quantshift.lab.paper",
    "quantshift.lab.report",
    "quantshift.lab.report.figures",
    "quantshift.lab.report.illustrations",
    "quantshift.cli.demonstration",
    "quantshift.errors",
    "quantshift.base.seeding",
)
"""The modules whose names are for users; the others are internal."""


def public_names(module: ModuleType) -> Iterator[str]:
    """What a module exports, or the functions and classes it defines without an underscore."""
    if hasattr(module, "__all__"):
        yield from module.__all__
        return
    for name, member in vars(module).items():
        is_ours = getattr(member, "__module__", None) == module.__name__
        if is_ours and not name.startswith("_") and (inspect.isclass(member) or callable(member)):
            yield name


def all_public_names() -> list[str]:
    """Every public name with its module."""
    modules = map(importlib.import_module, PUBLIC)
    return [f"{m.__name__}.{name}" for m in modules for name in public_names(m)]


def missing(site: Path) -> list[str]:
    """Public names that are not on any page of the built reference."""
    documented = {name for page in site.rglob("reference/**/*.html") for name in anchors(page)}
    explained = {_home(name) for name in all_public_names() if {name, _home(name)} & documented}
    return [name for name in all_public_names() if _home(name) not in explained]


def undocumented() -> list[str]:
    """Public names without a docstring."""
    package = griffe.load("quantshift", search_paths=[ROOT / "src"])
    return [
        name
        for name in all_public_names()
        if package[name.removeprefix("quantshift.")].docstring is None
    ]


def _home(name: str) -> str:
    """The name in the module that defines it; unchanged if it is not a function or class.

    >>> _home("quantshift.PACC")
    'quantshift.quantifiers.counting.adjusted.PACC'
    """
    member = pkgutil.resolve_name(name)
    if not (inspect.isclass(member) or inspect.isfunction(member)):
        return name
    return f"{member.__module__}.{member.__qualname__}"
