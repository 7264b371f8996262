"""A few labels give a valid estimate, whatever has shifted.

    python examples/audit.py

In the new messages complaints are more frequent, but one of their scores has changed: no method
without labels can be right. 150 random labels correct the estimate.
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

from quantshift import SLD
from quantshift.labelling import audit_interval, count_interval, plan_audit


def main() -> None:
    rng = np.random.default_rng(0)

    def messages(n, complaints, scores):
        y = (rng.random(n) < complaints).astype(int)
        return rng.normal(np.outer(y, scores), 1.0), y

    quantifier = SLD(LogisticRegression()).fit(*messages(2000, 0.3, [1.8, 1.4]))
    X, truth = messages(3000, 0.5, [1.8, -0.2])
    print(f"truth             {truth.mean():.3f}")

    alone = quantifier.predict_interval(X)
    print(f"without labels    {alone.prevalence[1]:.3f}, {alone.low[1]:.3f} to {alone.high[1]:.3f}")

    posteriors = quantifier.items(X).posteriors
    plan = plan_audit(posteriors, precision=0.05)
    print(f"planned: {plan.n_labels} labels (by counting alone {plan.n_counting})")
    items = plan.items[:150]  # any beginning of the list is a random draw
    answers = truth[items]  # a person labels them
    for name, interval in {
        "counting labels": count_interval(answers, 2),
        "audit": audit_interval(posteriors, items, answers),
    }.items():
        share, low, high = interval.prevalence[1], interval.low[1], interval.high[1]
        print(f"{name:<17} {share:.3f}, {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
