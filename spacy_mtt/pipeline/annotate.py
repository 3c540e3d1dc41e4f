"""Writing a parse to a Doc."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc

from .segmentation import is_space, sentence_spans

WHITESPACE_LABEL = "dep"
NO_NODE = -1


@dataclass(frozen=True)
class Parse:
    """The decoder's trees of one doc.

    heads: (len(doc),) int32: 0 for a root, else 1 + the index in the doc of the head; -1 for whitespace.
    labels: (len(doc),) uint64: the hash of the label in the string store; 0 for whitespace.
    starts: (len(doc),) bool: the first tokens of the sentences that each have a tree (or several, by the decoder).
    """

    heads: np.ndarray
    labels: np.ndarray
    starts: np.ndarray

    @classmethod
    def blank(cls, starts: np.ndarray) -> Parse:
        """No tree yet in the sentences that start there."""
        n = len(starts)
        return cls(np.full(n, NO_NODE, dtype=np.int32), np.zeros(n, dtype=np.uint64), starts)


def write_parse(doc: Doc, parse: Parse) -> None:
    """Set heads, labels and sentence starts of `doc`, and keep the parse as it is in `doc._.mtt`.

    Sentences that were set stay. Where a decoder gave several roots to one sentence, each tree becomes a sentence
    if the trees lie side by side and no preset boundary forbids it; otherwise a spaCy Doc cannot hold them, and
    the later roots hang from the first, with their own labels. `doc._.mtt` tells the decoder's trees in any case.
    """
    doc._.mtt = {"heads": parse.heads, "labels": parse.labels}
    if not len(doc):
        return
    tokens = np.arange(len(doc))
    heads = np.where(parse.heads > 0, parse.heads - 1, tokens)
    labels = parse.labels.copy()
    forbidden = doc.to_array(SENT_START).astype(np.int64) == -1
    space = is_space(doc)
    spans = sentence_spans(parse.starts)
    for start, end in spans:
        words = start + np.flatnonzero(~space[start:end])
        roots = words[parse.heads[words] == 0]
        if len(roots) > 1 and not _lie_apart(heads, words, forbidden):
            heads[roots[1:]] = roots[0]
    _attach_spaces(heads, space, spans)
    labels[space] = doc.vocab.strings.add(WHITESPACE_LABEL)
    offsets = (heads - tokens).astype(np.int64).astype(np.uint64)
    doc.from_array([HEAD, DEP], np.stack([offsets, labels], axis=1))


def _lie_apart(heads: np.ndarray, words: np.ndarray, forbidden: np.ndarray) -> bool:
    """Whether the trees over `words` can be sentences of their own: each a stretch, none starting where it may not."""
    places = np.searchsorted(words, heads[words])  # words ascend
    for _ in range(len(words).bit_length()):  # pointer doubling: paths halve each time
        places = places[places]
    root_of = words[places]
    changes = np.flatnonzero(np.diff(root_of)) + 1
    return len(changes) + 1 == len(np.unique(root_of)) and not forbidden[words[changes]].any()


def _attach_spaces(heads: np.ndarray, space: np.ndarray, spans: list[tuple[int, int]]) -> None:
    """Hang each whitespace token from the word before it in its sentence, or else from the first word after it."""
    for start, end in spans:
        spaces = start + np.flatnonzero(space[start:end])
        if not len(spaces):
            continue
        words = start + np.flatnonzero(~space[start:end])
        if not len(words):
            heads[spaces] = spaces[0]  # nothing but whitespace: its first token stands for the sentence
            continue
        before = np.searchsorted(words, spaces) - 1
        heads[spaces] = words[np.maximum(before, 0)]
