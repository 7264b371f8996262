"""Three chatbots and one LLM judge that is kind to bad answers: their true pass rates."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from quantshift import judge

rng = np.random.default_rng(0)
good = {"old": 0.5, "new": 0.7, "cheap": 0.35}
n = 1500
tables = []
for model, rate in good.items():
    truth = rng.random(n) < rate
    passed = np.where(truth, rng.random(n) < 0.95, rng.random(n) < 0.3)
    labelled = np.isin(np.arange(n), rng.choice(n, 100, replace=False))
    tables.append(
        pl.DataFrame(
            {
                "model": [model] * n,
                "judge": np.where(passed, "pass", "fail"),
                "human": [
                    ("good" if t else "bad") if k else None
                    for t, k in zip(truth, labelled, strict=True)
                ],
            }
        )
    )
judgement = judge(pl.concat(tables), verdict="judge", label="human", labels="random", by="model")

figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
for row, batch in enumerate(judgement.batches):
    (share,) = [share for share in batch.shares if share.label == "good"]
    naive = batch.naive("good")
    print(
        f"{batch.name:5}  {share.estimate:.1%}  (95% CI {share.low:.1%} to {share.high:.1%}), "
        f"by the judge alone {naive:.1%}"
    )
    axes.plot([100 * share.low, 100 * share.high], [row, row], lw=6, alpha=0.4, color="teal")
    axes.plot(100 * share.estimate, row, "o", color="black")
    axes.plot(100 * naive, row, "X", color="firebrick", ms=9)
    axes.plot(100 * good[batch.name], row, "|", color="grey", ms=20, mew=2)
axes.plot([], [], "X", color="firebrick", label="share of 'pass' by the judge")
axes.plot([], [], "o", color="black", label="estimate with 100 labels, 95% CI")
axes.plot([], [], "|", color="grey", ms=12, mew=2, label="truth")
axes.set_yticks(range(len(judgement.batches)), [batch.name for batch in judgement.batches])
axes.set_xlim(0, 100)
axes.margins(y=0.25)
axes.set_xlabel("good answers, in %")
axes.legend(frameon=False, loc="upper left", fontsize=8)
figure.savefig("judge.png", dpi=100)
