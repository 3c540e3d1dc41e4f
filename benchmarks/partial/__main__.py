"""What a parser learns from a part of the heads, drawn at random or where it is least sure.

    python -m benchmarks.partial --from FOLDER --treebank UD_Dutch-LassySmall=3000

Trains a model on all heads, on random shares of them, and on shares of which the last part was chosen by the entropy
of heads. Can be stopped and started at any time. Writes docs/partial.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.accuracy.__main__ import prepared, say, treebank_and_steps
from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from benchmarks.accuracy.jobs import Job, Places, add_folders, made
from benchmarks.partial.annotation import doubtful_words, random_words, train_sentences, write_corpus
from benchmarks.partial.page import Point, draw, page
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.writing import replacing

RANDOM, ENTROPY = "at random", "by entropy"


def point(name: str, share: float, chosen: str, options: argparse.Namespace, places: Places) -> Point:
    """The model of a prepared treebank, trained and scored if it has not been."""
    job = Job(name, "recommended", options.treebank[1], options.seed)
    made(job, "training", places, say)
    scores = made(job, options.part, places, say)["gold"]["CoNLL-X"]["scores"]
    say(f"{share:g} % {chosen}: {scores['UAS']:.2f} / {scores['LAS']:.2f}")
    return Point(share, chosen, scores["UAS"], scores["LAS"])


def points(options: argparse.Namespace, places: Places) -> Iterator[Point]:
    """All models, first that of all heads."""
    treebank, steps = options.treebank
    whole = places.corpus / treebank
    sentences = train_sentences(whole)
    yield point(treebank, 100, RANDOM, options, places)
    for share in sorted({*options.random, options.start}, reverse=True):
        name = f"{treebank}.random.{share:g}"
        write_corpus(places.corpus / name, whole, sentences, random_words(sentences, share / 100, options.seed))
        yield point(name, share, RANDOM, options, places)
    known = random_words(sentences, options.start / 100, options.seed)
    model = Job(f"{treebank}.random.{options.start:g}", "recommended", steps, options.seed).model(places)
    for share in options.entropy:
        name = f"{treebank}.entropy.{share:g}.{steps}"
        if not (places.corpus / name / "train.conllu").is_file():
            write_corpus(places.corpus / name, whole, sentences, _doubtful(sentences, known, share, model))
        yield point(name, share, ENTROPY, options, places)


def _doubtful(sentences: list, known: np.ndarray, share: float, model: Path) -> np.ndarray:
    return doubtful_words(sentences, known, share / 100, model, sents_per_doc=SENTENCES_PER_DOC)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", required=True, type=treebank_and_steps, metavar="NAME[=STEPS]")
    parser.add_argument("--random", nargs="+", type=float, default=[50, 25, 10, 5], help="shares, in percent")
    parser.add_argument("--entropy", nargs="+", type=float, default=[10, 5], help="shares, in percent")
    parser.add_argument("--start", type=float, default=2.5, help="percent drawn before the others are chosen")
    parser.add_argument("--part", choices=("dev", "test"), default="dev", help="to score")
    parser.add_argument("--seed", type=int, default=0)
    add_folders(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/partial.md"))
    options = parser.parse_args(arguments)
    if not all(options.start < share < 100 for share in options.entropy) or not 0 < options.start < 100:
        parser.error(f"shares by entropy have to lie between --start ({options.start:g}) and 100")
    places = Places(options.corpus, options.models, options.records)
    try:
        prepared(options.treebank[0], options.project.resolve(), options.folder, places.corpus)
        found = list(points(options, places))
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
    except TreebankError as error:
        sys.exit(f"error: {error}")
    picture = options.records / "partial.svg"
    draw(found, picture)
    text = page(
        found,
        full=found[0].las,
        picture=os.path.relpath(picture, options.out.parent),
        command=f"python -m benchmarks.partial --treebank {options.treebank[0]}={options.treebank[1]}",
        treebank=options.treebank[0],
        steps=options.treebank[1],
        seed_share=options.start,
        part=options.part,
    )
    with replacing(options.out) as file:
        file.write(text.encode("utf8"))
    say(f"{options.out}: {len(found)} models")


if __name__ == "__main__":
    main()
