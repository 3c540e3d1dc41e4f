"""spaCy Docs as treebank sentences: what was read, with the annotation that the Doc has now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc

from spacy_mtt.treebanks import sentence as columns
from spacy_mtt.treebanks.conversion import to_format
from spacy_mtt.treebanks.docs import USER_DATA_KEY, annotation_of
from spacy_mtt.treebanks.errors import TreebankError, quoted
from spacy_mtt.treebanks.reading import find_format, parse_treebank
from spacy_mtt.treebanks.sentence import CONLLU, MISSING, Format, TreebankSentence


def doc_to_sentences(
    doc: Doc, format: str | Format | None = None, *, doc_sents: bool = False
) -> list[TreebankSentence]:
    """The sentences of a Doc with its current annotation.

    They are in `format` or, if that is None, in the format they were read in, or else in CoNLL-U. A Doc from
    `sentence_to_doc` gives back the lines of its file. A column that the Doc has since got another value for
    is written anew. Heads and labels come from ``doc._.mtt`` where that is set (``heads`` (len(doc),): 0 for
    a root, 1 + index of the head in the Doc, -1 for none; ``labels`` (len(doc),): hashes of the string store)
    and from the tokens otherwise.

    Sentences are those of the file as long as no arc crosses their boundaries, else (or with `doc_sents`)
    those of the Doc: if these are others, comments, empty nodes and DEPS go and words are renumbered. Two
    sentences that an arc connects become one. In a Doc that no treebank was read into, tokens of white space
    are left out and what hangs on them is attached to their head.

    Raises TreebankError if a token cannot be written (a tab or line break inside, a broken `doc._.mtt`).
    O(n).
    """
    heads, deprels = _current_tree(doc)
    kept = _kept_sentences(doc)
    if kept is None:
        sentences = _fresh(doc, heads, deprels)
    else:
        rows = _updated_rows(doc, kept)
        bounds = np.cumsum([0] + [len(each) for each in kept])
        starts = bounds[:-1]
        if doc_sents or len(_closed(starts, heads)) < len(starts):
            starts = _closed(_doc_starts(doc), heads)
        if np.array_equal(starts, bounds[:-1]):
            sentences = [
                _same_sentence(each, rows[a:b], heads[a:b], deprels[a:b], a)
                for each, a, b in zip(kept, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
            ]
        else:
            sentences = _recut(kept, rows, heads, deprels, starts)
    if format is None:
        return sentences
    format = find_format("", format)
    return [to_format(each, format) for each in sentences]


def _current_tree(doc: Doc) -> tuple[np.ndarray, list[str]]:
    """(n,) heads as in `doc._.mtt`, and the label of each word, `_` for none."""
    n = len(doc)
    parse = doc._.mtt if Doc.has_extension("mtt") else None
    if parse is not None:
        heads = np.asarray(parse["heads"], dtype=np.int64)
        labels = np.asarray(parse["labels"], dtype=np.uint64)
        if heads.shape != (n,) or labels.shape != (n,) or (n and not -1 <= heads.min() <= heads.max() <= n):
            raise TreebankError(f"doc._.mtt of a Doc of {n} tokens holds heads {heads.shape} outside -1..{n}")
    else:
        attributes = doc.to_array([HEAD, DEP]).reshape(n, 2)
        offsets, labels = attributes[:, 0].astype(np.int64), attributes[:, 1]
        heads = np.where(offsets == 0, 0, offsets + np.arange(1, n + 1))
        heads[labels == 0] = -1
    strings = doc.vocab.strings
    deprels = [
        _cell(strings[int(label)]) if label and head >= 0 else MISSING
        for head, label in zip(heads, labels, strict=True)
    ]
    return heads, deprels


def _kept_sentences(doc: Doc) -> list[TreebankSentence] | None:
    """The sentences that were read, or None if there are none or the tokens are no longer theirs."""
    kept = doc.user_data.get(USER_DATA_KEY)
    if not kept:
        return None
    sentences = [each for text in kept["texts"] for each in parse_treebank(text, kept["format"])]
    forms = [form for each in sentences for form in each.forms]
    return sentences if forms == [token.text for token in doc] else None


def _updated_rows(doc: Doc, kept: Sequence[TreebankSentence]) -> list[tuple[str, ...]]:
    """The columns of all words; lemma, tags and features are written anew where the Doc has changed them."""
    then = annotation_of(kept, doc.vocab)
    rows = [row for each in kept for row in each.rows]
    old = zip(then.lemmas, then.pos, then.tags, then.morphs or [""] * len(rows), strict=True)
    updated = []
    for token, row, old_values in zip(doc, rows, old, strict=True):
        values = (token.lemma_, token.pos_, token.tag_, str(token.morph))
        if values != old_values:
            changed = list(row)
            for column, value, old_value in zip(range(columns.LEMMA, columns.HEAD), values, old_values, strict=True):
                if value != old_value:
                    changed[column] = _cell(value)
            row = tuple(changed)
        updated.append(row)
    return updated


def _same_sentence(sentence, rows, heads, deprels, offset: int) -> TreebankSentence:
    """`sentence` with new word columns and the tree of the Doc, whose heads count from the Doc's start."""
    rows = tuple(rows)
    if rows != sentence.rows:
        sentence = replace(sentence, rows=rows)
    return sentence.with_tree(np.where(heads > 0, heads - offset, heads), deprels)


