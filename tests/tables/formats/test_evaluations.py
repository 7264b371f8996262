"""Result files of evaluation tools, in the layouts that the tools write."""

import json
import zipfile

import pytest

from quantshift.errors import DataError
from quantshift.judging import judge
from quantshift.judging.findings import JudgeTableFindings
from quantshift.tables.columns.findings import TableFindings
from quantshift.tables.reading import open_table
from tests.found import codes_of, numbers_of

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "security", "model": "openai/gpt-4", "created": "2026-01-01T00:00:00"},
    "plan": {"steps": []},
    "results": {"scores": [{"name": "model_graded_qa", "metrics": {"accuracy": {"value": 0.5}}}]},
    "samples": [
        {
            "id": i,
            "epoch": 1,
            "input": [{"role": "user", "content": f"question {i}"}],
            "target": "answer",
            "output": {"choices": [{"message": {"role": "assistant", "content": f"said {i}"}}]},
            "scores": {
                "model_graded_qa": {"value": "C" if i % 3 else "I", "explanation": "because"},
                "includes": {"value": bool(i % 2)},
            },
            "metadata": {"topic": "xss", "human": None if i > 20 else ("C" if i % 3 else "I")},
        }
        for i in range(60)
    ],
}
PROMPTFOO = {
    "evalId": "eval-abc-2026-01-01T00:00:00",
    "results": {
        "version": 3,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "prompts": [{"label": "short", "raw": "Answer {{q}}"}],
        "results": [
            {
                "promptIdx": 0,
                "testIdx": i,
                "testCase": {"vars": {"q": f"q{i}"}, "assert": [{"type": "llm-rubric"}]},
                "provider": {"id": "openai:gpt-4", "label": ""},
                "prompt": {"raw": "Answer", "label": "short"},
                "vars": {"q": f"q{i}", "topic": {"name": "law"}},
                "response": {"output": f"said {i}", "cached": False},
                "success": i % 3 > 0,
                "score": 1 if i % 3 else 0,
                "gradingResult": {
                    "pass": i % 3 > 0,
                    "reason": "ok",
                    "componentResults": [
                        {"pass": i % 3 > 0, "score": 1, "assertion": {"type": "llm-rubric"}},
                        {"pass": True, "score": 1, "assertion": {"type": "contains"}},
                        {"pass": False, "score": 0, "assertion": {"type": "contains"}},
                    ],
                },
                "namedScores": {"tone": 0.5},
            }
            for i in range(4)
        ],
        "stats": {"successes": 2, "failures": 2, "errors": 0},
    },
    "config": {},
}
DEEPEVAL = {
    "testRunId": "run",
    "testCases": [
        {
            "name": f"case_{i}",
            "input": "q",
            "actualOutput": "a",
            "expectedOutput": "e",
            "success": i > 0,
            "metricsData": [
                {"name": "Correctness [GEval]", "threshold": 0.5, "success": i > 0, "score": i / 2}
            ],
            "metadata": {"topic": "law"},
        }
        for i in range(3)
    ],
    "conversationalTestCases": [],
}
HARNESS = {
    "doc_id": 7,
    "doc": {"question": "2+2?", "choices": ["3", "4"]},
    "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "2+2?"}},
    "resps": [["4"]],
    "filtered_resps": ["4"],
    "filter": "strict-match",
    "metrics": ["exact_match"],
    "doc_hash": "ab",
    "exact_match": 1.0,
}
LANGSMITH = {
    "id": "run-1",
    "run_type": "chain",
    "inputs": {"question": "2+2?"},
    "outputs": {"answer": "4"},
    "reference_outputs": {"answer": "4"},
    "feedback": [{"key": "correct", "score": 1}, {"key": "tone", "value": "kind"}],
}


def rows(path):
    table = open_table(path, name="the table")
    return [row for chunk in table.chunks(list(table.columns)) for row in chunk.columns.to_dicts()]


@pytest.fixture(params=[None, 2], ids=["one line", "indented"])
def written(request, tmp_path):
    def write(document):
        path = tmp_path / "results.json"
        path.write_text(json.dumps(document, indent=request.param), "utf-8")
        return path

    return write


