"""Which data sets an experiment runs on: its own files, given ones, or synthetic reviews."""

from collections.abc import Sequence
from pathlib import Path

from quantshift.errors import UserError
from quantshift.lab.data.importing.arrays import DataFile
from quantshift.lab.data.sources import AbstractSource, FileSource, SyntheticSource, source_at
from quantshift.lab.experiments.documents.experiment import Experiment
from quantshift.lab.shifts.given import GivenSamples


def sources_of(
    experiment: Experiment, data: Sequence[str | Path], *, n_documents: int, seed: int = 0
) -> tuple[AbstractSource, ...]:
    """The experiment's own files; else `data`; else the data sets it names; else synthetic reviews.

    data: folders of data sets, or names of embedded ones. n_documents, seed: number and seed of the
    synthetic reviews.
    """
    labels = experiment.data_file("labels")
    if labels is not None and data:
        raise UserError(
            f"experiment {experiment.name!r} has items of its own (data.labels in its file), so "
            "it cannot run on other data; leave out that data, or remove the keys from the file"
        )
    if labels is not None:
        return (
            FileSource(
                features=_absolute(experiment.data_file("features")),
                posteriors=_absolute(experiment.data_file("posteriors")),
                labels=labels.absolute(),
                categories=_absolute(experiment.data_file("categories")),
            ),
        )
    if data:
        sources = tuple(source_at(path) for path in data)
    else:
        own_sets = experiment.data.sets or ()
        sources = tuple(source_at(text, experiment.folder) for text in own_sets)
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise UserError(
                f"two data sets are called {name!r}; results would mix, so rename a folder"
            )
    if not sources and isinstance(experiment.shift, GivenSamples):
        raise UserError(
            f"experiment {experiment.name!r} is about samples that come with the data, and has no "
            "data of its own; import a data set with given samples and name its folder"
        )
    return sources or (SyntheticSource(n_documents, seed),)


def _absolute(file: DataFile | None) -> DataFile | None:
    return None if file is None else file.absolute()