def _doc_starts(doc: Doc) -> np.ndarray:
    """Indices of the first token of each sentence as far as the Doc has boundaries."""
    starts = doc.to_array(SENT_START) == 1
    if len(doc):
        starts[0] = True
    return np.flatnonzero(starts)


def _closed(starts: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Those of the sentence starts that no arc crosses."""
    crossed = np.zeros(len(heads) + 1, dtype=np.int64)
    words = np.flatnonzero(heads > 0)
    ends = heads[words] - 1
    np.add.at(crossed, np.minimum(words, ends) + 1, 1)
    np.add.at(crossed, np.maximum(words, ends) + 1, -1)
    return starts[np.cumsum(crossed)[starts] == 0]


def _recut(kept, rows, heads, deprels, starts: np.ndarray) -> list[TreebankSentence]:
    """The words of `kept` in other sentences, which begin at `starts`; uncut multi-word tokens stay."""
    format = kept[0].format
    offsets = np.cumsum([0] + [len(each) for each in kept])
    ranges = [
        (offset + each.first - 1, offset + each.last, each)
        for offset, sentence in zip(offsets, kept, strict=False)
        for each in sentence.ranges
    ]
    sentences = []
    for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(rows)], strict=True):
        extras = [
            (first - a, "\t".join((f"{first - a + 1}-{last - a}", each.form, *[MISSING] * 7, each.misc)))
            for first, last, each in ranges
            if a <= first and last <= b
        ]
        sentences.append(_sentence(rows[a:b], heads[a:b], deprels[a:b], a, format, tuple(extras)))
    return sentences


def _sentence(rows, heads, deprels, offset, format, extras=()) -> TreebankSentence:
    """A sentence of the given word columns, numbered anew; heads count from the start of the Doc."""
    numbered = []
    for number, (row, head, label) in enumerate(zip(rows, heads, deprels, strict=True), 1):
        tree = (MISSING if head < 0 else str(head - offset if head > 0 else 0), label)
        misc = row[columns.MISC] if format is CONLLU else MISSING
        numbered.append((str(number), *row[columns.FORM : columns.HEAD], *tree, MISSING, misc))
    return TreebankSentence(rows=tuple(numbered), format=format, extras=extras)


def _fresh(doc: Doc, heads: np.ndarray, deprels: list[str]) -> list[TreebankSentence]:
    """CoNLL-U sentences of a Doc that no treebank was read into."""
    # Not Token.is_space, which a Vocab without its language's functions does not know.
    is_space = np.array([token.text.isspace() for token in doc], dtype=bool)
    words = np.flatnonzero(~is_space)
    if not len(words):
        return []
    heads = _without_spaces(heads, is_space)[words]
    position = np.cumsum(~is_space)  # 1 + index among the words
    heads = np.where(heads > 0, position[np.maximum(heads, 1) - 1], heads)
    rows = []
    for i in words.tolist():
        token = doc[i]
        cells = (token.text, token.lemma_, token.pos_, token.tag_, str(token.morph))
        is_glued = not (token.whitespace_ or doc.has_unknown_spaces or i + 1 == len(doc) or is_space[i + 1])
        rows.append(("", *map(_cell, cells), "", "", MISSING, "SpaceAfter=No" if is_glued else MISSING))
    first_words = np.searchsorted(words, _doc_starts(doc))
    starts = _closed(np.unique(first_words[first_words < len(words)]), heads)
    labels = [deprels[i] for i in words]
    return [
        _sentence(rows[a:b], heads[a:b], labels[a:b], a, CONLLU)
        for a, b in zip(starts.tolist(), [*starts[1:].tolist(), len(words)], strict=True)
    ]


def _without_spaces(heads: np.ndarray, is_space: np.ndarray) -> np.ndarray:
    """Heads in which no word hangs on a token of white space: it hangs on the nearest word above.

    If there is none (white space is the root), its first word takes its place and the other words hang on
    that one.
    """
    result = heads.copy()
    heir: dict[int, int] = {}
    for word in (np.flatnonzero(~is_space) + 1).tolist():
        head, steps = int(heads[word - 1]), 0
        while head > 0 and is_space[head - 1] and steps < len(heads):  # steps: a cycle must not hang us
            top, head, steps = head, int(heads[head - 1]), steps + 1
            if head <= 0 and heir.setdefault(top, word) != word:
                head = heir[top]
        result[word - 1] = head
    return result


def _cell(text: str) -> str:
    """A column's text, `_` for none. Raises TreebankError if it would break the line."""
    if any(character in text for character in "\t\n\r"):
        raise TreebankError(f"{quoted(text)} holds a tab or a line break and cannot be written to a treebank")
    return text or MISSING
