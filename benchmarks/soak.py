"""Whether a process that parses for long keeps its memory.

    python -m benchmarks.soak MODEL texts.conllu --docs 100000
    python -m benchmarks.soak MODEL texts.conllu --minutes 60

Parses the sentences of a treebank as texts, again and again, and prints the resident memory at ten times; after the
first of them it has to stay where it is: exit code 1 if it grows by more than --tolerance. Words are those of the
treebank, so that the string store of the pipeline does not grow.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import spacy
from tqdm import tqdm

from spacy_mtt.treebanks.reading import read_treebank

CHECKS = 10


def resident() -> float:
    """MiB of this process."""
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def soak(model: str, texts: list[str], docs: int | None, minutes: float | None, batch_size: int) -> Iterator[tuple]:
    """(docs so far, seconds, MiB), ten times."""
    nlp = spacy.load(model)
    stream, done, start = cycle(texts), 0, time.monotonic()
    for check in range(1, CHECKS + 1):
        while (done < docs * check / CHECKS) if docs else (time.monotonic() - start < 6 * minutes * check):
            done += sum(1 for _ in nlp.pipe(islice(stream, 1000), batch_size=batch_size))
        gc.collect()
        yield done, time.monotonic() - start, resident()


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="pipeline: name or path")
    parser.add_argument("treebank", type=Path, help="where the texts are from")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--docs", type=int, help="how many, 100,000 if nothing is said")
    length.add_argument("--minutes", type=float)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--tolerance", type=float, default=10.0, help="MiB")
    options = parser.parse_args(arguments)
    docs = options.docs or (None if options.minutes else 100_000)
    texts = [" ".join(sentence.forms) for sentence in read_treebank(options.treebank)]
    checks = soak(options.model, texts, docs, options.minutes, options.batch_size)
    found = []
    for done, seconds, size in tqdm(checks, total=CHECKS, desc="checks", disable=None):
        print(f"{done:>10,} docs {seconds:>8.0f} s {size:>8.1f} MiB", flush=True)
        found.append(size)
    growth = max(found[1:]) - found[0]
    print(f"growth after the first tenth: {growth:.1f} MiB")
    if growth > options.tolerance:
        sys.exit(1)


if __name__ == "__main__":
    main()
