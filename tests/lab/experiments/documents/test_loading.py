"""Experiments as data: loading, profiles, overrides, signatures, and every kind of mistake."""

import json
import pickle

import numpy as np
import pytest

from quantshift import DyS, PriorShift, UniformPrevalence
from quantshift.errors import UserError
from quantshift.lab.experiments.documents.document import parse_overrides
from quantshift.lab.experiments.documents.experiment import MethodSpec
from quantshift.lab.experiments.documents.loading import load_experiment
from quantshift.lab.experiments.documents.toml_tables import ClassifierTable

MINE = """
name = "mine"
title = "My experiment"
quantifiers = ["CC", "SLD", "MLPE"]

[shift]
kind = "prior"
train_prevalences = [0.2, 0.5]
train_repeats = 2
test_repeats = 5

[classifier]
name = "logistic"
options = { tol = 1e-5 }

[classifier.grid]
class_weight = ["none", "balanced"]
C = [10, 0.1]

[selection]
repeats = 3

[profiles.quick]
"shift.train_size" = 600
shift.test_repeats = 2

[profiles.broken]
"shift.train_size" = -3
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Loads a TOML text that lies in the working directory as mine.toml."""
    monkeypatch.chdir(tmp_path)

    def loader(text=MINE, **options):
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        return load_experiment("mine.toml", **options)

    return loader


def with_line(line, *, table=None):
    """MINE with a line more, at the top or under the header of a table."""
    if table is None:
        return f"{line}\n{MINE}"
    assert f"[{table}]\n" in MINE
    return MINE.replace(f"[{table}]\n", f"[{table}]\n{line}\n")


def replaced(old, new):
    assert old in MINE
    return MINE.replace(old, new)


