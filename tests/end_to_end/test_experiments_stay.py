"""The library's experiments give what they always gave: seeds, keys, signatures, estimates."""

from pathlib import Path

import pytest

from quantshift.lab.data.importing.reviews import ReviewFile, import_reviews
from quantshift.lab.data.sources import AbstractSource, FolderSource, SyntheticSource
from tests.end_to_end import frozen_experiments as experiments
from tests.end_to_end.frozen import EXPERIMENTS, Frozen


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "covariate" else [])
        for name in experiments.EXPERIMENTS
    ],
)
def test_quick_experiments_on_the_embedded_corpus(
    name: str, frozen: Frozen, tmp_path: Path
) -> None:
    made = experiments.results([experiments.quick(name)], SyntheticSource(), tmp_path / "out")
    assert frozen.differences("experiments", name, made[name], within=EXPERIMENTS) == []


@pytest.fixture(scope="module")
def reviews(reviews_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AbstractSource:
    folder = tmp_path_factory.mktemp("reviews") / "corpus"
    sources = [f"{n}={reviews_dir / 'reviews' / n}.txt.gz" for n in ("Books", "Electronics")]
    import_reviews([ReviewFile.parse(s) for s in sources], folder)
    return FolderSource(folder)


def test_cells_of_the_papers_size_on_real_reviews(
    reviews: AbstractSource, frozen: Frozen, tmp_path: Path
) -> None:
    chosen = map(experiments.of_paper_size, experiments.EXPERIMENTS)
    for name, made in experiments.results(chosen, reviews, tmp_path / "out").items():
        assert frozen.differences("paper", name, made, within=EXPERIMENTS) == []
