"""The cost of token vectors: encoders in turn in one process, as ratios to spaCy's `HashEmbedCNN`.

    OMP_NUM_THREADS=1 python -m benchmarks.encoders UD_English-EWT/dev.conllu --out docs/benchmarks/encoders.md

Each encoder maps the treebank's words to vectors, one sentence a Doc, in batches of 64; in training also back, from
a gradient of ones. The weights are random, as they do not matter to the time; which words an encoder knows is set by
one pass over the file. Processor time; the encoders take turns, and what counts is the median over the rounds of the
ratio within a round.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import spacy
import thinc
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Config, Model
from tqdm import tqdm

import spacy_mtt
from spacy_mtt.treebanks.docs import blank_doc
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import replacing

BATCH = 64
REFERENCE = "spacy.HashEmbedCNN.v2, width 96, depth 4"
CONFIGS = Path(__file__).resolve().parents[1] / "configs"


def encoder(block: dict) -> Model[list[Doc], list]:
    """The model of a config block."""
    return registry.resolve({"model": block})["model"]


def contenders() -> dict[str, Model[list[Doc], list]]:
    """Encoders, and the embedding parts of two of them, by the names in the table."""
    recommended, convolutions = (
        encoder(Config().from_disk(CONFIGS / f"{name}.cfg")["components"]["mtt_parser"]["model"]["tok2vec"])
        for name in ("recommended", "biaffine")
    )
    cnn = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "width": 96,
        "depth": 4,
        "embed_size": 2000,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
        "pretrained_vectors": None,
    }
    return {
        REFERENCE: encoder(cnn),
        "that of `configs/biaffine.cfg`": convolutions,
        "that of `configs/recommended.cfg`": recommended,
        "- its embedding alone": recommended.get_ref("embed"),
    }


def predict(model: Model, batch: list[Doc]) -> None:
    """Token vectors."""
    model.predict(batch)


def train(model: Model, batch: list[Doc]) -> None:
    """Token vectors and the gradients of all parameters."""
    vectors, backprop = model.begin_update(batch)
    backprop([np.ones_like(each) for each in vectors])


def measure(models: dict[str, Model], batches: list[list[Doc]], run: Callable, rounds: int) -> dict[str, list[float]]:
    """Processor seconds of each model in each round; the first round is left out."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    gc.collect()
    gc.disable()
    try:
        for number in tqdm(range(rounds + 1), desc=run.__name__, disable=None):
            for name, model in models.items():
                start = time.process_time()
                for batch in batches:
                    run(model, batch)
                if number:
                    seconds[name].append(time.process_time() - start)
    finally:
        gc.enable()
    return seconds


def table(seconds: dict[Callable, dict[str, list[float]]], words: int) -> str:
    """A row for each model: for prediction and training the ratio to the reference, and microseconds a word."""
    ways = list(seconds)
    head = ["token vectors", *(f"{way.__name__}: {unit}" for way in ways for unit in ("ratio", "us / word"))]
    rows = [head, [" --- ", *[" ---: "] * 2 * len(ways)]]
    for name in seconds[ways[0]]:
        cells = [name]
        for way in ways:
            own, reference = np.array(seconds[way][name]), np.array(seconds[way][REFERENCE])
            cells += [f"{np.median(own / reference):.2f}", f"{1e6 * np.median(own) / words:.1f}"]
        rows.append(cells)
    return "\n".join(
        "|" + "|".join(f" {cell} " if cell.strip("- :") else cell for cell in cells) + "|" for cells in rows
    )


def page(rows: str, path: Path, words: int, rounds: int) -> str:
    """The page of markdown."""
    versions = f"spacy-mtt {spacy_mtt.__version__}, spaCy {spacy.__version__}, thinc {thinc.__version__}"
    return (
        f"# Cost of token vectors\n\nWritten by `python -m benchmarks.encoders` ({versions}, numpy {np.__version__}) "
        f"from {words:,} words of {path.parent.name}/{path.name}, one sentence a Doc, in batches of {BATCH}. Processor "
        f"time of one thread; ratio: to the first row, the median over {rounds} rounds in which all took turns, "
        f"**below 1 is faster**. predict: the forward pass; train: forward and backward pass.\n\n{rows}\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sentences", type=int, default=1000, help="the first sentences of the file")
    parser.add_argument("--out", type=Path, help="a markdown page for the table")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.sentences < 1:
        parser.error("--rounds and --sentences have to be at least 1")
    vocab = spacy.blank("xx").vocab
    sentences = list(read_treebank(options.treebank))[: options.sentences]
    docs = [blank_doc([each], vocab, gold_tags=False, gold_sents=True) for each in sentences]
    batches = [docs[i : i + BATCH] for i in range(0, len(docs), BATCH)]
    models = contenders()
    for model in models.values():
        model.initialize(X=docs[:10])
    for model in models.values():
        model.begin_update(docs)
    seconds = {way: measure(models, batches, way, options.rounds) for way in (predict, train)}
    words = sum(map(len, docs))
    rows = table(seconds, words)
    print(rows)
    if options.out is not None:
        with replacing(options.out) as file:
            file.write(page(rows, options.treebank, words, options.rounds).encode("utf8"))


if __name__ == "__main__":
    main()
