"""The evidence of a method that tests its own assumption, such as `GuardedSLD`.

The kinds of its answers are decided by `quantshift.claims.decide`, and their limits in
`guarded_intervals`. Posteriors of the user's own model have no features to test, so that
less is known of them (`examined_posteriors`).
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from quantshift.answers.shares import by_class
from quantshift.base.progress import OnProgress
from quantshift.base.seeding import generator
from quantshift.base.types import Flags, Indices, Prevalences, Reals
from quantshift.claims import Alternative, Assumption, Explanation, Reason
from quantshift.intervals.prediction import Replicates, stretched
from quantshift.items.items import Items
from quantshift.quantifiers.base.guarding import ExaminedSamples, training_deviations
from quantshift.quantifiers.likelihood.examined_posteriors import examined_posteriors
from quantshift.quantifiers.likelihood.guarded_intervals import answer_limits, either_limits
from quantshift.quantifying.estimating.unlabelled import Evidence
from quantshift.quantifying.options import AUTO, EstimationOptions
from quantshift.quantifying.result import Shift
from quantshift.quantifying.training.methods import IF_COVARIATE_SHIFT
from quantshift.quantifying.training.model import Model

N_TESTS = 5
"""How many tests of label shift there are; p-values are multiplied by it."""


@dataclass(frozen=True, eq=False)
class GuardedSamples:
    """Samples, what their answers stand on, and replicates of the method without its guard."""

    model: Model
    examined: ExaminedSamples
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
            examined = guard.examined(guard.estimate_items(items, list(samples)))
        else:
            assert items.posteriors is not None
            examined = examined_posteriors(
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
        return cls(model, examined, drawn, assume)

    def at(self, level: float) -> "GuardedSamples":
        """The same samples and replicates, for limits at another level."""
        drawn = copy(self.drawn)
        drawn.level = level
        return replace(self, drawn=drawn)

    def resample(self, progress: OnProgress) -> None:
        """Draw the replicates, if an answer needs them."""
        drawn, own, done = self.drawn, self._own, 0
        if own.any():
            for columns, _ in drawn.estimates():
                done += len(columns)
                progress("resampling", done, drawn.n_bootstrap)
        # The others are needed for comparing batches.
        for i in np.flatnonzero(~own):
            p_hat, members = self.examined.estimate[i], self.examined.members[i]
            size = int(drawn.sizes[i])
            drawn.values[i] = replicates_of(p_hat, members, size, drawn.n_bootstrap, drawn.seed)

    def evidence(self, options: EstimationOptions) -> Iterator[Evidence]:
        """The evidence on each sample; call `resample` first."""
        drawn, examined = self.drawn, self.examined
        unguarded = drawn.limits() if self._own.any() else (examined.low, examined.high)
        low, high = answer_limits(
            examined, self.assume, unguarded, drawn.sizes, of=options.of, level=options.level
        )
        p_hat = examined.estimate
        level_of_each = options.level
        if options.simultaneous:
            low, high = stretched(p_hat, low, high, drawn.values, options.level)
            free = len(self.model.classes) - 1
            level_of_each = 1 - (1 - options.level) / free
        centres = np.stack([examined.prior, examined.covariate], axis=1)
        either = np.stack([centres, *either_limits(examined, level_of_each)], axis=1)
        for i, each in enumerate(examined):
            yield Evidence.of_sample(
                drawn,
                i,
                (p_hat[i], low[i], high[i]),
                simultaneous=options.simultaneous,
                alternatives=self._alternatives(each),
                shift=_shift(each, self.assume),
                facts=each.facts,
                support=float(each.support),
                possible=np.array([examined.low[i], examined.high[i]]),
                either=either[i],
            )

    @property
    def _own(self) -> Flags:
        """Which limits are those of the method without its guard, (n_samples,)."""
        return np.asarray(self.examined.is_interval & (self.assume != Assumption.COVARIATE))

    def _alternatives(self, sample: ExaminedSamples) -> tuple[Alternative, ...]:
        """The estimates under each assumption, that of the estimate first."""
        labels, grounds = self.model.classes, sample.grounds

        def under(
            assumption: Assumption, method: str, p: Prevalences, *, refuted: bool = False
        ) -> Alternative:
            return Alternative(assumption, method, by_class(labels, p), refuted=refuted)

        by_prior = under(
            Assumption.PRIOR,
            type(self.model.base).__name__,
            sample.prior,
            refuted=grounds.reason is Reason.REFUTED,
        )
        covariate = under(Assumption.COVARIATE, IF_COVARIATE_SHIFT.__name__, sample.covariate)
        found = [by_prior, covariate]
        if not np.allclose(sample.mixed, sample.prior):
            method = type(self.drawn.quantifier).__name__
            found.append(under(Assumption.BOTH, method, sample.mixed))
        if grounds.rests_on not in (Assumption.PRIOR, Assumption.COVARIATE):
            found.append(under(Assumption.BETWEEN, self.model.method, sample.estimate))
        if grounds.rests_on is Assumption.COVARIATE:
            found = [found[1], found[0], *found[2:]]
        if grounds.reason is not Reason.DECLARED:
            prevalence = self.model.base.prior_
            found.append(under(Assumption.NOTHING, "training prevalence", prevalence))
        return tuple(found)


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


def _shift(sample: ExaminedSamples, assume: str | None) -> Shift:
    """The tests of label shift in a line."""
    if assume == Assumption.COVARIATE:
        return Shift(rejected=False, kind=Explanation.ASSUMED, p_value=1.0)
    tests = [float(p) for name, p in sample.p_values.items() if name != "doubles"]
    if np.isfinite(sample.z):
        tests.append(float(ndtr(-sample.z)))
    rejected = sample.grounds.reason is Reason.REFUTED or bool(sample.refuted)
    kind = Explanation.PRIOR
    if rejected:
        kind = Explanation.IN_DOUBT if sample.in_doubt else Explanation.UNEXPLAINED
    return Shift(
        rejected=rejected,
        kind=kind,
        p_value=min(1.0, N_TESTS * min(tests)),
        auc=float(sample.auc) if np.isfinite(sample.auc) else None,
        explained=float(sample.explained) if np.isfinite(sample.explained) else None,
        p_doubles=float(sample.p_values["doubles"]),
    )
