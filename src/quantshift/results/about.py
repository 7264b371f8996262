"""What an experiment of a store is of, read from its description: names, words, columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import polars as pl

from quantshift.errors import UserError
from quantshift.results.schema import schema_of
from quantshift.shifts.protocol import Coordinate, Words


@dataclass(frozen=True)
class About:
    """An experiment as tables, figures and pages speak of it.

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
        """The experiment called so with this description; refused if something is amiss in it."""
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
                    f"data set {dataset!r} of experiment {name!r} needs two or more classes, each "
                    f"of a name of its own, got {list(classes)}"
                )
        schema_of(about.coordinates, about.diagnostics)  # refuses columns that cannot be
        return about

    @property
    def schema(self) -> pl.Schema:
        """The columns of its rows."""
        return schema_of(self.coordinates, self.diagnostics)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
