"""From docs to units: one for each sentence, without its whitespace tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import to_numpy

from spacy_mtt.learning.annotation import UNKNOWN
from spacy_mtt.scoring.units import Units

from .constraints import constraints_of, without_starts_inside


def sentence_starts(doc: Doc, found: np.ndarray | None = None) -> np.ndarray:
    """Which tokens start a sentence, (len(doc),) bool; never fails.

    Those that are marked so, the first, and of those that are not marked at all the words that were `found` to,
    (len(doc),) bool. A token that is marked not to start a sentence does not.
    """
    marks = doc.to_array(SENT_START).astype(np.int64) if len(doc) else np.zeros(0, dtype=np.int64)
    starts = marks == 1
    if found is not None:
        starts |= (marks == 0) & found & ~is_space(doc)
    starts[:1] = True
    return starts


def has_open_starts(doc: Doc) -> bool:
    """Whether a token but the first is not marked to start a sentence or not to."""
    return len(doc) > 1 and bool((doc.to_array(SENT_START)[1:] == 0).any())


def is_space(doc: Doc) -> np.ndarray:
    """Which tokens are whitespace, (len(doc),) bool."""
    return doc.to_array(IS_SPACE) == 1 if len(doc) else np.zeros(0, dtype=bool)


def units_of(docs: Iterable[Doc], starts: Iterable[np.ndarray] | None = None) -> Units:
    """The units of `docs`: the words of each sentence, in the order of the text; a sentence of spaces has none.

    starts: where sentences start in each doc; None: as the docs say.
    """
    docs = list(docs)
    starts = map(sentence_starts, docs) if starts is None else starts
    lengths = np.array([len(doc) for doc in docs], dtype=np.intp)
    empty = np.zeros(0, dtype=bool)
    words = np.flatnonzero(~np.concatenate([empty, *map(is_space, docs)]))
    sentence = np.cumsum(np.concatenate([empty, *starts]))[words]
    firsts = np.flatnonzero(np.diff(sentence, prepend=-1))  # the first word of each unit: docs start sentences
    doc_of = np.repeat(np.arange(len(docs)), lengths)[words]
    local = words - (np.cumsum(lengths) - lengths)[doc_of]
    return Units(doc_of[firsts], np.split(local, firsts[1:]) if len(firsts) else [], lengths.tolist())


def gold_starts(examples: Iterable[Example]) -> np.ndarray:
    """What can be learned of sentence starts from all tokens of the predicted docs, (n_tokens,): 1 starts one, 0 does
    not. -1: not known, or nothing to learn: the first token of a doc, and whitespace.
    """
    found = [np.zeros(0, dtype=np.intp)]
    for example in examples:
        starts = example.get_aligned_sent_starts()
        gold = np.array([UNKNOWN if start is None else int(start) for start in starts], dtype=np.intp)
        gold[is_space(example.predicted)] = UNKNOWN
        gold[:1] = UNKNOWN
        found.append(gold)
    return np.concatenate(found)


def training_starts(example: Example) -> np.ndarray:
    """Where sentences start in the predicted doc; where it has no boundaries, in the reference."""
    predicted = example.predicted
    if len(predicted) > 1 and not predicted.has_annotation("SENT_START"):
        gold = example.get_aligned_sent_starts()
        starts = np.array([start is True for start in gold], dtype=bool)
        starts[:1] = True
        return starts
    return sentence_starts(predicted)


class Segmenting:
    """From the log-odds of sentence starts to the units of docs, as a model may be given it in place of units.

    starts: where sentences start in each doc. units: None if they are still to be found.
    """

    def __init__(self, docs: list[Doc], *, finds: bool):
        self.docs = docs
        self.starts = [sentence_starts(doc) for doc in docs]
        self.units = None if finds and any(map(has_open_starts, docs)) else units_of(docs, self.starts)

    def __call__(self, log_odds) -> Units:
        ends = np.cumsum([len(doc) for doc in self.docs])[:-1]
        found = np.split(to_numpy(log_odds) > 0, ends)
        found = [without_starts_inside(each, constraints_of(doc)) for doc, each in zip(self.docs, found, strict=True)]
        self.starts = [sentence_starts(doc, each) for doc, each in zip(self.docs, found, strict=True)]
        return units_of(self.docs, self.starts)
