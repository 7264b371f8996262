import io
import time

import pytest
from rich.console import Console

from quantshift.cli import progress


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("quantshift.cli.progress.time.monotonic", lambda: now[0])
    return now


def test_lines_now_and_then_where_there_is_no_terminal(clock):
    out = io.StringIO()
    with progress.byte_progress(Console(file=out)) as advance:
        for second in range(18):
            clock[0] = 100.0 + second
            advance("[a].txt", second * 1_000_000, 25_000_000)
    assert out.getvalue() == (
        "[a].txt: 20%, 1.0 MB/s, 0:20 left\n[a].txt: 60%, 1.0 MB/s, 0:10 left\n"
    )


def test_short_work_is_silent_where_there_is_no_terminal(clock):
    out = io.StringIO()
    with progress.item_progress(Console(file=out)) as advance:
        for step in range(50):
            clock[0] = 100.0 + step / 10.1
            advance("resampling", step, 50)
    assert out.getvalue() == ""


def test_count_and_time_left_of_every_piece_of_work(clock):
    out = io.StringIO()
    with progress.item_progress(Console(file=out)) as advance:
        for second in range(0, 6):
            clock[0] = 100.0 + second
            advance("reading new.csv", 4096 * second, 0)
        for second in range(6, 27):
            clock[0] = 100.0 + second
            advance("resampling", 10 * (second - 6), 1000)
    assert out.getvalue() == (
        "reading new.csv: 20,480\n"
        "resampling: 90 of 1,000, 1:31 left\n"
        "resampling: 190 of 1,000, 1:21 left\n"
    )


def test_the_rate_of_a_continued_download_counts_from_where_it_began(clock):
    out = io.StringIO()
    with progress.byte_progress(Console(file=out)) as advance:
        advance("a", 50_000_000, 100_000_000)
        clock[0] += 10
        advance("a", 60_000_000, 100_000_000)
    assert out.getvalue() == "a: 60%, 1.0 MB/s, 0:40 left\n"


def test_a_bar_on_a_terminal():
    out = io.StringIO()
    with progress.byte_progress(Console(file=out, force_terminal=True, width=100)) as advance:
        advance("[books].txt", 10_000_000, 20_000_000)
    assert "[books].txt" in out.getvalue()
    assert "10.0/20.0 MB" in out.getvalue()


def test_counts_on_a_terminal():
    out = io.StringIO()
    with progress.item_progress(Console(file=out, force_terminal=True, width=100)) as advance:
        advance("reading [new].csv", 4096, 0)
        advance("resampling", 250, 1000)
    assert "resampling" in out.getvalue()
    assert "250 of 1,000" in out.getvalue()


def test_an_empty_total_is_done():
    assert progress.byte_line("a", 0, 0, 0.0) == "a: 100%, 0.0 MB/s, 0:00 left"
    assert progress.item_line("training", 0, 0, 0.0) == "training"


def test_first_steps_that_compiled_their_loops_do_not_promise_hours(clock):
    """The first five of 1,000 replicates once took a minute: "229:01 left"."""
    out = io.StringIO()
    with progress.item_progress(Console(file=out)) as advance:
        advance("resampling", 0, 1000)
        clock[0] += 60
        advance("resampling", 5, 1000)
        clock[0] += 30
        advance("resampling", 300, 1000)
    assert out.getvalue() == (
        "resampling: 5 of 1,000, 1:00 so far\nresampling: 300 of 1,000, 3:30 left\n"
    )


def test_lines_also_come_while_one_step_takes_long(clock, monkeypatch):
    """`train --groups` was silent while a model was trained, and gave no estimate for minutes."""
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.001)
    out = io.StringIO()

    def wait_for(n_lines: int) -> None:
        deadline = time.perf_counter() + 10
        while out.getvalue().count("\n") < n_lines and time.perf_counter() < deadline:
            time.sleep(0.001)

    with progress.item_progress(Console(file=out)) as advance:
        advance("training on 36,000 rows", 0, 0)
        clock[0] += 20
        wait_for(1)
        advance("leaving out groups", 0, 20)
        clock[0] += 15
        advance("leaving out groups", 1, 20)
        clock[0] += 15
        wait_for(3)
    assert out.getvalue().splitlines() == [
        "training on 36,000 rows, 0:20 so far",
        "leaving out groups: 1 of 20, 4:45 left",
        "leaving out groups: 1 of 20, 4:45 left",
    ]
