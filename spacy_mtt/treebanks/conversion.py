"""CoNLL-X to CoNLL-U and back."""

from __future__ import annotations

from dataclasses import replace

from spacy_mtt.treebanks.sentence import (
    CONLLU,
    CONLLX,
    CPOSTAG,
    FEATS,
    FORM,
    HEAD,
    LEMMA,
    MISC,
    MISSING,
    POSTAG,
    UPOS,
    Format,
    TreebankSentence,
)

# The tags of Universal Dependencies v2, and CONJ of v1.
# fmt: off
UNIVERSAL_TAGS = frozenset([
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
])
# fmt: on


def to_conllu(sentence: TreebankSentence) -> TreebankSentence:
    """The sentence in CoNLL-U; itself if it is.

    A CPOSTAG that is no universal tag is kept in MISC as `CPOSTAG=...` if it differs from POSTAG, which
    becomes XPOS. PHEAD and PDEPREL have no place in CoNLL-U and are dropped.
    """
    if sentence.format is CONLLU:
        return sentence
    rows = []
    for row in sentence.rows:
        universal = row[CPOSTAG] if row[CPOSTAG] in UNIVERSAL_TAGS else MISSING
        keep = universal == MISSING and row[CPOSTAG] not in (MISSING, row[POSTAG])
        misc = f"CPOSTAG={row[CPOSTAG]}" if keep else MISSING
        rows.append((*row[: LEMMA + 1], universal, *row[POSTAG : HEAD + 2], MISSING, misc))
    return replace(sentence, rows=tuple(rows), format=CONLLU, tail=sentence.line_end * 2)


def to_conllx(sentence: TreebankSentence) -> TreebankSentence:
    """The sentence in CoNLL-X; itself if it is.

    Comments, multi-word tokens, empty nodes, DEPS and MISC have no place in CoNLL-X and are dropped, except
    what `to_conllu` put into MISC. A missing tag is filled by the other one. White space inside a column
    becomes `_`.
    """
    if sentence.format is CONLLX:
        return sentence
    rows = []
    for row in sentence.rows:
        kept = next((item[8:] for item in row[MISC].split("|") if item.startswith("CPOSTAG=")), None)
        coarse = kept or (row[UPOS] if row[UPOS] != MISSING else row[POSTAG])
        fine = row[POSTAG] if row[POSTAG] != MISSING else coarse
        form, lemma = ("_".join(text.split()) or MISSING for text in (row[FORM], row[LEMMA]))
        rows.append((row[0], form, lemma, coarse, fine, *row[FEATS : HEAD + 2], MISSING, MISSING))
    return replace(sentence, rows=tuple(rows), format=CONLLX, extras=(), tail=sentence.line_end * 2)


def to_format(sentence: TreebankSentence, format: Format) -> TreebankSentence:
    """`to_conllu` or `to_conllx`."""
    return to_conllu(sentence) if format is CONLLU else to_conllx(sentence)
