"""The sections of the page: one for each part of an experiment, a control beside its part."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

CONTROL = "-control"


@dataclass(frozen=True)
class Panel:
    """Rows drawn on axes of their own: those of one part."""

    part: str
    label: str


@dataclass(frozen=True)
class Section:
    """A part of an experiment as a reader meets it."""

    identifier: str
    experiment: str
    title: str
    summary: str
    degree: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class _Words:
    title: str
    summary: str
    degree: str


_PRIOR, _ALPHA, _CUT = "p_test − p_train", "alpha_train − alpha_test", "cut_train − cut_test"

_KNOWN = {
    "prior": _Words(
        "Prior shift",
        "The prevalence of the classes moves; what the documents of a class look like does not. "
        "This is the shift that most quantification methods are made for.",
        _PRIOR,
    ),
    "covariate-pure": _Words(
        "Global covariate shift, pure",
        "The mix of the two categories moves and the prevalence stays: P(X) changes, P(Y) and "
        "P(Y|X) do not.",
        _ALPHA,
    ),
    "covariate-mixed": _Words(
        "Global covariate shift, mixed",
        "The mix of the two categories and the prevalence move together.",
        _ALPHA,
    ),
    "local": _Words(
        "Local covariate shift",
        "Only the positives of one category grow, so the prevalence moves because a cluster does. "
        "The control moves the prevalence by as much and leaves the clusters alone.",
        _PRIOR,
    ),
    "concept": _Words(
        "Concept shift",
        "The documents stay as they are and the meaning of “positive” moves: training and test "
        "cut the stars at different points.",
        _CUT,
    ),
    "concept-forced": _Words(
        "Concept shift, forced priors",
        "Concept shift with prevalences held at 0.5 in training and 0.75 in test, so that two "
        "biases meet and may cancel.",
        _CUT,
    ),
}

COORDINATE_LABELS = {
    "p_train": "training prevalence",
    "p_test": "test prevalence",
    "cut_train": "training cut point",
    "cut_test": "test cut point",
    "alpha_train": "training mix",
    "alpha_test": "test mix",
    "degree": "degree",
}


def sections_of(
    rows: pl.DataFrame, experiments: Mapping[str, Mapping[str, Any]]
) -> tuple[Section, ...]:
    """The sections for rows with `part`: the paper's in its order, then the others by name."""
    pairs = rows.select("part", "experiment").unique().sort("part").rows()
    experiment_of = dict(pairs)
    parts = [*(p for p in _KNOWN if p in experiment_of)]
    parts += [p for p in experiment_of if p not in parts]
    controls = {p for p in parts if p.endswith(CONTROL) and p.removesuffix(CONTROL) in parts}
    return tuple(
        _section(number, part, experiment_of[part], part + CONTROL in controls, experiments)
        for number, part in enumerate(p for p in parts if p not in controls)
    )


def with_panels(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """The rows of a section, each with the number of its `panel`."""
    parts = [panel.part for panel in section.panels]
    return rows.filter(pl.col("part").is_in(parts)).with_columns(
        panel=pl.col("part").replace_strict(
            {p: i for i, p in enumerate(parts)}, return_dtype=pl.Int8
        )
    )


def _section(
    number: int,
    part: str,
    experiment: str,
    has_control: bool,
    experiments: Mapping[str, Mapping[str, Any]],
) -> Section:
    panels: Sequence[Panel] = [Panel(part, "")]
    if has_control:
        panels = [Panel(part, "shifted"), Panel(part + CONTROL, "control")]
    words = _KNOWN.get(part) or _own_words(part, experiment, experiments)
    # Names of users' experiments become identifiers only if they are safe ones.
    identifier = part if re.fullmatch(r"[a-z][a-z0-9-]*", part) else f"part-{number}"
    return Section(identifier, experiment, words.title, words.summary, words.degree, tuple(panels))


def _own_words(part: str, experiment: str, experiments: Mapping[str, Mapping[str, Any]]) -> _Words:
    title = str(experiments.get(experiment, {}).get("title") or experiment)
    suffix = part.removeprefix(experiment).strip("-")
    return _Words(f"{title}, {suffix}" if suffix else title, "", "")
