"""A survey with open answers: 800 were coded by hand, 3,000 were not, and all have weights."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from quantshift import quantify, train

WORRIED = ["rent", "prices", "afraid", "debts", "crisis", "struggling", "bills", "worse"]
CALM = ["fine", "holiday", "garden", "happy", "savings", "better", "family", "stable"]
NEUTRAL = ["work", "city", "people", "year", "house", "money", "time", "future", "life", "news"]
rng = np.random.default_rng(0)


def answers(n, worried, region):
    """Answers of twelve words; most of the informative words match the answer's code."""
    codes = np.where(rng.random(n) < worried, "worried", "calm")
    texts = []
    for code in codes:
        typical, other = (WORRIED, CALM) if code == "worried" else (CALM, WORRIED)
        words = [rng.choice(typical if rng.random() < 0.75 else other) for _ in range(4)]
        texts.append(" ".join(rng.permutation([*words, *rng.choice(NEUTRAL, 8)])))
    return pl.DataFrame({"answer": texts, "code": codes}).with_columns(region=pl.lit(region))


# The pilot was coded by hand when few people were worried. Cities are overrepresented in the wave.
pilot = answers(800, 0.25, "pilot")
shares = {"north": 0.3, "south": 0.45, "cities": 0.7}
wave = pl.concat([answers(1000, worried, region) for region, worried in shares.items()])
weights = np.where(wave["region"] == "cities", 0.4, 1.3)
wave = wave.with_columns(weight=pl.Series(weights))

model = train(pilot, label="code", text="answer")
regions = quantify(wave.drop("code"), model=model, by="region")
overall = quantify(
    wave.drop("code", "region"),
    train=pilot.drop("region").with_columns(weight=1.0),
    label="code",
    text="answer",
    weights="weight",
)

truth = {**shares, "all, weighted": float(np.average(wave["code"] == "worried", weights=weights))}
batches = {batch.name: batch for batch in regions.batches} | {"all, weighted": overall.batches[0]}
figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
for row, (name, true) in enumerate(truth.items()):
    share = batches[name].shares[1]
    print(f"{name:13}  {share.estimate:.1%}  (95% CI {share.low:.1%} to {share.high:.1%})")
    axes.plot([100 * share.low, 100 * share.high], [row, row], lw=6, alpha=0.4, color="teal")
    axes.plot(100 * share.estimate, row, "o", color="black")
    axes.plot(100 * true, row, "|", color="firebrick", ms=18, mew=2)
axes.axvline(25, color="grey", ls=":", label="share in the pilot")
axes.plot([], [], "|", color="firebrick", ms=12, mew=2, label="truth")
axes.set_yticks(range(len(truth)), truth)
axes.set_xlim(0, 100)
axes.margins(y=0.25)
axes.set_xlabel("answers that are worried, in %")
axes.legend(frameon=False)
figure.savefig("survey.png", dpi=100)
