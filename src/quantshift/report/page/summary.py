"""The report in a page of Markdown: the verdicts and the headline means."""

from quantshift.analysis.methods import order_methods
from quantshift.report.page.contents import Contents
from quantshift.report.page.glance import glance_of
from quantshift.report.page.provenance import Provenance, facts
from quantshift.report.page.sections import sections_of

_WORDS = {True: "holds", False: "does not hold", None: "cannot be told"}


def summary_text(contents: Contents, provenance: Provenance) -> str:
    """Verdicts on the paper's findings, mean errors by method and part, gaps and provenance."""
    sections = sections_of(contents.rows, provenance.experiments)
    glance = glance_of(contents.rows, sections, order_methods(contents.rows["method"].unique()))
    lines = ["# Quantification under dataset shift: summary of results", ""]
    gaps = [f"- {name}: {gap}" for name in provenance.experiments if (gap := provenance.gap(name))]
    if gaps:
        lines += ["**Not everything is here.**", "", *gaps, ""]
    lines += ["## The paper's findings", ""]
    for verdict in contents.verdicts:
        lines.append(f"{verdict.number}. **{_escape(verdict.title)}**: {_WORDS[verdict.holds]}")
        lines += [
            f"    - {_WORDS[claim.holds]}: {_escape(claim.text)} ({_escape(claim.figures)})"
            for claim in verdict.claims
        ]
    lines += ["", "## Mean absolute error over all samples", ""]
    lines.append(_line(["method", *glance.columns]))
    lines.append(_line(["---", *("---:" for _ in glance.columns)]))
    for row in glance.rows:
        cells = [f"**{cell.text}**" if cell.best else cell.text for cell in row.cells]
        lines.append(_line([_escape(row.method), *cells]))
    if glance.yardstick:
        lines += ["", f"Bold: the least of its column, {glance.yardstick} (the yardstick) apart."]
    if glance.partial:
        lines += ["", "–: no mean, because estimates are missing that other methods have."]
    lines += ["", "## Provenance", ""]
    lines += [f"- {name}: {_escape(value)}" for name, value in facts(provenance)]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    for character in "\\|<>*_":
        text = text.replace(character, f"\\{character}")
    return text
