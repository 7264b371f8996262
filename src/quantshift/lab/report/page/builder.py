"""The page itself: one HTML file that needs no network, no server and no other file.

It contains everything a browser needs: style, script, chart library and the summaries that the
charts draw (never the rows). `shell` describes how names from the data are made safe.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from quantshift.answers.shell.shell import Charts, render_shell
from quantshift.base.nouns import counted, listed
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.report.page.contents import Contents
from quantshift.lab.report.page.gaps import gaps_of
from quantshift.lab.report.page.glance import Glance, best_methods, glance_of, winners
from quantshift.lab.report.page.payload import (
    OPEN,
    UNIT,
    method_entries,
    published_entry,
    section_entry,
)
from quantshift.lab.report.page.provenance import (
    Provenance,
    dataset_facts,
    duration,
    experiment_facts,
    facts,
    shared_facts,
    source_name,
)
from quantshift.lab.report.page.sections import Section, plain_text, sections_of, with_panels
from quantshift.lab.report.page.slices import (
    DIAGONAL_FIGURES,
    ERROR_FIGURES,
    bias_slices,
    diagonal_slices,
    error_slices,
    rows_of_section,
)
from quantshift.lab.report.page.verdicts import findings
from quantshift.lab.report.style.marks import method_styles
from quantshift.lab.report.style.wording import subjects_of
from quantshift.lab.report.tables.html import html_table, html_text
from quantshift.lab.report.tables.prevalences import as_numbers
from quantshift.lab.report.tables.table import ReportTable

TITLE = "Quantification under dataset shift"

ERROR_ROWS = 75_000
DIAGONAL_ROWS = 30_000
BIAS_ROWS = 10_000
"""The most rows of data over all sections of the page, which keep it below 5 MB."""

SHOWN_METHODS = 12
"""The most methods that charts show at first; if there are more, the best ones."""

SHOWN_FAILURES = 200

_VIEWS = (
    ("lines", "Error by degree"),
    ("boxes", "Distribution"),
    ("bias", "Bias by degree"),
    ("diagonal", "True and estimated"),
)


def render_page(
    contents: Contents, provenance: Provenance, *, progress: Callable[[str], None]
) -> str:
    """The page as one string of HTML; `progress` receives the current step."""
    sections = sections_of(subjects_of(contents.rows, contents.abouts))
    rows = as_numbers(contents.rows)
    methods = order_methods(rows["method"].unique(), contents.methods)
    styles_by_name = method_styles(methods)
    styles = {method: styles_by_name[method] for method in methods}
    entries = _sections(sections, rows, contents, provenance, methods, progress)
    progress("page")
    glance = glance_of(rows, sections, methods)
    looks = method_entries(styles)
    published = _published(contents, methods)
    data = {
        "unit": UNIT,
        "open": OPEN,
        "measure": contents.measure.title,
        "figures": [*ERROR_FIGURES, *DIAGONAL_FIGURES],
        "methods": looks,
        "sections": [
            *(section["entry"] for section in entries),
            *([published["entry"]] if published else []),
        ],
    }
    return render_shell(
        __package__,
        charts=Charts.OWN,
        title=TITLE,
        lead=_lead(contents, sections, methods, provenance),
        measure=contents.measure.title,
        numbers=_numbers(rows, methods, provenance),
        gaps=gaps_of(sections, provenance),
        glance=glance,
        winners=winners(glance, contents.measure.title),
        methods=_chips(looks, glance),
        sections=entries,
        findings=findings(contents.verdicts),
        published=published,
        facts=facts(provenance),
        experiments=_experiments(provenance),
        datasets=dataset_facts(provenance),
        failures=_failures(provenance),
        data=data,
    )


def _sections(
    sections: Sequence[Section],
    rows: pl.DataFrame,
    contents: Contents,
    provenance: Provenance,
    methods: Sequence[str],
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """What the template needs for the sections, with the data of their charts.

    Rows of the budget that a section does not use are available to the next ones.
    """
    entries = []
    remaining = {"errors": ERROR_ROWS, "diagonal": DIAGONAL_ROWS, "bias": BIAS_ROWS}
    for number, section in enumerate(sections):
        progress(f"summaries of {section.title}")
        section_rows = with_panels(rows, section)
        data = rows_of_section(section_rows, section)
        budgets = {name: budget // (len(sections) - number) for name, budget in remaining.items()}
        errors = error_slices(data, budget=budgets["errors"])
        diagonal = diagonal_slices(data, budget=budgets["diagonal"])
        bias = bias_slices(data, budget=budgets["bias"])
        remaining["errors"] -= len(errors.frame)
        remaining["diagonal"] -= len(diagonal.frame)
        remaining["bias"] -= len(bias.frame) if bias else 0
        entry = section_entry(data, errors, diagonal, bias, methods)
        entries.append(_section(section, section_rows, entry, contents, provenance))
    return entries


def _section(
    section: Section,
    rows: pl.DataFrame,
    entry: dict[str, Any],
    contents: Contents,
    provenance: Provenance,
) -> dict[str, Any]:
    counts = [
        (len(rows), "estimate"),
        (rows.select("dataset", "cell").n_unique(), "training set"),
        (rows["method"].n_unique(), "method"),
    ]
    if len(section.subject.datasets) > 1:
        counts.append((len(section.subject.datasets), "data set"))
    if section.subject.n_classes > 2:
        counts.append((section.subject.n_classes, "class"))
    return {
        "identifier": section.identifier,
        "title": section.title,
        "summary": section.summary,
        "facts": " · ".join(counted(number, noun) for number, noun in counts),
        "gap": _capitalised(provenance.gap(section.experiment)),
        "entry": entry,
        "views": [view for view in _VIEWS if entry["degrees"] or view[0] in ("boxes", "diagonal")],
        "tables": _tables(section, contents),
    }


def _tables(section: Section, contents: Contents) -> list[dict[str, Any]]:
    """The tables of a section: over data sets first, then by degree, then the summaries.

    A table about several parts belongs to the last of them.
    """
    section_tables = [
        table
        for table in (*contents.tables, *contents.summaries)
        if table.experiment == section.experiment
        and table.parts
        and table.parts[-1] in section.parts
    ]
    several = [table for table in section_tables if not table.dataset]
    ordered = [*several, *(table for table in section_tables if table.dataset)]
    return [_table(table) for table in ordered]


def _table(table: ReportTable) -> dict[str, Any]:
    # The caption in the table itself explains the degree, so the title need not.
    title = re.sub(r"\s*\([^()]*\)\.?$", "", table.caption).rstrip(".")
    return {"title": plain_text(title), "heading": html_text(title), "html": html_table(table)}


def _published(contents: Contents, methods: Sequence[str]) -> dict[str, Any] | None:
    compared = contents.compared
    if compared is None:
        return None
    both = compared.filter(pl.col("ours").is_not_null())
    if both.is_empty():
        lead = "No published table can be compared, because its experiments have no results here."
    else:
        rank = both.unique(["setup", "p_train", "p_test", "degree"])["spearman"].median()
        lead = (
            f"{len(both):,} of the {len(compared):,} published mean absolute errors have a "
            "counterpart here. Ours differ from them by "
            f"{_mean(both['difference'].abs()):.3f} on average"
        )
        lead += (
            "; the methods of a row come in a similar order: the median rank correlation is "
            f"{rank:.2f}."
            if isinstance(rank, float)
            else "."
        )
    return {
        "lead": lead,
        "entry": published_entry(compared, methods),
        "tables": [_table(table) for table in contents.published],
    }


def _lead(
    contents: Contents,
    sections: Sequence[Section],
    methods: Sequence[str],
    provenance: Provenance,
) -> str:
    datasets = dict.fromkeys(name for s in sections for name in s.subject.datasets)
    sources = {
        name: source_name(data)
        for experiment in provenance.experiments.values()
        for name, data in experiment.get("datasets", {}).items()
        if data.get("source")
    }
    names = list(dict.fromkeys(sources.get(name, name) for name in datasets))
    where = listed(names) if len(names) <= 4 else f"{len(names)} data sets"
    target = (
        "the prevalence of a class"
        if all(section.subject.n_classes == 2 for section in sections)
        else "the prevalence of classes"
    )
    ways = counted(len(sections), "way")
    return (
        f"How well {counted(len(methods), 'method')} estimate{'s' if len(methods) == 1 else ''} "
        f"{target} on {where} when training and test data differ in {ways}. "
        f"Errors on this page are in terms of the {contents.measure.title}."
    )


def _numbers(
    rows: pl.DataFrame, methods: Sequence[str], provenance: Provenance
) -> list[tuple[str, str]]:
    cells = rows.select("experiment", "dataset", "cell").n_unique()
    datasets = rows["dataset"].n_unique()
    numbers = [("methods", f"{len(methods):,}")]
    if datasets > 1:
        numbers.append(("data sets", f"{datasets:,}"))
    numbers += [("training sets", f"{cells:,}"), ("estimates", f"{len(rows):,}")]
    if provenance.seconds is not None:
        numbers.append(("time to compute", duration(provenance.seconds)))
    return numbers


def _chips(looks: Sequence[Mapping[str, Any]], glance: Glance) -> list[dict[str, Any]]:
    """The switches of the methods. At first all but the baseline are on, or only the best."""
    names = [look["name"] for look in looks]
    # The errors of the baseline grow with the shift itself and would flatten all other lines.
    racing = [name for name in names if name != glance.baseline] or names
    on = racing if len(racing) <= SHOWN_METHODS else best_methods(glance, SHOWN_METHODS)
    return [{**look, "path": look["shape"], "shown": look["name"] in on} for look in looks]


def _experiments(provenance: Provenance) -> dict[str, Any] | None:
    """The table of what differs between experiments."""
    if not provenance.experiments:
        return None
    facts_of = {name: experiment_facts(e) for name, e in provenance.experiments.items()}
    differing = [
        head for head in next(iter(facts_of.values())) if head not in shared_facts(provenance)
    ]
    rows = [
        [
            name,
            provenance.cells(name),
            *(values[head] for head in differing),
            ", ".join(method["name"] for method in provenance.experiments[name]["methods"]),
        ]
        for name, values in facts_of.items()
    ]
    return {"header": ["experiment", "cells", *differing, "methods"], "rows": rows}


def _failures(provenance: Provenance) -> dict[str, Any] | None:
    failures = provenance.failures
    if not failures:
        return None
    lead = f"{counted(len(failures), 'failure')}; the methods named have no results in these cells."
    if len(failures) > SHOWN_FAILURES:
        lead += f" The first {SHOWN_FAILURES} are listed."
    return {"lead": lead, "rows": failures[:SHOWN_FAILURES]}


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
