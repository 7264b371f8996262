"""Measured tables are what the CSV files say, and these are what a run says."""

from pathlib import Path

import polars as pl
import pytest

from quantshift.lab.paper import against_published
from tests.outcomes import as_results
from website.measured import (
    FIGURES,
    agreement_of,
    by_degree,
    complete,
    dataset_table,
    errors_by_dataset,
    errors_of,
    errors_table,
    family_table,
    fill_blocks,
    findings_table,
    measured_blocks,
    parts_table,
    published_table,
    ranks_table,
)
from website.pages import name_of, pages

TABLES = measured_blocks(FIGURES)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_tables_of_a_page_are_up_to_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert fill_blocks(text, TABLES) == text, "run `python -m website.measured`"


def test_every_table_stands_in_a_page() -> None:
    texts = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert [name for name in TABLES if f"<!-- measured: {name} -->" not in texts] == []


def test_a_block_is_filled_and_the_rest_left() -> None:
    page = "before\n<!-- measured: a -->\nold\n<!-- end -->\nafter <!-- generated: b -->"
    assert fill_blocks(page, {"a": "new"}) == page.replace("old", "\nnew\n")


def test_a_block_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        fill_blocks("<!-- measured: nonsense -->\n<!-- end -->", TABLES)


def errors(**values: float) -> pl.DataFrame:
    parts = ("prior", "covariate-pure", "covariate-mixed", "local", "local-control")
    more = (*parts, "concept", "concept-forced", "prior-rare")
    rows = [(part, name, value) for name, value in values.items() for part in more]
    return pl.DataFrame(rows, schema=["part", "method", "mean"], orient="row")


def test_the_least_is_bold_and_the_baseline_never() -> None:
    lines = errors_table(errors(CC=0.1, SLD=0.02, MLPE=0.001)).splitlines()
    assert lines[2] == "| SLD" + " | **0.020**" * 4 + " | 0.020" + " | **0.020**" * 2 + " |"
    assert lines[3] == "| CC" + " | 0.100" * 7 + " |"
    assert lines[4] == "| MLPE" + " | 0.001" * 7 + " |"


def test_the_worst_of_the_four_shifts_leaves_concept_shift_out() -> None:
    frame = errors(SLD=0.02).with_columns(
        mean=pl.when(pl.col("part") == "local")
        .then(0.05)
        .when(pl.col("part") == "concept")
        .then(0.3)
        .otherwise("mean")
    )
    assert errors_table(frame).splitlines()[2].split(" | ")[-2] == "**0.050**"


def test_a_method_without_a_part_has_a_gap() -> None:
    frame = errors(SLD=0.02, SubclassSLD=0.01).filter(
        (pl.col("method") == "SLD") | (pl.col("part") != "concept")
    )
    own = errors_table(frame).splitlines()[2]
    assert own.startswith("| SubclassSLD | ")
    assert own.split(" | ")[5] == ""
    assert family_table(frame, ["SubclassSLD"]).splitlines()[2].split(" | ")[5] == ""


def test_a_method_stands_beside_the_best() -> None:
    own, lowest = family_table(errors(SLD=0.02, CC=0.1), ["CC"]).splitlines()[2:]
    assert own.startswith("| CC | 0.100")
    assert lowest.startswith("| lowest of all methods | 0.020 SLD")
    # Under concept shift all methods fail, and none is named.
    assert [cell.split() for cell in lowest.split(" | ")[5:8]] == [
        ["0.020"],
        ["0.020", "SLD"],
        ["0.020", "|"],
    ]


def test_parts_are_rows() -> None:
    lines = parts_table(errors(SLD=0.02, CC=0.1)).splitlines()
    assert lines[0] == "| mean absolute error | CC | SLD |"
    assert lines[2] == "| prior | 0.100 | **0.020** |"
    assert [line for line in lines if line.startswith("| concept")] == [
        "| concept | 0.100 | 0.020 |",
        "| concept, forced priors | 0.100 | 0.020 |",
    ]
    assert len(lines) == 2 + 7


def test_shared_figures_of_a_finding_are_shown_once() -> None:
    rows = [(1, "T", "first", "holds", "x"), (1, "T", "second", "holds", "x")]
    names = ["finding", "title", "claim", "verdict", "figures"]
    first, second = findings_table(pl.DataFrame(rows, names, orient="row")).splitlines()[2:]
    assert first == "| **1. T** | first | holds | x |"
    assert second == "|  | second | holds |  |"


