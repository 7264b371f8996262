"""scikit-learn without what it imports in advance: half a second of processor time for a command.

`import sklearn` imports packages that `quantify` and `train` need for few inputs, or for none.
`sklearn.utils.fixes` imports pandas if it is installed, only to bind a name that nothing reads.
Some of its modules import a function or two from scipy.stats, which begins by writing the
documentation of more than a hundred distributions, and from others (`LATER`). `import_sklearn`
imports scikit-learn while pandas seems to be missing and stand-ins are in the place of the others.
Then all of these are taken away: whoever imports pandas or scipy.stats later gets the real ones,
and so do the functions that scikit-learn took from a stand-in, at each call.

The standard library's LazyLoader is not enough. It loads a module when it is first asked for a
name, which is what `from scipy.stats import rankdata` does.

This is for the command alone. `import quantshift` leaves scikit-learn as it is.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any, final

MODULES = (
    "sklearn.isotonic",
    "sklearn.linear_model",
    "sklearn.cluster",
    "sklearn.feature_extraction.text",
    "sklearn.impute",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.frozen",
)
"""What is imported: all that `quantify` needs for texts and tables."""

UNREAD = "pandas"
"""What scikit-learn imports if it is there."""

LATER = (
    "asyncio",
    "numpy.f2py",
    "numpy.testing",
    "scipy.integrate",
    "scipy.linalg.interpolative",
    "scipy.stats",
)
"""What it, or the part of SciPy or joblib that it needs, takes functions from, seldom called."""


def import_sklearn() -> None:
    """Import scikit-learn, unless it has been; without pandas and `LATER`, if they are not yet.

    If it cannot be imported in this way, it will be as usual, by the modules that need it: those
    whose import has failed are imported again.
    """
    if "sklearn" in sys.modules:
        return
    with suppress(Exception), ExitStack() as stand_ins:
        import_module("numpy")  # which makes some of its attributes when they are read
        for name in LATER:
            stand_ins.enter_context(_in_place_of(name, _Later(name)))
        with _in_place_of(UNREAD, None):
            import_module("sklearn.utils.fixes")
        for name in MODULES:
            import_module(name)


@contextmanager
def _in_place_of(name: str, stand_in: ModuleType | None) -> Iterator[None]:
    """Within it, the stand-in is imported instead of a module; None: the module seems missing.

    If the package that the module is in has been imported, the stand-in is its attribute, too.
    """
    if name in sys.modules:
        yield
        return
    modules: dict[str, Any] = sys.modules  # None is allowed in it, but not by its type
    parent, _, child = name.rpartition(".")
    package = vars(modules[parent]) if parent in modules else {}
    modules[name] = package[child] = stand_in
    try:
        yield
    finally:
        for holder, key in ((modules, name), (package, child)):
            if holder.get(key) is stand_in:
                del holder[key]


@final
class _Later(ModuleType):
    """A module of which every name can be had at once, as a `_Name`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        return _Name(self.__name__, name)


@final
class _Name:
    """A function or an object of a module that is imported when it is called or looked into."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._real()(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def _real(self) -> Any:
        if isinstance(sys.modules.get(self._module), _Later):  # needed while others are imported
            del sys.modules[self._module]
        return getattr(import_module(self._module), self._name)
