"""What the pages of all answers have in common: their look, headline, downloads and thresholds."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quantshift.answers.conditions import Condition
from quantshift.answers.shares import HasClasses
from quantshift.answers.shell.shell import render_shell
from quantshift.answers.words import one_line

MOST_BYTES = 1_500_000
"""Some browsers do not save larger data links; the command line writes files of any size."""


def render_answer(package: str, **content: Any) -> str:
    """A page with the look and the charts of all answers. package: the one with its templates."""
    return render_shell(package, look_of=(__package__,), **content)


def data_links(json: str, csv: str) -> list[tuple[str, str, str]]:
    """Kind, file name and link of each download, with the content that the command line writes."""
    links = []
    for kind, media, text in (("CSV", "text/csv", csv), ("JSON", "application/json", json)):
        encoded = base64.b64encode(text.encode()).decode()
        if len(encoded) <= MOST_BYTES:
            link = f"data:{media};charset=utf-8;base64,{encoded}"
            links.append((kind, f"quantshift.{kind.lower()}", link))
    return links


def thresholds(result: HasClasses, conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    """The conditions as lines of a chart, each with its class."""
    return [
        {
            "label": one_line(condition.class_and_limit(result)[0]),
            "bound": condition.bound,
            "text": one_line(condition.text),
        }
        for condition in conditions
    ]


def on_one_line(value: Any) -> Any:
    """The value with all its texts on one line: expressions of Vega cannot hold line breaks."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, dict):
        return {one_line(name): on_one_line(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [on_one_line(entry) for entry in value]
    return value


@dataclass(frozen=True)
class Headline:
    """What was found for one class of one batch.

    heading: "14.7% of the 833 items in month 12 have Exited = 1".
    limits: "95% confidence interval 11.2 to 18.9%", or the range or note that replaces it.
    lead: the assumption that the estimate rests on, in sentences. numbers: each with its name.
    """

    heading: str
    limits: str
    lead: str
    numbers: tuple[tuple[str, str], ...]
