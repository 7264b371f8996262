"""What the page says without its script: cautions about data, and how stable ranks are."""

import re

import pytest

from quantshift.lab.analysis import rank_stability
from quantshift.lab.leaderboard.contents import contents_of
from quantshift.lab.leaderboard.page import render_page
from tests.lab.leaderboard.conftest import make_store

METHODS = ("ACC", "CC", "PCC")


@pytest.fixture
def page_of(tmp_path):
    def made(**options):
        return render_page(contents_of(make_store(tmp_path / "store", methods=METHODS, **options)))

    return made


def section(page):
    found = re.search(r'<section class="part" id="stability".*?</section>', page, re.DOTALL)
    return found and found[0]


def test_the_synthetic_table_is_called_synthetic(page_of):
    page = page_of(datasets={"mixed-table": 2, "wine": 3})
    (caution,) = re.findall(r'<p class="notice" role="note">(.*?)</p>', page)
    assert caution == (
        "mixed-table is synthetic. Its sites and dates differ in their columns only: P(y | x) is "
        "fixed, so that PCC wins between them by construction."
    )


def test_real_tables_need_no_caution(page_of):
    assert 'role="note"' not in page_of(datasets={"wine": 3, "fars": 5})


def test_the_page_shows_the_ranks_of_the_analysis_and_what_is_not_ranked(tmp_path):
    datasets = {"one": 2, "two": 2, "three": 3}
    store = make_store(tmp_path / "store", methods=METHODS, datasets=datasets)
    shown = section(render_page(contents_of(store)))
    expected = rank_stability(store.read(["prior"]).collect())
    assert expected.datasets == ("one", "three", "two")
    rows = re.findall(r'<tr><th scope="row" class="text">(.*?)</th><td>(.*?)</td>', shown)
    assert rows == [
        (name, f"{rank:.1f}") for name, rank in zip(expected.methods, expected.ranks, strict=True)
    ]


def test_nothing_is_ranked_over_few_samples_or_one_data_set(page_of):
    assert section(page_of(datasets={"one": 2, "two": 2}, cells=1, samples=9)) is None


def test_one_data_set_has_no_stability(page_of):
    assert section(page_of(datasets={"one": 2})) is None
