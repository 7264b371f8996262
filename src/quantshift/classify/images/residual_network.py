"""A wide residual network for small images: what the layers are.

S. Zagoruyko and N. Komodakis, "Wide residual networks", BMVC 2016.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

STEM = 16
"""Channels of the first convolution; a network of width w has w, 2w and 4w times as many."""


class _Block(nn.Module):  # type: ignore[misc]
    """Two convolutions whose result is added to what came in."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(n_in), nn.BatchNorm2d(n_out)
        self.first = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        same = n_in == n_out and stride == 1
        self.shortcut = None if same else nn.Conv2d(n_in, n_out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        active = functional.relu(self.norm1(x))
        skipped = x if self.shortcut is None else self.shortcut(active)
        added: Tensor = self.second(functional.relu(self.norm2(self.first(active))))
        return skipped + added


class WideResidualNetwork(nn.Module):  # type: ignore[misc]
    """Images, (n_images, channels, height, width), to logits; `embed` to what comes before."""

    def __init__(self, n_channels: int, n_classes: int, depth: int, width: int) -> None:
        super().__init__()
        n_blocks = (depth - 4) // 6
        sizes = [STEM, STEM * width, 2 * STEM * width, 4 * STEM * width]
        layers: list[Any] = [nn.Conv2d(n_channels, STEM, 3, 1, 1, bias=False)]
        for group in range(3):
            for block in range(n_blocks):
                stride = 2 if group and not block else 1
                layers.append(_Block(sizes[group + (block > 0)], sizes[group + 1], stride))
        layers += [nn.BatchNorm2d(sizes[3]), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(sizes[3], n_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        nn.init.zeros_(self.head.bias)

    def embed(self, x: Tensor) -> Tensor:
        """Means of the last channels over the image, (n_images, n_embedded)."""
        pooled: Tensor = self.layers(x).mean(dim=(2, 3))
        return pooled

    def forward(self, x: Tensor) -> Tensor:
        """The logits, (n_images, n_classes)."""
        logits: Tensor = self.head(self.embed(x))
        return logits


def moved(images: Tensor, most: int, generator: torch.Generator, *, black: float) -> Tensor:
    """The images, each shifted by up to `most` pixels in both directions, half of them mirrored."""
    n, _, height, width = images.shape
    shape = (n, 1)
    rows, columns = (
        torch.arange(size)[None] + torch.randint(0, 2 * most + 1, shape, generator=generator)
        for size in (height, width)
    )
    mirrored = torch.rand(shape, generator=generator) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    padded = functional.pad(images, (most, most, most, most), value=black)
    device = images.device
    which = torch.arange(n, device=device)[:, None, None]
    # Indices around the slice put the channels last.
    taken = padded[which, :, rows.to(device)[:, :, None], columns.to(device)[:, None, :]]
    return taken.permute(0, 3, 1, 2)
