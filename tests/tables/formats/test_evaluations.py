"""Result files of evaluation tools, in the layouts that the tools write."""

import json
import zipfile

import pytest

from quantshift.judging import judge
from quantshift.tables.reading import open_table

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
