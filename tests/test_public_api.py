"""The public API is the one that was written down: no name or default changes unnoticed."""

import inspect

from tests.public_api import FILE, described, exports, public_api

REFRESH = "python tests/public_api.py --write"


def test_the_public_api_is_the_one_on_file():
    on_file, now = FILE.read_text(encoding="utf-8").splitlines(), public_api().splitlines()
    gone, new = sorted(set(on_file) - set(now)), sorted(set(now) - set(on_file))
    assert (gone, new) == ([], []), (
        f"the public API has changed; read docs/stability.md, add a line to CHANGELOG.md, and "
        f"write it down with: {REFRESH}"
    )
    assert on_file == now


def test_a_changed_default_and_a_new_method_are_seen():
    class Before:
        def fit(self, X, *, level=0.95):
            """A method."""

    class After:
        def fit(self, X, *, level=0.9):
            """A method."""

        def predict(self):
            """Another."""

    for cls in (Before, After):
        for function in vars(cls).values():
            if callable(function):
                function.__module__ = "quantshift"
    assert described("A", Before) == ["A()", "A.fit(self, X, *, level=0.95)"]
    assert described("A", After) == ["A()", "A.fit(self, X, *, level=0.9)", "A.predict(self)"]


def test_every_public_class_has_an_example():
    """The doctests of all modules run with the tests."""
    classes = {name: value for name, value in exports().items() if inspect.isclass(value)}
    assert len(classes) > 90
    assert [name for name, cls in classes.items() if ">>> " not in (cls.__doc__ or "")] == []