def test_a_log_of_inspect(written, tmp_path):
    found = rows(written(INSPECT))
    assert found[1] == {
        "id": 1,
        "epoch": 1,
        "task": "security",
        "model": "openai/gpt-4",
        "input": "question 1",
        "target": "answer",
        "output": "said 1",
        "score.model_graded_qa": "correct",
        "explanation.model_graded_qa": "because",
        "score.includes": "pass",
        "explanation.includes": None,
        "metadata.topic": "xss",
        "metadata.human": "C",
    }
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": INSPECT["eval"]}))
        for sample in INSPECT["samples"]:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    assert rows(tmp_path / "log.eval") == found


def test_an_output_of_promptfoo(written):
    found = rows(written(PROMPTFOO))
    assert [row["success"] for row in found] == ["fail", "pass", "pass", "fail"]
    assert found[1] == {
        "test": 1,
        "description": None,
        "prompt": "short",
        "provider": "openai:gpt-4",
        "output": "said 1",
        "success": "pass",
        "score": 1,
        "reason": "ok",
        "assert.llm-rubric": "pass",
        "assert.contains": "pass",
        "assert.contains 2": "fail",
        "vars.q": "q1",
        "vars.topic.name": "law",
        "named.tone": 0.5,
    }


@pytest.mark.parametrize("snake", [False, True])
def test_a_test_run_of_deepeval(written, snake):
    document = DEEPEVAL
    if snake:
        names = {"actualOutput": "actual_output", "expectedOutput": "expected_output"}
        names |= {"metricsData": "metrics_data"}
        cases = [{names.get(k, k): v for k, v in case.items()} for case in DEEPEVAL["testCases"]]
        document = {"test_results": cases}
    found = rows(written(document))
    assert found[1] == {
        "name": "case_1",
        "input": "q",
        "output": "a",
        "expected": "e",
        "success": "pass",
        "metric.Correctness [GEval]": "pass",
        "score.Correctness [GEval]": 0.5,
        "metadata.topic": "law",
    }


def test_lines_of_the_harness_and_of_langsmith(tmp_path):
    path = tmp_path / "samples_gsm8k_2026.jsonl"
    path.write_text("\n".join(json.dumps({**HARNESS, "doc_id": i}) for i in range(3)), "utf-8")
    found = rows(path)
    assert [row["doc_id"] for row in found] == [0, 1, 2]
    assert found[0]["exact_match"] == 1.0
    assert found[0]["doc.question"] == "2+2?"
    assert found[0]["output"] == "4"
    path = tmp_path / "runs.jsonl"
    path.write_text(
        json.dumps(LANGSMITH) + "\n" + json.dumps({**LANGSMITH, "id": "run-2"}), "utf-8"
    )
    assert rows(path)[1] == {
        "id": "run-2",
        "run_type": "chain",
        "inputs.question": "2+2?",
        "outputs.answer": "4",
        "reference_outputs.answer": "4",
        "feedback.correct": 1,
        "feedback.tone": "kind",
    }


def test_other_json_is_read_as_before(tmp_path):
    path = tmp_path / "plain.jsonl"
    path.write_text('{"a": 1, "results": "x"}\n{"a": 2, "results": "y"}\n', "utf-8")
    assert [row["a"] for row in rows(path)] == [1, 2]
    path.write_text('{"a": 1}', "utf-8")
    assert rows(path) == [{"a": 1}]


def test_a_log_is_judged_as_it_is(written):
    result = judge(
        written(INSPECT),
        verdict="score.model_graded_qa",
        label="metadata.human",
        labels="random",
        map={"correct": "C", "incorrect": "I"},
        positive="C",
    )
    assert result.overall.n_items == 60
    assert result.overall.n_labelled == 21
    assert result["C"].low <= 2 / 3 <= result["C"].high


