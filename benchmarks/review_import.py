"""Import of a crawl: speed and memory, against the loop one would write instead.

    python benchmarks/review_import.py                    # 2.5 million reviews, about 2 GB of text
    python benchmarks/review_import.py --reviews 50000
    python benchmarks/review_import.py --small            # a trial with 20,000

Makes a gzipped file of JSON lines in a temporary directory, imports it with
`quantshift.lab.data.import_reviews`, which also counts the words, then filters a tenth of the
reviews with `json.loads`, a list and a data frame. Memory is the resident set of this process and
its children together, sampled ten times a second in a separate process; each way runs in a fresh
process.
"""

import argparse
import gzip
import json
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

from quantshift.base.seeding import generator

WORDS_PER_REVIEW = (20, 260)
BATCH = 10_000


def make_file(path: Path, n_reviews: int) -> int:
    """Write reviews of random words; returns the bytes before compression."""
    rng = generator(0, benchmark="corpus_import")
    letters = np.array(list("etaoinshrdlucmfw"))
    words = np.array(
        ["".join(rng.choice(letters, size=n)) for n in rng.integers(2, 11, size=20_000)],
        dtype=object,
    )
    # Words are drawn once; a review is a stretch of them, so that making the file stays quick.
    stretch = words[(rng.pareto(1.1, size=400_000) * 20).astype(int) % len(words)].tolist()
    size = 0
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for start in range(0, n_reviews, BATCH):
            count = min(BATCH, n_reviews - start)
            starts = rng.integers(0, len(stretch) - WORDS_PER_REVIEW[1], size=count).tolist()
            lengths = rng.integers(*WORDS_PER_REVIEW, size=count).tolist()
            stars = rng.integers(1, 6, size=count).tolist()
            useful = rng.integers(0, 4, size=count).tolist()
            lines = "".join(
                json.dumps(
                    {
                        "reviewerID": f"A{start + i:013d}",
                        "asin": f"B{i:09d}",
                        "helpful": [useful[i], 4],
                        "reviewText": " ".join(stretch[starts[i] : starts[i] + lengths[i]]),
                        "overall": float(stars[i]),
                        "summary": "made of words",
                        "unixReviewTime": 1_300_000_000 + i,
                    }
                )
                + "\n"
                for i in range(count)
            )
            size += len(lines)
            file.write(lines)
    return size


def ours(path: Path, out: Path, n_reviews: int) -> int:
    from quantshift.lab.data import ReviewFile, import_reviews

    return int(import_reviews([ReviewFile("Books", path)], out).manifest["items"])


def naive(path: Path, out: Path, n_reviews: int) -> int:
    import pandas as pd

    rows = []
    with gzip.open(path) as file:
        for number, line in enumerate(file):
            if number == n_reviews:
                break
            review = json.loads(line)
            if len(review["reviewText"]) >= 200 and review["helpful"][0] >= 1:
                rows.append(("Books", int(review["overall"]), review["reviewText"]))
    frame = pd.DataFrame(rows, columns=["category", "stars", "text"])
    frame.to_parquet(out.with_suffix(".parquet"), compression="zstd")
    return len(frame)


def measure(
    work: Callable[[Path, Path, int], int], path: Path, out: Path, n_reviews: int
) -> tuple[float, float]:
    """Seconds and peak megabytes of the work, done in a fresh process."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=timed, args=(queue, work, path, out, n_reviews))
    process.start()
    peak, done = [0], threading.Event()
    sampler = threading.Thread(target=sample, args=(process.pid, peak, done))
    sampler.start()
    seconds, cpu_seconds, kept = queue.get()
    done.set()
    process.join()
    sampler.join()
    print(f"  {work.__name__}: {n_reviews:,} reviews, {kept:,} kept, {cpu_seconds:.1f} s of CPU")
    return seconds, peak[0] / 1e6


def timed(queue: object, work: Callable[..., int], path: Path, out: Path, n_reviews: int) -> None:
    begun = time.perf_counter()
    kept = work(path, out, n_reviews)
    queue.put((time.perf_counter() - begun, time.process_time(), kept))


def sample(pid: int, peak: list[int], done: threading.Event) -> None:
    root = psutil.Process(pid)
    while not done.wait(0.1):
        try:
            family = [root, *root.children(recursive=True)]
            peak[0] = max(peak[0], sum(process.memory_info().rss for process in family))
        except psutil.NoSuchProcess:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviews", type=int, default=2_500_000)
    parser.add_argument("--small", action="store_true", help="a trial with 20,000 reviews")
    options = parser.parse_args()
    n_reviews = 20_000 if options.small else options.reviews
    with tempfile.TemporaryDirectory(prefix="quantshift-benchmark-") as folder:
        path = Path(folder) / "reviews.json.gz"
        begun = time.perf_counter()
        size = make_file(path, n_reviews)
        print(
            f"{n_reviews:,} reviews, {size / 1e6:,.0f} MB of JSON lines, "
            f"{path.stat().st_size / 1e6:,.0f} MB gzipped, "
            f"made in {time.perf_counter() - begun:.0f} s"
        )
        seconds, memory = measure(ours, path, Path(folder) / "ours", n_reviews)
        tenth = max(1, n_reviews // 10)
        naive_seconds, naive_memory = measure(naive, path, Path(folder) / "naive", tenth)
        print(
            f"import_reviews: {seconds:.1f} s, {n_reviews / seconds:,.0f} rows/s, "
            f"{size / 1e6 / seconds:,.0f} MB/s, peak memory {memory:,.0f} MB"
        )
        print(
            f"plain loop (a tenth): {naive_seconds:.1f} s, {tenth / naive_seconds:,.0f} rows/s, "
            f"peak memory {naive_memory:,.0f} MB, "
            f"{naive_memory / tenth * n_reviews:,.0f} MB for all if it grows in proportion"
        )
        ratio = (naive_seconds / tenth) / (seconds / n_reviews)
        print(f"ratio per row: {ratio:.2f} times faster")


if __name__ == "__main__":
    main()
