"""What verdicts and labels mean: the classes, their order, and which verdict says which class.

Judges and people write "pass" and 1, "Yes" and true. Where it is obvious which verdict stands for
which label it is guessed; a verdict that fits none, such as "tie (inconsistent)", stays a verdict
of its own, which estimates use and the naive rate cannot.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from quantshift.errors import DataError, UserError, unknown_name
from quantshift.tables.columns.names import in_order
from quantshift.tables.columns.spelling import is_number

YES = frozenset(
    {"1", "true", "t", "yes", "y", "pass", "passed", "passes", "positive", "pos", "good"}
    | {"correct", "right", "ok", "accept", "accepted"}
)
NO = frozenset(
    {"0", "-1", "false", "f", "no", "n", "fail", "failed", "fails", "negative", "neg", "bad"}
    | {"wrong", "reject", "rejected"}
)
NEGATIONS = ("not ", "non-", "non ", "non", "no ", "un", "in", "ir", "im", "dis")
"""What turns a word into its contrary: relevant and irrelevant, safe and unsafe."""

MOST_VALUES = 50
"""A column with more different values is not a column of verdicts or labels."""


@dataclass(frozen=True)
class Meaning:
    """The classes in their order, and the verdicts of each judge.

    verdicts: the different verdicts of each judge; says: for each of them the position of the class
    that it says, -1 if none. ordered: whether the classes are levels of a scale.
    """

    classes: tuple[str, ...]
    verdicts: tuple[tuple[str, ...], ...]
    says: tuple[tuple[int, ...], ...]
    ordered: bool = False

    @classmethod
    def of_codes(
        cls,
        n_classes: int,
        *,
        n_judges: int = 1,
        says: Sequence[Sequence[int]] | None = None,
        ordered: bool = False,
    ) -> "Meaning":
        """The meaning of codes without names.

        says: the class of each verdict of each judge, -1 for none; without it the verdict c of
        every judge says the class c.
        """
        if says is None:
            says = [range(n_classes)] * n_judges
        return cls(
            tuple(map(str, range(n_classes))),
            tuple(tuple(map(str, range(len(classes)))) for classes in says),
            tuple(tuple(map(int, classes)) for classes in says),
            ordered,
        )

    def said_by_most(self, verdicts: Iterable[int]) -> int:
        """The class that most judges say, the first of several; -1 if none says one.

        verdicts: the verdict of each judge about an item.
        """
        said = [says[verdict] for says, verdict in zip(self.says, verdicts, strict=True)]
        classes = [code for code in said if code >= 0]
        return max(classes, key=classes.count, default=-1)


def meaning(
    verdicts: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    *,
    given: Mapping[str, str],
    classes: Sequence[str],
    positive: str | None,
) -> Meaning:
    """What the different verdicts of each judge and the different labels mean.

    given: verdict -> label, where the user says it; classes: all of them, if the user says so.
    """
    for judge, values in verdicts.items():
        _check_few(f"verdicts in {judge!r}", values, "a score is given as one", ["score"])
    _check_few("labels", labels, "put them into classes first", ["label"])
    every = [name for values in verdicts.values() for name in values]
    order = _ordered(_classes(every, labels, given, classes), positive)
    mapped_by_user = _checked(given, every, order)
    if positive is None and len(order) == 2 and not contraries(order):
        # The words of a judge may show which class is positive where those of people do not.
        spoken = [
            mapped_by_user.get(v) for values in verdicts.values() for v in contraries(values)
        ][:2]
        if spoken == [order[1], order[0]]:
            order = order[::-1]
    names, says = [], []
    for values in verdicts.values():
        mapped = guessed_map(values, order) | {
            v: c for v, c in mapped_by_user.items() if v in values
        }
        in_class_order = sorted(
            in_order(values), key=lambda v: order.index(mapped[v]) if v in mapped else len(order)
        )
        names.append(tuple(in_class_order))
        says.append(tuple(order.index(mapped[v]) if v in mapped else -1 for v in in_class_order))
    return Meaning(order, tuple(names), tuple(says), ordered=are_levels(order))


def are_levels(classes: Sequence[str]) -> bool:
    """Whether classes are levels of a scale.

    >>> are_levels(["1", "2", "3"]), are_levels(["0", "1"]), are_levels(["a", "b", "tie"])
    (True, False, False)
    """
    return len(classes) > 2 and all(name.isdecimal() for name in classes)


def guessed_map(verdicts: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Which verdicts obviously say which label.

    >>> guessed_map(["pass", "fail"], ["0", "1"])
    {'pass': '1', 'fail': '0'}
    >>> guessed_map(["A", "tie", "tie (inconsistent)"], ["a", "b", "Tie"])
    {'A': 'a', 'tie': 'Tie'}
    >>> guessed_map([str(i) for i in range(1, 11)], ["0", "1"])  # another scale
    {}
    """
    if all(map(is_number, [*verdicts, *labels])):
        shared = [v for v in verdicts if v in labels]
        same_scale = len(shared) == len(verdicts) or (len(labels) > 2 and len(shared) > 1)
        if same_scale:
            return {v: v for v in shared}
    else:
        by_name = {label.casefold(): label for label in labels}
        same_names = {v: by_name[v.casefold()] for v in verdicts if v.casefold() in by_name}
        if same_names:
            return same_names
    ours, theirs = contraries(verdicts), contraries(labels)
    return dict(zip(ours[::-1], theirs[::-1], strict=True)) if ours and theirs else {}


