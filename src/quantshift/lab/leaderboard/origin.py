"""What a reviewer asks about a benchmark: classifier, grid, selection, commands, added files."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from quantshift.lab.experiments.options import QUICK
from quantshift.lab.report.page.provenance import Provenance

SHOWN_COMMANDS = 5
"""The commands of more runs are in the log of the results."""


def origin_facts(provenance: Provenance) -> list[tuple[str, str]]:
    """Facts as (name, value), in reading order."""
    experiments = provenance.experiments
    listed = [
        *_where("classifier", {n: _classifier(e) for n, e in experiments.items()}),
        *_where("grid of the classifier", {n: _grid(e) for n, e in experiments.items()}),
        *_where("settings chosen by", {n: _selection(e) for n, e in experiments.items()}),
    ]
    grids = _method_grids(experiments.values())
    if grids:
        listed.append(("grids of methods", "; ".join(grids)))
    listed += [("file of an added method", text) for text in _files(provenance.runs)]
    commands = list(dict.fromkeys(str(r["command"]) for r in provenance.runs if r.get("command")))
    listed += [("command", command) for command in commands[-SHOWN_COMMANDS:]]
    return listed


def quick_experiments(provenance: Provenance) -> list[str]:
    """The experiments that were run with the profile `quick`."""
    return [n for n, e in provenance.experiments.items() if e.get("profile") == QUICK]


def _where(name: str, values: Mapping[str, str]) -> list[tuple[str, str]]:
    """A fact for each distinct value, with the experiments it holds for if there are several."""
    experiments: dict[str, list[str]] = {}
    for experiment, value in values.items():
        experiments.setdefault(value, []).append(experiment)
    if len(experiments) == 1:
        return [(name, value) for value in experiments]
    return [(f"{name} ({', '.join(names)})", value) for value, names in experiments.items()]


def _classifier(experiment: Mapping[str, Any]) -> str:
    classifier = experiment.get("classifier")
    if not classifier:
        return "none: the data are posteriors" if "classifier" in experiment else "–"
    options = _options(classifier.get("options") or {})
    return f"{classifier['name']}{f' ({options})' if options else ''}"


def _grid(experiment: Mapping[str, Any]) -> str:
    return _options((experiment.get("classifier") or {}).get("grid") or {}) or "–"


def _selection(experiment: Mapping[str, Any]) -> str:
    selection = experiment.get("selection") or {}
    if not selection:
        return "–"
    return _options(selection) if selection.get("enabled", True) else "nothing: the first values"


def _method_grids(experiments: Iterable[Mapping[str, Any]]) -> list[str]:
    """The grids of methods that have one, without those of another experiment that are the same."""
    texts = [
        f"{method['name']}: {_options(method['grid'])}"
        for experiment in experiments
        for method in experiment.get("methods", ())
        if method.get("grid")
    ]
    return list(dict.fromkeys(texts))


def _files(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name and hash of the file of each added method; several hashes if it changed between runs."""
    return [
        f"{method}: {file}, SHA-256 {' and later '.join(hashes)}"
        for method, files in method_files(runs).items()
        for file, hashes in files.items()
    ]


def method_files(runs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, list[str]]]:
    """Added method -> name of its file -> SHA-256, from the log of runs; several if it changed."""
    files_by_method: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        files = run.get("files")
        for method, record in files.items() if isinstance(files, dict) else ():
            if not isinstance(record, dict):
                continue  # not written by a run
            hashes = files_by_method.setdefault(str(method), {}).setdefault(
                str(record.get("file")), []
            )
            if str(record.get("sha256")) not in hashes:
                hashes.append(str(record.get("sha256")))
    return files_by_method


def _options(options: Mapping[str, Any]) -> str:
    """Options as text: name = value, separated by commas."""
    return ", ".join(f"{name} = {_value(value)}" for name, value in options.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
