"""Results of version 1, read as rows of version 2.

Version 1 had one set of columns for all experiments, the prevalence of the positive class as a
number, and no data sets: `DIR/<experiment>/<cell>/<part>.parquet`. What it did not store can be
derived: the number of a training set's grid point from the name of its cell, the number of a sample
from the order of the rows, the facet from the kind of shift and the coordinates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from quantshift.errors import UserError
from quantshift.results.description import fit_name
from quantshift.results.parts import Part, checked_rows
from quantshift.results.schema import DIAGNOSTICS, conform, schema_of
from quantshift.results.sharing import UNNAMED
from quantshift.shifts.concept import ConceptShift
from quantshift.shifts.covariate import CovariateShift
from quantshift.shifts.local import LocalCovariateShift
from quantshift.shifts.natural import NaturalPrevalence
from quantshift.shifts.prior import PriorShift
from quantshift.shifts.protocol import AbstractProtocol, Coordinate, Words
from quantshift.shifts.uniform import UniformPrevalence

VERSION = 1

COLUMNS: Mapping[str, pl.DataType] = {
    "experiment": pl.String(),
    "cell": pl.String(),
    "method": pl.String(),
    "p_train": pl.Float64(),
    "alpha_train": pl.Float64(),
    "cut_train": pl.Float64(),
    "p_test": pl.Float64(),
    "alpha_test": pl.Float64(),
    "cut_test": pl.Float64(),
    "train_repeat": pl.Int32(),
    "repeat": pl.Int32(),
    "control": pl.Boolean(),
    "degree": pl.Float64(),
    "size": pl.Int32(),
    "p_true": pl.Float64(),
    "p_hat": pl.Float64(),
    "clipped": pl.Boolean(),
    "separation": pl.Float64(),
    "iterations": pl.Int32(),
    "converged": pl.Boolean(),
    "distance": pl.Float64(),
    "fallback": pl.Boolean(),
    "setting": pl.String(),
    "classifier_converged": pl.Boolean(),
}
"""All columns of version 1."""

COORDINATES = (
    Coordinate("p_train", "train", "float", "training prevalence", "p_L"),
    Coordinate("alpha_train", "train", "float", "training share of category A", r"\alpha_L"),
    Coordinate("cut_train", "train", "float", "training cut point", "c_L"),
    Coordinate("p_test", "test", "float", "test prevalence", "p_U"),
    Coordinate("alpha_test", "test", "float", "test share of category A", r"\alpha_U"),
    Coordinate("cut_test", "test", "float", "test cut point", "c_U"),
    Coordinate("repeat", "test", "int", "number of the sample at its point", ""),
    Coordinate("control", "test", "bool", "control", ""),
)
"""Its coordinates, for experiments whose protocol can no longer be constructed."""

_KINDS: Mapping[str, type[AbstractProtocol]] = {
    kind.name: kind
    for kind in (
        PriorShift,
        CovariateShift,
        LocalCovariateShift,
        ConceptShift,
        NaturalPrevalence,
        UniformPrevalence,
    )
}
_SAME = 1e-9
"""Prevalences of a grid that differ by less are treated as the same point."""

_SYNTHETIC = "synthetic reviews ("

Point: TypeAlias = tuple[tuple[str, float], ...]
"""Names and values of a training set's coordinates, without the repeat."""


