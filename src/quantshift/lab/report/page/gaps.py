"""What is missing in a report, in words: failed methods, unfinished data sets, experiments."""

from collections.abc import Sequence

from quantshift.base.nouns import counted
from quantshift.lab.report.page.provenance import Provenance
from quantshift.lab.report.page.sections import Section

_NAMED = 6
"""The most failed methods that are named; the rest are counted."""


def gaps_of(sections: Sequence[Section], provenance: Provenance) -> list[str]:
    """A sentence for every experiment, or data set of several, that is not complete."""
    with_results = {
        (section.experiment, dataset)
        for section in sections
        for dataset in section.subject.datasets
    }
    names = dict.fromkeys([*(s.experiment for s in sections), *provenance.experiments])
    gaps = []
    for name in names:
        title = provenance.title(name)
        own_datasets = [
            dataset for experiment, dataset in sorted(with_results) if experiment == name
        ]
        datasets = list(dict.fromkeys([*provenance.datasets(name), *own_datasets]))
        if not own_datasets:
            gaps.append(f"{title}: no results")
            continue
        for dataset in datasets if len(datasets) > 1 else [None]:
            where = title if dataset is None else f"{title}, data set {dataset}"
            gap = provenance.gap(name, dataset)
            if dataset is not None and dataset not in own_datasets:
                gap = gap or "no results"
            failed = _failed(provenance.failed_methods(name, dataset))
            if gap or failed:
                gaps.append(f"{where}: {'; '.join(text for text in (gap, failed) if text)}")
    return gaps


def _failed(methods: dict[str, int]) -> str:
    """The methods that failed, with how often."""
    if not methods:
        return ""
    listed = [f"{method} ({counted(n, 'cell')})" for method, n in list(methods.items())[:_NAMED]]
    more = len(methods) - len(listed)
    return "failed: " + ", ".join(listed) + (f" and {counted(more, 'more method')}" if more else "")
