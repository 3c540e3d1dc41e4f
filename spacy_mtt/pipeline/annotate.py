"""Writing a parse to a Doc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc

from spacy_mtt.scoring.units import Units

from .decoding import Decoded, token_arrays
from .segmentation import is_space, marks_of

WHITESPACE_LABEL = "dep"
NO_NODE = -1


@dataclass(frozen=True)
class Parse:
    """The decoder's trees of one doc.

    heads: (len(doc),) int32: 0 for a root, else 1 + the index in the doc of the head; -1 for whitespace.
    labels: (len(doc),) uint64: the hash of the label in the string store; 0 for whitespace.
    starts: (len(doc),) bool: the first tokens of the sentences that each have a tree (or several, by the decoder).
    confidence: arrays of `doc._.mtt` that tell how sure the parse is; empty if nobody asked.
    """

    heads: np.ndarray
    labels: np.ndarray
    starts: np.ndarray
    confidence: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def blank(cls, starts: np.ndarray) -> Parse:
        """No tree yet in the sentences that start there."""
        n = len(starts)
        return cls(np.full(n, NO_NODE, dtype=np.int32), np.zeros(n, dtype=np.uint64), starts)


def parses_of(units: Units, decoded: Decoded, starts: Sequence[np.ndarray], label_hashes: np.ndarray) -> list[Parse]:
    """The parses of docs from the trees of their units. starts: of each doc, where its sentences start."""
    parses = [Parse.blank(each) for each in starts]
    if decoded.units:
        for parse in parses:
            blank = token_arrays(decoded.tokens, len(parse.starts))
            firsts = np.flatnonzero(parse.starts)
            of_sentences = {name: np.zeros(len(firsts)) for name in decoded.units}
            parse.confidence.update({**blank, "sentence_starts": firsts, **of_sentences})
    row = 0
    for unit, (doc, words) in enumerate(zip(units.doc_of.tolist(), units.words, strict=True)):
        rows, parse = slice(row, row + len(words)), parses[doc]
        heads = decoded.heads[rows]
        parse.heads[words] = np.where(heads == 0, 0, words[heads - 1] + 1)
        parse.labels[words] = label_hashes[decoded.labels[rows]]
        for name, array in decoded.tokens.items():
            parse.confidence[name][words] = array[rows]
        for name, array in decoded.units.items():
            sentence = np.searchsorted(parse.confidence["sentence_starts"], words[0], side="right") - 1
            parse.confidence[name][sentence] = array[unit]
        row += len(words)
    return parses


def write_parses(docs: Sequence[Doc], parses: Sequence[Parse]) -> None:
    """Set heads, labels and sentence starts of `docs`, and keep each parse as it is in `doc._.mtt`.

    Sentences that were set stay. Where a decoder gave several roots to one sentence, each tree becomes a sentence
    if the trees lie side by side and no preset boundary forbids it; otherwise a spaCy Doc cannot hold them, and
    the later roots hang from the first, with their own labels. `doc._.mtt` tells the decoder's trees in any case.
    """
    for doc, parse in zip(docs, parses, strict=True):
        doc._.mtt = {"heads": parse.heads, "labels": parse.labels, **parse.confidence}
    filled = [(doc, parse) for doc, parse in zip(docs, parses, strict=True) if len(doc)]
    if not filled:
        return
    lengths = np.array([len(doc) for doc, _ in filled])
    ends = np.cumsum(lengths)
    heads, labels, starts = (np.concatenate([getattr(p, name) for _, p in filled]) for name in _FIELDS)
    local = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
    rows = _rows(np.where(heads > 0, heads - 1, local), local, labels)
    doc_of, firsts = np.repeat(np.arange(len(filled)), lengths), np.flatnonzero(starts)
    odd = {*doc_of[heads < 0].tolist(), *doc_of[firsts[np.add.reduceat(heads == 0, firsts) != 1]].tolist()}
    for number, ((doc, parse), end) in enumerate(zip(filled, ends, strict=True)):
        if number in odd:
            _write_odd(doc, parse)
        else:
            doc.from_array([HEAD, DEP], rows[end - len(doc) : end])


_FIELDS = ("heads", "labels", "starts")


def _rows(heads: np.ndarray, tokens: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What `Doc.from_array` takes for [HEAD, DEP]: offsets to heads, as unsigned numbers, and labels."""
    return np.stack([(heads - tokens).astype(np.int64).view(np.uint64), labels], axis=1)


def _write_odd(doc: Doc, parse: Parse) -> None:
    """The same for a doc with whitespace, or with a sentence that has several roots."""
    tokens = np.arange(len(doc))
    heads = np.where(parse.heads > 0, parse.heads - 1, tokens)
    labels = parse.labels.copy()
    forbidden = marks_of(doc) == -1
    space = is_space(doc)
    firsts = np.flatnonzero(parse.starts)
    spans = list(zip(firsts, [*firsts[1:], len(doc)], strict=True))
    for start, end in spans:
        words = start + np.flatnonzero(~space[start:end])
        roots = words[parse.heads[words] == 0]
        if len(roots) > 1 and not _lie_apart(heads, words, forbidden):
            heads[roots[1:]] = roots[0]
    _attach_spaces(heads, space, spans)
    labels[space] = doc.vocab.strings.add(WHITESPACE_LABEL)
    doc.from_array([HEAD, DEP], _rows(heads, tokens, labels))


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
