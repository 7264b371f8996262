"""The options of runs, declared once for the functions and for `quantshift run` and `bench`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quantshift.base.options import OPTIONS, option
from quantshift.lab.data.sources import AbstractSource
from quantshift.lab.experiments.documents.document import PAPER, parse_overrides
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.experiments.documents.loading import library_names, load_experiment
from quantshift.lab.experiments.sources import sources_of

QUICK = "quick"
"""The profile of smaller sizes that every experiment of the package has."""


@dataclass(frozen=True)
class ExperimentOptions:
    """Which experiments are run, in which size, and on which data.

    data: data sets to use instead of those that the experiments name. profile: their size; None:
    quick for experiments of the package on data of the package, otherwise full. classifier: the one
    to use in place of that of the experiments. overrides: other values by dotted key. n_documents:
    number of synthetic reviews, where they are used.
    """

    data: tuple[str | Path, ...] = option(
        (),
        "A data set made with `quantshift data import`, or the name of an embedded data set (see "
        "`quantshift data list`); may be given several times (default: those named in the "
        "experiment, or synthetic reviews).",
        reads="repeated",
        metavar="DIR",
        shows_default=False,
        panel=OPTIONS,
    )
    profile: str | None = option(
        None,
        "paper: full sizes; quick: the same grids, smaller sizes (default: quick, but `run` uses "
        "paper with --data and for experiments of your own).",
        metavar=f"{PAPER}|{QUICK}",
        shows_default=False,
        panel=OPTIONS,
    )
    classifier: str | None = option(
        None,
        "Use this classifier (logistic, or package.module:Class) instead of that of the "
        "experiments with its options and grid; give options with --set "
        "classifier.options.NAME=VALUE or classifier.grid.NAME=[VALUES].",
        metavar="NAME",
        shows_default=False,
        panel=OPTIONS,
    )
    overrides: Mapping[str, Any] | None = option(
        None,
        "Override a value in the experiments, e.g. --set shift.train_size=1000.",
        reads="repeated",
        parse=parse_overrides,
        metavar="KEY=VALUE",
        name="set",
        panel=OPTIONS,
    )
    n_documents: int = option(
        20_000,
        "Size of the synthetic corpus, if it is used.",
        name="documents",
        least=1,
        panel=OPTIONS,
    )

    def load(self, name: str) -> Experiment:
        """The experiment of that name, or the one in a TOML file, with these options."""
        # A user's own file is run as written, because it may have no quick profile.
        usual = PAPER if self.data or name not in library_names() else QUICK
        return load_experiment(
            name,
            profile=self.profile or usual,
            overrides=self.overrides,
            classifier=self.classifier,
        )

    def sources(self, experiment: Experiment) -> tuple[AbstractSource, ...]:
        """The data sets that the experiment is run on."""
        return sources_of(experiment, self.data, n_documents=self.n_documents)


@dataclass(frozen=True)
class RunOptions:
    """Who computes the results, and which of them again.

    n_workers: processes; None: as many as there are cores. cluster: address of a Dask scheduler,
    whose workers are used instead. redo: "failed", "all", or the name of a method.
    """

    n_workers: int | None = option(
        None,
        "Worker processes (default: all cores).",
        name="jobs",
        short="j",
        least=1,
        panel=OPTIONS,
    )
    cluster: str | None = option(
        None,
        "Run on this dask.distributed scheduler instead.",
        metavar="ADDRESS",
        panel=OPTIONS,
    )
    redo: str | None = option(
        None,
        "Compute this again (default: nothing).",
        metavar="failed|all|METHOD",
        panel=OPTIONS,
    )
