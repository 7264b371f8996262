"""The suite `multilabel`, by name: its methods, and the data sets that it is run on.

Data sets are folders of `quantshift data import --layout labels`; without any, generated items are
used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from quantshift.base.manifests import manifest_format
from quantshift.errors import DataError, UserError, unknown_name
from quantshift.experiments.documents.document import PAPER
from quantshift.experiments.label_results import LabelProblem, LabelProtocols
from quantshift.multilabel.generated_items import generate_labelled_items
from quantshift.multilabel.label_by_label import LabelByLabel
from quantshift.multilabel.label_data import LABEL_DATA, LabelData
from quantshift.multilabel.multilabel_quantifier import AbstractMultilabel
from quantshift.multilabel.regressed_shares import RegressedShares
from quantshift.multilabel.sets_as_classes import SetsAsClasses
from quantshift.multilabel.tilted_label_sets import TiltedLabelSets
from quantshift.quantifiers.baselines.trivial import MLPE
from quantshift.quantifiers.counting.adjusted import PACC
from quantshift.quantifiers.counting.counting import PCC
from quantshift.quantifiers.likelihood.sld import SLD

GENERATED = "tickets"
"""The name of the generated data set in results."""

N_GENERATED = 1000
"""Its training items, and its test items."""


def label_methods(names: Sequence[str] | None = None) -> dict[str, AbstractMultilabel]:
    """The methods of the suite by name; names: only these."""
    known: Mapping[str, AbstractMultilabel] = {
        "MLPE": LabelByLabel(MLPE()),
        "PCC by label": LabelByLabel(PCC()),
        "PACC by label": LabelByLabel(PACC()),
        "SLD by label": LabelByLabel(SLD()),
        "SetsAsClasses": SetsAsClasses(),
        "RegressedShares": RegressedShares(),
        "TiltedLabelSets": TiltedLabelSets(),
    }
    for name in names or ():
        if name not in known:
            raise unknown_name("method for several labels", name, known)
    return {name: known[name] for name in (known if names is None else names)}


def label_problems(data: Sequence[str | Path] = ()) -> list[LabelProblem]:
    """The data sets in folders; without any, generated items."""
    if not data:
        train = generate_labelled_items(N_GENERATED)
        test = generate_labelled_items(N_GENERATED, seed=1)
        return [LabelProblem(GENERATED, train.X, train.labels, test.X, test.labels)]
    problems: dict[str, LabelProblem] = {}
    for place in data:
        folder = Path(place)
        if folder.is_dir() and manifest_format(folder) not in (LABEL_DATA.format, None):
            raise DataError(
                f"{place} has one label per item; the suite for several labels needs a data set of "
                "`quantshift data import --layout labels`"
            )
        found = LabelData.open(folder)
        if found.name in problems:
            raise UserError(f"two data sets are called {found.name!r}; rename one")
        train_items, test_items = found.items("train"), found.items("test")
        problems[found.name] = LabelProblem(
            found.name, train_items.X, train_items.labels, test_items.X, test_items.labels
        )
    return list(problems.values())


def label_protocols(profile: str | None) -> LabelProtocols:
    """The samples of a profile: five of each label and share, or one."""
    return LabelProtocols(repeats=5, n_natural=500) if profile == PAPER else LabelProtocols()
