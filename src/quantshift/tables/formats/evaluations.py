"""The result files of evaluation tools: one row for each sample, test or run.

A layout recognises a document, or a line of a file of lines, and makes flat rows of it. Verdicts of
a tool are columns: `success` or `score.NAME`, "pass" and "fail" where the tool knows only these.
What the tools store besides (inputs, outputs, metadata) is kept as columns too, so that people can
label the rows and groups can be compared. A new layout is a class here and a line in `LAYOUTS`.

A layout may rely on the types that its tool writes: an entry of another type is named in one place
(`AbstractLayout.read`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from quantshift.claims.findings import Finding
from quantshift.errors import DataError
from quantshift.tables.columns.findings import TableFindings

Row = dict[str, Any]

INSPECT_VALUES = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}
"""The letters that Inspect's scorers write."""

PROMPTFOO_ERROR = 2
"""The reason for a failure that promptfoo gives where a test could not be done."""

_ERROR = TableFindings.ENDED_IN_ERROR.found()

MOST_SHOWN = 40
"""The most characters that messages show of a value."""

_NOT_AS_WRITTEN = (
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a field of another type than the tool writes leads to."""


class ReadRow(NamedTuple):
    """A row; remark: what is found of it and of others like it, whose number is added.

    was_undecodable: whether it had bytes that are not UTF-8.
    """

    cells: Row
    remark: Finding | None = None
    was_undecodable: bool = False


class AbstractLayout(ABC):
    """A layout of result files.

    name: that of the tool. entry: what a row is made of, in messages. identity: the columns that
    say which rows are about one item: rows of several epochs, prompts or filters.
    """

    name: ClassVar[str]
    entry: ClassVar[str]
    identity: ClassVar[tuple[str, ...]]

    @abstractmethod
    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether a document, or a line of a file of lines, is of this layout."""

    @abstractmethod
    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """What the rows of a document are made of."""

    @abstractmethod
    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """The row of an entry. document: what it is part of."""

    @abstractmethod
    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """What else the user should know: that a document is not complete."""

    def rows(self, where: str, document: Mapping[str, Any]) -> Iterator[ReadRow]:
        """The rows of a document. where: the file, and perhaps the line, for messages."""
        for number, entry in enumerate(self.entries(document), start=1):
            yield self.read(f"{where}: {self.entry} {number}", entry, document)

    def read(self, where: str, entry: Any, document: Mapping[str, Any]) -> ReadRow:
        """The row of an entry; one that cannot be read is an error that names it."""
        try:
            return self.row(entry, document)
        except DataError as error:
            raise DataError(f"{where}: {error}") from error
        except _NOT_AS_WRITTEN as error:
            raise DataError(
                f"{where} is not as {self.name} writes it{self._culprit(entry, document)}"
            ) from error

    def _culprit(self, entry: Any, document: Mapping[str, Any]) -> str:
        """The field without which an entry can be read."""
        if not isinstance(entry, Mapping):
            return f": it is no object, but {_shown(entry)}"
        for name, value in entry.items():
            try:
                self.row({**entry, name: None}, document)
            except _NOT_AS_WRITTEN:
                continue
            return f": {name!r} is {_shown(value)}"
        return ""


class Inspect(AbstractLayout):
    """Logs of Inspect: a list of samples, each with the scores of one or more scorers."""

    name = "Inspect"
    entry = "sample"
    identity = ("task", "id")

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By the header of the log and its samples."""
        return {"eval", "samples"} <= document.keys() and _all_objects(document["samples"])

    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """Its samples, one for each epoch."""
        return list(document["samples"])

    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """A sample, with the task and the model of its log."""
        about = _object_of(document, "eval")
        row: Row = {
            "id": entry.get("id"),
            "epoch": entry.get("epoch"),
            "task": about.get("task"),
            "model": about.get("model"),
            "input": _text(entry.get("input")),
            "target": _text(entry.get("target")),
            "output": _completion(entry.get("output")),
        }
        scores = entry.get("scores") or {}
        for scorer, score in scores.items():
            details = score if isinstance(score, Mapping) else {"value": score}
            value = details.get("value")
            if isinstance(value, Mapping):
                row |= flat({f"score.{scorer}": value})
            else:
                row[f"score.{scorer}"] = _inspect_value(value)
            row[f"explanation.{scorer}"] = details.get("explanation")
        row |= flat({"metadata": entry.get("metadata") or {}})
        return ReadRow(row, _ERROR if entry.get("error") and not scores else None)

    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """That the evaluation did not end well, or that there are not as many samples as it had."""
        status = document.get("status")
        if isinstance(status, str) and status != "success":
            yield TableFindings.LOG_NOT_SUCCESSFUL.found(status=status)
        expected = _inspect_total(document)
        if expected is not None and expected != n_entries:
            yield TableFindings.SAMPLES_MISSING.found(n=n_entries, n_expected=expected)


class Promptfoo(AbstractLayout):
    """Outputs of promptfoo: a list of results, one for each test, prompt and provider."""

    name = "promptfoo"
    entry = "result"
    identity = ("test",)

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By its list of results, one level deeper in newer versions, or a line of such a list."""
        results = self.entries(document)
        return bool(results) and all("success" in result for result in results)

    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """The results, or a line by itself."""
        if {"promptIdx", "testIdx", "success"} <= document.keys():
            return [document]
        results = document.get("results")
        if isinstance(results, Mapping):
            results = results.get("results")
        return results if isinstance(results, list) and _all_objects(results) else []

    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """A result, with a column for each kind of assertion.

        A test that could not be done has not failed: it has no verdict, and no score.
        """
        grading = entry.get("gradingResult") or {}
        case = entry.get("testCase") or {}
        # An error is also what newer versions call the reason of a failed assertion.
        reason = entry.get("failureReason")
        errored = bool(entry.get("error")) and not grading if reason is None else False
        errored = errored or reason == PROMPTFOO_ERROR
        row: Row = {
            "test": entry.get("testIdx"),
            "description": entry.get("description") or case.get("description"),
            "prompt": _of(entry.get("prompt"), "label", "raw"),
            "provider": _of(entry.get("provider"), "label", "id"),
            "output": _text(_of(entry.get("response"), "output")),
            "success": None if errored else passed(entry.get("success")),
            "score": None if errored else entry.get("score"),
            "reason": grading.get("reason"),
        }
        if errored:
            row["error"] = entry.get("error")
        for component in grading.get("componentResults") or ():
            assertion = component.get("assertion") or {}
            name = assertion.get("metric") or assertion.get("type") or "assertion"
            row[_new_name(row, f"assert.{name}")] = passed(component.get("pass"))
        variables = entry.get("vars") or case.get("vars") or {}
        row |= flat({"vars": variables, "named": entry.get("namedScores") or {}})
        return ReadRow(row, _ERROR if errored else None)

    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """None."""
        return iter(())


class DeepEval(AbstractLayout):
    """Test runs of DeepEval: a list of test cases, each with the data of its metrics."""

    name = "DeepEval"
    entry = "test case"
    identity = ("name",)

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By its test cases, whose names are written in two ways."""
        cases = document.get("testCases", document.get("test_results"))
        return _all_objects(cases) and all(_metrics(case) is not None for case in cases)

    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """Its test cases."""
        return list(document.get("testCases", document.get("test_results", ())))

    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """A test case, with the verdict and the score of each metric."""
        row: Row = {
            "name": entry.get("name"),
            "input": _text(entry.get("input")),
            "output": _text(_either(entry, "actualOutput", "actual_output")),
            "expected": _text(_either(entry, "expectedOutput", "expected_output")),
            "success": passed(entry.get("success")),
        }
        for metric in _metrics(entry) or ():
            name = _new_name(row, f"metric.{metric.get('name')}")
            row[name] = passed(metric.get("success"))
            row[name.replace("metric.", "score.", 1)] = metric.get("score")
        about = entry.get("metadata") or entry.get("additionalMetadata") or {}
        return ReadRow(row | flat({"metadata": about}))

    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """None."""
        return iter(())


class HarnessSample(AbstractLayout):
    """Lines of the samples that lm-evaluation-harness logs: a document and its metrics."""

    name = "lm-evaluation-harness"
    entry = "sample"
    identity = ("doc_id",)

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By what every line has."""
        return {"doc_id", "doc", "target", "filtered_resps"} <= document.keys()

    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """The line itself."""
        return [document]

    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """The metrics as they are, the fields of the document as columns."""
        left_out = {"doc", "arguments", "resps", "filtered_resps", "metrics"}
        row = {key: value for key, value in entry.items() if key not in left_out}
        row["target"] = _text(entry["target"])
        row["output"] = _text(entry["filtered_resps"])
        inner = entry["doc"]
        row |= flat({"doc": inner if isinstance(inner, Mapping) else {"text": inner}})
        return ReadRow(row)

    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """None."""
        return iter(())


class LangSmithRun(AbstractLayout):
    """Lines of runs or examples that LangSmith exports: inputs, outputs and feedback."""

    name = "LangSmith"
    entry = "run"
    identity = ("reference_example_id",)

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By inputs and outputs that are objects, with feedback or reference outputs."""
        parts = [document.get("inputs"), document.get("outputs")]
        keys = {"feedback", "feedback_stats", "reference_outputs", "run_type"}
        return isinstance(parts[0], Mapping) and bool(keys & document.keys())

    def entries(self, document: Mapping[str, Any]) -> Sequence[Any]:
        """The line itself."""
        return [document]

    def row(self, entry: Mapping[str, Any], document: Mapping[str, Any]) -> ReadRow:
        """Inputs, outputs and the feedback of each key."""
        nested = {"inputs", "outputs", "reference_outputs", "feedback", "feedback_stats", "extra"}
        row = {key: value for key, value in entry.items() if key not in nested}
        for part in ("inputs", "outputs", "reference_outputs"):
            row |= flat({part: entry.get(part) or {}})
        feedback, remark = _one_of_a_key(_feedback(entry))
        return ReadRow(row | feedback, remark)

    def findings(self, document: Mapping[str, Any], n_entries: int) -> Iterator[Finding]:
        """None."""
        return iter(())


LAYOUTS: tuple[AbstractLayout, ...] = (
    Inspect(),
    Promptfoo(),
    DeepEval(),
    HarnessSample(),
    LangSmithRun(),
)
"""All layouts; the first that recognises a document is used."""


def evaluation_layout(document: Any) -> AbstractLayout | None:
    """The layout of a document or of a line, if it is one."""
    if not isinstance(document, Mapping):
        return None
    return next((layout for layout in LAYOUTS if layout.recognises(document)), None)


def flat(nested: Mapping[str, Any], before: str = "") -> Row:
    """Objects within objects as columns.

    >>> flat({"a": {"b": 1, "c": {"d": 2}}})
    {'a.b': 1, 'a.c.d': 2}
    """
    row: Row = {}
    for key, value in nested.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            row |= flat(value, f"{name}.")
        else:
            row[name] = _text(value) if isinstance(value, list) else value
    return row


def passed(value: Any) -> Any:
    """A truth value as a verdict; anything else as it is."""
    return ("pass" if value else "fail") if isinstance(value, bool) else value


def _inspect_value(value: Any) -> Any:
    return INSPECT_VALUES.get(value, value) if isinstance(value, str) else passed(value)


def _all_objects(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(v, Mapping) for v in values)


def _object_of(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object in a field; an empty one where there is none."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def _inspect_total(document: Mapping[str, Any]) -> int | None:
    """How many samples an evaluation had in all epochs, by the header of its log.

    None if the header does not say, or if the evaluation was meant to stop before.
    """
    results = _object_of(document, "results")
    total = results.get("total_samples")
    if total is None:
        about = _object_of(document, "eval")
        ids = _object_of(about, "dataset").get("sample_ids")
        epochs = _object_of(about, "config").get("epochs") or 1
        total = len(ids) * epochs if isinstance(ids, list) and isinstance(epochs, int) else None
    is_known = isinstance(total, int) and total > 0 and not results.get("early_stopping")
    return total if is_known else None


def _shown(value: Any) -> str:
    """A value in a message: what it begins with."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _metrics(case: Mapping[str, Any]) -> Sequence[Mapping[str, Any]] | None:
    metrics = _either(case, "metricsData", "metrics_data")
    return metrics if isinstance(metrics, list) else None


def _either(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if name in row), None)


