"""The evidence of a method that tests its own assumption, such as `GuardedSLD`.

What its answers stand on is decided in `quantshift.quantifiers.base.guarding`, and their limits in
`quantshift.intervals.guarded`. Posteriors of the user's own model have no features to test, so
their answers stand on less (`posterior_grounds`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Prevalences, Reals
from quantshift.intervals.guarded import answer_limits
from quantshift.intervals.prediction import Replicates, stretched
from quantshift.quantifiers.base.guarding import (
    CONFIDENCE_INTERVAL,
    COVARIATE,
    DECLARED,
    REFUTED,
    Grounds,
    training_deviations,
)
from quantshift.quantifiers.base.items import Items
from quantshift.quantifiers.likelihood.posterior_grounds import posterior_grounds
from quantshift.quantifying.estimating.decision import (
    ASSUMED,
    IN_DOUBT,
    UNEXPLAINED,
    Decision,
    Evidence,
)
from quantshift.quantifying.options import AUTO, EstimationOptions
from quantshift.quantifying.output.result import (
    BETWEEN_THE_TWO,
    COVARIATE_SHIFT,
    NO_CHANGE,
    PRIOR_SHIFT,
    Assumption,
    Shift,
)
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT
from quantshift.quantifying.training.model import Model

N_TESTS = 5
"""How many tests of label shift there are; p-values are multiplied by it."""


@dataclass(frozen=True, eq=False)
class GuardedSamples:
    """Samples, what their answers stand on, and replicates of the method without its guard."""

    model: Model
    grounds: Grounds
    drawn: Replicates
    assume: str | None

    @classmethod
    def of(
        cls,
        model: Model,
        items: Items,
        samples: Sequence[Indices],
        options: EstimationOptions,
        seed: int,
    ) -> "GuardedSamples":
        """The samples, tested."""
        declared = options.declared.assumption
        assume = None if declared == AUTO else declared
        unguarded, seen = _unguarded(model, items)
        if model.guard is not None:
            guard = model.guard.assuming(assume)
            grounds = guard.grounds(guard.estimate_items(items, list(samples)))
        else:
            assert items.posteriors is not None
            grounds = posterior_grounds(
                unguarded, items.posteriors, samples, assume=assume, weights=items.weights
            )
        drawn = Replicates(
            unguarded,
            seen,
            samples,
            level=options.level,
            n_bootstrap=options.replicates,
            seed=seed,
            of=options.of,
            cross_fitted=model.scorer is not None,
        )
        return cls(model, grounds, drawn, assume)

    def resample(self, progress: OnProgress) -> None:
        """Draw the replicates, if an answer needs them."""
        drawn, own, done = self.drawn, self._own, 0
        if own.any():
            for columns, _ in drawn.estimates():
                done += len(columns)
                progress("resampling", done, drawn.n_bootstrap)
        # The others are needed for comparing batches.
        for i in np.flatnonzero(~own):
            p_hat, members = self.grounds.estimate[i], self.grounds.members[i]
            size = int(drawn.sizes[i])
            drawn.values[i] = replicates_of(p_hat, members, size, drawn.n_bootstrap, drawn.seed)

    def evidence(self, options: EstimationOptions) -> Iterator[Evidence]:
        """The evidence on each sample; call `resample` first."""
        drawn, grounds = self.drawn, self.grounds
        unguarded = drawn.limits() if self._own.any() else (grounds.low, grounds.high)
        low, high = answer_limits(
            grounds, self.assume, unguarded, drawn.sizes, of=options.of, level=options.level
        )
        p_hat = grounds.estimate
        if options.simultaneous:
            low, high = stretched(p_hat, low, high, drawn.values, options.level)
        for i, each in enumerate(grounds):
            yield Evidence.of_sample(
                drawn,
                i,
                (p_hat[i], low[i], high[i]),
                simultaneous=options.simultaneous,
                assumptions=self._assumptions(each),
                shift=_shift(each, self.assume),
                decision=Decision.of_grounds(each),
                support=float(each.support),
            )

    @property
    def _own(self) -> Flags:
        """Which limits are those of the method without its guard, (n_samples,)."""
        is_interval = self.grounds.kind == CONFIDENCE_INTERVAL
        return np.asarray(is_interval & (self.assume != COVARIATE))

    def _assumptions(self, grounds: Grounds) -> tuple[Assumption, ...]:
        """The estimates under each assumption, that of the estimate first."""
        labels, refuted = self.model.classes, str(grounds.reason) == REFUTED

        def under(name: str, method: str, p: Prevalences, **marks: bool) -> Assumption:
            return Assumption(name, method, by_class(labels, p), **marks)

        by_prior = under(
            PRIOR_SHIFT, type(self.model.base).__name__, grounds.prior, refuted=refuted
        )
        covariate = under(COVARIATE_SHIFT, IF_COVARIATE_SHIFT.__name__, grounds.covariate)
        assumptions = [by_prior, covariate]
        if not np.allclose(grounds.mixed, grounds.prior):
            method = type(self.drawn.quantifier).__name__
            assumptions.append(under("prior and covariate shift", method, grounds.mixed))
        if str(grounds.rests_on) not in ("prior", COVARIATE):
            assumptions.append(under(BETWEEN_THE_TWO, self.model.method, grounds.estimate))
        if str(grounds.rests_on) == COVARIATE:
            assumptions = [assumptions[1], assumptions[0], *assumptions[2:]]
        unchanged = under(NO_CHANGE, "training prevalence", self.model.base.prior_)
        return *assumptions, *([] if str(grounds.reason) == DECLARED else [unchanged])


def _unguarded(model: Model, items: Items) -> tuple[Any, Items]:
    """The method without its guard, and the items as it sees them."""
    if model.guard is None:
        return model.quantifier, items
    return model.guard.unguarded_, model.guard.unguarded_items(items)


def replicates_of(
    p_hat: Prevalences, members: Reals, size: int, n_bootstrap: int, seed: int
) -> Prevalences:
    """Replicates of the mean posterior, for comparing batches.

    Within a replicate the error of the training side is the same for all batches, because they
    share the classifier.
    """
    rng = generator(seed, purpose="replicates of the mean posterior: training")
    deviations = training_deviations(members[np.newaxis])[0]
    training = rng.standard_normal((n_bootstrap, len(deviations))) @ deviations
    rng = generator(seed, purpose="replicates of the mean posterior", n_items=size)
    sampling = rng.multinomial(size, p_hat / p_hat.sum(), size=n_bootstrap) / size
    replicates = np.maximum(sampling + training, 0.0)
    return np.asarray(replicates / replicates.sum(axis=1, keepdims=True))


def _shift(grounds: Grounds, assume: str | None) -> Shift:
    """The tests of label shift in a line."""
    if assume == COVARIATE:
        return Shift(rejected=False, kind=ASSUMED, p_value=1.0)
    tests = [float(p) for name, p in grounds.p_values.items() if name != "doubles"]
    if np.isfinite(grounds.z):
        tests.append(float(ndtr(-grounds.z)))
    rejected = str(grounds.reason) == REFUTED or bool(grounds.refuted)
    kind = "prior" if not rejected else IN_DOUBT if grounds.in_doubt else UNEXPLAINED
    return Shift(
        rejected=rejected,
        kind=kind,
        p_value=min(1.0, N_TESTS * min(tests)),
        auc=float(grounds.auc) if np.isfinite(grounds.auc) else None,
        explained=float(grounds.explained) if np.isfinite(grounds.explained) else None,
        p_doubles=float(grounds.p_values["doubles"]),
    )
