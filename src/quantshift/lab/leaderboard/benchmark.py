"""What a benchmark runs: the experiments of suites, on data sets, with every suitable method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quantshift.errors import UserError, unknown_name
from quantshift.lab.data.sources import AbstractSource, open_source, source_at
from quantshift.lab.experiments import label_results
from quantshift.lab.experiments.documents.experiment import Experiment, MethodSpec
from quantshift.lab.experiments.documents.loading import suites
from quantshift.lab.experiments.options import QUICK, ExperimentOptions
from quantshift.lab.experiments.population import open_population
from quantshift.lab.experiments.runner import Run
from quantshift.lab.leaderboard.entrants import check_methods, entrants, unsuited
from quantshift.lab.leaderboard.options import EntrantOptions

ALL = "all"
"""Given instead of the name of a suite: every suite."""


@dataclass(frozen=True)
class Skipped:
    """An experiment that cannot be run on a data set (empty name: on any data set), and why."""

    experiment: str
    dataset: str
    reason: UserError

    def __str__(self) -> str:
        where = f" on {self.dataset}" if self.dataset else ""
        return f"{self.experiment}{where}: {self.reason}"


@dataclass(frozen=True)
class Benchmark:
    """A run that is ready to start, and what cannot be run.

    skipped: experiments that cannot be run, or not on a data set, and why.
    missing_suites: suites that the user named but none of whose experiments can be run.
    """

    run: Run
    skipped: tuple[Skipped, ...]
    missing_suites: tuple[str, ...] = ()

    def left_out(self) -> list[str]:
        """One line per group of methods that are left out: data sets, methods and reason."""
        datasets_by_reason: dict[tuple[str, str], list[str]] = {}
        for datasets in self.run.left_out.values():
            for dataset, reasons in datasets.items():
                for method, reason in reasons.items():
                    datasets_of_method = datasets_by_reason.setdefault((method, reason), [])
                    if dataset not in datasets_of_method:
                        datasets_of_method.append(dataset)
        methods: dict[tuple[str, str], list[str]] = {}
        for (method, reason), where in datasets_by_reason.items():
            methods.setdefault((", ".join(where), reason), []).append(method)
        return [f"on {where}: {', '.join(m)} ({reason})" for (where, reason), m in methods.items()]


def plan_benchmark(
    names: Sequence[str],
    out: str | Path,
    *,
    data: Sequence[str | Path] = (),
    methods: Sequence[str] | None = None,
    added: Sequence[MethodSpec] = (),
    profile: str = QUICK,
    overrides: Mapping[str, Any] | None = None,
    classifier: str | None = None,
    n_documents: int = 20_000,
) -> Benchmark:
    """The run of the suites with these names, or of "all".

    out: the folder of the results; existing results are not computed again.
    data: data sets to use instead of those that the experiments name.
    methods: only these and the added ones; default: all that suit the data.
    added: the user's own methods, see `added_method`.
    profile, overrides, classifier: as in `load_experiment`. n_documents: number of synthetic
        reviews.
    """
    return planned_benchmark(
        names,
        Path(out),
        ExperimentOptions(tuple(data), profile, classifier, overrides, n_documents),
        EntrantOptions(methods, added),
    )


def planned_benchmark(
    names: Sequence[str], out: Path, options: ExperimentOptions, who: EntrantOptions
) -> Benchmark:
    """`plan_benchmark` with its options in two groups; without a profile, experiments are quick."""
    options = replace(options, profile=options.profile or QUICK)
    experiments = tuple(options.load(name) for name in _experiment_names(names))
    if who.methods is not None:
        check_methods(who.methods, experiments)
    for method in who.added:
        if sum(method.name == other.name for other in who.added) > 1:
            raise UserError(f"two classes called {method.name!r} are added; rename one")
    for data in options.data:
        source_at(data)  # Raises if it is not a data set, before any experiment is considered.
    sources: dict[str, tuple[AbstractSource, ...]] = {}
    left_out: dict[str, Mapping[str, Mapping[str, str]]] = {}
    taking_part: list[Experiment] = []
    skipped: list[Skipped] = []
    for experiment in experiments:
        methods = entrants(experiment, methods=who.methods, added=who.added)
        with_entrants = replace(experiment, methods=methods)
        try:
            candidate_sources = options.sources(experiment)
        except UserError as error:
            skipped.append(Skipped(experiment.name, "", error))
            continue
        usable_sources, reasons = _usable(with_entrants, candidate_sources, skipped)
        suitable = [m for m in methods if any(m.name not in why for why in reasons.values())]
        if usable_sources and suitable:
            taking_part.append(replace(with_entrants, methods=tuple(suitable)))
            sources[experiment.name] = usable_sources
            left_out[experiment.name] = reasons
    if not taking_part:
        why = f": {skipped[0].reason}" if skipped else "; no method suits the data"
        raise UserError(
            f"none of the experiments in {', '.join(names)} can be run{why}",
            arguments=skipped[0].reason.arguments if skipped else (),
        )
    run = Run(tuple(taking_part), sources, out, left_out)
    suites_run = {suite_of(experiment.name) for experiment in taking_part}
    missing = dict.fromkeys(name for name in names if name != ALL and name not in suites_run)
    return Benchmark(run, tuple(skipped), tuple(missing))


def _usable(
    experiment: Experiment, sources: Sequence[AbstractSource], skipped: list[Skipped]
) -> tuple[tuple[AbstractSource, ...], dict[str, dict[str, str]]]:
    """The data sets that it can be run on, and why methods are left out there.

    The other data sets are added to `skipped`.
    """
    usable: list[AbstractSource] = []
    reasons: dict[str, dict[str, str]] = {}
    for source in sources:
        try:
            reasons[source.name] = _unsuited_methods(experiment, source)
            usable.append(source)
        except UserError as error:
            skipped.append(Skipped(experiment.name, source.name, error))
    return tuple(usable), reasons


def suite_of(experiment: str) -> str:
    """The suite of an experiment; an empty string if it is neither of the library nor of labels."""
    if experiment in (label_results.EACH_LABEL, label_results.NATURAL):
        return label_results.SUITE
    return next((suite for suite, names in suites().items() if experiment in names), "")


def _experiment_names(names: Sequence[str]) -> list[str]:
    all_suites = suites()
    for name in names:
        if name != ALL and name not in all_suites:
            raise unknown_name("suite", name, [ALL, *all_suites])
    chosen = all_suites if ALL in names or not names else dict.fromkeys(names)
    return [experiment for suite in chosen for experiment in all_suites[suite]]


def _unsuited_methods(experiment: Experiment, source: AbstractSource) -> dict[str, str]:
    """Why methods are left out on the data; raises if the experiment cannot be run on them."""
    population = open_population(experiment, source)
    population.check_pools()
    dataset = open_source(source)
    reasons = {m.name: unsuited(m, dataset, population) for m in experiment.methods}
    return {name: reason for name, reason in reasons.items() if reason}