def contraries(names: Sequence[str]) -> tuple[str, ...]:
    """Two names as no and yes, if they say so; else nothing.

    >>> contraries(["pass", "fail"]), contraries(["relevant", "irrelevant"]), contraries(["a", "b"])
    (('fail', 'pass'), ('irrelevant', 'relevant'), ())
    """
    if len(names) != 2:
        return ()
    for no, yes in (tuple(names), tuple(names)[::-1]):
        small_no, small_yes = no.casefold(), yes.casefold()
        negated = any(small_no == f"{prefix}{small_yes}" for prefix in NEGATIONS)
        if negated or (small_no in NO and small_yes in YES):
            return no, yes
    return ()


def _classes(
    verdicts: Sequence[str], labels: Sequence[str], given: Mapping[str, str], stated: Sequence[str]
) -> tuple[str, ...]:
    if stated:
        twice = [name for i, name in enumerate(stated) if name in stated[:i]]
        if twice:
            raise UserError(
                f"the class {twice[0]!r} is named twice; name it once", arguments=["classes"]
            )
        for label in labels:
            if label not in stated:
                raise DataError(f"the labels have {label!r}, which is not among the classes named")
        return tuple(stated)
    named_by_user = [
        right for left, right in given.items() if left in verdicts or left not in labels
    ]
    classes = dict.fromkeys([*labels, *named_by_user])
    if not classes:
        # Scores and no label: there are two classes, whatever they will be called.
        classes = dict.fromkeys(verdicts or ["0", "1"])
    every = {*classes, *verdicts}
    if len(classes) > 2 and all(map(is_number, every)) and len({*classes} & {*verdicts}) > 1:
        # Levels of one scale, some of which no person has given.
        classes = dict.fromkeys([*classes, *verdicts])
    if len(classes) == 1:
        classes = dict.fromkeys([*classes, *_counterpart(next(iter(classes)), set(verdicts))])
    if len(classes) < 2:
        what, only = ("labels" if labels else "verdicts"), next(iter(classes))
        raise DataError(
            f"the {what} are all {only!r} and nothing shows the other classes; label more items, "
            "or name the classes",
            arguments=["classes"],
        )
    return tuple(classes)


def _counterpart(label: str, verdicts: set[str]) -> list[str]:
    """The other of two classes, if the verdicts name it in the words of the label."""
    others = [v for v in verdicts if v.casefold() != label.casefold()]
    if len(others) == 1 and len(verdicts) == 2:
        return others
    pair = contraries(sorted(verdicts))
    if not pair:
        return []
    spoken = {"1": "0", "0": "1", "true": "false", "false": "true", "yes": "no", "no": "yes"}
    other = spoken.get(label.casefold())
    return [] if other is None else [other]


def _ordered(classes: Sequence[str], positive: str | None) -> tuple[str, ...]:
    """The classes in their order; with two, the positive one last."""
    order = contraries(classes) or in_order(classes)
    if positive is None:
        return order
    if positive not in order:
        raise unknown_name("class", positive, order)
    return (*(c for c in order if c != positive), positive) if len(order) == 2 else order


def _checked(
    given: Mapping[str, str], verdicts: Sequence[str], classes: Sequence[str]
) -> dict[str, str]:
    """The user's map, verdict -> class, whichever way round it was written."""
    checked: dict[str, str] = {}
    for left, right in given.items():
        verdict, label = (left, right)
        if left not in verdicts and right in verdicts and left in classes:
            verdict, label = right, left
        if verdict not in verdicts:
            raise _arguing(unknown_name("verdict", verdict, verdicts))
        if label not in classes:
            raise _arguing(unknown_name("label", label, classes))
        if checked.setdefault(verdict, label) != label:
            raise two_labels(verdict, checked[verdict], label)
    return checked


def two_labels(verdict: str, label: str, other: str) -> UserError:
    """The error of a map that gives two labels to one verdict."""
    return UserError(
        f"the verdict {verdict!r} is mapped to {label!r} and to {other!r}; map it to one of them",
        arguments=["map"],
    )


def _arguing(error: UserError) -> UserError:
    return UserError(error, arguments=["map"])


def _check_few(what: str, values: Sequence[str], cure: str, arguments: Sequence[str]) -> None:
    if len(values) > MOST_VALUES:
        raise DataError(
            f"the {what} have {len(values):,} different values ({values[0]!r}, ...), too many for "
            f"classes; {cure}",
            arguments=arguments,
        )
