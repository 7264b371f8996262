"""How many of the new messages are complaints? From your own CSV files to a share.

    python examples/own_csv.py [FOLDER]

Writes labelled.csv and new.csv to the folder (default: a temporary one), and uses the first to
estimate the share of complaints in the second. Replace them with your own files.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from quantshift import quantify

CALM = ["thanks", "great", "quick", "helpful", "lovely", "perfect", "again", "best"]
CROSS = ["refund", "broken", "late", "angry", "cancel", "waiting", "again", "worst"]
NEUTRAL = ["order", "parcel", "shop", "blue", "large", "size", "door", "phone", "mail", "gift"]


def messages(n: int, complaints: float, rng: np.random.Generator) -> pl.DataFrame:
    """Messages of ten words; 70% of their four informative words match the message's kind."""
    kinds = np.where(rng.random(n) < complaints, "complaint", "calm")
    texts = []
    for kind in kinds:
        typical, other = (CROSS, CALM) if kind == "complaint" else (CALM, CROSS)
        informative = [rng.choice(typical if rng.random() < 0.7 else other) for _ in range(4)]
        texts.append(" ".join([*informative, *rng.choice(NEUTRAL, 6)]))
    return pl.DataFrame({"message": texts, "kind": kinds})


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    messages(1000, 0.5, rng).write_csv(folder / "labelled.csv")
    new = messages(500, 0.1, rng)
    new.drop("kind").write_csv(folder / "new.csv")
    result = quantify(
        folder / "new.csv", train=folder / "labelled.csv", label="kind", text="message"
    )
    print(result.to_text())
    complaints = result.batches[0].shares[1]
    print(f"\nestimated share of complaints: {complaints.estimate:.3f}")
    print(f"true share of complaints:      {(new['kind'] == 'complaint').mean():.3f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(Path(scratch))
