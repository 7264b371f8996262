"""The library's experiments give what they always gave: seeds, keys, signatures, estimates."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quantshift.data.importing.reviews import ReviewFile, import_reviews
from quantshift.data.sources import AbstractSource, FolderSource, SyntheticSource


def _digests() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digests", Path(__file__).parent / "digests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


digests = _digests()


def _compare(stored: dict[str, Any], made: dict[str, Any], *, same_processor: bool) -> list[str]:
    moved = []
    for name, experiment in stored.items():
        now = made[name]
        if now["signatures"] != experiment["signatures"]:
            moved.append(f"{name}: signatures")
        if list(now["cells"]) != list(experiment["cells"]):
            moved.append(f"{name}: cell keys")
        for key, cell in experiment["cells"].items():
            here = now["cells"].get(key, {})
            moved += [f"{name} {key}: {w}" for w in ("seed", "p_true") if here.get(w) != cell[w]]
            for method, (digest, mean) in cell["p_hat"].items():
                digest_now, mean_now = here.get("p_hat", {}).get(method, ("", float("nan")))
                near = abs(mean_now - mean) <= 1e-9
                if not near or (same_processor and digest_now != digest):
                    moved.append(f"{name} {key}: {method}")
    return moved


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "covariate" else [])
        for name in digests.EXPERIMENTS
    ],
)
def test_quick_experiments_on_the_embedded_corpus(name: str, tmp_path: Path) -> None:
    stored = digests.load("quick")
    made = digests.fingerprints([digests.quick(name)], SyntheticSource(), tmp_path / "out")
    same = stored["processor"] == digests.processor()
    assert not _compare({name: stored["experiments"][name]}, made, same_processor=same)


@pytest.fixture(scope="module")
def reviews(reviews_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> AbstractSource:
    folder = tmp_path_factory.mktemp("reviews") / "corpus"
    sources = [f"{n}={reviews_dir / 'reviews' / n}.txt.gz" for n in ("Books", "Electronics")]
    import_reviews([ReviewFile.parse(s) for s in sources], folder)
    return FolderSource(folder)


def test_cells_of_the_papers_size_on_real_reviews(reviews: AbstractSource, tmp_path: Path) -> None:
    stored = digests.load("paper")
    made = digests.fingerprints(
        map(digests.of_paper_size, digests.EXPERIMENTS), reviews, tmp_path / "out"
    )
    same = stored["processor"] == digests.processor()
    assert not _compare(stored["experiments"], made, same_processor=same)
