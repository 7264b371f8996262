"""Small problems for every product, and the numbers of their answers.

What an answer is called in JSON or in Python is the business of the functions that take its
numbers out; the numbers have names of their own here, which stay.
"""

import csv
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from quantshift import History, __version__, judge, quantify, train
from quantshift.judging import plan_judge
from quantshift.lab.leaderboard.scores import score_table
from quantshift.sketches import quantify_sketch, sketch
from tests.history.made import days, time_of
from tests.lab.leaderboard.conftest import make_store

Numbers = dict[str, list[float]]


def tables(folder: Path) -> tuple[Path, Path]:
    """A labelled table with numbers, categories and gaps, and a new one with fewer 'yes'."""
    rng = np.random.default_rng(5)
    for name, n_rows, share in (("train", 600, 0.5), ("new", 400, 0.25)):
        yes = rng.random(n_rows) < share
        amount = rng.normal(1.4 * yes, 1.0).round(4)
        colour = np.where(rng.random(n_rows) < 0.2 + 0.5 * yes, "red", "blue")
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["amount", "colour", "size", "label"])
            for i in range(n_rows):
                size = "" if i % 11 == 0 else i % 7
                rows.writerow([amount[i], colour[i], size, "yes" if yes[i] else "no"])
    return folder / "train.csv", folder / "new.csv"


def verdicts() -> pl.DataFrame:
    """Verdicts on 900 items, and what people say about 150 random ones."""
    rng = np.random.default_rng(6)
    good = rng.random(900) < 0.6
    said = np.where(rng.random(900) < 0.85, good, ~good)
    labelled = np.arange(900) % 6 == 0
    names = np.array(["bad", "good"])
    human = [names[int(g)] if chosen else None for g, chosen in zip(good, labelled, strict=True)]
    return pl.DataFrame({"judge": names[said.astype(int)], "human": human})


def shares_of(batch: Any) -> Numbers:
    """Estimate and limits of every class."""
    return {
        str(share.label): [share.estimate, float(share.low), float(share.high)]
        for share in batch.shares
    }


def texts(folder: Path) -> tuple[Path, Path]:
    """Labelled texts of a few words each, and new ones with fewer complaints."""
    rng = np.random.default_rng(8)
    usual = {
        "yes": ["late", "broken", "refund", "again", "never"],
        "no": ["thanks", "quick", "great", "helpful", "again"],
    }
    for name, n_rows, share in (("texts", 300, 0.5), ("new_texts", 200, 0.2)):
        label = np.where(rng.random(n_rows) < share, "yes", "no")
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "label"])
            for answer in label:
                chosen = [*rng.choice(usual[answer], 2), rng.choice(usual["yes"] + usual["no"])]
                rows.writerow([" ".join(chosen), answer])
    return folder / "texts.csv", folder / "new_texts.csv"


def posteriors() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Posteriors of labelled items, and of new ones."""
    labelled, new = scores()
    labelled = labelled.with_columns(p_ham=1 - pl.col("p")).rename({"p": "p_spam"})
    return labelled, new.with_columns(p_ham=1 - pl.col("p")).rename({"p": "p_spam"})


def quantify_table(folder: Path) -> Numbers:
    """A table with mixed columns, by a model that was trained before."""
    labelled, new = tables(folder)
    return shares_of(quantify(new, model=train(labelled, label="label")).batches[0])


def quantify_texts(folder: Path) -> Numbers:
    labelled, new = texts(folder)
    return shares_of(quantify(new, train=labelled, label="label", text="text").batches[0])


def quantify_posteriors(folder: Path) -> Numbers:
    """Posteriors of another model."""
    labelled, new = posteriors()
    return shares_of(
        quantify(new, train=labelled, label="y", posteriors=["p_ham", "p_spam"]).batches[0]
    )


def judge_design(folder: Path, *, labels: str) -> Numbers:
    """Labels that are said to be chosen in this way."""
    return shares_of(judge(verdicts(), verdict="judge", label="human", labels=labels).overall)


def judge_elsewhere(folder: Path) -> Numbers:
    """Labels of other items, whose rates are declared to carry over."""
    people, unlabelled = verdicts().drop_nulls(), verdicts().drop("human")
    asked = {"verdict": "judge", "label": "human", "assume": "rates"}
    return shares_of(judge(unlabelled, labelled=people, **asked).overall)


def judge_given(folder: Path) -> Numbers:
    """No labels, but the judge's accuracy."""
    given = {"positive": "good", "sensitivity": 0.9, "specificity": 0.8}
    return shares_of(judge(verdicts().drop("human"), verdict="judge", **given).overall)


