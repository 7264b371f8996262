"""Made-up folders in the layout of the LeQua challenges."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl


@dataclass(frozen=True)
class Task:
    """A task: its year, classes, items of a sample, columns of numbers (0: texts)."""

    year: int
    n_classes: int
    size: int
    n_columns: int
    training_samples: int = 0


TASKS = {
    "T1": Task(2024, 2, 25, 8),
    "T2": Task(2024, 28, 60, 8),
    "T3": Task(2024, 5, 20, 8, training_samples=10),
    "T4": Task(2024, 2, 25, 8),
    "T1A": Task(2022, 2, 25, 6),
    "T1B": Task(2022, 28, 60, 6),
    "T2A": Task(2022, 2, 25, 0),
    "T2B": Task(2022, 28, 60, 0),
}
"""As in the challenges but for the sizes; 256 or 300 columns and 1,000 or 5,000 samples there."""

WORDS = np.array(["good", "bad", "fine", "poor", "book", "film", "music", "toy"])


def make_task(
    folder: Path,
    name: str,
    *,
    n_dev: int = 3,
    n_test: int = 4,
    per_class: int = 12,
    seed: int = 0,
    task: Task | None = None,
) -> Path:
    """The folder `NAME/public` of a task; per_class: items in the training data.

    task: of other sizes than the small ones in TASKS.
    """
    task, rng = task or TASKS[name], np.random.default_rng(seed)
    public = folder / name / "public"
    public.mkdir(parents=True)
    names = [f"Class_{k}" for k in range(task.n_classes)]
    (public / "label_map.txt").write_text(
        "".join(f"{name}\t{k}\n" for k, name in enumerate(names)), encoding="utf-8"
    )

    def items(labels):
        if not task.n_columns:
            offset = labels[:, np.newaxis] + rng.integers(3, size=(len(labels), 6))
            texts = [", ".join(words) for words in WORDS[offset % len(WORDS)]]
            return pl.DataFrame({"text": texts})
        centres = np.sin(np.outer(np.arange(task.n_classes), 1 + np.arange(task.n_columns)))
        # Classes overlap as much with many columns as with eight.
        distance = 2 * min(1, 8 / task.n_columns) ** 0.5
        x = distance * centres[labels] + rng.normal(size=(len(labels), task.n_columns))
        return pl.DataFrame(x.round(6), schema=[str(k) for k in range(task.n_columns)])

    def labelled(labels):
        return items(labels).insert_column(0, pl.Series("label", labels))

    def samples(part, count, with_labels=False):
        (public / f"{part}_samples").mkdir()
        rows = []
        for number in range(count):
            labels = rng.choice(task.n_classes, task.size, p=rng.dirichlet(np.ones(task.n_classes)))
            table = labelled(labels) if with_labels else items(labels)
            table.write_csv(public / f"{part}_samples" / f"{number}.txt")
            rows.append(np.bincount(labels, minlength=task.n_classes) / task.size)
        prevalences = pl.DataFrame(
            np.array(rows).round(6), schema=[str(k) for k in range(task.n_classes)]
        )
        prevalences.insert_column(0, pl.Series("id", range(count))).write_csv(
            public / f"{part}_prevalences.txt"
        )

    if task.training_samples:
        samples("training", task.training_samples, with_labels=True)
    else:
        labels = rng.permutation(np.arange(per_class * task.n_classes) % task.n_classes)
        labelled(labels).write_csv(public / "training_data.txt")
    samples("dev", n_dev)
    samples("test", n_test)
    (public / "dummy_dev_predictions.txt").write_text("id,0,1\n0,0.5,0.5\n")
    return public
