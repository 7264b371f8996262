"""The sections of the page: one for each part of an experiment, with its control if any."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from quantshift.lab.report.style.wording import Facet, Subject
from quantshift.lab.report.tables.table import spoken_mathematics, with_mathematics


@dataclass(frozen=True)
class Panel:
    """A panel of a chart: the rows of one part."""

    part: str
    label: str


@dataclass(frozen=True)
class Section:
    """A part of an experiment as shown to the reader; `degree` explains the degree."""

    identifier: str
    subject: Subject
    title: str
    summary: str
    degree: str
    panels: tuple[Panel, ...]

    @property
    def experiment(self) -> str:
        """The name of the experiment."""
        return self.subject.name

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the results it is about."""
        return tuple(panel.part for panel in self.panels)


SUMMARIES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("prior", ""): "The prevalence of the classes moves; what the items of a class look like "
        "does not. This is the shift that most quantification methods are made for.",
        ("covariate", "pure"): "The mix of the two categories moves and the prevalence stays: "
        "P(X) changes, P(Y) and P(Y|X) do not.",
        ("covariate", "mixed"): "The mix of the two categories and the prevalence move together.",
        ("local", ""): "Only the positives of one category grow, so the prevalence moves because a "
        "cluster does. The control moves the prevalence by as much and leaves the clusters alone.",
        ("concept", ""): "The items stay as they are and the meaning of “positive” moves: training "
        "and test cut the levels at different points. Unlabelled items cannot show this, so all "
        "methods fail and none is marked as the best.",
        ("natural", ""): "Training sets and samples are used as they come: no prevalence is "
        "enforced.",
        ("given", ""): "The samples are those that came with the data, with their true "
        "prevalences.",
    }
)
"""What changes under each known kind of shift, by kind and facet, if its design does not say."""


def sections_of(subjects: Sequence[Subject]) -> tuple[Section, ...]:
    """The sections of the experiments, in their order; facets to be compared share one."""
    sections: list[Section] = []
    for subject in subjects:
        groups = [subject.facets] if subject.side_by_side else [(f,) for f in subject.facets]
        for facets in groups:
            taken = {section.identifier for section in sections}
            sections.append(_section(subject, facets, taken))
    return tuple(sections)


def with_panels(rows: pl.DataFrame, section: Section) -> pl.DataFrame:
    """The rows of a section, each with the number of its `panel`."""
    section_rows = rows.filter(
        (pl.col("experiment") == section.experiment) & pl.col("part").is_in(section.parts)
    )
    panel = pl.lit(0, pl.Int8)
    for number, part in enumerate(section.parts[1:], start=1):
        panel = pl.when(pl.col("part") == part).then(pl.lit(number, pl.Int8)).otherwise(panel)
    return section_rows.with_columns(panel=panel)


def plain_text(text: str) -> str:
    r"""Text with its mathematics in plain characters.

    >>> plain_text(r"$\alpha_L - \alpha_U$")
    'α_L - α_U'
    """
    return with_mathematics(text, str, spoken_mathematics)


def _section(subject: Subject, facets: Sequence[Facet], taken: set[str]) -> Section:
    first = facets[0]
    alone = len(facets) == 1
    # Names of users' experiments are used as identifiers only if they are safe.
    safe = re.fullmatch(r"[a-z][a-z0-9-]*", first.part) and first.part not in taken
    return Section(
        identifier=first.part if safe else f"part-{len(taken)}",
        subject=subject,
        title=plain_text(subject.title(first) if alone else subject.about.title),
        summary=subject.about.words.summary or SUMMARIES.get((subject.about.shift, first.name), ""),
        degree=plain_text(subject.about.words.degree),
        panels=tuple(Panel(f.part, "" if alone else plain_text(f.title or f.part)) for f in facets),
    )
