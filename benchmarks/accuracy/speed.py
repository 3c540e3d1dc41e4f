"""Words per second of the models of a treebank, in turn in one process; the record is the last line of output.

Only `nlp.pipe` is timed, on one thread: gold words in docs of ten sentences, boundaries found by the pipeline. The
first round is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import spacy
from tqdm import tqdm

from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank

BATCH_SIZES = (1, 16, 128)


def measure(models: list[Path], treebank: Path, rounds: int) -> dict[str, list[list[float]]]:
    """For each batch size, in docs, the words per second of each model in each round: (models, rounds)."""
    pipelines, sentences = [spacy.load(model) for model in models], list(read_treebank(treebank))
    speeds: dict[str, list[list[float]]] = {str(size): [[] for _ in models] for size in BATCH_SIZES}
    for number in tqdm(range(rounds + 1), desc="speed", disable=None):
        for size in BATCH_SIZES:
            order = range(len(models)) if number % 2 else reversed(range(len(models)))
            for place in order:
                parsed = parse_with(
                    pipelines[place], sentences, gold_sents=False, sents_per_doc=SENTENCES_PER_DOC, batch_size=size
                )
                if number:
                    speeds[str(size)][place].append(parsed.words_per_second)
    return speeds


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: has to be at least 1")
    print(json.dumps(measure(options.models, options.treebank, options.rounds)))


if __name__ == "__main__":
    main()
