"""Stores of made-up results: any number of methods, data sets and kinds of shift."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.base.seeding import generator
from quantshift.lab.results import ResultStore, conform, schema_of
from quantshift.lab.shifts.parts.coordinate import Coordinate
from quantshift.lab.shifts.protocol import Words
from quantshift.quantifiers.base import catalogue

P_TRAIN = Coordinate("p_train", "train", "float", "training prevalence", "p_L")
SIZE = 100
SCHEMA = schema_of([P_TRAIN], {})


def make_store(
    folder: Path,
    *,
    experiments: tuple[str, ...] = ("prior",),
    datasets: dict[str, int],
    methods: tuple[str, ...],
    cells: int = 2,
    samples: int = 6,
    left_out: dict[str, str] | None = None,
    ordered: tuple[str, ...] = (),
    hardness: float = 1.0,
    profile: str = "paper",
) -> ResultStore:
    """A store whose methods err the more the later they are named; the first data set is easiest.

    datasets: name -> number of classes. left_out: method -> why, on the first data set.
    """
    first = next(iter(datasets))
    described = {
        dataset: {
            "items": dataset,
            "source": dataset,
            "classes": [f"class {k}" for k in range(n)],
            **({"ordered": True} if dataset in ordered else {}),
            **({"left_out": left_out} if left_out and dataset == first else {}),
        }
        for dataset, n in datasets.items()
    }
    store = ResultStore.create(
        folder,
        {
            "experiments": {
                name: {
                    "title": f"{name.capitalize()} shift",
                    "profile": profile,
                    "shift": {"kind": name},
                    "methods": [{"name": m, "signature": f"{name} {m}"} for m in methods],
                    "coordinates": [P_TRAIN.as_json()],
                    "words": Words(f"{name.capitalize()} shift", "").as_json(),
                    "datasets": described,
                }
                for name in experiments
            }
        },
    )
    for name in experiments:
        for place, (dataset, n_classes) in enumerate(datasets.items()):
            own = tuple(m for m in methods if not (left_out and place == 0 and m in left_out))
            for cell in range(cells):
                frame = made_up(
                    name, dataset, n_classes, cell, own, samples, hardness + 0.3 * place
                )
                key = f"p_train-0.5,train_repeat-{cell}"
                store.write_part(name, dataset, key, {m: f"{name} {m}" for m in own}, frame)
                store.times.append(
                    {
                        "experiment": name,
                        "dataset": dataset,
                        "cell": key,
                        "samples": samples,
                        "shared": 0.1,
                        "methods": {
                            m: [0.01 * (i + 1), 1e-4 * samples * (len(own) - i)]
                            for i, m in enumerate(own)
                        },
                    }
                )
    return store


def made_up(experiment, dataset, n_classes, cell, methods, samples, hardness):
    """Rows of one cell."""
    rng = generator(0, experiment=experiment, dataset=dataset, cell=cell)
    truths = rng.dirichlet(np.ones(n_classes), size=samples)
    rows = []
    for number, method in enumerate(methods):
        noise = rng.normal(0, hardness * (0.01 + 0.002 * number), truths.shape)
        estimates = (truths + noise).clip(1e-6)
        estimates /= estimates.sum(axis=1, keepdims=True)
        if method == "MLPE":
            estimates = np.full_like(truths, 1 / n_classes)
        rows += [
            {
                "experiment": experiment,
                "shift": experiment,
                "dataset": dataset,
                "cell": f"p_train-0.5,train_repeat-{cell}",
                "method": method,
                "stratum": 0,
                "train_repeat": cell,
                "sample": sample,
                "facet": "",
                "degree": 0.1,
                "size": SIZE,
                "p_true": truths[sample].tolist(),
                "p_hat": estimates[sample].tolist(),
                "p_train": 0.5,
            }
            for sample in range(samples)
        ]
    return conform(pl.DataFrame(rows), SCHEMA)


def payload_in(page: Path) -> dict:
    """The data of a page."""
    text = page.read_text(encoding="utf-8")
    start = text.index('id="report-data">') + len('id="report-data">')
    return json.loads(text[start : text.index("</script>", start)])


@pytest.fixture(scope="session")
def crowded(tmp_path_factory):
    """A store with 45 methods, one of them added, on 15 data sets under 4 kinds of shift."""
    methods = (*list(catalogue.quantifiers())[:44], "Mine")
    datasets = {f"table-{i:02d}": (2, 3, 5)[i % 3] for i in range(15)}
    return make_store(
        tmp_path_factory.mktemp("crowded"),
        experiments=("prior", "covariate", "concept", "groups"),
        datasets=datasets,
        methods=methods,
        left_out={"HDx": "compares features one by one, and there are more than 1,000"},
        ordered=("table-02",),
    )
