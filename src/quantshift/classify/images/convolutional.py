"""A classifier of small images with the interface of scikit-learn: a wide residual network.

Trained with stochastic gradient descent, a cosine schedule, and images shifted and mirrored at
random. Posteriors are means over an image and its mirror image.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor, nn
from torch.nn import functional

from quantshift.base.devices import AUTO, torch_device
from quantshift.classify.images.residual_network import WideResidualNetwork, moved
from quantshift.errors import DataError, UserError

WARM_UP = 0.1
"""The share of the steps in which the learning rate rises."""

MOST_SHIFTED = 2
"""Images are shifted by up to this many pixels."""

WEIGHT_DECAY = 5e-4
PREDICTED_AT_ONCE = 1000


@dataclass(frozen=True)
class _Scale:
    centre: float
    spread: float


class ConvolutionalClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Wide residual network on rows of pixels, (n_images, height * width).

    shape: height and width of the images; None: square ones. depth: 10, 16, 22, 28, ... layers;
    width: times 16, 32 and 64 channels. epochs: how often every image is seen. device: "cpu",
    "cuda"; None: CUDA where there is one. The same seed gives the same network on a CPU; on CUDA,
    sums in another order change the last digits.
    """

    def __init__(
        self,
        shape: tuple[int, int] | None = None,
        *,
        depth: int = 16,
        width: int = 4,
        epochs: int = 30,
        batch_size: int = 256,
        learning_rate: float = 0.2,
        seed: int = 0,
        device: str | None = None,
    ) -> None:
        self.shape = shape
        self.depth = depth
        self.width = width
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.seed = seed
        self.device = device

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on images and their labels."""
        if self.depth < 10 or (self.depth - 4) % 6:
            raise UserError(
                f"depth={self.depth}: a wide residual network has 10, 16, 22, ... layers"
            )
        pixels = np.asarray(X, dtype=np.float32)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError("images of one class: at least two classes are needed")
        self.n_features_in_ = pixels.shape[1]
        self.shape_ = _image_shape(self.shape, pixels.shape[1])
        self.scale_ = _Scale(float(pixels.mean()), float(pixels.std()) or 1.0)
        device = torch_device(self.device or AUTO)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = WideResidualNetwork(1, len(self.classes_), self.depth, self.width)
        network = network.to(device, memory_format=torch.channels_last)
        self._train(network, self._images(pixels).to(device), torch.from_numpy(codes).to(device))
        self.network_ = network.eval()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Posteriors, (n_images, n_classes)."""
        return self._outputs(X, lambda images: functional.softmax(self.network_(images), 1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest posterior of each image."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])

    def embed(self, X: Any) -> NDArray[np.float64]:
        """What the last layer sees of each image, (n_images, 64 * width)."""
        return self._outputs(X, self.network_.embed)

    def _train(self, network: nn.Module, images: Tensor, codes: Tensor) -> None:
        n_batches = max(1, len(images) // self.batch_size)
        n_steps = self.epochs * n_batches
        optimiser = torch.optim.SGD(
            network.parameters(), 0.1, momentum=0.9, weight_decay=WEIGHT_DECAY, nesterov=True
        )
        rng = torch.Generator().manual_seed(self.seed)
        black = -self.scale_.centre / self.scale_.spread
        network.train()
        for epoch in range(self.epochs):
            order = torch.randperm(len(images), generator=rng).to(images.device)
            for number, rows in enumerate(order.tensor_split(n_batches)):
                rate = _rate((epoch * n_batches + number + 1) / n_steps)
                for group in optimiser.param_groups:
                    group["lr"] = self.learning_rate * rate
                seen = moved(images[rows], MOST_SHIFTED, rng, black=black)
                with _half_precision(images.device):
                    logits = network(seen.contiguous(memory_format=torch.channels_last))
                loss = functional.cross_entropy(logits.float(), codes[rows])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

    def _outputs(self, X: Any, function: Any) -> NDArray[np.float64]:
        """The function's means over images and their mirror images."""
        pixels = np.asarray(X, dtype=np.float32)
        if pixels.ndim != 2 or pixels.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has shape {pixels.shape}: the images of training have {self.n_features_in_} "
                "pixels each"
            )
        device = next(self.network_.parameters()).device
        parts = []
        with torch.no_grad():
            for block in self._images(pixels).split(PREDICTED_AT_ONCE):
                images = block.to(device, memory_format=torch.channels_last)
                mean = (function(images) + function(images.flip(3))) / 2
                parts.append(mean.double().cpu().numpy())
        return np.concatenate(parts) if parts else np.empty((0, len(self.classes_)))

    def _images(self, pixels: NDArray[np.float32]) -> Tensor:
        scaled = (pixels - self.scale_.centre) / self.scale_.spread
        return torch.from_numpy(np.ascontiguousarray(scaled)).reshape(-1, 1, *self.shape_)


def _rate(done: float) -> float:
    """The learning rate after a share of the steps: it rises, then falls as a cosine."""
    if done < WARM_UP:
        return done / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


def _half_precision(device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def _image_shape(requested: tuple[int, int] | None, n_pixels: int) -> tuple[int, int]:
    side = math.isqrt(n_pixels)
    shape = (side, side) if requested is None else (int(requested[0]), int(requested[1]))
    if shape[0] * shape[1] != n_pixels:
        raise UserError(
            f"images of {n_pixels} pixels are not {shape[0]} x {shape[1]}; give their height and "
            "width as shape"
        )
    return shape
