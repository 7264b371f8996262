"""scikit-learn imported without pandas and scipy.stats does what it does with them."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from quantshift.cli import light_sklearn

WORK = """
import json, sys
import numpy as np

def results():
    import pandas as pd
    from scipy import integrate, optimize, stats
    from sklearn.covariance import MinCovDet
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import label_ranking_average_precision_score, roc_auc_score
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler

    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2))
    y = (x[:, 0] + rng.normal(size=40) > 0).astype(int)
    frame = pd.DataFrame(x, columns=["a", "b"])
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(x, y)
    scaler = StandardScaler().set_output(transform="pandas").fit(frame)
    solved = optimize.linprog([1.0, 2.0], A_eq=[[1.0, 1.0]], b_eq=[1.0])
    return [
        float(stats.norm.ppf(0.975)),
        float(integrate.trapezoid([1.0, 2.0])),
        bool(IsotonicRegression(increasing="auto").fit(x[:, 0], -x[:, 0]).increasing_),
        label_ranking_average_precision_score([[1, 0], [0, 1]], [[0.9, 0.1], [0.5, 0.5]]),
        float(roc_auc_score(y, x[:, 0])),
        search.cv_results_["rank_test_score"].tolist(),
        PowerTransformer(method="box-cox").fit(np.exp(x)).lambdas_.round(6).tolist(),
        QuantileTransformer(n_quantiles=10, output_distribution="normal").fit_transform(x)
        .sum().round(6),
        MinCovDet(random_state=0).fit(x).location_.round(6).tolist(),
        scaler.feature_names_in_.tolist(),
        list(scaler.transform(frame).columns),
        round(solved.fun, 6),
    ]
"""

LIGHT = """
from quantshift.cli.light_sklearn import LATER, import_sklearn
import_sklearn()
assert "sklearn.linear_model" in sys.modules
assert not {"pandas", *LATER} & set(sys.modules), set(sys.modules) & {"pandas", *LATER}
import scipy.linalg.interpolative, scipy.stats.mstats
assert callable(scipy.linalg.interpolative.interp_decomp)
assert scipy.stats is sys.modules["scipy.stats"] and scipy.stats.mstats.mquantiles([1.0]).size
from sklearn.metrics import _ranking
from scipy.optimize import _remove_redundancy
assert _ranking.rankdata([2.0, 1.0]).tolist() == [2.0, 1.0]
assert len(_remove_redundancy.interp_decomp(np.eye(3), 2)) == 2
import joblib.memory
assert not joblib.memory.asyncio.iscoroutinefunction(len)
import asyncio
assert asyncio.iscoroutinefunction.__module__ == "asyncio.coroutines"
assert np.testing.__file__ and np.f2py.__file__ and np.testing.assert_allclose(1.0, 1.0) is None
"""


def _printed(*parts: str) -> list[object]:
    script = "\n".join([*parts, "print(json.dumps(results()))"])
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.slow
def test_functions_taken_from_stand_ins_are_the_real_ones() -> None:
    # The same calls in the same order: bit-equal, but for what is rounded in the script.
    assert _printed(WORK, LIGHT) == _printed(WORK)


def test_what_is_not_needed_is_not_imported_and_can_be_later() -> None:
    script = f"import sys\nimport numpy as np\n{LIGHT}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_texts_need_neither_pandas_nor_distributions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["fine", "good", "great", "bad", "poor", "awful", "book", "film", "song"])
    rows = ["text,label"]
    for _ in range(200):
        positive = rng.random() < 0.5
        own = rng.choice(words[:3] if positive else words[3:6], 2)
        rows.append(f"{' '.join([*own, *rng.choice(words, 3)])},{'yes' if positive else 'no'}")
    labelled, new = tmp_path / "labelled.csv", tmp_path / "new.csv"
    labelled.write_text("\n".join(rows))
    new.write_text("\n".join(row.split(",")[0] for row in rows[:101]))
    arguments = ["quantify", "--train", labelled, "--sample", new, "--label", "label"]
    script = (
        "import atexit, sys\n"
        "unwanted = {'pandas', 'scipy.stats', 'scipy.integrate'}\n"
        "atexit.register(lambda: print('imported:', sorted(unwanted & set(sys.modules))))\n"
        "from quantshift.cli.app import main\n"
        "main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments), "--text", "text"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("imported: []\n")


def test_scikit_learn_that_has_been_imported_stays() -> None:
    import scipy.stats
    import sklearn.metrics

    before = dict(sys.modules)
    light_sklearn.import_sklearn()
    assert sys.modules == before
    assert sklearn.metrics._ranking.rankdata is scipy.stats.rankdata


def test_an_import_that_fails_leaves_no_stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    for name in (light_sklearn.UNREAD, *light_sklearn.LATER):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def refuse(name: str) -> None:
        raise TypeError(name)

    monkeypatch.setattr(light_sklearn, "import_module", refuse)
    light_sklearn.import_sklearn()
    assert not {light_sklearn.UNREAD, *light_sklearn.LATER} & set(sys.modules)


def test_a_function_that_is_called_too_early_is_the_real_one() -> None:
    script = (
        "import sys, numpy\n"
        "from quantshift.cli.light_sklearn import _in_place_of, _Later\n"
        "with _in_place_of('scipy.integrate', _Later('scipy.integrate')):\n"
        "    from scipy.integrate import trapezoid\n"
        "    assert type(trapezoid).__name__ == '_Name' and trapezoid([1.0, 3.0]) == 2.0\n"
        "import scipy.integrate\n"
        "assert scipy.integrate.trapezoid is sys.modules['scipy.integrate'].trapezoid\n"
        "assert type(scipy.integrate.trapezoid).__name__ == 'function'"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_the_library_leaves_scikit_learn_as_it_is() -> None:
    script = "import quantshift, sys; assert 'quantshift.cli.light_sklearn' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
