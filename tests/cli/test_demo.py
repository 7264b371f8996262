import polars as pl

from quantshift import catalogue, demo


def test_the_demo_shows_what_the_paper_found(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """On smaller draws than the command's: the orderings, not the figures."""
    monkeypatch.setattr(demo, "N_DOCUMENTS", 8_000)
    sizes = {"train_size": 600, "test_size": 150, "train_repeats": 1, "test_repeats": 3}
    monkeypatch.setattr(demo, "SIZES", sizes)
    steps: list[tuple[int, int]] = []
    table = demo.run_demo(lambda done, total: steps.append((done, total)))
    assert table["method"].to_list() == list(catalogue.quantifiers())
    assert table.columns == ["method", *demo.KINDS]
    assert steps[-1][0] == steps[-1][1] == len(steps)
    error = {row["method"]: row for row in table.iter_rows(named=True)}
    assert error["SLD"]["prior"] < error["PACC"]["prior"] < error["PCC"]["prior"]
    assert error["PCC"]["covariate (pure)"] < error["SLD"]["covariate (pure)"]
    assert error["SLD"]["local"] > error["SLD"]["local's control"]
    assert table.select(pl.col("concept").min()).item() > 0.1
