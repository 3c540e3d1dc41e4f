"""Treebanks of which only some words have a head, drawn at random or where a model is least sure of it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import spacy

from spacy_mtt.cli._util import parser_of
from spacy_mtt.treebanks.docs import blank_doc
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import MISSING, TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank


def random_words(sentences: Sequence[TreebankSentence], share: float, seed: int) -> np.ndarray:
    """(n_words,) bool, a share of all words; those of a smaller share are among those of a larger one."""
    words = sum(map(len, sentences))
    return np.random.default_rng(seed).permutation(words) < round(share * words)


def doubtful_words(
    sentences: Sequence[TreebankSentence], known: np.ndarray, share: float, model: Path, *, sents_per_doc: int
) -> np.ndarray:
    """The known words, and so many others that all are a share: those whose head has the largest entropy.

    The model gets gold boundaries and the heads that are known. ValueError if more than that share is known.
    """
    missing = round(share * len(known)) - int(known.sum())
    if missing < 0:
        raise ValueError(f"{known.sum()} of {len(known)} words are known, more than a share of {share}")
    entropies = np.where(known, -1.0, head_entropies(sentences, known, model, sents_per_doc))
    chosen = known.copy()
    chosen[np.argsort(-entropies, kind="stable")[:missing]] = True
    return chosen


def head_entropies(
    sentences: Sequence[TreebankSentence], known: np.ndarray, model: Path, sents_per_doc: int
) -> np.ndarray:
    """(n_words,) the entropy of the head of each word, given the known heads, in nats."""
    nlp, found = spacy.load(model), []
    parser = parser_of(nlp)
    lengths = np.array([len(sentence) for sentence in sentences])
    starts = lengths.cumsum() - lengths
    for first in range(0, len(sentences), sents_per_doc):
        group = sentences[first : first + sents_per_doc]
        doc = blank_doc(group, nlp.vocab, gold_sents=True)
        heads, roots, begin = {}, [], 0
        for start, sentence in zip(starts[first:].tolist(), group, strict=False):
            for word in np.flatnonzero(known[start : start + len(sentence)]).tolist():
                head = int(sentence.heads[word])
                if head:
                    heads[begin + word] = begin + head - 1
                else:
                    roots.append(begin + word)
            begin += len(sentence)
        doc._.mtt_constraints = {"heads": heads, "roots": roots}
        found += [each.trees.head_entropy for each in parser.distribution(doc)]
    return np.concatenate(found)


def with_heads(sentences: Sequence[TreebankSentence], known: np.ndarray) -> list[TreebankSentence]:
    """The sentences with the heads and labels of known words, and of no other."""
    found, start = [], 0
    for sentence in sentences:
        own = known[start : start + len(sentence)]
        labels = [label if keep else MISSING for label, keep in zip(sentence.deprels, own.tolist(), strict=True)]
        found.append(sentence.with_tree(np.where(own, sentence.heads, -1), labels))
        start += len(sentence)
    return found


def write_corpus(folder: Path, whole: Path, sentences: Sequence[TreebankSentence], known: np.ndarray) -> None:
    """The parts of a treebank with some heads in train.conllu; dev and test are those of the whole one."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("dev", "test"):
        shutil.copyfile(whole / f"{part}.conllu", folder / f"{part}.conllu")
    write_treebank(folder / "train.conllu", with_heads(sentences, known))


def train_sentences(folder: Path) -> list[TreebankSentence]:
    """Those of a prepared treebank."""
    return list(read_treebank(folder / "train.conllu"))
