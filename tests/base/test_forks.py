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
from quantshift.quantifiers import PACC, SLD

rng = np.random.default_rng(0)
y = np.arange(200) % 2
X = y[:, np.newaxis] + rng.normal(size=(200, 1))
frame = pl.DataFrame({"x": X[:, 0]})
if sys.argv[1] == "used":
    list(open_table(frame).chunks(["x"]))
for name, call in {
    "arrays": lambda: PACC(cv=2).fit(X, y).predict(X),
    "posteriors": lambda: SLD(cv=2).fit(X, y).aggregate(np.full((9, 2), 0.5)),
    "frame": lambda: list(open_table(frame).chunks(["x"])),
    "quantify": lambda: quantify(frame, model="nowhere"),
    "model": lambda: load_model("nowhere"),
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize("before", ["used", "unused"])
def test_a_forked_process_answers_or_refuses(before):
    """`quantify` and `load_model` waited forever for the threads of polars."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CALLED), before],
        capture_output=True,
        text=True,
        timeout=300,
    )
    refused = "this process was forked from one that has read tables"
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert said.pop("arrays") == said.pop("posteriors") == "works", done.stderr
    if before == "used":
        assert said == dict.fromkeys(["frame", "quantify", "model"], refused)
    else:
        assert said.pop("frame") == "works"
        assert all("no model here" in line for line in said.values())
