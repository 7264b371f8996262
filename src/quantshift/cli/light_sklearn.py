"""A faster import of scikit-learn, which saves a command half a second of processor time.

`import sklearn` imports packages that `quantify` and `train` rarely or never need.
`sklearn.utils.fixes` imports pandas if it is installed, only to bind a name that nothing reads.
Some of its modules import a function or two from scipy.stats, which generates the documentation of
more than a hundred distributions when it is imported, and from other slow modules (`LATER`).
`import_sklearn` imports scikit-learn while pandas appears to be missing and stand-ins replace the
others. Then these are removed: later imports of pandas or scipy.stats get the real modules, and the
functions that scikit-learn took from a stand-in use the real module at each call.

The standard library's LazyLoader is not enough. It loads a module as soon as a name is read from
it, which is what `from scipy.stats import rankdata` does.

Only the command line does this. `import quantshift` imports scikit-learn as usual.
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
"""The modules to import: all that `quantify` needs for texts and tables."""

UNREAD = "pandas"
"""The package that scikit-learn imports if it is installed, but hardly uses."""

LATER = (
    "asyncio",
    "numpy.f2py",
    "numpy.testing",
    "scipy.integrate",
    "scipy.linalg.interpolative",
    "scipy.stats",
)
"""Modules from which scikit-learn, SciPy or joblib import functions that are rarely called."""


def import_sklearn() -> None:
    """Import scikit-learn, unless that has happened, without importing pandas and `LATER`.

    If the import fails, the modules that need scikit-learn import it later as usual.
    """
    if "sklearn" in sys.modules:
        return
    with suppress(Exception), ExitStack() as stand_ins:
        import_module("numpy")  # first, because it creates some of its attributes lazily
        for name in LATER:
            stand_ins.enter_context(_in_place_of(name, _Later(name)))
        with _in_place_of(UNREAD, None):
            import_module("sklearn.utils.fixes")
        for name in MODULES:
            import_module(name)


@contextmanager
def _in_place_of(name: str, stand_in: ModuleType | None) -> Iterator[None]:
    """In this context, imports get the stand-in instead of a module; None: the module is missing.

    If the module's package has been imported, the stand-in becomes its attribute too.
    """
    if name in sys.modules:
        yield
        return
    modules: dict[str, Any] = sys.modules  # None is a valid value, although its type forbids it
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
    """A stand-in for a module: every name in it is a `_Name`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        return _Name(self.__name__, name)


@final
class _Name:
    """A name of a module; the module is imported when the name is called or its attributes read."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._real()(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def _real(self) -> Any:
        if isinstance(sys.modules.get(self._module), _Later):  # used during an import
            del sys.modules[self._module]
        return getattr(import_module(self._module), self._name)
