"""Term counts of texts: `tokenise_corpus` against scikit-learn's CountVectorizer.

    python benchmarks/tokenise.py [--small]

Ours reads the texts from disk block by block and writes the counts to disk, on two threads; the
CountVectorizer is given a list of str already in memory and keeps its counts there. Each runs in a
separate process; the peak memory is that of the whole process, and next to it the memory before the
work began (imports; for the CountVectorizer also the texts). Compiled loops come from the cache on
disk, as in every use but the first. CPU seconds are those of all threads. The reviews are read from
the folder named by QUANTSHIFT_REVIEWS; without it, the texts are those of the synthetic corpus.
Linux only, for the memory.
"""

import argparse
import gzip
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from parts.real_reviews import review_files
from quantshift.lab.data import DataFolder, new_reviews
from quantshift.texts.counts import CountMatrix, tokenise_corpus

REPEATS, N_SYNTHETIC, SMALL = 3, 60_000, 5_000


def read_texts() -> tuple[str, list[str]]:
    """The kind of the texts, and the texts: real ones, or else synthetic ones."""
    files = review_files()
    if not files:
        from quantshift.lab.data.embedded.synthetic import generate

        return "synthetic reviews", generate(N_SYNTHETIC).texts()
    texts = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            texts += [line.rstrip("\n").partition("\t")[2] for line in lines]
    return "real reviews", texts


@dataclass(frozen=True)
class Measured:
    seconds: float
    cpu_seconds: float
    before_mb: float
    peak_mb: float
    n_tokens: int
    n_words: int


def ours(path: Path) -> Measured:
    CountMatrix.from_texts(["compile", "the loops: é"])
    before = peak_mb()
    texts = DataFolder.open(path).texts
    tokenise_corpus(texts)
    times = []
    for _ in range(REPEATS):
        start, cpu_start = time.perf_counter(), time.process_time()
        counts = tokenise_corpus(texts)
        times.append((time.perf_counter() - start, time.process_time() - cpu_start))
    peak = peak_mb()
    return Measured(*min(times), before, peak, int(counts.data.sum(dtype=int)), counts.n_words)


def theirs(path: Path) -> Measured:
    from sklearn.feature_extraction.text import CountVectorizer

    blocks = DataFolder.open(path).texts.text_blocks(1 << 24)
    texts = [text for _, block in blocks for text in block.to_pylist()]
    before = peak_mb()
    start, cpu_start = time.perf_counter(), time.process_time()
    counts = CountVectorizer().fit_transform(texts)
    times = time.perf_counter() - start, time.process_time() - cpu_start
    return Measured(*times, before, peak_mb(), int(counts.sum()), counts.shape[1])


def peak_mb() -> float:
    # Not ru_maxrss, which a process inherits from its parent.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def in_process(measure: Callable[[Path], Measured], path: Path) -> Measured:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (path,))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial: 5,000 reviews")
    small = parser.parse_args().small
    kind, texts = read_texts()
    texts = texts[:SMALL] if small else texts
    n_documents, megabytes = len(texts), sum(len(text.encode()) for text in texts) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews"
        with new_reviews(path, ("all",)) as writer:
            writer.write([0] * n_documents, [5] * n_documents, texts)
            writer.commit()
        del texts
        quick, slow = in_process(ours, path), in_process(theirs, path)
    print(f"{n_documents:,} {kind}, {megabytes:.0f} MB of text")
    for name, result in (("quantshift", quick), ("scikit-learn", slow)):
        print(
            f"{name:<13}{result.seconds:6.2f} s ({result.cpu_seconds:.2f} s CPU) "
            f"{megabytes / result.seconds:5.0f} MB/s "
            f"{result.n_tokens / 1e6 / result.seconds:5.1f} million words/s, "
            f"peak {result.peak_mb:,.0f} MB ({result.before_mb:,.0f} before), "
            f"{result.n_tokens:,} words, {result.n_words:,} distinct"
        )
    print(
        f"quantshift is {slow.seconds / quick.seconds:.1f} times as fast "
        f"({slow.cpu_seconds / quick.cpu_seconds:.1f} times in CPU seconds)"
    )


if __name__ == "__main__":
    main()
