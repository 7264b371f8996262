"""How many posts break the rules? 500 labels, spent where the score says they matter most."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from quantshift import judge, plan_judge

rng = np.random.default_rng(1)
n = 20_000
breaks = rng.random(n) < 0.01  # 1% of the posts break the rules
evidence = rng.normal(3.0 * breaks, 1.0)
score = 1 / (1 + 99 * np.exp(4.5 - 3 * evidence))
truth = np.where(breaks, "yes", "no")
posts = pl.DataFrame({"post": np.arange(n), "score": score.round(6)})

# Reviewers label 500 random posts.
random = np.isin(np.arange(n), rng.choice(n, 500, replace=False))
by_chance = judge(
    posts.with_columns(
        violation=pl.Series([t if r else None for t, r in zip(truth, random, strict=True)])
    ),
    score="score",
    label="violation",
    labels="random",
)

# Reviewers label the 500 posts that a plan chooses, with known probabilities.
plan = plan_judge(posts, score="score", label="violation", n_labels=500)
plan.write(Path("sheet.csv"), overwrite=True)
sheet = pl.read_csv("sheet.csv")
chosen = pl.Series(truth).gather(sheet["item"] - 1)
by_plan = judge(
    posts, score="score", label="violation", labelled=sheet.with_columns(violation=chosen)
)

figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
judgements = {"500 by plan": by_plan, "500 at random": by_chance}
for row, (name, judgement) in enumerate(judgements.items()):
    share = judgement.overall.shares[1]
    print(f"{name:13}  {share.estimate:.2%}  (95% CI {share.low:.2%} to {share.high:.2%})")
    axes.plot([100 * share.low, 100 * share.high], [row, row], lw=6, alpha=0.4)
    axes.plot(100 * share.estimate, row, "o", color="black")
flagged = (score > 0.05).mean()
print(f"flagged        {flagged:.2%}")
print(f"truth          {breaks.mean():.2%}")
axes.plot(100 * flagged, 2, "X", color="firebrick")
axes.axvline(100 * breaks.mean(), color="grey", ls="--", label="true share")
axes.set_yticks([0, 1, 2], ["500 labels by plan", "500 random labels", "posts flagged"])
axes.set_xlim(left=0)
axes.margins(y=0.25)
axes.set_xlabel("posts that break the rules, in %")
axes.legend(frameon=False)
figure.savefig("moderation.png", dpi=100)
