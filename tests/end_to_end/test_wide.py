"""Any number of classes, any data set, anybody's protocol: from a file to the report."""

import secrets
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quantshift.lab.data import ImportOptions, import_table
from quantshift.lab.results import ResultStore

SHIFTS = {
    "prior": "train_prevalences = [[0.2, 0.3, 0.5], [0.4, 0.4, 0.2]]\n"
    "test_prevalences = [[0.6, 0.2, 0.2], [0.1, 0.1, 0.8]]",
    "uniform": "",
    "natural": "",
    "given": "",
}

SIZES = "train_size = 300\ntrain_repeats = 2\ntest_size = 80\ntest_repeats = 3\n"

OWN_SHIFT = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from quantshift import PriorShift
from quantshift.lab.shifts import Coordinate, Words

@dataclass(frozen=True, kw_only=True)
class Mislabelled(PriorShift):
    """Prior shift after some of the training labels were flipped."""

    name: ClassVar[str] = "mislabelled"
    changes: ClassVar[str] = "P(Y) changes, and training labels are wrong"
    rates: tuple[float, ...] = (0.0, 0.2)

    def coordinates(self):
        noise = Coordinate("noise", "train", "float", "share of wrong labels", r"\\\\eta")
        return (noise, *super().coordinates())

    def words(self):
        return Words(title="Mislabelled training", degree="$\\\\\\\\eta$", digits=2)

    def count_training_sets(self):
        return len(self.rates) * super().count_training_sets()

    def training_points(self):
        points = super().training_points()
        return [{"noise": rate, **point} for rate in self.rates for point in points]

    def training_set(self, point, y, categories=None, *, pool=None):
        rest = {name: value for name, value in point.items() if name != "noise"}
        draw = super().training_set(rest, y, categories, pool=pool)
        rng = np.random.default_rng(int(1000 * point["noise"]) + point["train_repeat"])
        wrong = rng.random(len(draw.labels)) < point["noise"]
        from dataclasses import replace
        return replace(
            draw,
            labels=np.where(wrong, 1 - draw.labels, draw.labels),
            coordinates={**draw.coordinates, "noise": point["noise"]},
        )

    def samples(self, y, categories=None, *, pool=None, train=None):
        from dataclasses import replace
        known = {k: v for k, v in (train or {}).items() if k != "noise"}
        for draw in super().samples(y, categories, pool=pool, train=known):
            noise = (train or {}).get("noise", 0.0)
            yield replace(draw, coordinates={**draw.coordinates, "noise": noise}, degree=noise)