@dataclass(frozen=True)
class Experiment:
    """An experiment of version 1, and the new name of its data set."""

    name: str
    description: Mapping[str, Any]
    dataset: str

    @classmethod
    def of(cls, name: str, description: Mapping[str, Any]) -> "Experiment":
        """The experiment with this description; its data set is named after the source."""
        return cls(name, description, _dataset_name(description))

    @property
    def kind(self) -> str:
        """The kind of shift."""
        return str(self.description.get("shift", {}).get("kind", "unknown"))

    def strata(self, cells: Iterable[str]) -> dict[str, int]:
        """The number of each cell's training grid point: its position in the grid.

        If the grid is not known, it is the position among the existing points.
        """
        points = {cell: _point(cell) for cell in cells}
        protocol = self._protocol()
        grid = [] if protocol is None else list(map(_without_repeat, protocol.training_points()))
        if not set(points.values()) <= set(grid):
            grid = sorted(points.values())
        number_of = {point: number for number, point in enumerate(dict.fromkeys(grid))}
        return {cell: number_of[point] for cell, point in points.items()}

    def rows(self, part: Part, stratum: int) -> pl.DataFrame:
        """The rows of a part of version 1, converted; an error if it is damaged."""
        place = {"experiment": self.name, "cell": part.folder.name}
        old = checked_rows(part, COLUMNS, COLUMNS, place)
        new = old.with_columns(
            pl.lit(self.kind).alias("shift"),
            pl.lit(self.dataset).alias("dataset"),
            pl.lit(stratum).alias("stratum"),
            pl.col("train_repeat").fill_null(0),
            pl.int_range(pl.len()).over("method").alias("sample"),
            _facet(self.kind).alias("facet"),
            *(pl.concat_list(1 - pl.col(p), pl.col(p)).alias(p) for p in ("p_true", "p_hat")),
        )
        return conform(new, schema_of(COORDINATES, DIAGNOSTICS))

    def described(self, columns: Iterable[str]) -> dict[str, Any]:
        """Its description in the current format; `columns` are those that have values."""
        protocol = self._protocol()
        title = str(self.description.get("title") or self.name)
        words = Words(title, "") if protocol is None else protocol.words()
        declared = [] if protocol is None else list(protocol.coordinates())
        known = {coordinate.name for coordinate in declared}
        declared += [c for c in COORDINATES if c.name in columns and c.name not in known]
        kept = {k: v for k, v in self.description.items() if k not in ("items", "source")}
        shift = {**kept.get("shift", {}), "kind": self.kind}
        dataset = {k: self.description[k] for k in ("items", "source") if k in self.description}
        return {
            **kept,
            "shift": shift,
            "datasets": {self.dataset: {**dataset, "classes": UNNAMED}},
            "coordinates": [coordinate.as_json() for coordinate in declared],
            "diagnostics": {n: kind for n, kind in DIAGNOSTICS.items() if n in columns},
            "words": words.as_json(),
        }

    def _protocol(self) -> AbstractProtocol | None:
        """The protocol of the experiment; None if it can no longer be constructed."""
        options = {k: v for k, v in self.description.get("shift", {}).items() if k != "kind"}
        try:
            protocol = _KINDS[self.kind](**options)
            protocol.training_points()
        except (KeyError, TypeError, UserError):
            return None
        return protocol


def _facet(kind: str) -> pl.Expr:
    if kind == CovariateShift.name:
        same = (pl.col("p_train") - pl.col("p_test")).abs() < _SAME
        return pl.when(same).then(pl.lit("pure")).otherwise(pl.lit("mixed"))
    if kind == LocalCovariateShift.name:
        return pl.when(pl.col("control")).then(pl.lit("control")).otherwise(pl.lit(""))
    return pl.lit("")


def _point(cell: str) -> Point:
    """The coordinates in the name of a cell; the name itself if it has no coordinates."""
    try:
        axes = [text.replace("=", "-").split("-", 1) for text in cell.split(",")]
        return _without_repeat({name: float(value) for name, value in axes})
    except ValueError:
        return ((cell, 0.0),)


def _without_repeat(coordinates: Mapping[str, Any]) -> Point:
    return tuple(sorted((k, float(v)) for k, v in coordinates.items() if k != "train_repeat"))


def _dataset_name(description: Mapping[str, Any]) -> str:
    """The name that a run on the same data would use."""
    source = str(description.get("source") or "")
    data = description.get("data") or {}
    if data.get("features") or data.get("posteriors"):
        return fit_name(source.split(".")[0])
    return "synthetic" if source.startswith(_SYNTHETIC) else fit_name(source)
