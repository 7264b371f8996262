"""Fifteen tasks whose answers are known, done as SKILL.md says."""

import json

import numpy as np
import polars as pl
import pytest

N, LABELS = 800, 150


def drawn(rng, share, n=N, right=0.92, wrong=0.2):
    """Truth and verdicts as 0 and 1."""
    y = (rng.random(n) < share).astype(int)
    return y, np.where(rng.random(n) < np.where(y == 1, right, wrong), 1, 0)


def named(values, names=("bad", "good")):
    return [names[v] for v in values]


def some(rng, values, k=LABELS):
    """Values of k random items, None for the others."""
    chosen = np.isin(np.arange(len(values)), rng.permutation(len(values))[:k])
    return [v if c else None for v, c in zip(values, chosen, strict=True)]


@pytest.fixture
def asked(tmp_path, quantshift, monkeypatch):
    """Write tables by name, call the command, and give the exit code and its JSON."""
    monkeypatch.chdir(tmp_path)

    def ask(line, **tables):
        for name, table in tables.items():
            pl.DataFrame(table).write_csv(tmp_path / f"{name}.csv")
        code, out, err = quantshift(*line.split())
        return code, json.loads(out) if out.startswith("{") else out + err

    return ask


JUDGE = "judge t.csv --verdict judge --label human --json"


def lead(batch, label="good"):
    return next(share for share in batch["shares"] if share["label"] == label)


def holds(share, truth, widest=0.25):
    return share["low"] <= truth <= share["high"] and share["high"] - share["low"] < widest


def test_a_rate_by_random_labels_and_by_nothing_said(asked):
    rng = np.random.default_rng(1)
    y, v = drawn(rng, 0.7)
    table = {"judge": named(v), "human": some(rng, named(y))}
    code, found = asked(f"{JUDGE} --labels random", t=table)
    assert code == 0
    assert found["overall"]["grounds"]["kind"] == "interval"
    assert holds(lead(found["overall"]), y.mean())
    code, found = asked(f"{JUDGE} --fail-if good<0.9", t=table)
    assert (code, found["overall"]["grounds"]["reason"]) == (4, "guessed")
    assert "How were" in found["overall"]["labels"]["question"]


def test_labels_by_verdict_picked_and_contradicted(asked):
    rng = np.random.default_rng(2)
    y, v = drawn(rng, 0.7)
    rows = np.concatenate([rng.permutation(np.flatnonzero(v == c))[:60] for c in (0, 1)])
    labels = [named(y)[i] if i in set(rows.tolist()) else None for i in range(N)]
    table = {"judge": named(v), "human": labels}
    code, found = asked(f"{JUDGE} --labels by-verdict", t=table)
    assert (code, holds(lead(found["overall"]), y.mean())) == (0, True)
    code, found = asked(f"{JUDGE} --labels picked", t=table)
    assert found["overall"]["grounds"]["kind"] in ("range", "cannot")
    share = lead(found["overall"])
    assert share["low"] <= y.mean() <= share["high"]
    code, told = asked(f"{JUDGE} --labels random", t=table)
    assert code == 2
    assert "the data contradict" in told
    code, found = asked(f"{JUDGE} --labels random --insist", t=table)
    assert "which the data contradict" in found["overall"]["condition"]


def test_labels_from_elsewhere_and_known_rates(asked):
    rng = np.random.default_rng(3)
    (y, v), (z, w) = drawn(rng, 0.7), drawn(rng, 0.5, 300)
    new, old = {"judge": named(v)}, {"judge": named(w), "human": named(z)}
    line = f"{JUDGE} --labelled old.csv --labels elsewhere"
    code, found = asked(line, t=new, old=old)
    share = lead(found["overall"])
    assert (code, found["overall"]["grounds"]["kind"]) == (4, "cannot")
    assert share["low"] <= y.mean() <= share["high"]
    code, found = asked(f"{line} --assume rates", t=new, old=old)
    assert (code, found["overall"]["grounds"]["kind"]) == (0, "conditional")
    assert len(found["overall"]["alternatives"]) == 2
    code, found = asked(
        "judge t.csv --verdict judge --positive good --json "
        "--sensitivity 0.92,0.89-0.95 --specificity 0.8,0.76-0.84",
        t=new,
    )
    assert (code, holds(lead(found["overall"]), y.mean())) == (0, True)


