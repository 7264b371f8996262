"""Whatever is written into an experiment, it loads or is refused with one line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quantshift.errors import UserError
from quantshift.lab.experiments.documents.document import parse_overrides
from quantshift.lab.experiments.documents.loading import library_names, load_experiment
from quantshift.lab.experiments.planning import cell_key, cells_of
from quantshift.lab.results.description import check_name

KEYS = (
    ["name", "title", "seed", "data", "shift", "classifier", "selection", "quantifiers"]
    + ["quantifier", "profiles", "", ".", "x"]
    + [f"data.{key}" for key in ("cut_point", "train_share", "max_test_documents", "features")]
    + [f"data.{key}" for key in ("posteriors", "labels", "categories")]
    + [f"shift.{key}" for key in ("kind", "train_size", "test_prevalences", "train_prevalences")]
    + [f"shift.{key}" for key in ("positive", "replace", "train_cuts", "train_alphas", "x")]
    + [f"classifier.{key}" for key in ("name", "options", "grid", "options.C", "grid.C", "grid.x")]
    + [f"selection.{key}" for key in ("enabled", "measure", "prevalences", "size")]
)
WORDS = ["prior", "local", "concept", "logistic", "none", "balanced", "CC", "ae", "a:b", "os:path"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 10**12)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(WORDS)
    | st.dates()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=300)
@given(
    name=st.sampled_from(library_names()),
    profile=st.sampled_from(["paper", "quick"]),
    overrides=st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=3),
)
def test_any_value_anywhere_loads_or_is_refused_with_one_line(name, profile, overrides):
    small = {"shift.train_repeats": 1, "shift.test_repeats": 1}
    experiment, complaint = None, None
    try:
        experiment = load_experiment(name, profile=profile, overrides={**small, **overrides})
    except UserError as error:
        complaint = str(error)
    if experiment is None:
        assert "\n" not in complaint
        assert complaint.startswith((f"{name}: ", f"{name} [", "override: "))
    else:
        assert json.loads(json.dumps(experiment.resolved())) == experiment.resolved()
        n_cells = len(cells_of(experiment.name, "data", experiment.shift))
        assert n_cells == experiment.n_training_sets
        assert (n_cells == 0) == experiment.shift.from_groups  # which only the data tell


@given(text=st.text(max_size=12))
def test_any_text_as_a_value_is_parsed_or_refused(text):
    parsed, complaint = {}, "override: "
    try:
        parsed = parse_overrides([f"key={text}"])
    except UserError as error:
        complaint = str(error)
    assert complaint.startswith("override: ")
    assert parsed.keys() == ({"key"} if complaint == "override: " else set())


POINTS = st.fixed_dictionaries(
    {
        "p_train": st.floats(0, 1) | st.lists(st.floats(0, 1), min_size=3, max_size=3).map(tuple),
        "cut_train": st.floats(allow_nan=False, allow_infinity=False),
        "group": st.text(max_size=4),
        "train_repeat": st.integers(0, 10**6),
    }
)


@given(a=POINTS, b=POINTS)
def test_keys_are_as_different_as_the_points(a, b):
    assert (cell_key(a) == cell_key({name: b[name] for name in a})) == (a == b)
    check_name("cell", cell_key(a))
