"""The classifier of images: it learns, its options count, and its seed fixes it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch", reason="PyTorch is not installed: quantshift[neural]")

from quantshift.classify.images.convolutional import ConvolutionalClassifier  # noqa: E402
from quantshift.classify.images.residual_network import WideResidualNetwork, moved  # noqa: E402
from quantshift.errors import DataError, UserError  # noqa: E402


@pytest.fixture(scope="module")
def images():
    """Images of 8 x 8 pixels with a bar: upright or lying, wherever it is."""
    rng = np.random.default_rng(0)
    y = np.repeat(["lying", "upright"], 60)
    X = rng.random((120, 8, 8)) * 0.2
    for image, label in zip(X, y, strict=True):
        place = rng.integers(2, 6)
        image[(place, slice(None)) if label == "lying" else (slice(None), place)] += 1
    return X.reshape(120, 64), y


@pytest.fixture(scope="module")
def fitted(images):
    X, y = images
    small = ConvolutionalClassifier(depth=10, width=1, epochs=4, batch_size=16, device="cpu")
    return small.fit(X[::2], y[::2])


def test_it_learns_and_gives_posteriors_and_embeddings(fitted, images):
    X, y = images
    posteriors = fitted.predict_proba(X[1::2])
    assert_allclose(posteriors.sum(1), 1)
    assert (fitted.predict(X[1::2]) == y[1::2]).mean() > 0.9
    assert fitted.embed(X[:3]).shape == (3, 64)
    mirrored = X.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64)
    assert_allclose(fitted.predict_proba(mirrored[:5]), fitted.predict_proba(X[:5]), atol=1e-5)


def test_a_seed_gives_the_same_network_whatever_was_drawn_before(images):
    X, y = images
    drawn = []
    for before in (1, 2):
        torch.manual_seed(before)
        tiny = ConvolutionalClassifier(depth=10, width=1, epochs=1, batch_size=40, device="cpu")
        drawn.append(tiny.fit(X, y).predict_proba(X[:4]))
        assert torch.initial_seed() == before
    assert_array_equal(drawn[0], drawn[1])


def test_images_are_shifted_and_mirrored_and_nothing_else():
    image = torch.arange(12.0).reshape(1, 1, 3, 4) + 1
    seen = moved(image.repeat(200, 1, 1, 1), 1, torch.Generator().manual_seed(0), black=-5.0)
    padded = np.pad(image[0, 0].numpy(), 1, constant_values=-5.0)
    allowed = set()
    for row in range(3):
        for column in range(3):
            part = padded[row : row + 3, column : column + 4]
            allowed |= {part.tobytes(), np.ascontiguousarray(part[:, ::-1]).tobytes()}
    assert {one.contiguous().numpy().tobytes() for one in seen[:, 0]} == allowed


def test_layers_and_channels_are_those_of_the_paper():
    network = WideResidualNetwork(1, 10, 28, 2)
    convolutions = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
    assert len([one for one in convolutions if one.kernel_size == (3, 3)]) + 1 == 28 - 2
    assert network.embed(torch.zeros(2, 1, 28, 28)).shape == (2, 128)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 12}, "depth=12: a wide residual network has 10, 16"),
        ({"shape": (7, 8)}, "64 pixels are not 7 x 8"),
        ({"device": "nowhere"}, "device='nowhere' cannot be used: .*; give cpu"),
    ],
)
def test_wrong_options_are_one_line(options, message, images):
    with pytest.raises(UserError, match=message):
        ConvolutionalClassifier(**options).fit(*images)


def test_other_images_are_refused(fitted):
    with pytest.raises(DataError, match="have 64 pixels each"):
        fitted.predict_proba(np.zeros((2, 63)))
    with pytest.raises(DataError, match="images of one class"):
        ConvolutionalClassifier().fit(np.zeros((4, 64)), [1, 1, 1, 1])
