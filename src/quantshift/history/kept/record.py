"""What a history keeps of a call, as plain data and as bytes that never change."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from quantshift.answers.rows import Rows
from quantshift.answers.shares import Share
from quantshift.base.storage.plain_json import parse_json
from quantshift.claims import Assumption, Grounds, Kind, Quantity
from quantshift.errors import DataError, UserError
from quantshift.history.kept.dates import moment_of
from quantshift.judging.items.meaning import are_levels
from quantshift.judging.result import ClusterRates, JudgeQuality, MeanLevel
from quantshift.quantifying.result import Audited, Shift

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = 1
"""Version of the layout of a call."""

ACCURACY = "accuracy of the classifier"
"""The name of the accuracy's chart among those of the classes."""

MEAN = "mean of all levels"
"""The name of the mean's chart, if classes are levels of a scale."""

MOST = 1 << 53
"""No call has more items."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """How alarms are raised.

    baseline: the number of batches at the start of a series that later ones are compared with;
    baseline_from: the first day that counts (None: from the first batch). false_alarms_per_year: in
    all series and classes together. batches_per_year: None to take it from the dates of the
    batches.
    """

    baseline: int = 20
    baseline_from: str | None = None
    false_alarms_per_year: float = 1.0
    batches_per_year: float | None = None


@dataclass(frozen=True)
class ModelSummary:
    """Which model estimated, and what it was trained on.

    digest: the same for models of the same classes, columns and method whose scores on held-out
    training items are the same.
    """

    digest: str
    method: str
    classifier: str
    trained_on: str
    n_items: int
    prevalence: Mapping[str, float]
    accuracy: float | None


@dataclass(frozen=True)
class JudgedEntry:
    """What labels say about the judges in one batch.

    given: whether labelled items are a random sample of the items of their "class" or of their
    "verdict"; empty if they stand for nothing but themselves. n_clusters: the number of clusters of
    labelled items, if some of them share one.
    """

    n_labelled: int
    design: str
    given: str
    judges: tuple[JudgeQuality, ...]
    n_clusters: int | None = None


@dataclass(frozen=True)
class BatchEntry:
    """One batch as one call found it.

    shares: the estimates to use; unaudited: those of the method alone.
    shift: what the tests say; None where nothing was tested.
    changed: classes whose share differs from that of the batch before it in the same call.
    accuracy: that of the classifier, estimated without labels, or the agreement of the first judge
        with people; None where it is not known. judged: what labels say about the judges, for
        `judge`.
    mean: the mean of classes that are levels of a scale, in its units; None for other classes.
    """

    name: str
    n_items: int
    left_out: int
    shares: tuple[Share, ...]
    unaudited: tuple[Share, ...]
    grounds: Grounds
    shift: Shift | None
    changed: tuple[str, ...]
    unreliable: bool
    audit: Audited | None
    accuracy: Quantity | None = None
    judged: JudgedEntry | None = None
    mean: MeanLevel | None = None

    @property
    def kind(self) -> Kind:
        """The kind of the answer."""
        return self.grounds.kind

    @property
    def is_shifted(self) -> bool:
        """Whether more than the prevalence has changed."""
        return self.shift is not None and self.shift.is_significant

    @property
    def can_be_estimated(self) -> bool:
        """Whether there was any estimate."""
        return self.kind is not Kind.CANNOT


@dataclass(frozen=True)
class HistoryEntry:
    """What one call of `quantify` or `judge` found.

    time: when it was made (UTC, ISO 8601); version: that of quantshift. conditions: bounds on
    shares that made it fail ("spam>0.05"). rows: what became of the rows of each sample.
    """

    time: str
    version: str
    classes: tuple[str, ...]
    headline: str
    names: Mapping[str, str]
    level: float
    model: ModelSummary
    batches: tuple[BatchEntry, ...]
    rows: tuple[Rows, ...]
    conditions: tuple[str, ...]
    limits: Limits

    @property
    def lead(self) -> str:
        """What charts show first: the mean, if classes are levels of a scale, else the headline."""
        return MEAN if MEAN in self.names else self.headline

    @property
    def charted(self) -> tuple[str, ...]:
        """What has a value in every batch: all classes, and the mean first if there is one."""
        return self.classes if self.lead != MEAN else (MEAN, *self.classes)

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest level, if there is a mean."""
        levels = [float(name) for name in self.classes]
        return min(levels), max(levels)

    def to_bytes(self) -> bytes:
        """The call as JSON; the same call gives the same bytes."""
        content = {"format": FORMAT, **asdict(self)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return f"{text}\n".encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "HistoryEntry":
        """The call that `to_bytes` has written; a DataError says what is wrong with it."""
        try:
            record = parse_json(content)
        except ValueError as error:
            raise DataError("is not JSON") from error
        if not isinstance(record, dict):
            raise DataError("is not a record of a call")
        version = record.pop("format", None)
        if version != FORMAT:
            raise DataError(f"has format {version}, this is {FORMAT}; upgrade quantshift")
        # Imported here: it takes long, and a first call has nothing to read.
        from pydantic import ValidationError

        try:
            call = _calls().validate_json(json.dumps(record))
        except ValidationError as error:
            first = error.errors()[0]
            location = ".".join(map(str, first["loc"]))
            raise DataError(f"is not a record of a call ({location}: {first['msg']})") from error
        for what, holds in _checks(call):
            if not holds:
                raise DataError(f"is not a record of a call ({what})")
        return call


@cache
def _calls() -> "TypeAdapter[HistoryEntry]":
    from pydantic import TypeAdapter

    return TypeAdapter(HistoryEntry)


def _checks(call: HistoryEntry) -> Iterator[tuple[str, bool]]:
    """What holds for every call that `entry_of` makes, and whether it holds for this one."""
    yield "time", _is_time(call.time)
    yield "classes", len(set(call.classes)) == len(call.classes) >= 2
    yield "headline", call.headline in call.classes
    yield "level", 0 < call.level < 1
    yield "names", MEAN not in call.names or are_levels(call.classes)
    yield "batches", bool(call.batches)
    for i, batch in enumerate(call.batches):
        yield f"batches.{i}: items", all(_is_number(n) for n in (batch.n_items, batch.left_out))
        for name, shares in (("shares", batch.shares), ("unaudited", batch.unaudited)):
            labels = tuple(share.label for share in shares)
            yield f"batches.{i}.{name}: classes", sorted(labels) == sorted(call.classes)
            yield f"batches.{i}.{name}: from 0 to 1", all(map(_is_share, shares))
        yield f"batches.{i}: p_value", batch.shift is None or 0 <= batch.shift.p_value <= 1
        yield f"batches.{i}: accuracy", batch.accuracy is None or _is_part(batch.accuracy)
        yield f"batches.{i}: judged", batch.judged is None or _is_judged(batch.judged, call)
        yield f"batches.{i}: mean", batch.mean is None or _is_mean(batch.mean, call)
        yield f"batches.{i}: audit", batch.audit is None or _is_number(batch.audit.n_labelled)
    yield "model: items", _is_number(call.model.n_items)
    yield "limits: baseline", 1 <= call.limits.baseline <= MOST
    yield (
        "limits: baseline_from",
        call.limits.baseline_from is None or _is_time(call.limits.baseline_from),
    )
    rates = (call.limits.false_alarms_per_year, call.limits.batches_per_year)
    yield "limits: per year", all(rate is None or 0 < rate < math.inf for rate in rates)


def _is_time(text: str) -> bool:
    try:
        moment_of(text)
    except UserError:
        return False
    return True


def _is_number(n: int) -> bool:
    """Whether there can be this many items; larger numbers are not exact as floats."""
    return 0 <= n <= MOST


def _is_judged(judged: JudgedEntry, call: HistoryEntry) -> bool:
    """Whether numbers of labels and items fit the classes and verdicts."""
    return _is_number(judged.n_labelled) and all(
        len(judge.says) == len(judge.items) == len(judge.verdicts)
        and len(judge.counts) == len(call.classes)
        and all(len(row) == len(judge.verdicts) for row in judge.counts)
        and all(map(_is_number, (*judge.items, *(n for row in judge.counts for n in row))))
        and all(label is None or label in call.classes for label in judge.says)
        and (judge.cluster_rates is None or _are_rates(judge.cluster_rates, judge))
        for judge in judged.judges
    )


def _are_rates(rates: ClusterRates, judge: JudgeQuality) -> bool:
    """Whether there is one for each class and verdict, from 0 to the number of clusters."""
    sizes = len(rates.by_class) == len(judge.counts) and len(rates.by_verdict) == len(judge.says)
    return sizes and all(
        _is_number(rate.n) and -_ROUNDING <= rate.total <= rate.n + _ROUNDING
        for rate in (*rates.by_class, *rates.by_verdict)
    )


def _is_mean(mean: MeanLevel, call: HistoryEntry) -> bool:
    """Whether classes are levels, and the mean is between the lowest and the highest."""
    if call.lead != MEAN:
        return False
    lowest, highest = call.scale
    numbers = (lowest, mean.low, mean.estimate, mean.high, highest)
    return all(one <= other + _ROUNDING for one, other in pairwise(numbers))


def _is_share(share: Share) -> bool:
    """Whether all numbers are from 0 to 1 and limits in order, also of two intervals."""
    return all(map(_is_part, (share, *share.parts)))


def _is_part(part: Quantity) -> bool:
    """Whether a number is from 0 to 1, and its limits are in order."""
    known = part.estimate is None or -_ROUNDING <= part.estimate <= 1 + _ROUNDING
    return known and -_ROUNDING <= part.low <= part.high + _ROUNDING <= 1 + 2 * _ROUNDING


def charts_of_either(label: str) -> dict[str, str]:
    """What the charts of the two intervals for a class are called, by their conditions.

    >>> list(charts_of_either("spam").values())[0]
    'spam, if items of a class look as they did in training'
    """
    conditions = (f"if {each.meaning}" for each in (Assumption.PRIOR, Assumption.COVARIATE))
    return {condition: f"{label}, {condition}" for condition in conditions}
