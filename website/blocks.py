"""Marked blocks of the pages, written from the registries and schemas.

A page contains `<!-- generated: NAME -->` and `<!-- end -->`; this module writes what is between
them. So a page is complete in the repository too, and a test fails when it is out of date.

    python -m website.blocks            write all blocks
    python -m website.blocks --check    list those that are out of date
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from quantshift import judging, metrics, quantifying
from quantshift.answers.conditions import DECIDED_BY, FINE, OPEN
from quantshift.claims import Kind, Reason
from quantshift.lab.experiments.documents.loading import library
from quantshift.lab.shifts.catalogue import protocols
from quantshift.quantifiers.base import catalogue
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from website import commands, json_layout, json_schemas, schema
from website.pages import ROOT, name_of, page_of_method, pages
from website.tables import code, table

_BEGIN = re.compile(r"^<!-- generated: ", re.MULTILINE)
_MARKED = re.compile(
    r"^(<!-- generated: ([\w-]+) -->\n).*?^(<!-- end -->)", re.DOTALL | re.MULTILINE
)


def methods(page: Path) -> str:
    """Every quantifier: name, full name, what it assumes, its options with their defaults."""
    rows = [
        (_linked(cls, page), catalogue.full_name(cls), cls.tags.assumption, _options(cls))
        for name, cls in catalogue.quantifiers().items()
    ]
    return table(["name", "full name", "assumes", "options"], rows)


def shifts(page: Path) -> str:
    """Every protocol: class, kind in experiment files, what changes."""
    rows = [
        (code(name), code(cls.name), catalogue.full_name(cls), cls.changes)
        for name, cls in protocols().items()
    ]
    return table(["class", "kind", "full name", "what changes"], rows)


def experiments(page: Path) -> str:
    """The experiments of the library: their protocol and sizes, full and quick."""
    quick = library(profile="quick")
    rows = [
        (
            code(name),
            experiment.title,
            code(experiment.shift.name),
            _sizes(experiment.n_training_sets, experiment.n_test_samples),
            _sizes(quick[name].n_training_sets, quick[name].n_test_samples),
        )
        for name, experiment in library().items()
    ]
    sets = "training sets x test samples of each"
    return table(["name", "title", "shift", f"{sets}", "with `--profile quick`"], rows)


def measures(page: Path) -> str:
    """The error measures by name, with their definition and whether they need smoothing."""
    rows = [
        (code(name), _first_line(measure.function), "yes" if measure.smoothed else "")
        for name, measure in metrics.MEASURES.items()
    ]
    return table(["name", "what it is", "takes `smoothing`"], rows)


def kinds(page: Path) -> str:
    """The kinds of answers: codes, words, first words of summaries, exit codes, conditions."""
    rows = [
        (
            f"[{code(kind.value)}]({os.path.relpath(ROOT / 'docs' / kind.page, page.parent)})",
            kind.words,
            code(kind.summary),
            str(OPEN if kind is Kind.CANNOT else FINE),
            DECIDED_BY[kind].value,
        )
        for kind in Kind
        if kind in DECIDED_BY
    ]
    heads = ["`kind`", "what it is", "`--summary`", "exit code", "a condition is decided by"]
    return table(heads, rows)


def reasons(page: Path) -> str:
    """Why an answer is of its kind, and what to do about it."""
    rows = [(code(reason.value), reason.words, reason.cure) for reason in Reason]
    return table(["`reason`", "because", "what to do"], rows)


BLOCKS: Mapping[str, Callable[[Path], str]] = MappingProxyType(
    {
        "methods": methods,
        "kinds": kinds,
        "reasons": reasons,
        "shifts": shifts,
        "experiments": experiments,
        "metrics": measures,
        "spec-fields": lambda page: schema.spec_fields(),
        "shift-fields": lambda page: schema.shift_fields(),
        "quantify-options": lambda page: commands.options_table("quantshift quantify"),
        "train-options": lambda page: commands.options_table("quantshift train"),
        "plan-quantify-options": lambda page: commands.options_table("quantshift plan quantify"),
        "run-options": lambda page: commands.options_table("quantshift run"),
        "report-options": lambda page: commands.options_table("quantshift report"),
        "commands": lambda page: commands.reference(),
        "quantification-json": lambda page: json_layout.layout(quantifying.json_schema()),
        "json-schemas": lambda page: json_schemas.overview(),
        "targets-json": lambda page: json_layout.layout(
            json_schemas.several_targets(), "TargetsBatch", "TargetShare"
        ),
        "judgement-json": lambda page: json_layout.layout(judging.json_schema()),
    }
)
"""The content of each block, by its name, for a page."""


def filled(page: Path) -> str:
    """The page's text with all its blocks up to date."""
    return fill(page.read_text(encoding="utf-8"), page)


def fill(text: str, page: Path) -> str:
    """The text with all its blocks filled in for that page."""
    if len(_MARKED.findall(text)) != len(_BEGIN.findall(text)):
        raise ValueError(f"{name_of(page)}: a generated block has no <!-- end -->")
    return _MARKED.sub(lambda match: _block(match, page), text)


def stale() -> list[Path]:
    """The pages with a block that differs from the registries."""
    return [page for page in pages() if filled(page) != page.read_text(encoding="utf-8")]


def _block(match: re.Match[str], page: Path) -> str:
    begin, name, end = match.groups()
    if name not in BLOCKS:
        raise ValueError(f"{name_of(page)}: no block {name!r}; known: {', '.join(BLOCKS)}")
    return f"{begin}\n{BLOCKS[name](page)}\n\n{end}"


def _linked(cls: type[AbstractQuantifier], page: Path) -> str:
    """The name of a method, linked to its page."""
    target = page_of_method(cls)
    if target is None:
        return cls.__name__
    return f"[{cls.__name__}]({Path(os.path.relpath(target, page.parent)).as_posix()})"


def _options(cls: type[AbstractQuantifier]) -> str:
    parameters = inspect.signature(cls).parameters.values()
    return ", ".join(
        code(f"{p.name}={getattr(p.default, '__name__', repr(p.default))}")
        for p in parameters
        if p.name != "classifier"
    )


def _first_line(documented: object) -> str:
    return (inspect.getdoc(documented) or "").splitlines()[0]


def _sizes(n_training_sets: int, n_test_samples: int | None) -> str:
    if n_test_samples is None:
        return "as the data have them"
    return f"{n_training_sets:,} x {n_test_samples:,}"


def main(arguments: list[str]) -> int:
    """Write the blocks; with --check only list the pages that are out of date."""
    outdated = stale()
    for page in outdated:
        print(f"{name_of(page)}: a generated block is out of date; run `make docs-refresh`")
        if "--check" not in arguments:
            page.write_text(filled(page), encoding="utf-8")
    return int("--check" in arguments and bool(outdated))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