def outcomes() -> pl.DataFrame:
    """Prior shift at two training prevalences; CC is off by 0.2, SLD by 0.02."""
    rows = [
        {
            "experiment": "prior",
            "cell": f"{p_train},{train_repeat}",
            "method": method,
            "p_train": p_train,
            "p_test": 0.5,
            "train_repeat": train_repeat,
            "repeat": repeat,
            "degree": round(0.5 - p_train, 1),
            "size": 500,
            "p_true": 0.5,
            "p_hat": 0.5 + error * (2 if p_train == 0.02 else 1),
        }
        for p_train in (0.02, 0.4)
        for train_repeat in range(2)
        for repeat in range(3)
        for method, error in {"CC": 0.2, "SLD": 0.02, "DyS": 0.03}.items()
    ]
    return as_results(pl.DataFrame(rows))


def test_errors_of_a_run_and_of_training_sets_with_few_items_of_a_class() -> None:
    found = {(part, method): mean for part, method, mean, *_ in errors_of(outcomes()).iter_rows()}
    assert found["prior", "CC"] == pytest.approx(0.3)
    assert found["prior-rare", "CC"] == pytest.approx(0.4)
    assert found["prior-rare", "SLD"] == pytest.approx(0.04)


def test_methods_of_an_unfinished_run_are_left_out() -> None:
    rows = outcomes().lazy()
    assert complete(rows) == {"CC", "SLD", "DyS"}
    unfinished = (pl.col("method") == "DyS") & (pl.col("cell").str.ends_with("1"))
    assert complete(rows.filter(~unfinished)) == {"CC", "SLD"}


def published_numbers() -> pl.DataFrame:
    return against_published(outcomes()).rename({"setup": "part"})


def test_published_numbers_beside_ours() -> None:
    published = published_numbers().drop_nulls("ours")
    frame = by_degree(published)
    theirs = frame.filter(pl.col("method") == "SLD", pl.col("degree") == 0.1)["theirs"].item()
    line = published_table(frame).splitlines()[2]
    assert line.startswith("| +0.1 | 0.200 / ")
    assert line.endswith(f"| **0.020 / {theirs:.3f}** |")


def test_agreement_counts_rows_once() -> None:
    (row,) = agreement_of(published_numbers().drop_nulls("ours")).rows(named=True)
    assert (row["part"], row["rows"]) == ("prior", 2)
    assert -1 <= row["spearman"] <= 1
    assert row["difference"] > 0


def test_errors_by_data_set_have_standard_errors_and_published_ones_beside_them() -> None:
    columns = ["experiment", "dataset", "method", "measure", "error", "standard_error", "source"]
    leaderboard = pl.DataFrame(
        [
            ("uci", "cmc", "SLD", "ae", 0.1, 0.02, None),
            ("uci", "cmc", "SLD", "rae", 0.9, 0.02, None),
            ("uci", "cmc", "EMQ", "ae", 0.0946, None, "a paper"),
            ("uci", "yeast", "SLD", "ae", 0.05, 0.01, None),
            ("natural", "mixed-table", "SLD", "ae", 0.3, 0.01, None),
        ],
        schema=columns,
        orient="row",
    ).with_columns(samples=500, training_sets=10)
    errors = errors_by_dataset(leaderboard, "uci")
    assert errors["dataset"].to_list() == ["cmc", "cmc", "yeast"]
    header, _, *rows = dataset_table(errors).splitlines()
    assert _cells(header)[1:] == ["SLD", "published EMQ"]
    assert [_cells(row) for row in rows] == [
        ["cmc", "0.1000 ± 0.0200", "0.0946"],
        ["yeast", "0.0500 ± 0.0100", ""],
        ["mean", "0.0750 ± 0.0112", ""],
    ]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_ranks_are_shown_with_both_kinds_of_limits() -> None:
    ranks = pl.DataFrame(
        {
            "method": ["SLD"],
            "mean_rank": [1.25],
            "low": [1.0],
            "high": [2.0],
            "lowest": [1.0],
            "highest": [1.5],
        }
    )
    *_, row = ranks_table(ranks).splitlines()
    assert _cells(row) == ["SLD", "1.2", "1.0 to 2.0", "1.0 to 1.5"]
