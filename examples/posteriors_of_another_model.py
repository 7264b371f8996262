"""Posteriors of a model that runs elsewhere, corrected, with an interval for every day.

    python examples/posteriors_of_another_model.py

The model here is a random forest, which is badly calibrated. quantshift only gets its posteriors,
for labelled items that it has not seen and for the new ones.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from quantshift import PCC, SLD


def main() -> None:
    rng = np.random.default_rng(0)

    def items(n, positive):
        y = np.where(rng.random(n) < positive, "yes", "no")
        return rng.normal(np.outer(y == "yes", [1.2, 0.8, 0.4]), 1.0), y

    X, y = items(3000, 0.5)
    elsewhere = RandomForestClassifier(200, min_samples_leaf=5, random_state=0).fit(
        X[:2000], y[:2000]
    )
    known, labels = elsewhere.predict_proba(X[2000:]), y[2000:]

    truth = [0.05, 0.1, 0.2, 0.4]
    days = [items(400, p) for p in truth]
    new = elsewhere.predict_proba(np.concatenate([day for day, _ in days]))
    samples = np.arange(len(new)).reshape(len(days), -1)

    mean = PCC().fit_posteriors(known, labels).aggregate(new, samples)[:, 1]
    corrected = SLD().fit_posteriors(known, labels).aggregate_interval(new, samples)
    print("day   true   mean posterior   SLD, 95% interval")
    for day, (_, labels_of_day) in enumerate(days):
        estimate, low, high = (
            limits[day, 1] for limits in (corrected.prevalence, corrected.low, corrected.high)
        )
        print(
            f"{day + 1:3}  {(labels_of_day == 'yes').mean():.3f}            {mean[day]:.3f}   "
            f"{estimate:.3f}, {low:.3f} to {high:.3f}"
        )


if __name__ == "__main__":
    main()