'''


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables of three classes, one with samples of its own, and two of two classes."""
    folder = tmp_path_factory.mktemp("sets")
    for number, name in enumerate(("birds", "bees")):
        rng = np.random.default_rng(number)
        y = rng.integers(3, size=1500)
        X = rng.normal(size=(1500, 2)) + 1.5 * np.eye(3)[y][:, :2]
        frame = pl.DataFrame({"u": X[:, 0], "v": X[:, 1], "kind": np.array(["a", "b", "c"])[y]})
        frame.write_csv(folder / f"{name}.csv")
        import_table(folder / f"{name}.csv", folder / name, label="kind")
        binary = frame.with_columns(good=pl.col("kind") == "a").drop("kind")
        binary.write_csv(folder / f"{name}2.csv")
        import_table(folder / f"{name}2.csv", folder / f"{name}2", label="good")
    rows = [(s, row) for s in range(4) for row in range(1100 + 100 * s, 1200 + 100 * s)]
    pl.DataFrame(rows, schema=["sample", "row"], orient="row").write_csv(folder / "samples.csv")
    samples = ImportOptions(samples=folder / "samples.csv")
    import_table(folder / "birds.csv", folder / "given", label="kind", options=samples)
    return folder


@pytest.fixture
def run(quantshift, tmp_path: Path):
    """Runs a file through run, status, verify and report; returns rows and the report's folder."""

    def through(text: str, *data: Path, figures: bool = False) -> tuple[pl.DataFrame, Path]:
        file, out = tmp_path / "mine.toml", tmp_path / "out"
        file.write_text(text, encoding="utf-8")
        given = [argument for path in data for argument in ("--data", path)]
        code, said, wrong = quantshift("run", file, *given, "--out", out, "--jobs", 1)
        assert (code, wrong) == (0, ""), said + wrong
        code, said, _ = quantshift("status", out)
        assert code == 0
        assert all(path.name in said for path in data)
        assert quantshift("verify", out)[0] == 0
        drawn = ["-f", "png"] if figures else []
        code, said, wrong = quantshift("report", out, "-f", "html", "-f", "tex", *drawn)
        assert (code, wrong) == (0, ""), said + wrong
        return ResultStore.open(out).read().collect(), out / "report"

    return through


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHIFTS)
def test_three_classes(kind, sets, run):
    sizes = "train_size = 300\ntrain_repeats = 2\n" if kind == "given" else SIZES
    rows, report = run(
        f'name = "three"\nquantifiers = ["CC", "PACC", "SLD", "DyS", "HDx"]\n'
        f'[shift]\nkind = "{kind}"\n{SHIFTS[kind]}\n{sizes}'
        "[classifier.grid]\nC = [0.1, 10.0]\n"
        "[selection]\nprevalences = 5\nrepeats = 4\nsize = 60\n",
        sets / ("given" if kind == "given" else "birds"),
        figures=kind == "prior",
    )
    assert rows["p_hat"].list.len().unique().to_list() == [3]
    assert rows["p_hat"].list.sum().is_close(1.0).all()
    error = (pl.col("p_hat").list.get(0) - pl.col("p_true").list.get(0)).abs()
    by_method = dict(rows.group_by("method").agg(error.mean()).iter_rows())
    assert by_method["SLD"] < 0.1
    assert by_method["PACC"] < 0.12
    if kind == "prior":
        assert by_method["SLD"] < by_method["CC"]
        keys = set(rows["cell"].unique())
        assert "p_train-0.2_0.3_0.5,train_repeat-0" in keys
        assert rows["p_test"].unique().len() == 2
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "SLD" in page
    assert list((report / "tables").glob("*.tex"))
    assert bool(list(report.glob("figures/*.png"))) == (kind == "prior")


def test_two_data_sets_side_by_side(sets, run):
    rows, report = run(
        'name = "two"\nquantifiers = ["CC", "PACC", "SLD"]\n[shift]\nkind = "prior"\n'
        f"train_prevalences = [0.3, 0.6]\ntest_prevalences = [0.1, 0.5, 0.9]\n{SIZES}",
        sets / "birds2",
        sets / "bees2",
    )
    assert set(rows["dataset"].unique()) == {"birds2", "bees2"}
    counts = rows.group_by("dataset").len()["len"].unique()
    assert len(counts) == 1
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "birds2" in page
    assert "bees2" in page
    tables = "".join(path.read_text() for path in (report / "tables").glob("*.tex"))
    assert "bees2" in tables


@pytest.mark.slow
def test_a_protocol_of_ones_own_with_its_own_coordinate(sets, run, tmp_path, monkeypatch):
    module = f"own_{secrets.token_hex(4)}"
    (tmp_path / f"{module}.py").write_text(OWN_SHIFT.replace("\\\\", "\\"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows, report = run(
        f'name = "noisy"\nquantifiers = ["CC", "PACC"]\n[shift]\nkind = "{module}:Mislabelled"\n'
        f"train_prevalences = [0.4]\ntest_prevalences = [0.2, 0.8]\n{SIZES}",
        sets / "birds2",
        figures=True,
    )
    assert rows["noise"].unique().sort().to_list() == [0.0, 0.2]
    assert rows["stratum"].n_unique() == 2
    assert any(key.startswith("noise-0.2,p_train-0.4") for key in rows["cell"])
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "Mislabelled training" in page
    tables = "".join(path.read_text() for path in (report / "tables").glob("*.tex"))
    assert "0.20" in tables
    assert list((report / "figures").glob("noisy*.png"))


def test_a_grid_of_a_methods_own_options(sets, run):
    rows, _ = run(
        'name = "grid"\nquantifiers = ["CC"]\n'
        '[[quantifier]]\nname = "DyS chosen"\nmethod = "DyS"\ngrid = { n_bins = [2, 10] }\n'
        '[[quantifier]]\nname = "DyS 2"\nmethod = "DyS"\noptions = { n_bins = 2 }\n'
        '[[quantifier]]\nname = "DyS 10"\nmethod = "DyS"\noptions = { n_bins = 10 }\n'
        f'[shift]\nkind = "prior"\ntrain_prevalences = [0.4]\ntest_prevalences = [0.2]\n{SIZES}'
        "[classifier.grid]\nC = [0.1, 10.0]\n"
        "[selection]\nprevalences = 3\nrepeats = 3\nsize = 60\n",
        sets / "birds2",
    )
    chosen = rows.filter(pl.col("method") == "DyS chosen")
    settings = chosen["setting"].unique().to_list()
    assert all("C=" in setting and "n_bins=" in setting for setting in settings)
    # Its estimates are those of the method with the options it chose.
    for (setting, cell), own in chosen.group_by("setting", "cell"):
        bins = setting.rpartition("n_bins=")[2]
        classifier = setting.partition(", n_bins")[0]
        fixed = rows.filter(
            (pl.col("method") == f"DyS {bins}")
            & (pl.col("cell") == cell)
            & (pl.col("setting") == classifier)
        )
        if len(fixed):
            assert own["p_hat"].to_list() == fixed["p_hat"].to_list()