def complaint(load, text=MINE, **options):
    with pytest.raises(UserError) as caught:
        load(text, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_file_as_it_stands(load):
    experiment = load()
    assert experiment.name == "mine"
    assert experiment.title == "My experiment"
    assert experiment.profile == "paper"
    assert experiment.shift == PriorShift(
        train_prevalences=(0.2, 0.5), train_repeats=2, test_repeats=5
    )
    assert experiment.methods == tuple(MethodSpec(n, n) for n in ("CC", "SLD", "MLPE"))
    assert experiment.data.cut_point is None
    assert experiment.selection.repeats == 3
    assert experiment.classifier.options == {"tol": 1e-5}
    assert experiment.n_training_sets == 2 * 2
    assert experiment.n_test_samples == 11 * 5


def test_settings_are_the_grid_in_ascending_order(load):
    assert load().settings == (
        {"C": 0.1, "class_weight": None},
        {"C": 0.1, "class_weight": "balanced"},
        {"C": 10, "class_weight": None},
        {"C": 10, "class_weight": "balanced"},
    )


def test_without_selection_the_first_values_as_written_are_the_setting(load):
    settings = load(with_line("enabled = false", table="selection")).settings
    assert settings == ({"C": 10, "class_weight": None},)


def test_without_a_grid_there_is_one_setting(load):
    text = 'name = "m"\nquantifiers = ["CC"]\n[shift]\nkind = "uniform"'
    experiment = load(text)
    assert experiment.settings == ({},)
    assert experiment.title == "m"
    assert experiment.shift == UniformPrevalence()


def test_the_seed_stands_at_the_top_and_reaches_the_protocol(load):
    assert load(with_line("seed = 7")).shift.seed == 7


def test_quantifier_tables_give_options_to_listed_methods(load):
    text = MINE.replace('quantifiers = ["CC", "SLD", "MLPE"]', 'quantifiers = ["DyS", "CC"]')
    text += '[[quantifier]]\nname = "DyS"\nmethod = "DyS"\noptions = { n_bins = 20 }\n'
    assert load(text).methods == (MethodSpec("DyS", "DyS", {"n_bins": 20}), MethodSpec("CC", "CC"))
    # A list from outside says which methods run; the options of those listed stay.
    only = load(text, overrides={"quantifiers": ["CC"]}).methods
    assert [method.name for method in only] == ["CC"]
    assert load(text, overrides={"quantifiers": ["DyS"]}).methods[0].options == {"n_bins": 20}


def test_a_quantifier_table_is_never_dropped_for_another_of_its_name(load):
    table = '[[quantifier]]\nname = "SLD"\nmethod = "{}"\n'
    for second in ("SLD", "DyS"):
        with pytest.raises(UserError, match="a method called 'SLD' is there already"):
            load(MINE + table.format("SLD") + table.format(second))


def test_none_is_a_word_where_the_default_is_one_and_null_elsewhere(load):
    text = (
        MINE + '[[quantifier]]\nname = "EMQ"\nmethod = "SLD"\noptions = { calibration = "none" }\n'
    )
    method = load(text).method("EMQ")
    assert method.options == {"calibration": "none"}
    posteriors = [[0.9, 0.1], [0.2, 0.8]] * 5
    fitted = method.cls(**method.options).fit_posteriors(posteriors, [0, 1] * 5)
    assert fitted.aggregate(posteriors).sum() == pytest.approx(1)
    text = MINE + '[[quantifier]]\nname = "x"\nmethod = "DyS"\noptions = { n_bins = "none" }\n'
    assert load(text).method("x").options == {"n_bins": None}


def test_the_paper_s_experiments_calibrate_sld_as_the_paper_does():
    for name in ("prior", "covariate", "local", "concept", "concept-forced"):
        assert load_experiment(name).method("SLD").options == {"calibration": "sigmoid"}


def test_quantifier_tables_add_methods_with_options(load):
    text = MINE + '[[quantifier]]\nname = "DyS-20"\nmethod = "DyS"\noptions = { n_bins = 20 }\n'
    method = load(text).methods[-1]
    assert method == MethodSpec("DyS-20", "DyS", {"n_bins": 20})
    made = method.cls(**method.options)
    assert isinstance(made, DyS)
    assert made.n_bins == 20
    assert load(text).method("DyS-20") == method
    with pytest.raises(UserError, match="did you mean 'DyS-20'"):
        load(text).method("DyS20")


def test_a_quantifier_of_the_users_own_is_imported(load, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_lab_own.py").write_text(
        "from quantshift import PCC\nclass Mine(PCC):\n"
        "    def __init__(self, classifier=None, *, power=2):\n        self.power = power\n"
    )
    text = replaced('"MLPE"]', '"my_lab_own:Mine"]')
    experiment = load(text)
    assert experiment.methods[-1] == MethodSpec("Mine", "my_lab_own:Mine")
    assert experiment.methods[-1].cls().power == 2
    message = complaint(load, replaced('"MLPE"]', '"my_lab_own:Mime"]'))
    assert message == (
        "mine.toml: quantifiers[2]: unknown name in 'my_lab_own': 'Mime'; did you mean 'Mine'?"
    )


def test_an_importable_classifier(load):
    text = 'name = "m"\nquantifiers = ["CC"]\n[shift]\nkind = "prior"\n[classifier]\n'
    text += 'name = "sklearn.naive_bayes:MultinomialNB"\ngrid = { alpha = [1, 0.1] }\n'
    assert load(text).settings == ({"alpha": 0.1}, {"alpha": 1})


def test_a_profile_wins_over_the_file_and_an_override_over_both(load):
    assert load().shift.train_size == 5000
    quick = load(profile="quick")
    assert quick.profile == "quick"
    assert quick.shift.train_size == 600
    assert quick.shift.test_repeats == 2
    assert quick.shift.train_repeats == 2
    both = load(profile="quick", overrides={"shift.train_size": 700, "selection.size": 100})
    assert both.shift.train_size == 700
    assert both.shift.test_repeats == 2
    assert both.selection.size == 100


def test_a_classifier_replaces_the_table_with_its_options_and_grid():
    """Before, `--set classifier.name=...` kept the grid, whose options the other does not have."""
    name = "sklearn.naive_bayes:GaussianNB"
    for experiment in ("prior", "tables-prior"):
        with pytest.raises(UserError, match="unknown option"):
            load_experiment(experiment, profile="quick", overrides={"classifier.name": name})
        replaced = load_experiment(experiment, profile="quick", classifier=name)
        assert replaced.classifier == ClassifierTable(name=name)
        assert replaced.settings == ({},)
    smoothing = {"classifier.grid.var_smoothing": [1e-9, 1e-3]}
    chosen = load_experiment("prior", overrides=smoothing, classifier=name)
    assert chosen.settings == ({"var_smoothing": 1e-9}, {"var_smoothing": 1e-3})
    with pytest.raises(UserError, match=r"override: classifier\.name: unknown classifier 'bayes'"):
        load_experiment("prior", classifier="bayes")


def test_overrides_may_add_tables_that_the_file_does_not_have(load):
    assert load(overrides={"data.train_share": 0.5}).data.train_share == 0.5
    assert load(overrides={"data": {"train_share": 0.5}}).data.train_share == 0.5


def test_overrides_are_parsed_as_toml_values():
    parsed = parse_overrides(
        [
            "shift.train_size=1000",
            " shift.replace = true ",
            "classifier.grid.C=[0.1, 1]",
            'title="a = b"',
            "selection.measure=rae",
        ]
    )
    assert parsed == {
        "shift.train_size": 1000,
        "shift.replace": True,
        "classifier.grid.C": [0.1, 1],
        "title": "a = b",
        "selection.measure": "rae",
    }


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("shift.train_size", "override: 'shift.train_size' is not of the form key=value"),
        ("=3", "override: '=3' is not of the form key=value"),
        ("a=[1,", "override: a: '[1,' is not a TOML value; e.g. 3, [0.1, 0.5], \"text\""),
        ("a=1\nb=2", "override: a: '1\\nb=2' is not a TOML value; e.g. 3, [0.1, 0.5], \"text\""),
    ],
)
def test_a_broken_override_is_refused(assignment, message):
    with pytest.raises(UserError) as caught:
        parse_overrides([assignment])
    assert str(caught.value) == message


