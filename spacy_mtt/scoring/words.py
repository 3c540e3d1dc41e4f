"""The words of a spaCy Doc as what sparse features are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from spacy.attrs import LEMMA, MORPH, ORTH, POS, TAG
from spacy.tokens import Doc

from spacy_mtt.features.atoms import Words

from .units import Units


def words_of(docs: Iterable[Doc], units: Units) -> list[Words]:
    """The columns of the words of each unit, as the docs are annotated now.

    Forms are `token.text`; fine tags `tag_`, or `pos_` where a token has none; coarse tags `pos_`; lemmas `lemma_`;
    morphological features those of `morph`, each `Name=value`.
    """
    columns = [_columns(doc) for doc in docs]
    return [
        Words(*([column[word] for word in words.tolist()] for column in columns[doc]))
        for doc, words in zip(units.doc_of.tolist(), units.words, strict=True)
    ]


def _columns(doc: Doc) -> tuple[list, ...]:
    """forms, lemmas, tags, coarse, feats of all tokens of a doc."""
    ids = doc.to_array([ORTH, LEMMA, TAG, POS, MORPH]).reshape(len(doc), 5).T
    strings = doc.vocab.strings
    forms, lemmas, tags, coarse = (_looked_up(row, strings.__getitem__) for row in ids[:4])
    tags = [tag or pos for tag, pos in zip(tags, coarse, strict=True)]
    feats = _looked_up(ids[4], lambda key: tuple(strings[key].split("|")) if strings[key] not in ("", "_") else ())
    return forms, lemmas, tags, coarse, feats


def _looked_up(ids: np.ndarray, value: Callable) -> list:
    known = {key: value(key) for key in np.unique(ids).tolist()}
    return [known[key] for key in ids.tolist()]
