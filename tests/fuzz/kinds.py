"""The kinds of files that quantshift writes or reads, each with the answer that it gives.

A file of ours gives the same answer as before it was changed, or is refused. A table, a sheet or a
configuration belongs to the user, and another one has another answer; a forged file of ours, whose
checksums are right, has one too. Of these the answer must only be one, or a refusal.
"""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from quantshift import judge, quantify, train
from quantshift.base.storage.integrity import SEAL, sealed, table_checksum
from quantshift.judging.plans.sheet import plan_judge
from quantshift.lab.data import (
    DataFile,
    DataFolder,
    ImportOptions,
    describe,
    import_arrays,
    import_table,
    write_synthetic,
)
from quantshift.lab.data.several_labels.mulan import load_mulan
from quantshift.lab.experiments import load_experiment
from quantshift.lab.results import ResultStore
from quantshift.lab.results.verification import verify
from quantshift.quantifying import load_model, plan_quantify, save_model
from quantshift.sketches import load_sketch, sketch, sketch_sql
from quantshift.sketches.about import CHECKED_BITS, CHECKSUM
from tests.fuzz.histories import (
    answer_of_history,
    answer_of_judge_history,
    answer_of_label_history,
    forge_call,
    make_history,
    make_judge_history,
    make_label_history,
)
from tests.fuzz.kind import Kind, said
from tests.fuzz.mutations import VALUES, change_table
from tests.fuzz.several_labels import (
    answer_of_label_models,
    answer_of_tags,
    make_label_models,
    make_tags,
)
from tests.judging.made import verdicts
from tests.lab.results import conftest as results
from tests.sketches.made import batches, labelled

# Models


