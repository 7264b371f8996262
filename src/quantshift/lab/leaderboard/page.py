"""The leaderboard as one HTML file that needs no network, no server and no other file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quantshift.answers.shell.shell import render_shell
from quantshift.base.nouns import counted
from quantshift.lab.data.embedded.embedded import EMBEDDED
from quantshift.lab.leaderboard.contents import Contents
from quantshift.lab.leaderboard.origin import origin_facts, quick_experiments
from quantshift.lab.leaderboard.payload import payload_of
from quantshift.lab.report.page.provenance import dataset_facts, duration, facts

TITLE = "Leaderboard of quantifiers"


def render_page(contents: Contents) -> str:
    """The page as one string of HTML."""
    payload = payload_of(contents)
    columns = payload["columns"]
    return render_shell(
        __package__,
        title=TITLE,
        lead=_lead(contents),
        numbers=_numbers(contents),
        data_methods=payload["methods"],
        measures=[(measure["name"], measure["title"]) for measure in payload["measures"]],
        suites=_distinct(column["suite"] for column in columns),
        parts=list({column["part"]: column["title"] for column in columns}.items()),
        datasets=_distinct(column["dataset"] for column in columns),
        cautions=_cautions(column["dataset"] for column in columns),
        stability=_stability(contents, columns),
        fewest_samples=payload["fewest"],
        classes=_class_choices(columns),
        families=_distinct(method["family"] for method in payload["methods"]),
        baseline=payload["baseline"],
        published=payload["published"],
        columns=columns,
        nowhere=payload["absences"]["nowhere"],
        facts=[*facts(contents.provenance), *origin_facts(contents.provenance)],
        quick=_quick(contents),
        data_sets=dataset_facts(contents.provenance),
        data=payload,
    )


def _lead(contents: Contents) -> str:
    scores = contents.scores
    datasets, parts = scores["dataset"].n_unique(), scores["part"].n_unique()
    return (
        f"How well {counted(scores['method'].n_unique(), 'method')} estimate the prevalences of "
        f"classes, under {counted(parts, 'kind')} of shift, on {counted(datasets, 'data set')}. "
        "Every number is a mean over samples; click on it to see them."
    )


def _quick(contents: Contents) -> str:
    """What to say at the top if some experiments were run in the small; empty if none was."""
    quick = quick_experiments(contents.provenance)
    if not quick:
        return ""
    every = len(quick) == len(contents.provenance.experiments)
    which = "All experiments" if every else f"The experiments {', '.join(quick)}"
    return (
        f"{which} were run with the profile quick: few training sets and samples, enough for a "
        "first look. Use the profile paper for numbers to publish."
    )


def _numbers(contents: Contents) -> list[tuple[str, str]]:
    scores = contents.scores
    one_measure = scores.filter(scores["measure"] == scores["measure"][0])
    n_datasets, n_parts = scores["dataset"].n_unique(), scores["part"].n_unique()
    numbers = [
        ("methods", f"{scores['method'].n_unique():,}"),
        ("data set" if n_datasets == 1 else "data sets", f"{n_datasets:,}"),
        ("kind of shift" if n_parts == 1 else "kinds of shift", f"{n_parts:,}"),
        ("estimates", f"{one_measure['samples'].sum():,}"),
    ]
    if contents.provenance.seconds is not None:
        numbers.append(("time to compute", duration(contents.provenance.seconds)))
    return numbers


def _cautions(datasets: Iterable[str]) -> list[str]:
    """What readers must know about the embedded data sets."""
    names = dict.fromkeys(name for name in datasets if name in EMBEDDED)
    return [EMBEDDED[name].caution for name in names if EMBEDDED[name].caution]


def _stability(contents: Contents, columns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each kind of shift: title, what is ranked, and rows of method, rank and limits."""
    titles = {column["part"]: column["title"] for column in columns}
    return [
        {
            "title": titles[part],
            "datasets": stability.datasets,
            "few": [f"{name} ({n})" for name, n in stability.few.items()],
            "unranked": len(stability.unranked),
            "rows": [
                (name, f"{rank:.1f}", f"{low:.1f} to {high:.1f}", f"{lowest:.1f} to {highest:.1f}")
                for name, rank, low, high, lowest, highest in stability.frame().iter_rows()
            ],
        }
        for part, stability in contents.stability.items()
    ]


def _class_choices(columns: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    kinds = {"two": "two", "more": "three or more", "ordered": "ordered"}
    present = {
        *("two" if column["classes"] == 2 else "more" for column in columns),
        *("ordered" for column in columns if column["ordered"]),
    }
    return [(kind, text) for kind, text in kinds.items() if kind in present]


def _distinct(names: Iterable[str]) -> list[tuple[str, str]]:
    """Values and texts of a choice, in the order of the names."""
    return [(name, name) for name in dict.fromkeys(names) if name]