def test_groups_systems_and_wins(asked):
    rng = np.random.default_rng(4)
    parts, truths = [], []
    for i in range(6):
        y, v = drawn(rng, 0.45 + 0.08 * i, 300)
        truths.append(y.mean())
        labels = some(rng, named(y), 60)
        parts += zip([f"s{i}"] * 300, named(v), labels, range(300), strict=True)
    table = dict(
        zip(("system", "judge", "human", "q"), map(list, zip(*parts, strict=True)), strict=True)
    )
    code, found = asked(f"{JUDGE} --labels random --by system", t=table)
    own = [lead(batch) for batch in found["batches"]]
    with_others = [batch["with_others"][1] for batch in found["batches"]]
    for shares, widest in ((own, 0.35), (with_others, 0.25)):
        # Of six 95% intervals one may miss.
        assert sum(holds(s, truth, widest) for s, truth in zip(shares, truths, strict=True)) >= 5
    code, found = asked(f"{JUDGE} --labels random --by system --compare s5,s0", t=table)
    of_good = next(d for d in found["differences"] if d["label"] == "good")
    assert (code, of_good["more_than_chance"]) == (0, True)
    assert of_good["low"] <= truths[5] - truths[0] <= of_good["high"]
    y, v = drawn(rng, 0.6)
    table = {"judge": named(v, "BA"), "human": some(rng, named(y, "BA"))}
    code, found = asked(f"{JUDGE} --labels random --wins A,B", t=table)
    assert found["overall"]["win_rate"]["low"] <= y.mean() <= found["overall"]["win_rate"]["high"]


def test_several_labels_judges_and_people(asked):
    rng = np.random.default_rng(5)
    (a, va), (b, vb) = drawn(rng, 0.2), drawn(rng, 0.4)
    known = np.isin(np.arange(N), rng.permutation(N)[:LABELS])
    table = {"ja": va, "jb": vb}
    table |= {
        n: [int(x) if k else None for x, k in zip(y, known, strict=True)]
        for n, y in (("a", a), ("b", b))
    }
    line = "judge t.csv --pairs ja=a,jb=b --labels random --json"
    code, found = asked(line, t=table)
    truths = {"a": a.mean(), "b": b.mean()}
    for share in found["batches"][0]["shares"]:
        assert holds(share, truths.pop(share["label"]))
    assert not truths
    y, v = drawn(rng, 0.7)
    worse = np.where(rng.random(N) < 0.35, 1 - y, y)
    people = {
        n: some(np.random.default_rng(9), named(np.where(rng.random(N) < e, 1 - y, y)))
        for n, e in (("ann", 0.02), ("ben", 0.02), ("cyd", 0.02))
    }
    table = {"gpt": named(v), "old": named(worse), **people}
    code, found = asked(
        "judge t.csv --verdict gpt,old --label ann,ben,cyd --labels random --json", t=table
    )
    assert (code, holds(lead(found["overall"]), y.mean())) == (0, True)
    assert found["people"]["people"] == ["ann", "ben", "cyd"]
    assert found["judge_comparisons"][0]["more_than_chance"]


def test_a_plan_is_filled_and_a_history_alarms(asked, tmp_path):
    rng = np.random.default_rng(6)
    y, v = drawn(rng, 0.6)
    line = "plan judge t.csv --verdict judge --label human --n-labels 120 --out sheet.csv"
    assert asked(line, t={"judge": named(v)})[0] == 0
    sheet = pl.read_csv(tmp_path / "sheet.csv")
    truth = pl.Series(named(y))
    filled = sheet.with_columns(human=truth.gather(sheet["item"] - 1))
    code, found = asked(f"{JUDGE} --labelled filled.csv", filled=filled)
    assert (code, found["overall"]["grounds"]["kind"]) == (0, "interval")
    assert holds(lead(found["overall"]), y.mean())
    for day in range(1, 16):
        y, v = drawn(rng, 0.8 if day < 13 else 0.3)
        table = {"judge": named(v), "human": some(rng, named(y))}
        code, _ = asked(
            f"{JUDGE} --labels random --history past --baseline 8 --fail-on alarm "
            f"--at 2026-01-{day:02d}",
            t=table,
        )
    assert code == 3


def test_quantify_by_posteriors_and_by_labels(asked):
    rng = np.random.default_rng(7)

    def table(n, share):
        y, _ = drawn(rng, share, n)
        score = rng.normal(2.2 * y, 1.0)
        p = 1 / (1 + np.exp(-2.2 * score + 2.42))
        return y, {"good": p, "bad": 1 - p, "x": score, "label": named(y)}

    (_, old), (y, new) = table(1500, 0.5), table(1500, 0.3)
    del new["label"]
    code, found = asked(
        "quantify --train old.csv --sample new.csv --label label --posteriors bad,good --json",
        old=old,
        new=new,
    )
    batch = found["batches"][0]
    assert code in (0, 4)
    assert "grounds" in batch
    told = (
        [lead(batch)]
        if batch["grounds"]["kind"] != "either"
        else [lead({"shares": each["shares"]}) for each in batch["either"] if "shares" in each]
    )
    assert not told or any(s["low"] <= y.mean() <= s["high"] for s in told)
