import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from quantshift.lab.results import RunLog


def test_records_come_back_in_order_with_time_and_process(tmp_path):
    log = RunLog(tmp_path / "log" / "runs.jsonl")
    assert log.records() == []
    log.append({"event": "start", "cells": 3})
    log.append({"event": "cell", "seconds": 0.25})
    first, second = log.records()
    assert (first["event"], first["cells"], first["process"]) == ("start", 3, os.getpid())
    assert second["seconds"] == 0.25
    written = datetime.fromisoformat(first["time"])
    assert timedelta(0) <= datetime.now(UTC) - written < timedelta(minutes=1)


def test_lines_of_many_writers_do_not_mix(tmp_path):
    log = RunLog(tmp_path / "runs.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: log.append({"i": i, "text": "x" * 500}), range(200)))
    assert sorted(record["i"] for record in log.records()) == list(range(200))


@pytest.mark.parametrize(
    "line", ['{"i": 2, "te', "[" * 100_000, "[]", '{"seconds": "3"}', '{"cells": [1]}', "\xff"]
)
def test_a_line_that_is_no_record_is_left_out(tmp_path, line):
    log = RunLog(tmp_path / "runs.jsonl")
    log.append({"i": 1})
    with log.path.open("a", encoding="latin-1") as file:
        file.write(f"{line}\n")
    log.append({"i": 3})
    assert [record["i"] for record in log.records()] == [1, 3]


def test_the_log_is_no_part_of_the_results(store):
    before = store.read().collect()
    store.log.append({"event": "start"})
    assert store.read().collect().equals(before)
    assert store.log.records()[0]["event"] == "start"