def archived(path, log, left_out=()):
    """A log as Inspect writes it: an archive with the header and a file for each sample."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "header.json", json.dumps({k: v for k, v in log.items() if k != "samples"})
        )
        for sample in log["samples"]:
            if sample["id"] not in left_out:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return path


def headed(total=None, **about):
    """The log with a header that says how many samples it has."""
    results = {} if total is None else {"total_samples": total, "completed_samples": total}
    return INSPECT | {"results": results} | about


def findings(path):
    return open_table(path, name="the table").findings


@pytest.mark.parametrize("as_archive", [False, True])
def test_a_log_of_inspect_is_compared_with_its_header(tmp_path, as_archive):
    """A log of 60 of 120 samples was taken for complete, whatever its status."""

    def noted(log):
        if as_archive:
            return findings(archived(tmp_path / "log.eval", log))
        (tmp_path / "log.json").write_text(json.dumps(log))
        return findings(tmp_path / "log.json")

    by_ids = {"dataset": {"sample_ids": list(range(60))}, "config": {"epochs": 2}}
    assert noted(headed(60)) == noted(INSPECT) == ()
    assert len(noted(headed(60, status="cancelled"))) == 1
    assert len(noted(headed(60, status="error"))) == 1
    missing = TableFindings.SAMPLES_MISSING.found(n=60, n_expected=120)
    assert noted(headed(120)) == (missing,)
    assert noted(headed(eval=by_ids)) == (missing,)
    assert len(noted(headed(120, status="error"))) == 2
    early = headed(120)
    early["results"]["early_stopping"] = {"manager": "m"}
    assert noted(early) == ()


def test_a_log_that_was_not_finished_says_so(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": INSPECT["eval"]}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(INSPECT["samples"][1]))
    assert [row["task"] for row in rows(path)] == ["security"]
    assert len(findings(path)) == 1


def test_a_damaged_list_of_files_is_noticed(tmp_path):
    """A flipped bit there left out a sample without a word."""
    path = archived(tmp_path / "log.eval", headed(60))
    whole = path.read_bytes()
    name = b"samples/7_epoch_1.json"
    place = whole.rindex(name)
    for i in (0, 7, 8, 20):
        flipped = bytearray(whole)
        flipped[place + i] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(DataError, match=r"log\.eval"):
            open_table(path)


def test_a_sample_that_was_written_again_counts_once(tmp_path):
    """Both were rows, with the content of the second."""
    path = archived(tmp_path / "log.eval", headed(60))
    again = INSPECT["samples"][7] | {"target": "again"}
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("samples/7_epoch_1.json", json.dumps(again))
    found = rows(path)
    assert [row["target"] for row in found].count("again") == 1
    assert len(found) == 60


OTHER_TYPES = [
    (INSPECT, "samples", "scores", ["C"]),
    (INSPECT, "samples", "scores", "C"),
    (PROMPTFOO, "results", "gradingResult", "passed"),
    (PROMPTFOO, "results", "gradingResult", {"componentResults": [1]}),
    (PROMPTFOO, "results", "gradingResult", {"componentResults": 1}),
    (PROMPTFOO, "results", "testCase", ["x"]),
    (DEEPEVAL, "testCases", "metricsData", ["Correctness"]),
]


@pytest.mark.parametrize(("document", "inside", "field", "value"), OTHER_TYPES)
def test_an_entry_with_a_field_of_another_type_is_named(written, document, inside, field, value):
    """It was an AttributeError, with the request to report it."""
    changed = json.loads(json.dumps(document))
    entries = changed[inside]
    entries = entries["results"] if isinstance(entries, dict) else entries
    entries[2][field] = value
    with pytest.raises(DataError) as caught:
        open_table(written(changed))
    assert " 3 " in str(caught.value)
    assert repr(field) in str(caught.value)


def test_a_line_with_a_field_of_another_type_is_named(tmp_path):
    path = tmp_path / "runs.jsonl"
    lines = [LANGSMITH, {**LANGSMITH, "feedback": [3]}]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with pytest.raises(DataError, match=r"line 2.*'feedback'"):
        open_table(path)


def test_a_sample_in_an_archive_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "log.eval"
    for content, told in (([1], r"samples/1.json"), ({"scores": [1]}, r"samples/1.json.*'scores'")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps({"status": "success"}))
            archive.writestr("samples/1.json", json.dumps(content))
        with pytest.raises(DataError, match=told):
            open_table(path)


@pytest.mark.parametrize("lines", [False, True])
def test_a_test_that_ended_in_an_error_has_no_verdict(tmp_path, lines):
    """It counted as "fail"."""
    document = json.loads(json.dumps(PROMPTFOO))
    results = document["results"]["results"]
    results[1] |= {"success": False, "score": 0, "error": "429", "failureReason": 2}
    results[2] |= {"success": False, "score": 0, "error": "timeout"}  # before version 0.100
    del results[2]["gradingResult"]
    # The reason of a failed assertion is called an error too.
    results[3] |= {"success": False, "score": 0, "error": "not so", "failureReason": 1}
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(map(json.dumps, results)) if lines else json.dumps(document), "utf-8")
    found = rows(path)
    assert [row["success"] for row in found] == ["fail", None, None, "fail"]
    assert [row["score"] for row in found] == [0, None, None, 0]
    assert [row["error"] for row in found] == [None, "429", "timeout", None]
    assert findings(path) == (TableFindings.ENDED_IN_ERROR.found(n=2),)


def test_several_values_of_one_feedback_are_named(tmp_path):
    """The last one won."""
    path = tmp_path / "runs.jsonl"
    twice = [
        *LANGSMITH["feedback"],
        {"key": "correct", "score": 0},
        {"key": "tone", "value": "kind"},
    ]
    runs = [LANGSMITH, {**LANGSMITH, "feedback": twice}]
    path.write_text("\n".join(map(json.dumps, runs)), "utf-8")
    found = rows(path)
    assert [row["feedback.correct"] for row in found] == [1, None]
    assert (found[1]["feedback.correct 1"], found[1]["feedback.correct 2"]) == (1, 0)
    assert [row["feedback.tone"] for row in found] == ["kind", "kind"]
    (several,) = findings(path)
    assert several.code is TableFindings.SEVERAL_VALUES
    assert (several.numbers["n"], several.numbers["name"]) == (1, "feedback.correct")


@pytest.fixture
def with_epochs(tmp_path):
    """A log of 60 questions in two tasks, each answered four times alike."""
    samples = [sample | {"epoch": epoch} for sample in INSPECT["samples"] for epoch in (1, 2, 3, 4)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(INSPECT | {"samples": samples}), "utf-8")
    return path


def test_epochs_of_a_sample_are_a_cluster(with_epochs, tmp_path):
    """Without --id they counted as independent items."""
    options = {
        "verdict": "score.model_graded_qa",
        "label": "metadata.human",
        "labels": "random",
        "map": {"correct": "C", "incorrect": "I"},
        "positive": "C",
    }
    without_id = judge(with_epochs, **options)
    with_id = judge(with_epochs, id="id", **options)
    assert without_id["C"].low == with_id["C"].low
    assert without_id["C"].high == with_id["C"].high
    assert numbers_of(without_id.findings, JudgeTableFindings.REPEATED_IDS) == {"n": 60}
    (tmp_path / "plain.jsonl").write_text(
        "\n".join(json.dumps(row) for row in rows(with_epochs)), "utf-8"
    )
    independent = judge(tmp_path / "plain.jsonl", **options)
    width = without_id["C"].high - without_id["C"].low
    assert width > 1.2 * (independent["C"].high - independent["C"].low)


def test_ids_of_other_tasks_are_other_items(tmp_path):
    for task in ("security", "law"):
        log = INSPECT | {"eval": {"task": task, "model": "m"}}
        (tmp_path / f"{task}.json").write_text(json.dumps(log), "utf-8")
    joined = judge(
        [tmp_path / "security.json", tmp_path / "law.json"],
        verdict="score.model_graded_qa",
        label="metadata.human",
        labels="random",
        map={"correct": "C", "incorrect": "I"},
    )
    assert JudgeTableFindings.REPEATED_IDS not in codes_of(joined.findings)
