"""The report as a page of Markdown: mean errors, what is missing, and the findings."""

from quantshift.base.text_tables import markdown_escape as escaped
from quantshift.lab.analysis.methods import order_methods
from quantshift.lab.report.page.contents import Contents
from quantshift.lab.report.page.gaps import gaps_of
from quantshift.lab.report.page.glance import glance_of, winners
from quantshift.lab.report.page.provenance import Provenance, facts
from quantshift.lab.report.page.sections import sections_of
from quantshift.lab.report.page.verdicts import any_decided
from quantshift.lab.report.style.wording import subjects_of

_WORDS = {True: "holds", False: "does not hold", None: "cannot be decided"}


TITLE = "# Quantification under dataset shift: summary of results"
"""The first line, by which a report is recognised."""


def summary_text(contents: Contents, provenance: Provenance) -> str:
    """Mean errors by method and part, gaps, the paper's findings where they apply, provenance."""
    rows = contents.rows
    sections = sections_of(subjects_of(rows, contents.abouts))
    glance = glance_of(rows, sections, order_methods(rows["method"].unique(), contents.methods))
    lines = [TITLE, ""]
    gaps = gaps_of(sections, provenance)
    if gaps:
        lines += [
            "**Results are incomplete.**",
            "",
            *(f"- {escaped(gap)}" for gap in gaps),
            "",
        ]
    lines += [f"## Mean {contents.measure.title} over all samples", ""]
    lines.append(_line(["method", *map(escaped, glance.columns)]))
    lines.append(_line(["---", *("---:" for _ in glance.columns)]))
    for row in glance.rows:
        cells = [f"**{cell.text}**" if cell.best else cell.text for cell in row.cells]
        lines.append(_line([escaped(row.method), *cells]))
    baseline_note = f"; {glance.baseline} is a baseline and not ranked" if glance.baseline else ""
    lines += [
        "",
        f"Bold: the lowest of its column{baseline_note}. {winners(glance, contents.measure.title)}",
    ]
    if glance.partial:
        lines += ["", "–: no mean, because estimates are missing that other methods have."]
    if any_decided(contents.verdicts):
        lines += ["", "## The paper's findings (by absolute error)", "", *_findings(contents)]
    lines += ["", "## Provenance", ""]
    lines += [f"- {name}: {escaped(value)}" for name, value in facts(provenance)]
    return "\n".join(lines) + "\n"


def _findings(contents: Contents) -> list[str]:
    lines = []
    for verdict in contents.verdicts:
        lines.append(f"{verdict.number}. **{escaped(verdict.title)}**: {_WORDS[verdict.holds]}")
        lines += [
            f"    - {_WORDS[claim.holds]}: {escaped(claim.text)} ({escaped(claim.figures)})"
            for claim in verdict.claims
        ]
    return lines


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
