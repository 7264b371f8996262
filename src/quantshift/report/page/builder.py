"""The page itself: one HTML file that needs no network, no server and no other file.

Everything a browser needs is inside: style, script, chart library and the summaries the charts
draw (never the rows). Names that come from data are escaped by the template or, in the data,
by `embedded_json`; a content security policy lets run only the two scripts of this page and load
nothing from anywhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
import polars as pl

from quantshift.analysis.findings import Claim, Verdict
from quantshift.analysis.methods import PAPER_METHODS, order_methods
from quantshift.report.html_table import html_table, html_text
from quantshift.report.page.contents import Contents
from quantshift.report.page.glance import glance_of
from quantshift.report.page.library import chart_library, content_hash
from quantshift.report.page.payload import (
    OPEN,
    UNIT,
    embedded_json,
    method_entries,
    published_entry,
    section_entry,
)
from quantshift.report.page.provenance import (
    Provenance,
    duration,
    experiment_facts,
    facts,
    shared_facts,
    source_name,
    versions,
)
from quantshift.report.page.sections import Section, sections_of, with_panels
from quantshift.report.page.slices import (
    DIAGONAL_FIGURES,
    ERROR_FIGURES,
    diagonal_slices,
    error_slices,
)
from quantshift.report.style import method_styles
from quantshift.report.table import ReportTable, spoken_mathematics, with_mathematics

TITLE = "Quantification under dataset shift"

ERROR_ROWS = 85_000
DIAGONAL_ROWS = 30_000
"""Most rows in the page's data, all sections together: it stays below 5 MB."""

SHOWN_FAILURES = 200

_STATES = {
    True: ("holds", "✓", "holds"),
    False: ("fails", "✗", "does not hold"),
    None: ("untold", "?", "cannot be told"),
}

_VIEWS = (
    ("lines", "Error by degree"),
    ("boxes", "Distribution"),
    ("bias", "Bias by degree"),
    ("diagonal", "True and estimated"),
)


def render_page(
    contents: Contents, provenance: Provenance, *, progress: Callable[[str], None]
) -> str:
    """The page as one string of HTML; `progress` is told what is being worked on."""
    rows = contents.rows
    sections = sections_of(rows, provenance.experiments)
    styles = method_styles(order_methods(rows["method"].unique()))
    methods = list(styles)
    entries = _entries(rows, sections, methods, progress)
    progress("page")
    looks = method_entries(styles)
    published = _published(contents, methods)
    data = {
        "unit": UNIT,
        "open": OPEN,
        "figures": [*ERROR_FIGURES, *DIAGONAL_FIGURES],
        "methods": looks,
        "sections": [*entries, *([published["entry"]] if published else [])],
    }
    library, script = chart_library(), _asset("page.js")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("page.html").render(
        title=TITLE,
        lead=_lead(sections, methods, provenance),
        version=versions()["quantshift"],
        numbers=_numbers(rows, methods, provenance),
        gaps=_gaps(sections, provenance),
        tally=_tally(contents.verdicts),
        verdicts=[_verdict(verdict) for verdict in contents.verdicts],
        glance=glance_of(rows, sections, methods),
        methods=[
            {**look, "path": look["shape"], "shown": name in _shown(methods)}
            for name, look in zip(methods, looks, strict=True)
        ],
        sections=[
            _section(section, entry, contents, provenance)
            for section, entry in zip(sections, entries, strict=True)
        ],
        published=published,
        facts=facts(provenance),
        experiments=_experiments(provenance),
        failures=_failures(provenance),
        css=_asset("page.css"),
        data=embedded_json(data),
        library=library,
        script=script,
        script_hashes=" ".join(content_hash(text) for text in (library, script)),
    )


