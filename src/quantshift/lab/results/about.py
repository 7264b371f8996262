"""The description of an experiment of a store: names, words and columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import polars as pl

from quantshift.errors import UserError
from quantshift.lab.results.schema import schema_of
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words


@dataclass(frozen=True)
class About:
    """An experiment as described in tables, figures and pages.

    shift        the kind of shift
    coordinates  those that its protocol declares, in the order of the columns
    datasets     name of each data set -> its classes, in the order of `p_true` and `p_hat`
    diagnostics  those that its methods declare, name -> type
    """

    name: str
    title: str
    shift: str
    coordinates: tuple[Coordinate, ...]
    words: Words
    datasets: Mapping[str, tuple[str, ...]]
    diagnostics: Mapping[str, str]

    @classmethod
    def of(cls, name: str, experiment: Mapping[str, Any]) -> Self:
        """The experiment with this name and description; an error if it is not valid."""
        try:
            title = str(experiment.get("title") or name)
            words = experiment.get("words")
            about = cls(
                name=name,
                title=title,
                shift=_text(experiment["shift"]["kind"]),
                coordinates=tuple(map(Coordinate.from_json, experiment.get("coordinates", ()))),
                words=Words(title, "") if words is None else Words.from_json(words),
                datasets={
                    dataset: tuple(map(_text, record["classes"]))
                    for dataset, record in experiment["datasets"].items()
                },
                diagnostics=dict(experiment.get("diagnostics", {})),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"experiment {name!r} needs `shift` with its kind, `datasets` with their classes, "
                "and `coordinates`, `words` and `diagnostics` as a protocol and methods declare "
                "them"
            ) from error
        for dataset, classes in about.datasets.items():
            if len(set(classes)) < max(2, len(classes)):
                raise UserError(
                    f"data set {dataset!r} of experiment {name!r} needs two or more classes with "
                    f"different names, got {list(classes)}"
                )
        schema_of(about.coordinates, about.diagnostics)  # raises an error for invalid columns
        return about

    @property
    def schema(self) -> pl.Schema:
        """The columns of its rows."""
        return schema_of(self.coordinates, self.diagnostics)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
