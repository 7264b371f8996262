"""Sketches by real Dask workers."""

import pytest

from quantshift.errors import UserError
from quantshift.sketches import sketch
from tests.end_to_end.test_cluster import cluster  # noqa: F401 - a fixture
from tests.sketches.made import batches


@pytest.mark.slow
def test_workers_count_as_one_process_does(cluster, tmp_path):  # noqa: F811
    for name, share in (("a", 0.2), ("b", 0.6)):
        frame = batches({f"{name}1": share, f"{name}2": share}, 3000)
        frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=1000)
    address, _ = cluster(2)
    options = {"score": "p", "batch": "day"}
    made = sketch(tmp_path, cluster=address, **options)
    assert made.to_bytes() == sketch(tmp_path, **options).to_bytes()
    assert made.n_rows == 12_000
    with pytest.raises(UserError, match="no column 'q'"):
        sketch(tmp_path, score="q", cluster=address)


def test_a_scheduler_that_does_not_answer_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("quantshift.base.dask_cluster.CONNECT_SECONDS", 0.2)
    batches({"a": 0.2}, 50).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(UserError, match="no Dask scheduler answers"):
        sketch(tmp_path, score="p", cluster="tcp://127.0.0.1:9")
