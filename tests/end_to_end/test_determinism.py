"""The same bytes whatever the workers, the order and the interruptions."""

from pathlib import Path

import polars as pl
import pytest


@pytest.mark.slow
def test_one_and_two_workers_write_the_same_bytes(tools, undisturbed, tmp_path):
    done = tools.command.run(tmp_path / "two", jobs=2)
    assert done.returncode == 0, done.stderr
    assert tools.tree(tmp_path / "two") == tools.tree(undisturbed)


@pytest.mark.slow
def test_another_seed_gives_other_results_of_the_same_shape(tools, undisturbed, tmp_path):
    command = tools.make_command(options={"seed": "1"})
    done = command.run(tmp_path / "other", jobs=1)
    assert done.returncode == 0, done.stderr
    ours, theirs = (
        {name: data for name, data in tools.tree(out).items() if name.endswith(".parquet")}
        for out in (undisturbed, tmp_path / "other")
    )
    assert {Path(name).parent for name in ours} == {Path(name).parent for name in theirs}
    assert not set(ours.values()) & set(theirs.values())


@pytest.mark.slow
def test_a_subset_of_the_methods_draws_the_same_samples(tools, undisturbed, tmp_path):
    command = tools.make_command(options={"quantifiers": '["SLD", "CC"]'})
    assert command.run(tmp_path / "some", jobs=1).returncode == 0

    def rows(out):
        frames = [pl.read_parquet(p, hive_partitioning=False) for p in out.rglob("*.parquet")]
        chosen = pl.concat(frames).filter(pl.col("method").is_in(["CC", "SLD"]))
        return chosen.sort("cell", "method", "p_test", "repeat")

    some = rows(tmp_path / "some")
    assert some.equals(rows(undisturbed).select(some.columns))
