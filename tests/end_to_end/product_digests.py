"""Fingerprints of every method and every product: what a rearrangement of the code must not move.

    pytest tests/end_to_end/test_products_stay.py --write-digests

writes them anew, which is right only where a change of results is wanted and said. Estimates of
methods are pinned by the SHA-256 of their bytes, which are those of one kind of processor; on
another kind the numbers must agree within `NEAR`.
"""

import csv
import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy._core._multiarray_umath import __cpu_features__ as cpu_features
from numpy.typing import NDArray

from quantshift import History, __version__, judge, quantify, train
from quantshift.judging import plan_labels
from quantshift.leaderboard.scores import score_table
from quantshift.quantifiers.base import catalogue
from quantshift.sketches import quantify_sketch, sketch
from tests.history.made import days, time_of
from tests.leaderboard.conftest import make_store

PLACE = Path(__file__).parent / "digests" / "products.json"

N_CLASSES = (2, 3, 10)

Numbers = dict[str, list[float]]

NEAR = 1e-5
"""How far estimates may be apart on another kind of processor: searches end within this."""


BY_BLAS = frozenset({"PretrainedQuantifier"})
"""Methods whose last bits are those of numpy's matrix products: BLAS chooses its kernels by the
model of the processor, too, not only by its extensions."""


def processor() -> list[str]:
    """The extensions that decide about the last bits of a sum."""
    return sorted(name for name, there in cpu_features.items() if there)


def problem(n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Training items with their classes, and new items of which the first class is rarer."""
    rng = np.random.default_rng(n_classes)
    centres = rng.normal(0.0, 1.6, (n_classes, 4))
    y = np.arange(60 * n_classes) % n_classes
    y_new = np.sort(rng.integers(0, n_classes, 40 * n_classes))[15:]
    X = centres[y] + rng.normal(size=(len(y), 4))
    return X, y, centres[y_new] + rng.normal(size=(len(y_new), 4))


def estimates(name: str, n_classes: int, *, weighted: bool) -> NDArray[np.float64]:
    """Shares that a method gives three samples of the problem, with or without weights."""
    X, y, X_new = problem(n_classes)
    weights = 1.0 + np.arange(len(y)) % 3 if weighted else None
    samples = [np.arange(len(X_new)), np.arange(0, len(X_new), 2), np.arange(25)]
    method = catalogue.quantifiers()[name]().fit(X, y, weights)
    return np.asarray(method.predict(X_new, samples))


def methods() -> Iterator[tuple[str, int, bool]]:
    """Every method with each number of classes, without and with weights."""
    for name in sorted(catalogue.quantifiers()):
        for n_classes in N_CLASSES:
            for weighted in (False, True):
                yield name, n_classes, weighted


def key_of(name: str, n_classes: int, weighted: bool) -> str:
    """What the fixture calls a case."""
    return f"{name} {n_classes}{' weighted' if weighted else ''}"


def of_method(name: str, n_classes: int, *, weighted: bool) -> dict[str, Any]:
    """The fingerprint of a method's estimates, or the error that it ends with."""
    try:
        p_hat = estimates(name, n_classes, weighted=weighted)
    except ValueError as error:  # what a method cannot do is as fixed as what it does
        return {"refused": str(error)}
    digest = hashlib.sha256(np.ascontiguousarray(p_hat).tobytes()).hexdigest()[:16]
    return {"digest": digest, "estimates": np.round(p_hat, 9).tolist()}


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
        str(share.label): [float(share.estimate), float(share.low), float(share.high)]
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


def of_quantify(folder: Path) -> dict[str, Numbers]:
    """A table with mixed columns, texts, and posteriors of another model."""
    labelled, new = tables(folder)
    labelled_texts, new_texts = texts(folder)
    known, unknown = posteriors()
    columns = ["p_ham", "p_spam"]
    return {
        "quantify table": shares_of(quantify(new, model=train(labelled, label="label")).batches[0]),
        "quantify text": shares_of(
            quantify(new_texts, train=labelled_texts, label="label", text="text").batches[0]
        ),
        "quantify posteriors": shares_of(
            quantify(unknown, train=known, label="y", posteriors=columns).batches[0]
        ),
    }


def of_judge(folder: Path) -> dict[str, Numbers]:
    """Every way of choosing the labels."""
    frame = verdicts()
    made = {}
    for design in ("random", "by-verdict", "by-label"):
        answer = judge(frame, verdict="judge", label="human", labels=design)
        made[f"judge {design}"] = shares_of(answer.overall)
    people, unlabelled = frame.drop_nulls(), frame.drop("human")
    answer = judge(unlabelled, verdict="judge", label="human", labelled=people)
    made["judge elsewhere"] = shares_of(answer.overall)
    answer = judge(unlabelled, verdict="judge", positive="good", sensitivity=0.9, specificity=0.8)
    made["judge given"] = shares_of(answer.overall)
    sheet = folder / "plan.csv"
    plan_labels(unlabelled, verdict="judge", n_labels=60).write(sheet)
    filled = pl.read_csv(sheet).with_columns(label=pl.col("judge"))
    answer = judge(unlabelled, verdict="judge", label="label", labelled=filled)
    made["judge planned"] = shares_of(answer.overall)
    return made


def plain(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose cells are numbers, texts or None, as JSON gives them back."""
    return {
        key: cell if isinstance(cell, int | float | str | None) else str(cell)
        for key, cell in record.items()
    }


def of_history(folder: Path) -> dict[str, Any]:
    """Every record of forty days, the last ten of them changed: estimates, limits, alarms."""
    history = History.open(folder / "history")
    for i, answer in enumerate(days(40, change=0.08, after=30)):
        history.append(answer, at=time_of(i))
    records = [plain(record) for record in history.records()]
    # The version is that of the program, which a release changes; all else stays.
    assert {record.pop("version") for record in records} == {__version__}
    return {"history": records}


def of_leaderboard(folder: Path) -> dict[str, Any]:
    """The scores of three methods on two made-up data sets."""
    store = make_store(folder / "store", datasets={"a": 2, "b": 3}, methods=("CC", "PACC", "SLD"))
    return {"leaderboard": [plain(row) for row in score_table(store).to_dicts()]}


def of_products() -> dict[str, Any]:
    """Estimates and limits of every product, on small problems."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            **of_quantify(folder),
            **of_judge(folder),
            "sketch": shares_of(quantify_sketch(*sketches()).batches[0]),
            **of_history(folder),
            **of_leaderboard(folder),
        }


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


def load() -> dict[str, Any]:
    """The fixture."""
    stored: dict[str, Any] = json.loads(PLACE.read_text(encoding="utf-8"))
    return stored


def write() -> None:
    """Write the fixture anew."""
    made = {
        "processor": processor(),
        "methods": {
            key_of(*case): of_method(case[0], case[1], weighted=case[2]) for case in methods()
        },
        "products": of_products(),
    }
    PLACE.write_text(json.dumps(made) + "\n", encoding="utf-8")