BROKEN = {
    "syntax error": (
        replaced("repeats = 3", "repeats = = 3"),
        "mine.toml: not valid TOML: Invalid value (at line 21, column 11)",
    ),
    "unknown key at the top": (
        with_line('titel = "x"'),
        "mine.toml: titel: unknown key 'titel'; did you mean 'title'?",
    ),
    "unknown key in a table": (
        with_line("trian_size = 5", table="shift"),
        "mine.toml: shift.trian_size: unknown key 'trian_size'; did you mean 'train_size'?",
    ),
    "key of another kind of shift": (
        with_line("train_cuts = [1.5]", table="shift"),
        "mine.toml: shift.train_cuts: unknown key 'train_cuts'; did you mean 'train_size'?",
    ),
    "unknown key of a quantifier": (
        MINE + '[[quantifier]]\nname = "x"\nmethod = "CC"\noptoins = {}\n',
        "mine.toml: quantifier[0].optoins: unknown key 'optoins'; did you mean 'options'?",
    ),
    "the seed in the shift": (
        with_line("seed = 5", table="shift"),
        "mine.toml: shift.seed: unknown key 'seed'; known: kind, positive, replace, "
        "test_prevalences, test_repeats, test_size, train_prevalences, train_repeats, train_size",
    ),
    "missing name": (
        replaced('name = "mine"', ""),
        "mine.toml: name: is missing; add it",
    ),
    "name that is no folder": (
        replaced('name = "mine"', 'name = "a/b"'),
        "mine.toml: name: must be letters, digits, '-', '_' and '.', at most 100, because it "
        "names a "
        "folder of the results, got 'a/b'",
    ),
    "name of a method on two lines": (
        MINE + '[[quantifier]]\nname = "a\\nb"\nmethod = "CC"\n',
        "mine.toml: quantifier[0].name: must be a name on one line, got 'a\\nb'",
    ),
    "name of 300 letters": (
        replaced('name = "mine"', f'name = "{"n" * 300}"'),
        "mine.toml: name: must be letters, digits, '-', '_' and '.', at most 100, because it "
        "names a "
        f"folder of the results, got '{'n' * 56}...",
    ),
    "name of the report's folder": (
        replaced('name = "mine"', 'name = "report"'),
        "mine.toml: name: experiment name 'report' is reserved for a file or folder of the "
        "results; choose another, got 'report'",
    ),
    "number in quotes": (
        with_line('train_size = "many"', table="shift"),
        "mine.toml: shift.train_size: must be a whole number, got 'many'",
    ),
    "whole number with a point": (
        with_line("train_size = 600.0", table="shift"),
        "mine.toml: shift.train_size: must be a whole number, got 600.0",
    ),
    "truth value for a number": (
        with_line("train_share = true", table="selection"),
        "mine.toml: selection.train_share: must be a number, got True",
    ),
    "number for a list": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = 0.2"),
        "mine.toml: shift.train_prevalences: must be a list [...], got 0.2",
    ),
    "text in a list of numbers": (
        replaced("train_prevalences = [0.2, 0.5]", 'train_prevalences = [0.2, "half"]'),
        "mine.toml: shift.train_prevalences[1]: must be a number, got 'half'",
    ),
    "a number among prevalence vectors": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = [[0.2, 0.8], 0.5]"),
        "mine.toml: shift.train_prevalences[1]: must be a list [...], got 0.5",
    ),
    "a text in a prevalence vector": (
        replaced("train_prevalences = [0.2, 0.5]", 'train_prevalences = [[0.2, "x"]]'),
        "mine.toml: shift.train_prevalences[0][1]: must be a number, got 'x'",
    ),
    "not a number": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = [nan]"),
        "mine.toml: shift.train_prevalences[0]: must be finite, got nan",
    ),
    "negative size": (
        with_line("train_size = -5", table="shift"),
        "mine.toml: shift.train_size: must be at least 1, got -5",
    ),
    "no rule of prevalences": (
        with_line('rule = "protocol"', table="selection"),
        "mine.toml: selection.rule: a prior shift has no rule that prevalences are drawn by; leave "
        'it out, or take "uniform"',
    ),
    "share above one": (
        with_line("train_share = 1.5", table="selection"),
        "mine.toml: selection.train_share: must be less than 1, got 1.5",
    ),
    "prevalence above one": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = [0.2, 5]"),
        "mine.toml: shift.train_prevalences: [0.2, 5.0] must lie between 0 and 1",
    ),
    "empty grid of the shift": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = []"),
        "mine.toml: shift.train_prevalences: must hold at least one value, got []",
    ),
    "point named twice": (
        replaced("train_prevalences = [0.2, 0.5]", "train_prevalences = [0.2, 0.2]"),
        "mine.toml: shift.train_prevalences: [0.2, 0.2] contains a value twice; list each point "
        "once",
    ),
    "empty grid of the classifier": (
        replaced("C = [10, 0.1]", "C = []"),
        "mine.toml: classifier.grid.C: must hold at least one value, got []",
    ),
    "candidate named twice": (
        replaced("C = [10, 0.1]", "C = [1, 1.0]"),
        "mine.toml: classifier.grid.C: holds a value twice: [1, 1.0]",
    ),
    "candidate that is an option, too": (
        replaced("{ tol = 1e-5 }", "{ C = 1 }"),
        "mine.toml: classifier.grid.C: is also in classifier.options; keep one",
    ),
    "negative C": (
        replaced("C = [10, 0.1]", "C = [-1]"),
        "mine.toml: classifier.grid.C: must be a positive number, got -1",
    ),
    "unknown class weight": (
        replaced('["none", "balanced"]', '["equal"]'),
        'mine.toml: classifier.grid.class_weight: must be "balanced" or "none", got \'equal\'',
    ),
    "unknown option of the classifier": (
        replaced("C = [10, 0.1]", "c = [1]"),
        "mine.toml: classifier.grid.c: unknown option of logistic: 'c'; did you mean 'C'?",
    ),
    "unknown classifier": (
        replaced('name = "logistic"', 'name = "logisitc"'),
        "mine.toml: classifier.name: unknown classifier 'logisitc'; did you mean 'logistic'? "
        '(your own: "package.module:name" or "FILE.py:name")',
    ),
    "classifier of no module": (
        replaced('name = "logistic"', 'name = "no_such_lab:Forest"'),
        "mine.toml: classifier.name: cannot import 'no_such_lab': ModuleNotFoundError: "
        "No module named 'no_such_lab'",
    ),
    "class that is not a classifier": (
        replaced('name = "logistic"', 'name = "fractions:Fraction"'),
        "mine.toml: classifier.name: 'fractions:Fraction' is not a classifier; "
        "it needs fit and predict",
    ),
    "unknown option of a scikit-learn classifier": (
        replaced('name = "logistic"', 'name = "sklearn.linear_model:LogisticRegression"').replace(
            "C = [10, 0.1]", "c = [1]"
        ),
        "mine.toml: classifier.grid.c: unknown option of sklearn.linear_model:LogisticRegression: "
        "'c'; did you mean 'C'?",
    ),
    "date for an option": (
        replaced("{ tol = 1e-5 }", "{ tol = 2024-01-01 }"),
        "mine.toml: classifier.options.tol: must be a number, a string, true, false or a list of "
        "them, got datetime.date(2024, 1, 1)",
    ),
    "unknown quantifier": (
        replaced('"SLD"', '"SDL"'),
        "mine.toml: quantifiers[1]: unknown method 'SDL'; did you mean 'SLD'? "
        '(your own: "package.module:Class" or "FILE.py:Class")',
    ),
    "class that is not a quantifier": (
        replaced('"SLD"', '"fractions:Fraction"'),
        "mine.toml: quantifiers[1]: 'fractions:Fraction' is not a quantifier; derive it from "
        "quantshift.quantifiers.AbstractQuantifier, or give it fit(X, y) and predict(X)",
    ),
    "unknown option of a quantifier": (
        MINE + '[[quantifier]]\nname = "x"\nmethod = "DyS"\noptions = { bins = 20 }\n',
        "mine.toml: quantifier[0]: unknown option of DyS: 'bins'; did you mean 'n_bins'?",
    ),
    "option of a quantifier that has none": (
        MINE + '[[quantifier]]\nname = "x"\nmethod = "CC"\noptions = { bins = 20 }\n',
        "mine.toml: quantifier[0]: CC has no options; remove 'bins'",
    ),
    "option that the experiment gives": (
        MINE + '[[quantifier]]\nname = "x"\nmethod = "DyS"\noptions = { cv = 10 }\n',
        "mine.toml: quantifier[0]: the option 'cv' comes from the experiment; remove it",
    ),
    "method called twice": (
        MINE + '[[quantifier]]\nname = "SLD"\nmethod = "DyS"\n',
        "mine.toml: quantifier[0]: a method called 'SLD' is there already; rename it",
    ),
    "no method": (
        replaced('["CC", "SLD", "MLPE"]', "[]"),
        'mine.toml: quantifiers: is empty; name one, e.g. quantifiers = ["SLD"]',
    ),
    "unknown kind of shift": (
        replaced('kind = "prior"', 'kind = "piror"'),
        "mine.toml: shift.kind: unknown kind of shift 'piror'; did you mean 'prior'? "
        '(your own: "package.module:Class" or "FILE.py:Class")',
    ),
    "no kind of shift": (
        replaced('kind = "prior"', ""),
        "mine.toml: shift.kind: is missing; "
        "known: concept, covariate, given, groups, knock-out, local, natural, noise, prior, "
        "tweak-one, uniform",
    ),
    "no shift": (
        'name = "m"\nquantifiers = ["CC"]',
        'mine.toml: shift: is missing; add it, e.g. [shift] with kind = "prior"',
    ),
    "shift that is no table": (
        'name = "m"\nshift = "prior"',
        'mine.toml: shift: must be a table, e.g. [shift] with kind = "prior"',
    ),
    "unknown measure": (
        with_line('measure = "mae"', table="selection"),
        "mine.toml: selection.measure: unknown error measure 'mae'; did you mean 'ae'?",
    ),
    "features and posteriors": (
        MINE + '[data]\nfeatures = "X.npz"\nposteriors = "P.npy"\n',
        "mine.toml: data.posteriors: features and posteriors are both given; keep one",
    ),
    "features without labels": (
        MINE + '[data]\nfeatures = "X.npz"\n',
        "mine.toml: data.labels: is missing; features need the labels of their items",
    ),
    "labels without features": (
        MINE + '[data]\nlabels = "y.npy"\n',
        "mine.toml: data.labels: is given without features or posteriors; add one",
    ),
    "missing file": (
        MINE + '[data]\nfeatures = "X.npz"\nlabels = "y.npy"\n',
        "mine.toml: data.features: there is no file 'X.npz'",
    ),
    "posteriors and a classifier": (
        MINE + '[data]\nposteriors = "mine.toml"\nlabels = "mine.toml"\n',
        "mine.toml: classifier: posteriors need no classifier; remove the table",
    ),
    "cut point of concept shift": (
        'name = "m"\nquantifiers = ["CC"]\ndata = { cut_point = 3 }\nshift = { kind = "concept" }',
        "mine.toml: data.cut_point: concept shift cuts at shift.train_cuts and shift.test_cuts; "
        "remove it",
    ),
    "local shift beyond its reach": (
        'name = "m"\nquantifiers = ["CC"]\n[shift]\nkind = "local"\ntest_prevalences = [0.2]',
        "mine.toml: shift.test_prevalences: local covariate shift reaches "
        "0.25 <= p < 1, not 0.2 (only the positives of category A grow)",
    ),
    "profile that is no table": (
        "profiles = 3\n" + MINE.partition("[profiles")[0],
        "mine.toml: profiles: must be tables, e.g. [profiles.quick]",
    ),
    "profile called paper": (
        MINE + "[profiles.paper]\n",
        "mine.toml: profiles.paper: is the file as it stands; write the values in the file",
    ),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_gets_one_line_that_names_file_and_key(load, text, message):
    assert complaint(load, text) == message