def scored_table(n: int = 150, seed: int = 0) -> pl.DataFrame:
    """A labelled table of numbers, words and posteriors."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    score = 1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=n))))
    return pl.DataFrame(
        {
            "p": score.round(6),
            "size": (rng.normal(size=n) + y).round(3),
            "place": rng.choice(["north", "south", "east"], n),
            "day": [f"2026-03-{2 + i % 3:02}" for i in range(n)],
            "y": np.where(y, "spam", "ham"),
        }
    )


def make_model(folder: Path) -> None:
    columns = {"label": "y", "features": ["size", "place"]}
    save_model(train(scored_table(), **columns, method="PACC", classifier="logistic"), folder / "m")


def answer_of_model(folder: Path) -> Any:
    model = load_model(folder)
    items = model.items(scored_table(20, seed=1).select("size", "place"))
    held_out, codes = model.held_out
    return model.posteriors(items).tolist(), held_out.tolist(), codes.tolist(), repr(model.columns)


# Sketches and results of queries


def make_sketches(folder: Path) -> None:
    days_of_scores = batches({"2026-03-02": 0.1, "2026-03-03": 0.3}, 60)
    posteriors = np.random.default_rng(0).dirichlet([0.5] * 3, 80)
    sketch(days_of_scores, score="p", batch="day").save(folder / "exact.parquet")
    sketch(days_of_scores, score="p", batch="day", bins=True).save(folder / "cells.parquet")
    sketch(labelled(60), score="p", label="y").save(folder / "labelled.parquet")
    three = pl.DataFrame(posteriors, schema=list("abc"))
    sketch(three, posteriors=list("abc"), bins=True).save(folder / "three.parquet")


def answer_of_sketch(path: Path) -> Any:
    loaded = load_sketch(path)
    return loaded.about, table_checksum(loaded.table)


def answer_of_query_result(path: Path) -> Any:
    """Scores to as many bits as the query checks: programs may write fewer digits."""
    loaded = load_sketch(path)
    whole = (pl.col("value_0") * (1 << CHECKED_BITS)).floor()
    table = loaded.table.with_columns(whole) if loaded.is_exact else loaded.table
    return loaded.about, table_checksum(table)


def make_query_results(folder: Path) -> None:
    import duckdb

    frames = {"scores": (batches({"2026-03-02": 0.1, "2026-03-03": 0.3}, 60), {"batch": "day"})}
    frames["training"] = (labelled(60), {"label": "y"})
    for name, (scored, options) in frames.items():
        assert scored.height
        result = duckdb.sql(sketch_sql("duckdb", "scored", score="p", **options)).pl()
        result.write_csv(folder / f"{name}.csv")
        result.write_parquet(folder / f"{name}.parquet")


def forge_sketch(path: Path, rng: np.random.Generator) -> Path:
    """Another table or description, with checksums that are right."""
    content = path.read_bytes()
    described = json.loads(pq.read_schema(path).metadata[b"quantshift"])
    if rng.random() < 0.5:
        content = change_table(content, rng)
    else:
        mutate = VALUES[int(rng.integers(len(VALUES)))]
        described = json.loads(mutate(json.dumps(described).encode(), rng))
    try:
        table = pq.read_table(io.BytesIO(content))
    except pa.ArrowException:  # two columns of one name
        path.write_bytes(content)
        return path
    if isinstance(described, dict):
        described.pop(SEAL, None)
        try:
            frame = pl.DataFrame(table)
            described |= {CHECKSUM: table_checksum(frame), "cells": frame.height}
        except (pl.exceptions.PolarsError, TypeError, ValueError):
            pass
        described = sealed(described)
    metadata = {b"quantshift": json.dumps(described).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


# Data sets


def make_data_sets(folder: Path) -> None:
    table = scored_table(24).with_columns(words=pl.lit("ein Wort und zwei"))
    table.write_csv(folder / "t.csv")
    (folder / "s.csv").write_text("sample,row\nu,0\nu,1\nv,3\n")
    options = ImportOptions(samples=folder / "s.csv")
    import_table(folder / "t.csv", folder / "table", label="y", categories="place")
    import_table(folder / "t.csv", folder / "text", label="y", text="words")
    import_table(folder / "t.csv", folder / "given", label="y", options=options)
    posteriors = np.column_stack([1 - table["p"].to_numpy(), table["p"].to_numpy()])
    np.save(folder / "p.npy", posteriors)
    np.save(folder / "y.npy", table["y"].to_numpy().astype(str))
    labels = DataFile(folder / "y.npy")
    import_arrays(folder / "matrix", features=folder / "p.npy", labels=labels)
    import_arrays(folder / "posteriors", posteriors=folder / "p.npy", labels=labels)
    for name in ("t.csv", "s.csv", "p.npy", "y.npy"):
        (folder / name).unlink()


def answer_of_data_set(folder: Path) -> Any:
    data = DataFolder.open(folder)
    data.verify()
    return describe(data), data.dataset().hash


def make_reviews(folder: Path) -> None:
    write_synthetic(folder / "c", n_documents=60)


# Results


def make_store(folder: Path) -> None:
    store = ResultStore.create(folder / "r", results.description())
    for cell in results.CELLS[:2]:
        methods = results.signatures(["CC", "SLD"])
        store.write_part("prior", results.DATASET, cell, methods, results.rows(cell, n=5))
    failed = results.signatures(["SLD"])
    store.write_failure("prior", results.DATASET, results.CELLS[2], failed, ValueError("no"))


def answer_of_store(folder: Path) -> Any:
    store = ResultStore.open(folder)
    rows = store.read().collect().sort("cell", "method", "sample").to_dicts()
    failures = [store.failures("prior", results.DATASET, cell) for cell in results.CELLS]
    done = [store.finished("prior", results.DATASET, cell) for cell in results.CELLS]
    said(verify(store))
    return rows, failures, done, store.description


# What belongs to users


def shares_of(result: Any) -> Any:
    """The estimates of an answer."""
    return [[asdict(share) for share in batch.shares] for batch in result.batches]


def make_tables(folder: Path) -> None:
    table = scored_table(60)
    table.write_csv(folder / "t.csv")
    table.write_parquet(folder / "t.parquet")
    table.write_ndjson(folder / "t.jsonl")


def answer_of_sample(path: Path) -> Any:
    return shares_of(quantify(path, posteriors=["p"], by="day", replicates=20))


def answer_of_counted(path: Path) -> Any:
    return table_checksum(sketch(path, score="p", batch="day", label="y").table)


def answer_of_training(path: Path) -> Any:
    options = {"label": "y", "drop": ["p"], "method": "CC", "classifier": "naive-bayes"}
    model = train(path, **options)
    return model.classes, model.held_out[0].tolist()


def answer_of_verdicts(path: Path) -> Any:
    verdict_of = {"north": "spam", "south": "ham", "east": "ham"}
    return shares_of(judge(path, verdict="place", label="y", map=verdict_of, labels="random"))


def make_arff(folder: Path) -> None:
    """The table of `scored_table`, with rows that are dense and sparse."""
    header = (
        "@relation t\n@attribute p numeric\n@attribute size real\n"
        "@attribute 'the place' {north,south,east}\n@attribute day string\n"
        "@attribute y {ham,spam}\n@data\n"
    )
    rows = scored_table(60).rows()
    dense = "".join(f"{p},{size},{place},'{day}',{y}\n" for p, size, place, day, y in rows)
    sparse = "".join(
        f"{{0 {p}, 1 {size}, 3 '{day}'{', 4 spam' if y == 'spam' else ''}}}\n"
        for p, size, _, day, y in rows
    )
    (folder / "dense.arff").write_text(header + dense)
    (folder / "sparse.arff").write_text(header + sparse)


def make_mulan(folder: Path) -> None:
    """Two labels, and features that are numbers and values."""
    names = "".join(f'<label name="{name}"></label>' for name in ("one", "two"))
    (folder / "labels.xml").write_text(
        f'<labels xmlns="http://mulan.sf.net/labels">{names}</labels>'
    )
    rows = scored_table(30).select("size", "place").rows()
    (folder / "items.arff").write_text(
        "@relation t\n@attribute size numeric\n@attribute place {north,south,east}\n"
        "@attribute one {0,1}\n@attribute two {0,1}\n@data\n"
        + "".join(f"{size},{place},{i % 2},{i % 3 % 2}\n" for i, (size, place) in enumerate(rows))
    )


def answer_of_mulan(folder: Path) -> Any:
    items = load_mulan(folder / "items.arff", folder / "labels.xml")
    return items.X.tolist(), items.labels.has.tolist(), items.features


def make_arrays(folder: Path) -> None:
    table = scored_table(30)
    np.save(folder / "x.npy", table.select("p", "size").to_numpy())
    np.save(folder / "y.npy", table["y"].to_numpy().astype(str))


def answer_of_arrays(folder: Path) -> Any:
    out = folder / "d"
    labels = DataFile(folder / "y.npy")
    options = ImportOptions(overwrite=True)
    try:
        return import_arrays(out, features=folder / "x.npy", labels=labels, options=options).hash
    finally:
        if out.is_dir():
            for path in out.iterdir():
                path.unlink()
            out.rmdir()


def make_audit(folder: Path) -> None:
    table = scored_table(80)
    table.drop("y").write_csv(folder / "new.csv")
    sheet = plan_quantify(folder / "new.csv", posteriors=["p"], label="y", n_labels=20)
    sheet.write(folder / "sheet.csv")
    blank = pl.read_csv(folder / "sheet.csv", infer_schema=False)
    blank.with_columns(pl.Series("y", ["not p", "p"] * 10)).write_csv(folder / "sheet.csv")


def answer_of_audit(folder: Path) -> Any:
    result = quantify(
        folder / "new.csv", posteriors=["p"], label="y", audit=folder / "sheet.csv", replicates=20
    )
    return shares_of(result)


def make_plan(folder: Path) -> None:
    table = verdicts(80)
    table.drop("truth").write_csv(folder / "new.csv")
    sheet = plan_judge(folder / "new.csv", verdict="judge", id="id", n_labels=20)
    sheet.write(folder / "sheet.csv")
    planned = pl.read_csv(folder / "sheet.csv", infer_schema=False)
    empty = [name for name in planned.columns if planned[name].null_count() == planned.height]
    labels = pl.Series(empty[-1], ["pass", "fail"] * 10)
    planned.with_columns(labels).write_csv(folder / "sheet.csv")
    (folder / "label.txt").write_text(empty[-1])


def answer_of_plan(folder: Path) -> Any:
    label = (folder / "label.txt").read_text()
    columns = {"verdict": "judge", "id": "id", "label": label}
    return shares_of(judge(folder / "new.csv", labelled=folder / "sheet.csv", **columns))


def make_configuration(folder: Path) -> None:
    (folder / "mine.toml").write_text(
        'name = "mine"\nquantifiers = ["CC", "PACC", "SLD"]\n\n'
        '[shift]\nkind = "prior"\ntrain_size = 100\n'
        "train_prevalences = [0.2, 0.5]\ntest_size = 50\ntest_repeats = 5\n\n"
        '[classifier]\nname = "logistic"\n\n[classifier.grid]\nC = [1.0, 10.0]\n'
    )


def answer_of_configuration(folder: Path) -> Any:
    return repr(load_experiment(folder / "mine.toml"))


KINDS: tuple[Kind, ...] = (
    Kind("model", make_model, answer_of_model),
    Kind("sketch", make_sketches, answer_of_sketch, share=1.5),
    Kind("query result", make_query_results, answer_of_query_result, share=1.5),
    Kind("data set", make_data_sets, answer_of_data_set, share=1.5),
    Kind("reviews", make_reviews, answer_of_data_set),
    Kind("results", make_store, answer_of_store),
    Kind("history", make_history, answer_of_history, share=1.5),
    Kind("forged sketch", make_sketches, answer_of_sketch, ours=False, mutate=forge_sketch),
    Kind("forged call", make_history, answer_of_history, ours=False, mutate=forge_call),
    Kind("table to quantify", make_tables, answer_of_sample, ours=False),
    Kind("table to count", make_tables, answer_of_counted, ours=False),
    Kind("table to train on", make_tables, answer_of_training, ours=False, share=0.4),
    Kind("table of verdicts", make_tables, answer_of_verdicts, ours=False, share=0.5),
    Kind("arrays", make_arrays, answer_of_arrays, ours=False, together=True, share=0.5),
    Kind(
        *("audit sheet", make_audit, answer_of_audit),
        ours=False,
        others=("new.csv",),
        together=True,
        share=0.5,
    ),
    Kind(
        *("label plan", make_plan, answer_of_plan),
        ours=False,
        others=("new.csv", "label.txt"),
        together=True,
        share=0.5,
    ),
    Kind("configuration", make_configuration, answer_of_configuration, ours=False, together=True),
    Kind("judge history", make_judge_history, answer_of_judge_history, quick=False),
    Kind(
        *("forged judge call", make_judge_history, answer_of_judge_history),
        ours=False,
        mutate=forge_call,
        quick=False,
    ),
    Kind("label history", make_label_history, answer_of_label_history, quick=False),
    Kind("model of several labels", make_label_models, answer_of_label_models, quick=False),
    Kind("table of tags", make_tags, answer_of_tags, ours=False, quick=False, share=0.5),
    Kind("ARFF", make_arff, answer_of_training, ours=False, quick=False, share=0.5),
    Kind("Mulan", make_mulan, answer_of_mulan, ours=False, together=True, quick=False),
)
"""All kinds."""
