"""A quantification as one self-contained web page: no network, no server, no other file.

It has the look and the chart library of the report's page. Names that come from data are escaped by
the template or, in the data, by `embedded_json`; a content security policy lets run only the two
scripts of this page and load nothing from anywhere.
"""

from dataclasses import asdict
from importlib import resources
from typing import Any

import jinja2

import quantshift
from quantshift.quantify.rendering import marks
from quantshift.quantify.result import Batch, Quantification, Share
from quantshift.quantify.words import headline, held_by, limits, percent
from quantshift.report.page.library import chart_library, content_hash
from quantshift.report.page.payload import embedded_json


def render_page(found: Quantification) -> str:
    """The page as one string of HTML."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    label = headline(found.classes)
    last = found.batches[-1]
    library, script = chart_library(), _asset("quantshift.quantify", "page.js")
    return environment.get_template("page.html").render(
        title=f"How common is “{label}”?",
        lead=_lead(found, last, label),
        numbers=_numbers(found, last, label),
        label=label,
        found=found,
        batches=[_batch(batch) for batch in found.batches],
        warnings=[*found.warnings, *_warnings(found)],
        facts=_facts(found),
        level=f"{100 * found.level:g} %",
        version=quantshift.__version__,
        css=_asset("quantshift.report.page", "page.css")
        + _asset("quantshift.quantify", "page.css"),
        data=embedded_json({**asdict(found), "headline": label}),
        library=library,
        script=script,
        script_hashes=" ".join(content_hash(text) for text in (library, script)),
    )


def _lead(found: Quantification, last: Batch, label: str) -> str:
    share = _share(last, label)
    if share.estimate is None:
        return f"{last.name} has no items: nothing can be estimated."
    where = last.name if len(found.batches) == 1 else f"{last.name}, the last of the batches,"
    return (
        f"{percent(share.estimate)} of the items like those of {where} are “{label}”; with "
        f"{100 * found.level:g} % confidence {limits(share.low, share.high)}."
    )


def _numbers(found: Quantification, last: Batch, label: str) -> list[tuple[str, str]]:
    share = _share(last, label)
    return [
        (f"share of {label}", "?" if share.estimate is None else percent(share.estimate)),
        (f"{100 * found.level:g} % interval", limits(share.low, share.high)),
        ("items", f"{last.n_items:,}"),
        ("method", found.method if last.audit is None else f"{found.method}, audited"),
    ]


def _share(batch: Batch, label: str) -> Share:
    return next(share for share in batch.shares if share.label == label)


def _batch(batch: Batch) -> dict[str, Any]:
    return {
        "name": batch.name,
        "n_items": f"{batch.n_items:,}",
        "shares": [
            {
                "label": share.label,
                "estimate": "?" if share.estimate is None else percent(share.estimate),
                "limits": limits(share.low, share.high),
                "low": 100 * share.low,
                "width": 100 * (share.high - share.low),
                "middle": 100 * (share.low if share.estimate is None else share.estimate),
            }
            for share in batch.shares
        ],
        "state": _state(batch),
        "marks": marks(batch),
        "verdict": batch.verdict,
        "advice": [advice.replace("`", "") for advice in batch.advice],
        "audit": batch.audit,
        "counted": []
        if batch.audit is None
        else [
            (s.label, percent(s.estimate or 0.0), limits(s.low, s.high))
            for s in batch.audit.counted
        ],
        "unaudited": [
            (s.label, percent(s.estimate or 0.0), limits(s.low, s.high)) for s in batch.unaudited
        ],
    }


def _state(batch: Batch) -> tuple[str, str, str]:
    """Class of style, sign and words for the state of a batch."""
    if batch.audit is not None:
        if batch.audit.contradicts:
            return "fails", "✗", "The audit contradicts the method"
        return "holds", "✓", "Audited"
    if batch.shift is None:
        return "untold", "?", "Not tested for shift"
    if batch.shift.rejected:
        return "fails", "✗", "More than the prevalence has changed"
    return "holds", "✓", "No sign of more than a change of prevalence"


def _warnings(found: Quantification) -> list[str]:
    return [f"{batch.name}: {w}" for batch in found.batches for w in batch.warnings]


def _facts(found: Quantification) -> list[tuple[str, str]]:
    told = found.training
    facts = [("method", f"{found.method}: {found.reason}"), ("assumes", found.assumption)]
    if told.n_items:
        mix = ", ".join(f"{label} {percent(p)}" for label, p in told.prevalence.items())
        facts += [
            ("trained on", f"{told.n_items:,} rows of {told.source} ({mix})"),
            (
                "classifier",
                f"{told.classifier}, right on {percent(told.accuracy or 0)} of unseen rows",
            ),
        ]
    holds = held_by(found.classes, simultaneous=found.simultaneous)
    drawn = "replicates of the training items and of the items of the sample"
    return [*facts, ("intervals", f"{drawn}; they hold {holds}" if holds else drawn)]


def _asset(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", name).read_text("utf-8")