def judge_planned(folder: Path) -> Numbers:
    """Labels of a plan's sheet."""
    unlabelled, sheet = verdicts().drop("human"), folder / "plan.csv"
    plan_judge(unlabelled, verdict="judge", n_labels=60).write(sheet)
    filled = pl.read_csv(sheet).with_columns(label=pl.col("judge"))
    return shares_of(judge(unlabelled, verdict="judge", label="label", labelled=filled).overall)


def of_sketch(folder: Path) -> Numbers:
    return shares_of(quantify_sketch(*sketches()).batches[0])


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose cells are numbers, texts or None, as JSON gives them back."""
    return {
        key: cell if isinstance(cell, int | float | str | None) else str(cell)
        for key, cell in record.items()
    }


def of_history(folder: Path) -> Any:
    """Every record of forty days, the last ten of them changed: estimates, limits, alarms."""
    history = History.open(folder / "history")
    for i, answer in enumerate(days(40, change=0.08, after=30)):
        history.append(answer, at=time_of(i))
    records = [plain(record) for record in history.records()]
    # The version is that of the program, which a release changes; all else stays.
    assert {record.pop("version") for record in records} == {__version__}
    return columns_of(records)


def of_leaderboard(folder: Path) -> Any:
    """The scores of three methods on two made-up data sets."""
    store = make_store(folder / "store", datasets={"a": 2, "b": 3}, methods=("CC", "PACC", "SLD"))
    return columns_of([plain(row) for row in score_table(store).to_dicts()])


def columns_of(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The records by column; a column that is the same in all of them has one cell."""
    columns = {key: [record[key] for record in records] for key in records[0]}
    return {key: cells[:1] if len(set(cells)) == 1 else cells for key, cells in columns.items()}


def scores() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of labelled items, and of new ones that are spam less often."""
    rng = np.random.default_rng(7)
    spam = rng.random(3000) < 0.4
    score = 1 / (1 + np.exp(-rng.normal(3.0 * spam - 1.5, 1.4)))
    labelled = pl.DataFrame({"p": score, "y": np.where(spam, "spam", "ham")})
    is_spam = rng.random(5000) < 0.15
    return labelled, pl.DataFrame({"p": 1 / (1 + np.exp(-rng.normal(3.0 * is_spam - 1.5, 1.4)))})


def sketches() -> tuple[Any, Any]:
    """The scores as counts: of the new items, and of the labelled ones."""
    labelled, new = scores()
    return sketch(new, score="p"), sketch(labelled, score="p", label="y")


PRODUCTS: Mapping[str, Callable[[Path], Any]] = {
    "quantify table": quantify_table,
    "quantify texts": quantify_texts,
    "quantify posteriors": quantify_posteriors,
    **{
        f"judge {labels}": partial(judge_design, labels=labels)
        for labels in ("random", "by-verdict", "by-label")
    },
    "judge elsewhere": judge_elsewhere,
    "judge given": judge_given,
    "judge planned": judge_planned,
    "sketch": of_sketch,
    "history": of_history,
    "leaderboard": of_leaderboard,
}
"""What makes the numbers of each product, in a folder of its own."""
