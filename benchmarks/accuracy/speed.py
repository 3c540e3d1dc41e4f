"""Words per second of the models of a treebank, in turn in one process; the record is the last line of output.

Only `nlp.pipe` is timed, on one thread: gold words in docs of ten sentences, boundaries found by the pipeline. The
first round is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import spacy

from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from benchmarks.parsing_speed import measure

BATCH_SIZES = (1, 16, 128)


def speeds(models: list[Path], treebank: Path, rounds: int) -> dict[str, list[list[float]]]:
    """For each batch size, in docs, the words per second of each model in each round: (models, rounds)."""
    pipelines = {str(model): spacy.load(model) for model in models}
    conditions = {"gold_sents": False, "sents_per_doc": SENTENCES_PER_DOC}
    return {
        str(size): list(measure(pipelines, treebank, rounds, batch_size=size, **conditions).values())
        for size in BATCH_SIZES
    }


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: has to be at least 1")
    print(json.dumps(speeds(options.models, options.treebank, options.rounds)))


if __name__ == "__main__":
    main()
