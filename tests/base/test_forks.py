"""Processes forked from one that has read tables: an answer or one line, never a wait."""

import os
import subprocess
import sys
import textwrap

import pytest

CALLED = """
import os, signal, sys
import numpy as np
import polars as pl
from quantshift.tables.reading import open_table
from quantshift.errors import UserError
from quantshift.quantifying import load_model, quantify
from quantshift.lab import analysis
from quantshift.lab.experiments.evaluation import evaluate
from quantshift.judging import judge, plan_judge
from quantshift.quantifiers import PACC, SLD
from quantshift.quantifying import plan_quantify, train
from quantshift.lab.shifts import UniformPrevalence
from quantshift.sketches import load_sketch, quantify_sketch, sketch

rng = np.random.default_rng(0)
y = np.arange(200) % 2
X = y[:, np.newaxis] + rng.normal(size=(200, 1))
frame = pl.DataFrame({"x": X[:, 0]})
said = ["good", "bad"] * 50
judged = dict(positive="good", sensitivity=0.9, specificity=0.9)
draws = UniformPrevalence(test_size=20)
fitted = PACC(cv=2).fit(X, y)
if sys.argv[1] == "used":
    list(open_table(frame).chunks(["x"]))
for name, call in {
    "arrays": lambda: PACC(cv=2).fit(X, y).predict(X),
    "posteriors": lambda: SLD(cv=2).fit(X, y).aggregate(np.full((9, 2), 0.5)),
    "frame": lambda: list(open_table(frame).chunks(["x"])),
    "quantify": lambda: quantify(frame, model="nowhere"),
    "model": lambda: load_model("nowhere"),
    "train": lambda: train("nowhere.csv", label="y"),
    "audit": lambda: plan_quantify("nowhere.csv", model="nowhere"),
    "sketch": lambda: sketch("nowhere.csv", score="p"),
    "load_sketch": lambda: load_sketch("nowhere.parquet"),
    "quantify_sketch": lambda: quantify_sketch("a.parquet", train_sketch="b.parquet"),
    "judge": lambda: judge("nowhere.csv", verdict="judge", **judged),
    "judge_frame": lambda: judge(pl.DataFrame({"judge": said}), verdict="judge", **judged),
    "judge_arrays": lambda: judge(verdict=said, **judged),
    "plan": lambda: plan_judge("nowhere.csv", verdict="judge", n_labels=20),
    "evaluate": lambda: evaluate(fitted, draws, X, y),
    "analysis": lambda: analysis.mean_ranks(pl.DataFrame({"ae": [0.1]})),
}.items():
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            call()
            print(name, "works", flush=True)
        except UserError as error:
            print(name, str(error).split(",")[0], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


REFUSED = "this process was forked from one that has read tables"
TABLES = [
    *["frame", "quantify", "model", "train", "audit", "sketch", "load_sketch", "quantify_sketch"],
    *["judge", "judge_frame", "judge_arrays", "plan", "evaluate", "analysis"],
]


def answers(before):
    """What each call says in a process of its own, forked before or after tables were read."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CALLED), before],
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert said.pop("arrays") == said.pop("posteriors") == "works", done.stderr
    assert list(said) == TABLES
    return said


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_process_forked_after_tables_were_read_refuses_tables():
    """`quantify`, `judge`, `plan_judge` and others waited forever for the threads of polars."""
    assert answers("used") == dict.fromkeys(TABLES, REFUSED)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_process_forked_before_any_table_was_read_works():
    said = answers("unused")
    assert said["frame"] == said["judge_arrays"] == said["evaluate"] == "works"
    assert "no model here" in said["model"]
    assert REFUSED not in said.values()
