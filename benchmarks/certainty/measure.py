"""How reliable the probabilities of a trained model are, and how good the parses are that it is most certain of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example

from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from spacy_mtt.cli._util import parser_of
from spacy_mtt.cli.calibrate import annotated
from spacy_mtt.pipeline.calibration import Reliability
from spacy_mtt.treebanks.corpus import TreebankCorpus
from spacy_mtt.treebanks.evaluation.conllx import evaluate_conllx
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank

Record = dict[str, Any]
SHARES = tuple(range(5, 101, 5))  # of sentences, in percent


def measured(model: Path, corpus: Path, seed: int = 0) -> Record:
    """Everything of one model; corpus: the folder with its dev.conllu and test.conllu.

    `temperature`, fitted on dev; `reliability` by part, "before" and "after" it; `selective`, of test.
    """
    nlp = spacy.load(model, config={"components": {"mtt_parser": {"probabilities": True}}})
    parser = parser_of(nlp)
    examples = {part: examples_of(nlp, corpus / f"{part}.conllu") for part in ("dev", "test")}
    before = {part: as_record(parser.reliability(own)) for part, own in examples.items()}
    temperature = parser.fit_temperature(examples["dev"])
    after = {part: as_record(parser.reliability(own)) for part, own in examples.items()}
    return {
        "temperature": temperature,
        "reliability": {part: {"before": before[part], "after": after[part]} for part in examples},
        "selective": selective(nlp, corpus / "test.conllu", seed),
    }


def examples_of(nlp: Language, treebank: Path) -> list[Example]:
    """Docs of ten sentences as the parser will see them, with gold boundaries."""
    corpus = TreebankCorpus(treebank, gold_sents=True, sents_per_doc=SENTENCES_PER_DOC)
    return annotated(nlp, list(corpus(nlp)), gold_tags=False)


def as_record(reliability: Reliability) -> Record:
    """As plain data."""
    bins = {name: getattr(reliability, name).round(6).tolist() for name in ("counts", "confidence", "accuracy")}
    return {"ece": round(reliability.ece, 6), **bins}


def selective(nlp: Language, treebank: Path, seed: int) -> Record:
    """LAS by the rules of CoNLL-X of the first 5, 10, ... percent of the sentences, gold boundaries: the most certain
    first, the shortest first, and in random order.

    How certain a sentence is: the mean over its words of the probability of head and label, the LAS to be expected.
    """
    gold = list(read_treebank(treebank))
    parsed = parse_with(nlp, gold, sents_per_doc=SENTENCES_PER_DOC)
    lengths = np.array([len(sentence) for sentence in gold])
    expected = np.array([token._.dep_prob for example in parsed.examples for token in example.predicted])
    certainty = np.add.reduceat(expected, lengths.cumsum() - lengths) / lengths
    counts = [evaluate_conllx([left], [right]).counts for left, right in zip(gold, parsed.sentences, strict=True)]
    scored = np.array([each["scored words"] for each in counts])
    correct = np.array([each["correct heads and labels"] for each in counts])
    shuffled = np.random.default_rng(seed).permutation(len(gold))
    orders = {
        "certainty": np.argsort(-certainty, kind="stable"),
        "length": shuffled[np.argsort(lengths[shuffled], kind="stable")],
        "random": shuffled,
    }
    return {
        "sentences": len(gold),
        "words": int(scored.sum()),
        "LAS": {name: curve(order, scored, correct) for name, order in orders.items()},
    }


def curve(order: np.ndarray, scored: np.ndarray, correct: np.ndarray) -> list[float]:
    """LAS in percent of the first sentences of an order, for each of SHARES."""
    found = []
    for share in SHARES:
        first = order[: max(1, round(share * len(order) / 100))]
        found.append(round(100 * float(correct[first].sum() / max(1, scored[first].sum())), 3))
    return found
