"""Write a trained network as a file for `PretrainedQuantifier(network=...)`, and its checksum.

python -m training.export checkpoints/network-0.pt weights.npz
"""

import argparse
import hashlib
from pathlib import Path

import numpy as np
import torch

SCALES = ("centre", "scale")
"""Kept in single precision; weights are stored in half precision."""


def export(checkpoint: Path, file: Path) -> str:
    """Write the file; its checksum."""
    weights = torch.load(checkpoint, map_location="cpu")["weights"]
    arrays = {
        name: tensor.numpy().astype(np.float32 if name in SCALES else np.float16)
        for name, tensor in weights.items()
    }
    np.savez_compressed(file, **arrays)
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    print(export(given.checkpoint, given.file))