def _of(value: Any, *names: str) -> Any:
    """The first of these fields that an object has; any other value as it is."""
    if not isinstance(value, Mapping):
        return value
    return next((value[name] for name in names if value.get(name)), None)


def _new_name(row: Mapping[str, Any], name: str) -> str:
    """The name, with a number if the row has it already."""
    names = (name, *(f"{name} {i}" for i in range(2, len(row) + 3)))
    return next(each for each in names if each not in row)


def _text(value: Any) -> Any:
    """Messages and lists as one text, anything else as it is."""
    if isinstance(value, list):
        parts = [_of(part, "content", "text") for part in value]
        return "\n".join(str(_text(part)) for part in parts if part is not None)
    return str(dict(value)) if isinstance(value, Mapping) else value


def _completion(output: Any) -> Any:
    """What the model said, from the output of an Inspect sample."""
    if not isinstance(output, Mapping):
        return _text(output)
    if output.get("completion") is not None:
        return output["completion"]
    choices = output.get("choices")
    if not isinstance(choices, list) or not _all_objects(choices):
        return None
    message = choices[0].get("message")
    return _text(message.get("content")) if isinstance(message, Mapping) else None


def _feedback(run: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys of feedback, given as an object of values or a list of objects with a key."""
    feedback = run.get("feedback") or run.get("feedback_stats") or {}
    entries = (
        feedback.items() if isinstance(feedback, Mapping) else ((f.get("key"), f) for f in feedback)
    )
    for key, entry in entries:
        value = entry
        if isinstance(entry, Mapping):
            value = _either(entry, "value", "score", "avg")
            if value is None:
                value = entry.get("score")
        yield f"feedback.{key}", passed(value)


def _one_of_a_key(feedback: Iterator[tuple[str, Any]]) -> tuple[Row, Finding | None]:
    """Feedback by its name, and what is found of names with several values.

    Nobody can tell which of several holds: they get a column each, and the name has none of them.
    """
    values: dict[str, list[Any]] = {}
    for name, value in feedback:
        given = values.setdefault(name, [])
        if value not in given:
            given.append(value)
    row: Row = {}
    for name, given in values.items():
        row[name] = given[0] if len(given) == 1 else None
        if len(given) > 1:
            row |= {f"{name} {i}": value for i, value in enumerate(given, start=1)}
    several = next((name for name, given in values.items() if len(given) > 1), None)
    if several is None:
        return row, None
    return row, TableFindings.SEVERAL_VALUES.found(name=several, numbered=f"{several} 1")
