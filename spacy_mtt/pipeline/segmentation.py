"""From docs to units: one for each sentence, without its whitespace tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import to_numpy

from spacy_mtt.learning.annotation import UNKNOWN
from spacy_mtt.scoring.units import Segmentation, Units

from .constraints import constraints_of, without_starts_inside


def sentence_starts(doc: Doc, found: np.ndarray | None = None) -> np.ndarray:
    """Which tokens start a sentence, (len(doc),) bool; never fails.

    Those that are marked so, the first, and of those that are not marked at all the words that were `found` to,
    (len(doc),) bool. A token that is marked not to start a sentence does not.
    """
    marks = marks_of(doc)
    starts = marks == 1
    if found is not None:
        starts |= (marks == 0) & found & ~is_space(doc)
    starts[:1] = True
    return starts


def marks_of(doc: Doc) -> np.ndarray:
    """What a doc says of its tokens, (len(doc),): 1 starts a sentence, -1 does not, 0: it does not say."""
    return doc.to_array(SENT_START).astype(np.int64) if len(doc) else np.zeros(0, dtype=np.int64)


def has_open_starts(doc: Doc) -> bool:
    """Whether the doc does not say of one of its words whether a sentence starts there."""
    return bool(((marks_of(doc) == 0) & ~is_space(doc))[1:].any())


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


def training_starts(example: Example) -> np.ndarray:
    """Where sentences start in the predicted doc; for tokens of which it does not say, in the reference."""
    starts = sentence_starts(example.predicted)
    unset = marks_of(example.predicted) == 0
    unset[:1] = False
    if unset.any():
        starts |= unset & _reference_starts(example)
    return starts


def gold_starts(examples: Iterable[Example]) -> np.ndarray:
    """What can be learned of sentence starts from all tokens of the predicted docs, (n_tokens,): 1 starts one, 0 does
    not. -1: the reference does not say, or nothing is to be learned: of the first token of a doc, and of whitespace.
    """
    return np.concatenate([np.zeros(0, dtype=np.intp), *map(_gold_starts_of, examples)])


def _reference_starts(example: Example) -> np.ndarray:
    """Where the reference starts a sentence, by the tokens of the predicted doc, (len(predicted),) bool."""
    return np.array([start is True for start in example.get_aligned_sent_starts()], dtype=bool)


def _gold_starts_of(example: Example) -> np.ndarray:
    gold = _reference_starts(example).astype(np.intp)
    gold[[mark is None for mark in example.get_aligned("SENT_START")]] = UNKNOWN
    for place in np.flatnonzero(marks_of(example.reference) == 0).tolist():
        if place:  # the first token starts a sentence, whatever its mark
            gold[example.alignment.y2x[place]] = UNKNOWN
    gold[is_space(example.predicted)] = UNKNOWN
    gold[:1] = UNKNOWN
    return gold


class Segmenting:
    """From the log-odds of sentence starts to the units of docs, as a model may be given it in place of units.

    starts: where sentences start in each doc; as the docs say, until the model has said more.
    """

    def __init__(self, docs: list[Doc], *, finds: bool):
        self.docs = docs
        self.starts = [sentence_starts(doc) for doc in docs]
        self._is_open = finds and any(map(has_open_starts, docs))

    def input(self) -> Segmentation:
        """What the model is to be given: the units, or this, if they are still to be found."""
        return self if self._is_open else units_of(self.docs, self.starts)

    def __call__(self, log_odds) -> Units:
        ends = np.cumsum([len(doc) for doc in self.docs])[:-1]
        found = np.split(to_numpy(log_odds) > 0, ends)
        found = [without_starts_inside(each, constraints_of(doc)) for doc, each in zip(self.docs, found, strict=True)]
        self.starts = [sentence_starts(doc, each) for doc, each in zip(self.docs, found, strict=True)]
        return units_of(self.docs, self.starts)
