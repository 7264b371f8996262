"""A share week by week, with an alert when the estimate can no longer be trusted."""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from quantshift import quantify, train

rng = np.random.default_rng(0)


def parts(n, worn, drift=0.0):
    """Parts with two measurements; drift: by how much the first sensor reads too high."""
    state = rng.random(n) < worn
    return pl.DataFrame(
        {
            "vibration": rng.normal(1.6 * state + drift, 1.0),
            "heat": rng.normal(1.2 * state, 1.0),
            "state": np.where(state, "worn", "fine"),
        }
    )


model = train(parts(1000, 0.4), label="state")
truth = [0.1, 0.1, 0.12, 0.3, 0.3, 0.1]
drift = [0, 0, 0, 0, 0, 2.0]  # in the last week a sensor drifts
weeks = pl.concat(
    [
        parts(300, worn, slip).with_columns(day=pl.lit(np.datetime64("2026-03-02") + 7 * week))
        for week, (worn, slip) in enumerate(zip(truth, drift, strict=True))
    ]
)
result = quantify(weeks.drop("state"), model=model, by="day", every="week")

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
for week, batch in enumerate(result.batches):
    worn = batch.shares[1]
    alert = batch.shift is not None and batch.shift.rejected
    marks = ["changed"] * bool(batch.change) + ["ALERT: drift, label some parts"] * alert
    share = "    ?" if worn.estimate is None else f"{worn.estimate:.1%}"
    print(f"{batch.name}  {share}  ({worn.low:.1%} to {worn.high:.1%})", *marks)
    colour = "firebrick" if alert else "teal"
    axes.plot([week, week], [100 * worn.low, 100 * worn.high], lw=6, alpha=0.4, color=colour)
    if worn.estimate is not None:
        axes.plot(week, 100 * worn.estimate, "o", color=colour)
axes.plot(range(len(truth)), 100 * np.array(truth), "k_", ms=22, mew=2, label="truth")
axes.plot([], [], "o", color="firebrick", label="alert: more than the share has changed")
axes.set_xticks(range(len(truth)), [batch.name for batch in result.batches])
axes.set_ylim(0, 100)
axes.set_ylabel("worn parts, in %")
axes.legend(frameon=False, loc="upper left")
figure.savefig("monitoring.png", dpi=100)
