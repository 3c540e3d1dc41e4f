"""Treebank sentences as spaCy Docs.

What a Doc can hold goes to its own attributes: FORM and SpaceAfter (`words`, `spaces`), LEMMA, UPOS or
CPOSTAG if it is a universal tag (`pos_`), XPOS or POSTAG (`tag_`), FEATS if every FEATS of the Doc reads as
name=value pairs (`morph`), HEAD and DEPREL. What it cannot hold stands in ``doc.user_data[USER_DATA_KEY]``, a
dict of plain strings that survives `Doc.to_bytes` and `DocBin(store_user_data=True)`: the text of each
sentence as it was read.

- A word without annotation (HEAD and DEPREL `_`) has an empty `dep_`, so `Token.has_head()` is False.
- An arc whose DEPREL alone is `_` has ``dep_ == "_"``, so `Token.has_head()` is True.
- A word with HEAD 0 is its own `head` and keeps its label, `root`, `ROOT` or whatever the file says. Several
  roots, or unannotated words at the start of a sentence, make spaCy split or join sentences (its boundaries
  follow from the heads); heads and labels stay right, and the boundaries of the file are those of the kept
  text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_mtt.treebanks.conversion import UNIVERSAL_TAGS
from spacy_mtt.treebanks.sentence import (
    CONLLX,
    FEATS,
    FORM,
    LEMMA,
    MISC,
    MISSING,
    UPOS,
    XPOS,
    TreebankSentence,
)

USER_DATA_KEY = "spacy_mtt.treebank"
_FEATURES = re.compile(r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")


def sentence_to_doc(sentence: TreebankSentence, vocab: Vocab) -> Doc:
    """The sentence as a Doc with all its annotation, see the module's text. O(n)."""
    return sentences_to_doc([sentence], vocab)


def sentences_to_doc(sentences: Sequence[TreebankSentence], vocab: Vocab) -> Doc:
    """Consecutive sentences as one Doc with all their annotation, see the module's text. O(n)."""
    annotation = annotation_of(sentences, vocab)
    heads: list[int] = []
    deps: list[str] = []
    for sentence in sentences:
        offset = len(heads)
        for i, (head, label) in enumerate(zip(sentence.heads.tolist(), sentence.deprels, strict=True)):
            heads.append(offset + (i if head < 1 else head - 1))
            deps.append("" if head < 0 else label)
    has_tree = any(deps)
    return Doc(
        vocab,
        **_words_and_spaces(sentences),
        user_data=user_data_of(sentences),
        lemmas=annotation.lemmas,
        pos=annotation.pos,
        tags=annotation.tags,
        morphs=annotation.morphs,
        heads=heads if has_tree else None,
        deps=deps if has_tree else None,
        sent_starts=_sent_starts(sentences),
    )


def blank_doc(
    sentences: Sequence[TreebankSentence], vocab: Vocab, *, gold_tags: bool = False, gold_sents: bool = True
) -> Doc:
    """A Doc of the gold words for a pipeline to annotate: without heads, with the kept text.

    gold_tags: set lemmas, tags and morphology as in the sentences.
    gold_sents: set `is_sent_start`, True on the first word of each sentence and False on every other one.
    """
    annotation = annotation_of(sentences, vocab) if gold_tags else Annotation()
    return Doc(
        vocab,
        **_words_and_spaces(sentences),
        user_data=user_data_of(sentences),
        lemmas=annotation.lemmas,
        pos=annotation.pos,
        tags=annotation.tags,
        morphs=annotation.morphs,
        sent_starts=_sent_starts(sentences) if gold_sents else None,
    )


@dataclass(frozen=True)
class Annotation:
    """Word-level annotation of a Doc: "" where a word has none, None where no word can have any."""

    lemmas: list[str] | None = None
    pos: list[str] | None = None
    tags: list[str] | None = None
    morphs: list[str] | None = None


def annotation_of(sentences: Sequence[TreebankSentence], vocab: Vocab) -> Annotation:
    """What the columns LEMMA, UPOS, XPOS and FEATS of the sentences become in a Doc."""
    rows = [row for sentence in sentences for row in sentence.rows]
    features = ["" if row[FEATS] == MISSING else row[FEATS] for row in rows]
    readable = all(not text or _FEATURES.fullmatch(text) for text in features)
    return Annotation(
        lemmas=["" if row[LEMMA] == MISSING != row[FORM] else row[LEMMA] for row in rows],
        pos=[row[UPOS] if row[UPOS] in UNIVERSAL_TAGS else "" for row in rows],
        tags=["" if row[XPOS] == MISSING else row[XPOS] for row in rows],
        morphs=[_normalised(text, vocab) for text in features] if readable else None,
    )


def _normalised(features: str, vocab: Vocab) -> str:
    """FEATS in the order in which spaCy's morphology holds them."""
    return vocab.strings[vocab.morphology.add(features)] if features else ""


def user_data_of(sentences: Sequence[TreebankSentence]) -> dict:
    """What `doc_to_sentences` needs to give back the very lines that were read."""
    if not sentences:
        return {}
    return {USER_DATA_KEY: {"format": sentences[0].format.name, "texts": [str(each) for each in sentences]}}


def _words_and_spaces(sentences: Sequence[TreebankSentence]) -> dict:
    """`words` and `spaces` for a Doc; without `spaces` in CoNLL-X, so that spaCy notes them as unknown."""
    words = [form for sentence in sentences for form in sentence.forms]
    if not sentences or sentences[0].format is CONLLX:
        return {"words": words}
    return {"words": words, "spaces": [space for sentence in sentences for space in spaces_of(sentence)]}


def spaces_of(sentence: TreebankSentence) -> list[bool]:
    """Whether white space follows each word (n,); inside a multi-word token none does."""
    spaces = ["SpaceAfter=No" not in row[MISC].split("|") for row in sentence.rows]
    for first, last, _, misc in sentence.ranges:
        spaces[first - 1 : last] = [False] * (last - first) + ["SpaceAfter=No" not in misc.split("|")]
    return spaces


def _sent_starts(sentences: Sequence[TreebankSentence]) -> list[bool]:
    return [i == 0 for sentence in sentences for i in range(len(sentence))]