def _entries(
    rows: pl.DataFrame,
    sections: Sequence[Section],
    methods: Sequence[str],
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """The data of the sections; what one does not need of the budget is left to the next."""
    entries = []
    errors_left, diagonal_left = ERROR_ROWS, DIAGONAL_ROWS
    for number, section in enumerate(sections):
        progress(f"summaries of {section.title}")
        own = with_panels(rows, section)
        sharing = len(sections) - number
        errors = error_slices(own, budget=errors_left // sharing)
        diagonal = diagonal_slices(own, budget=diagonal_left // sharing)
        errors_left -= len(errors.frame)
        diagonal_left -= len(diagonal.frame)
        entry = section_entry(section, errors, diagonal, methods)
        for coordinate in entry["coordinates"]:
            coordinate["texts"] = [_number(value) for value in coordinate["values"]]
        entries.append(entry)
    return entries


def _section(
    section: Section, entry: Mapping[str, Any], contents: Contents, provenance: Provenance
) -> dict[str, Any]:
    parts = [panel.part for panel in section.panels]
    rows = contents.rows.filter(pl.col("part").is_in(parts))
    sets = rows.select("experiment", "cell").n_unique()
    views = [view for view in _VIEWS if entry["errors"]["x"] or view[0] in ("boxes", "diagonal")]
    tables = [
        *(table for table in contents.tables if table.name in parts),
        # The paper's tables of covariate shift show both parts; they stand with the second.
        *(
            table
            for table in contents.tables
            if section.identifier == "covariate-mixed" and table.name.startswith("covariate-0")
        ),
        *(table for table in contents.summaries if table.name in [f"summary-{p}" for p in parts]),
    ]
    return {
        "identifier": section.identifier,
        "title": section.title,
        "summary": section.summary,
        "facts": f"{len(rows):,} estimates · {_count(sets, 'training set')} · "
        f"{_count(rows['method'].n_unique(), 'method')}",
        "gap": _sentence(provenance.gap(section.experiment)),
        "entry": entry,
        "views": views,
        "tables": [_table(table, section) for table in tables],
    }


def _table(table: ReportTable, section: Section | None = None) -> dict[str, str]:
    # What the degree is stands in the table's own caption.
    title = re.sub(r"\s*\([^()]*\)\.?$", "", table.caption).rstrip(".")
    if section and table.name.startswith("summary-"):
        panel = next(p for p in section.panels if table.name == f"summary-{p.part}")
        label = f", {panel.label}" if panel.label else ""
        title = f"All degrees together{label}: error, limits, bias and rank of each method"
    return {
        "title": with_mathematics(title, str, spoken_mathematics),
        "heading": html_text(title),
        "html": html_table(table),
    }


def _published(contents: Contents, methods: Sequence[str]) -> dict[str, Any] | None:
    compared = contents.compared
    if compared is None:
        return None
    both = compared.filter(pl.col("ours").is_not_null())
    if both.is_empty():
        lead = "None of the published tables can be compared: their experiments are not here."
    else:
        rank = both.unique(["part", "p_train", "p_test", "degree"])["spearman"].median()
        lead = (
            f"{len(both):,} of the {len(compared):,} published mean errors have a counterpart "
            f"here. Ours differ from them by {_mean(both['difference'].abs()):.3f} on average; "
            "the methods of a row come in a similar order: the median rank correlation is "
            f"{rank:.2f}."
            if isinstance(rank, float)
            else f"{len(both):,} of the {len(compared):,} published mean errors have a counterpart "
            f"here. Ours differ from them by {_mean(both['difference'].abs()):.3f} on average."
        )
    return {
        "lead": lead,
        "entry": published_entry(compared, methods),
        "tables": [_table(table) for table in contents.published],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    state, sign, word = _STATES[verdict.holds]
    held = sum(claim.holds is True for claim in verdict.claims)
    return {
        "number": verdict.number,
        "title": verdict.title,
        "state": state,
        "sign": sign,
        "word": word[0].upper() + word[1:],
        "summary": f"{held} of {_count(len(verdict.claims), 'criterion', 'criteria')} met",
        "claims": [_claim(claim) for claim in verdict.claims],
    }


def _claim(claim: Claim) -> dict[str, str]:
    state, sign, word = _STATES[claim.holds]
    text = _sentence(claim.text).replace("<=", "≤").replace(">=", "≥")
    return {"state": state, "sign": sign, "word": word, "text": text, "figures": claim.figures}


def _tally(found: Sequence[Verdict]) -> str:
    states = [verdict.holds for verdict in found]
    told = [
        f"{states.count(state)} {word}"
        for state, word in (
            (True, "hold"),
            (False, "do not hold"),
            (None, "cannot be told from what is here"),
        )
        if state in states
    ]
    return f"Of {len(states)}: {', '.join(told)}. The criteria and their limits are ours."


def _lead(sections: Sequence[Section], methods: Sequence[str], provenance: Provenance) -> str:
    sources = {source_name(e) for e in provenance.experiments.values() if e.get("source")}
    on = f" on {' and '.join(sorted(sources))}" if sources else ""
    return (
        f"How well {_count(len(methods), 'method')} estimate the prevalence of a class{on} when "
        f"training and test data differ in {_count(len(sections), 'way')}."
    )


def _numbers(
    rows: pl.DataFrame, methods: Sequence[str], provenance: Provenance
) -> list[tuple[str, str]]:
    cells = rows.select("experiment", "cell").n_unique()
    numbers = [
        ("methods", f"{len(methods):,}"),
        ("training sets", f"{cells:,}"),
        ("estimates", f"{len(rows):,}"),
    ]
    if provenance.seconds is not None:
        numbers.append(("time to compute", duration(provenance.seconds)))
    return numbers


def _gaps(sections: Sequence[Section], provenance: Provenance) -> list[str]:
    present = {section.experiment for section in sections}
    names = dict.fromkeys([*(s.experiment for s in sections), *provenance.experiments])
    gaps = []
    for name in names:
        title = str(provenance.experiments.get(name, {}).get("title") or name)
        gap = provenance.gap(name)
        if gap or name not in present:
            gaps.append(f"{title}: {gap or 'no results'}")
    return gaps


def _experiments(provenance: Provenance) -> dict[str, Any] | None:
    """The table of what differs between experiments, under the facts they share."""
    if not provenance.experiments:
        return None
    told = {name: experiment_facts(e) for name, e in provenance.experiments.items()}
    differing = [head for head in next(iter(told.values())) if head not in shared_facts(provenance)]
    rows = [
        [
            name,
            provenance.cells(name),
            *(values[head] for head in differing),
            ", ".join(method["name"] for method in provenance.experiments[name]["methods"]),
        ]
        for name, values in told.items()
    ]
    return {"header": ["experiment", "cells", *differing, "methods"], "rows": rows}


def _failures(provenance: Provenance) -> dict[str, Any] | None:
    failures = provenance.failures
    if not failures:
        return None
    lead = f"{_count(len(failures), 'failure')}; the methods named have no results in these cells."
    if len(failures) > SHOWN_FAILURES:
        lead += f" The first {SHOWN_FAILURES} are listed."
    return {"lead": lead, "rows": failures[:SHOWN_FAILURES]}


def _shown(methods: Sequence[str]) -> Sequence[str]:
    """Methods shown at first: the paper's six and the reader's own; the charts stay legible."""
    nine = {*PAPER_METHODS, "HDy", "SMM", "MLPE"}
    chosen = [name for name in methods if name in PAPER_METHODS or name not in nine]
    return chosen or methods


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("templates", name).read_text("utf-8")


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else float("nan")


def _number(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _count(number: int, noun: str, nouns: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
