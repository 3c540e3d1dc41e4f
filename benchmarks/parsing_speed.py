"""Words per second of several pipelines on one treebank file, measured in turn in one process.

    OMP_NUM_THREADS=1 python -m benchmarks.parsing_speed test.conllu MODEL MODEL --rounds 5 --output speed.json

Only `nlp.pipe` is timed, by this command on gold words, one sentence a Doc, its boundaries set. The pipelines take
turns, in changing order, so that whatever else the machine does hits all of them. The first round is left out; the
median of the others counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

import spacy
from spacy.language import Language
from tqdm import tqdm

from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank


def measure(pipelines: dict[str, Language], treebank: Path, rounds: int, **conditions) -> dict[str, list[float]]:
    """Words per second of each pipeline in each of `rounds` rounds. conditions: of `parse_with`."""
    sentences = list(read_treebank(treebank))
    speeds: dict[str, list[float]] = {name: [] for name in pipelines}
    for number in tqdm(range(rounds + 1), desc="speed", disable=None):
        names = list(pipelines) if number % 2 else list(reversed(pipelines))
        for name in names:
            parsed = parse_with(pipelines[name], sentences, **conditions)
            if number:
                speeds[name].append(parsed.words_per_second)
    return speeds


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("models", nargs="+", help="names or paths of pipelines")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="JSON file for {model: [words per second of each round]}")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: has to be at least 1")
    speeds = measure({name: spacy.load(name) for name in options.models}, options.treebank, options.rounds)
    for name, values in speeds.items():
        print(f"{name}: {median(values):.0f} words per second ({min(values):.0f} to {max(values):.0f})")
    if options.output is not None:
        options.output.write_text(json.dumps(speeds, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
