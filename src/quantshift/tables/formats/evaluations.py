"""The result files of evaluation tools: one row for each sample, test or run.

A layout recognises a document, or a line of a file of lines, and makes flat rows of it. Verdicts of
a tool are columns: `success` or `score.NAME`, "pass" and "fail" where the tool knows only these.
What the tools store besides (inputs, outputs, metadata) is kept as columns too, so that people can
label the rows and groups can be compared. A new layout is a class here and a line in `LAYOUTS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

Row = dict[str, Any]

INSPECT_VALUES = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}
"""The letters that Inspect's scorers write."""


class AbstractLayout(ABC):
    """A layout of result files; name: that of the tool."""

    name: ClassVar[str]

    @abstractmethod
    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Whether a document, or a line of a file of lines, is of this layout."""

    @abstractmethod
    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """The rows of a document."""


class Inspect(AbstractLayout):
    """Logs of Inspect: a list of samples, each with the scores of one or more scorers."""

    name = "Inspect"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By the header of the log and its samples."""
        return {"eval", "samples"} <= document.keys() and _all_objects(document["samples"])

    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """A row for each sample and epoch."""
        about = document["eval"] if isinstance(document["eval"], Mapping) else {}
        for sample in document["samples"]:
            yield self.row(sample, about)

    def row(self, sample: Mapping[str, Any], about: Mapping[str, Any]) -> Row:
        """A sample, with the task and the model of its log."""
        row: Row = {
            "id": sample.get("id"),
            "epoch": sample.get("epoch"),
            "task": about.get("task"),
            "model": about.get("model"),
            "input": _text(sample.get("input")),
            "target": _text(sample.get("target")),
            "output": _completion(sample.get("output")),
        }
        for scorer, score in (sample.get("scores") or {}).items():
            details = score if isinstance(score, Mapping) else {"value": score}
            value = details.get("value")
            if isinstance(value, Mapping):
                row |= flat({f"score.{scorer}": value})
            else:
                row[f"score.{scorer}"] = _inspect_value(value)
            row[f"explanation.{scorer}"] = details.get("explanation")
        return row | flat({"metadata": sample.get("metadata") or {}})


class Promptfoo(AbstractLayout):
    """Outputs of promptfoo: a list of results, one for each test, prompt and provider."""

    name = "promptfoo"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By its list of results, which is one level deeper in newer versions."""
        results = _promptfoo_results(document)
        return bool(results) and all("success" in result for result in results)

    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """A row for each result, with a column for each kind of assertion."""
        for result in _promptfoo_results(document):
            provider, response = result.get("provider"), result.get("response")
            grading = result.get("gradingResult") or {}
            case = result.get("testCase") or {}
            row: Row = {
                "test": result.get("testIdx"),
                "description": result.get("description") or case.get("description"),
                "prompt": _of(result.get("prompt"), "label", "raw"),
                "provider": _of(provider, "label", "id"),
                "output": _text(_of(response, "output")),
                "success": passed(result.get("success")),
                "score": result.get("score"),
                "reason": grading.get("reason"),
            }
            for component in grading.get("componentResults") or ():
                assertion = component.get("assertion") or {}
                name = assertion.get("metric") or assertion.get("type") or "assertion"
                row[_new_name(row, f"assert.{name}")] = passed(component.get("pass"))
            variables = result.get("vars") or case.get("vars") or {}
            yield row | flat({"vars": variables, "named": result.get("namedScores") or {}})


class DeepEval(AbstractLayout):
    """Test runs of DeepEval: a list of test cases, each with the data of its metrics."""

    name = "DeepEval"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By its test cases, whose names are written in two ways."""
        cases = document.get("testCases", document.get("test_results"))
        return _all_objects(cases) and all(_metrics(case) is not None for case in cases)

    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """A row for each test case, with the verdict and the score of each metric."""
        for case in document.get("testCases", document.get("test_results", ())):
            row: Row = {
                "name": case.get("name"),
                "input": _text(case.get("input")),
                "output": _text(_either(case, "actualOutput", "actual_output")),
                "expected": _text(_either(case, "expectedOutput", "expected_output")),
                "success": passed(case.get("success")),
            }
            for metric in _metrics(case) or ():
                name = _new_name(row, f"metric.{metric.get('name')}")
                row[name] = passed(metric.get("success"))
                row[name.replace("metric.", "score.", 1)] = metric.get("score")
            about = case.get("metadata") or case.get("additionalMetadata") or {}
            yield row | flat({"metadata": about})


class HarnessSample(AbstractLayout):
    """Lines of the samples that lm-evaluation-harness logs: a document and its metrics."""

    name = "lm-evaluation-harness"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By what every line has."""
        return {"doc_id", "doc", "target", "filtered_resps"} <= document.keys()

    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """A row: the metrics as they are, the fields of the document as columns."""
        left_out = {"doc", "arguments", "resps", "filtered_resps", "metrics"}
        row = {key: value for key, value in document.items() if key not in left_out}
        row["target"] = _text(document["target"])
        row["output"] = _text(document["filtered_resps"])
        inner = document["doc"]
        yield row | flat({"doc": inner if isinstance(inner, Mapping) else {"text": inner}})


class LangSmithRun(AbstractLayout):
    """Lines of runs or examples that LangSmith exports: inputs, outputs and feedback."""

    name = "LangSmith"

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """By inputs and outputs that are objects, with feedback or reference outputs."""
        parts = [document.get("inputs"), document.get("outputs")]
        keys = {"feedback", "feedback_stats", "reference_outputs", "run_type"}
        return isinstance(parts[0], Mapping) and bool(keys & document.keys())

    def rows(self, document: Mapping[str, Any]) -> Iterator[Row]:
        """A row: inputs, outputs and the feedback of each key."""
        nested = {"inputs", "outputs", "reference_outputs", "feedback", "feedback_stats", "extra"}
        row = {key: value for key, value in document.items() if key not in nested}
        for part in ("inputs", "outputs", "reference_outputs"):
            row |= flat({part: document.get(part) or {}})
        yield row | dict(_feedback(document))


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


def _promptfoo_results(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    results = document.get("results")
    if isinstance(results, Mapping):
        results = results.get("results")
    return results if isinstance(results, list) and _all_objects(results) else []


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


def _feedback(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys of feedback, given as an object of values or a list of objects with a key."""
    feedback = document.get("feedback") or document.get("feedback_stats") or {}
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