def test_categories_are_missed_before_the_run(load, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    text = (
        'name = "m"\nquantifiers = ["CC"]\n[data]\nfeatures = "a.npy"\nlabels = "a.npy"\n[shift]\n'
    )
    assert complaint(load, text + 'kind = "covariate"') == (
        "mine.toml: data.categories: is missing; covariate shift is between two"
    )
    assert load(text + 'kind = "prior"').data.categories is None


def test_what_a_profile_or_an_override_says_wrong_is_laid_at_its_door(load):
    assert complaint(load, profile="broken") == (
        "mine.toml [profiles.broken]: shift.train_size: must be at least 1, got -3"
    )
    assert complaint(load, profile="broken", overrides={"shift.train_size": "x"}) == (
        "override: shift.train_size: must be a whole number, got 'x'"
    )
    assert complaint(load, overrides={"shift.trian_size": 5}) == (
        "override: shift.trian_size: unknown key 'trian_size'; did you mean 'train_size'?"
    )
    assert complaint(load, overrides={"quantifiers": ["SDL"]}).startswith(
        "override: quantifiers[0]:"
    )
    assert complaint(load, overrides={"name.first": 5}) == (
        "override: name.first: name is not a table"
    )
    # The file's own mistakes stay the file's, whatever else is overridden.
    message = complaint(load, with_line("x = 1", table="shift"), overrides={"shift.train_size": 5})
    assert message.startswith("mine.toml: shift.x: unknown key 'x'")


def test_an_unknown_profile_is_refused(load):
    assert complaint(load, profile="quik") == (
        "mine.toml: unknown profile 'quik'; did you mean 'quick'?"
    )


def test_an_experiment_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"')
    (tmp_path / "folder").mkdir()
    expected = {
        "priro": "unknown experiment 'priro'; did you mean 'prior'? "
        "(or give the path of a .toml file)",
        "mine.toml": "mine.toml: cannot be read: No such file or directory",
        "folder": "folder: cannot be read: Is a directory",
        "latin.toml": "latin.toml: is not UTF-8 text; an experiment is a TOML file",
    }
    for name, message in expected.items():
        with pytest.raises(UserError) as caught:
            load_experiment(name)
        assert str(caught.value) == message


def test_files_are_relative_to_the_toml_file(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    for name in ("P.npy", "t:able.csv"):
        (folder / name).write_text("")
    (folder / "mine.toml").write_text(
        'name = "m"\nquantifiers = ["PCC"]\n[shift]\nkind = "prior"\n'
        '[data]\nposteriors = "P.npy"\nlabels = "t:able.csv:star"\n'
    )
    experiment = load_experiment(folder / "mine.toml")
    assert experiment.data_file("posteriors").path == folder / "P.npy"
    assert experiment.data_file("posteriors").column is None
    assert experiment.data_file("labels").path == folder / "t:able.csv"
    assert experiment.data_file("labels").column == "star"
    assert experiment.data_file("categories") is None
    assert experiment.classifier is None
    assert experiment.settings == ({},)
    assert experiment.data.cut_point is None


def test_an_experiment_travels_to_other_processes(load):
    experiment = load(profile="quick")
    copy = pickle.loads(pickle.dumps(experiment))
    assert copy == experiment
    assert copy.signatures() == experiment.signatures()


def test_the_resolved_experiment_is_plain_json(load):
    resolved = load(profile="quick").resolved()
    assert json.loads(json.dumps(resolved)) == resolved
    assert resolved["shift"]["train_size"] == 600
    assert resolved["shift"]["kind"] == "prior"
    assert resolved["profile"] == "quick"
    assert resolved["classifier"]["grid"] == {"class_weight": [None, "balanced"], "C": [10, 0.1]}
    assert [m["name"] for m in resolved["methods"]] == ["CC", "SLD", "MLPE"]
    assert resolved["methods"][1]["signature"] == load(profile="quick").signatures()["SLD"]


# What does not change any result, with MINE as the base.
INDIFFERENT = {
    "title": ("My experiment", "Another title"),
    "order of the methods": ('["CC", "SLD", "MLPE"]', '["MLPE", "SLD", "CC"]'),
    "order of C": ("[10, 0.1]", "[0.1, 10]"),
    "spelling of a number": ("[10, 0.1]", "[10.0, 0.1]"),
    "order of the axes": ("C = [10, 0.1]\n", ""),
    "default written out": ("repeats = 3", "repeats = 3\nsize = 500"),
    "default of the shift": ("train_repeats = 2", "train_repeats = 2\ntest_size = 500"),
    "profile not in use": ('"shift.train_size" = 600', '"shift.train_size" = 700'),
}


@pytest.mark.parametrize(("old", "new"), INDIFFERENT.values(), ids=INDIFFERENT)
def test_signatures_stay_when_nothing_that_matters_changes(load, old, new):
    text = replaced(old, new)
    if not new:  # moved to the front
        text = text.replace("class_weight = [", f"{old}class_weight = [")
    assert load(text).signatures() == load().signatures()


# What changes the results of the methods that learn a classifier, and whether of MLPE as well.
DECISIVE = {
    "name": ('name = "mine"', 'name = "yours"', True),
    "seed": ('title = "My', 'seed = 1\ntitle = "My', True),
    "cut point": ("[shift]", "[data]\ncut_point = 2\n\n[shift]", True),
    "size of the pools": ("[shift]", "[data]\nmax_test_documents = 0\n\n[shift]", True),
    "training size": ("train_repeats = 2", "train_repeats = 2\ntrain_size = 600", True),
    "test grid": ("test_repeats = 5", "test_repeats = 5\ntest_prevalences = [0.5]", True),
    "replacement": ("test_repeats = 5", "test_repeats = 5\nreplace = true", True),
    "grid": ("[10, 0.1]", "[10, 0.1, 1]", False),
    "options of the classifier": ("tol = 1e-5", "tol = 1e-6", False),
    "selection": ("repeats = 3", "repeats = 4", False),
    "no selection": ("repeats = 3", "enabled = false", False),
    "classifier": (
        'name = "logistic"',
        'name = "sklearn.linear_model:LogisticRegression"',
        False,
    ),
}


@pytest.mark.parametrize(("old", "new", "all_methods"), DECISIVE.values(), ids=DECISIVE)
def test_signatures_change_when_what_matters_changes(load, old, new, all_methods):
    before, after = load().signatures(), load(replaced(old, new)).signatures()
    assert before["CC"] != after["CC"]
    assert before["SLD"] != after["SLD"]
    assert (before["MLPE"] != after["MLPE"]) == all_methods


def test_the_selection_matters_only_where_there_is_a_choice(load):
    alone = MINE.replace("C = [10, 0.1]", "C = [10]").replace('["none", "balanced"]', '["none"]')
    other = alone.replace("repeats = 3", "repeats = 4")
    assert load(alone).signatures() == load(other).signatures()
    # The only candidate is what is taken without selection.
    assert load(alone).signatures() == load(replaced("repeats = 3", "enabled = false")).signatures()


def test_signatures_of_methods(load):
    text = MINE + "".join(
        f'[[quantifier]]\nname = "{name}"\nmethod = "DyS"\noptions = {options}\n'
        for name, options in (
            ("plain", "{}"),
            ("written out", "{ n_bins = 10 }"),
            ("finer", "{ n_bins = 20 }"),
        )
    )
    signatures = load(text).signatures()
    assert signatures["plain"] == signatures["written out"]
    assert len(set(signatures.values())) == 5
    assert all(len(s) == 64 and int(s, 16) >= 0 for s in signatures.values())


def test_a_file_stands_on_its_base(tmp_path):
    (tmp_path / "common.toml").write_text(
        'quantifiers = ["CC", "SLD"]\n[shift]\ntrain_size = 600\ntest_size = 70\n'
        '[profiles.quick]\n"shift.train_size" = 60\n'
    )
    own = tmp_path / "own.toml"
    own.write_text('base = "common.toml"\nname = "own"\n[shift]\nkind = "prior"\ntest_size = 80\n')
    experiment = load_experiment(own)
    assert [method.name for method in experiment.methods] == ["CC", "SLD"]
    assert (experiment.shift.train_size, experiment.shift.test_size) == (600, 80)
    assert load_experiment(own, profile="quick").shift.train_size == 60


@pytest.mark.parametrize(
    ("base", "below", "message"),
    [
        ('"none.toml"', None, "base: 'none.toml' cannot be read: No such file or directory"),
        ("5", None, "base: must be the name of a file in quotes, got 5"),
        ('"b.toml"', 'base = "c.toml"', "[base b.toml]: base: a base has no base of its own"),
        ('"b.toml"', "seed = ", "[base b.toml]: not valid TOML"),
        ('"b.toml"', 'seed = "x"', "[base b.toml]: seed: must be a whole number, got 'x'"),
    ],
)
def test_a_broken_base_is_refused_with_its_place(base, below, message, tmp_path):
    if below:
        (tmp_path / "b.toml").write_text(below)
    own = tmp_path / "own.toml"
    own.write_text(f'base = {base}\nname = "own"\nquantifiers = ["CC"]\n[shift]\nkind = "prior"\n')
    with pytest.raises(UserError) as caught:
        load_experiment(own)
    assert message in str(caught.value)


def test_the_rule_of_validation_samples_matters_where_something_is_chosen(load):
    uniform = MINE.replace('kind = "prior"\ntrain_prevalences = [0.2, 0.5]', 'kind = "uniform"')
    before, after = (
        load(uniform.replace("[selection]", f"[selection]\n{line}"))
        for line in ("", 'rule = "protocol"')
    )
    assert before.method_signature(before.methods[0]) != after.method_signature(after.methods[0])
    # Stores of before there was a rule are those of the default.
    assert "rule" not in before.resolved()["selection"]
    assert after.resolved()["selection"]["rule"] == "protocol"
