"""A fitted quantifier in a file, without pickle.

skops stores scikit-learn objects as arrays and plain JSON, and builds only trusted types on
loading: scikit-learn's and ours. This is no signature: whoever can write to the file can plant a
quantifier that gives any answer.
"""

import io
import zipfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import sklearn
from sklearn.utils.validation import check_is_fitted

from quantshift.base.storage.files import write_errors, write_whole
from quantshift.errors import DataError, UserError
from quantshift.quantifiers.base.estimator import AbstractQuantifier
from quantshift.quantifiers.base.given import given_quantifier

TRUSTED_PACKAGES = ("quantshift.items.", "quantshift.quantifiers.", "quantshift.classify.")
TRUSTED_TYPES = (
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""Parts of scikit-learn's estimators that skops does not trust by default."""

LARGEST_FILE = 1 << 33
"""The most bytes that are read: far more than a quantifier has."""

KIND = "a quantifier of quantshift"


def save(quantifier: AbstractQuantifier, path: str | Path) -> None:
    """Write a fitted quantifier to a file, which `load` reads; an older file is replaced.

    Parameters
    ----------
    quantifier : fitted quantifier
        Its classifier, if it has one, must be of scikit-learn, with no code of your own in it.
    path : str or Path
        The file, such as `churn.skops`.

    Examples
    --------
    >>> import tempfile
    >>> from quantshift import PACC, load, save
    >>> fitted = PACC().fit([[0.0], [1.0], [2.0], [3.0]] * 5, ["no", "no", "yes", "yes"] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(fitted, f"{folder}/churn.skops")
    ...     load(f"{folder}/churn.skops").classes_.tolist()
    ['no', 'yes']
    """
    quantifier = given_quantifier(quantifier, "save")
    check_is_fitted(quantifier, "classes_")
    content = dumped({"kind": KIND, **versions(), "quantifier": quantifier})
    with write_errors(Path(path)):
        write_whole(Path(path), content)


def load(path: str | Path) -> AbstractQuantifier:
    """The fitted quantifier in a file that `save` has written.

    Foreign types are neither built nor unpacked, and a file of another version is refused.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from quantshift import PACC, load, save
    >>> y = np.repeat(["ham", "spam"], 200)
    >>> X = np.random.default_rng(0).normal(3.0 * (y == "spam"))[:, np.newaxis]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(PACC().fit(X, y), Path(folder) / "pacc.skops")
    ...     load(Path(folder) / "pacc.skops").predict(X[100:250]).round(1)
    array([0.7, 0.3])
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise DataError(f"{file} is too large for a quantifier")
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}; name a file that save wrote") from None
    parts = loaded(
        str(file),
        content,
        what="quantifier",
        again="(it may be damaged); save the quantifier again",
    )
    quantifier = parts.get("quantifier")
    if parts.get("kind") != KIND or not isinstance(quantifier, AbstractQuantifier):
        raise DataError(f"{file} holds no quantifier; name a file that save wrote")
    for package, installed in versions().items():
        if series(str(parts.get(package))) != series(installed):
            raise DataError(
                f"{file}: made with {package} {str(parts.get(package))[:20]}, but {installed} is "
                "installed; fit the quantifier again"
            )
    return quantifier


def versions() -> dict[str, str]:
    """The versions of the packages whose code defines what stored numbers mean."""
    import quantshift

    return {"quantshift": quantshift.__version__, "scikit-learn": sklearn.__version__}


def series(version: str) -> list[str]:
    """Major and minor version: bug fixes (the third number) do not change what is stored."""
    return version.split(".")[:2]


def dumped(parts: object, *, trusted: Iterable[str] = ()) -> bytes:
    """The parts as the content of a file; parts of other packages are refused.

    trusted: names of types, or packages ending in a dot, that are ours as well.
    """
    content: bytes = _skops().dumps(parts)
    foreign = _foreign(_skops().get_untrusted_types(data=content), trusted)
    if foreign:
        raise UserError(
            f"{foreign[0]} cannot be saved: a model can only hold parts of scikit-learn and "
            "quantshift; train again for each sample, or use another classifier or method",
            arguments=["classifier", "method"],
        )
    return content


def loaded(
    name: str, content: bytes, *, what: str, again: str, trusted: Iterable[str] = ()
) -> dict[str, Any]:
    """The parts in the content of a file; foreign types are neither built nor unpacked.

    name: of the file. what: what it holds. again: what to do if it cannot be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            # Our files are not compressed, so that a small file cannot expand in memory. The
            # sizes alone would not tell: an archive may state smaller ones.
            members = archive.infolist()
            is_packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
            if is_packed or sum(member.file_size for member in members) > len(content):
                raise DataError(f"{name} is compressed, which a quantshift {what} never is")
        types = _skops().get_untrusted_types(data=content)
        foreign = _foreign(types, trusted)
        if foreign:
            raise DataError(f"{name} holds {foreign[0]}, which a quantshift {what} never does")
        parts = _skops().loads(content, trusted=types)
    except DataError:
        raise
    except Exception as error:  # Damaged content can make skops raise anything.
        raise DataError(f"{name} cannot be read by this version {again}") from error
    return dict(parts) if isinstance(parts, dict) else {}


def _foreign(names: Iterable[str], trusted: Iterable[str]) -> list[str]:
    own = tuple(trusted)
    packages = (*TRUSTED_PACKAGES, *(one for one in own if one.endswith(".")))
    return [
        name
        for name in names
        if name not in TRUSTED_TYPES and name not in own and not name.startswith(packages)
    ]


def _skops() -> Any:
    # Imported here because it takes half a second, and only saving and loading need it.
    return import_module("skops.io")
