"""The networks: gradients by differences, what symmetry and monotony promise, and learning."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from quantshift import metrics
from quantshift.quantifiers.neural.learning import LabelledSamples, learn
from quantshift.quantifiers.neural.losses import LOSSES
from quantshift.quantifiers.neural.network import MonotoneNetwork, PooledNetwork, SampleInputs

NETWORKS = {"pooled": PooledNetwork(5), "monotone": MonotoneNetwork()}


def samples(n=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    start = rng.dirichlet(np.ones(n_classes), n)
    seen = SampleInputs(start, rng.normal(size=(n, n_classes, 4)))
    return LabelledSamples(seen, rng.dirichlet(np.ones(n_classes), n))


def random_weights(network, seen):
    rng = np.random.default_rng(1)
    weights = network.initial(seen, rng)
    learnt = [name for name in weights if name not in ("centre", "scale")]
    return {
        name: rng.normal(size=array.shape) if name in learnt else array
        for name, array in weights.items()
    }


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_are_those_of_small_differences(name, loss):
    network, made = NETWORKS[name], samples()
    weights = random_weights(network, made.seen)

    def total(changed):
        p_hat = network.estimates(changed, made.seen)
        return LOSSES[loss].errors(made.p_true, p_hat, 0.01).sum()

    slopes = LOSSES[loss].slopes(made.p_true, network.estimates(weights, made.seen), 0.01)
    for array, gradient in network.gradients(weights, made.seen, slopes).items():
        for place in np.ndindex(gradient.shape):
            step = np.zeros(gradient.shape)
            step[place] = 1e-6
            more = total({**weights, array: weights[array] + step})
            less = total({**weights, array: weights[array] - step})
            assert_allclose(gradient[place], (more - less) / 2e-6, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", ["ae", "rae", "se", "kld"])
def test_losses_are_the_measures(loss):
    made = samples(20)
    p_hat = samples(20, seed=5).p_true
    found = LOSSES[loss].errors(made.p_true, p_hat, 0.01)
    smoothed = {"smoothing": 0.01} if loss in ("rae", "kld") else {}
    assert_allclose(found, getattr(metrics, loss)(made.p_true, p_hat, **smoothed))


@pytest.mark.parametrize("name", NETWORKS)
def test_an_untrained_network_returns_the_start_and_classes_are_alike(name):
    network, seen = NETWORKS[name], samples().seen
    begun = network.estimates(network.initial(seen, np.random.default_rng(0)), seen)
    assert_allclose(begun, (seen.start + 1e-4) / (1 + 3e-4))
    weights, order = random_weights(network, seen), [2, 0, 1]
    turned = SampleInputs(seen.start[:, order], seen.of_classes[:, order])
    assert_allclose(network.estimates(weights, turned), network.estimates(weights, seen)[:, order])


def test_a_larger_share_stays_larger_in_the_monotone_network():
    seen = samples(200, 4).seen
    found = NETWORKS["monotone"].estimates(random_weights(NETWORKS["monotone"], seen), seen)
    order = np.argsort(seen.start, axis=1)
    assert (np.diff(np.take_along_axis(found, order, axis=1)) >= 0).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_learning_finds_a_correction_and_keeps_the_start_if_there_is_none(name):
    rng = np.random.default_rng(0)

    def drawn(n, power):
        start = rng.dirichlet(np.ones(3), n)
        p_true = start**power / (start**power).sum(axis=1, keepdims=True)
        return LabelledSamples(SampleInputs(start, np.log(start)[..., np.newaxis]), p_true)

    network, loss = NETWORKS[name], LOSSES["ae"]

    def error(weights, judged):
        return loss.errors(judged.p_true, network.estimates(weights, judged.seen), 0).mean()

    judged = drawn(100, 2)
    weights = learn(network, drawn(600, 2), drawn(100, 2), loss, 0.01, rng)
    assert error(weights, judged) < error(network.initial(judged.seen, rng), judged) / 4
    stopping = drawn(100, 1)
    weights = learn(network, drawn(64, 1), stopping, loss, 0.01, rng)
    assert error(weights, stopping) <= error(network.initial(stopping.seen, rng), stopping)
