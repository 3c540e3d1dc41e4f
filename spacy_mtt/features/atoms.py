"""The values of atoms: from the columns of a sentence to 64-bit hashes that are the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from spacy_mtt.features.templates import ATTRIBUTES, PREFIX_LENGTH
from spacy_mtt.treebanks.sentence import FEATS, FORM, LEMMA, MISSING, UPOS, XPOS, TreebankSentence

START, ROOT, END = "\tSTART", "\tROOT", "\tEND"  # no column of a treebank holds a tab


@lru_cache(maxsize=1 << 18)
def hash_text(text: str) -> int:
    """The 64-bit hash of a text: BLAKE2b of its UTF-8 with a digest of 8 bytes, little-endian."""
    return int.from_bytes(blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Words:
    """The columns of a sentence of n words that features are made of.

    forms: (n,) texts. lemmas, tags (fine), coarse: (n,) texts, "" or `_` where a word has none. feats: (n,) tuples
    of morphological features. A column that is left out is empty. Raises ValueError if a column is not as long as
    the forms.
    """

    forms: Sequence[str]
    lemmas: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    coarse: Sequence[str] | None = None
    feats: Sequence[Sequence[str]] | None = None

    def __post_init__(self):
        for name in ("lemmas", "tags", "coarse", "feats"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.forms):
                raise ValueError(f"there are {len(column)} {name} for {len(self.forms)} forms")

    def __len__(self) -> int:
        return len(self.forms)

    @classmethod
    def from_treebank(cls, sentence: TreebankSentence) -> Words:
        """The columns of a treebank sentence. A word without a fine tag gets its coarse tag in its place."""
        rows = sentence.rows
        return cls(
            forms=[row[FORM] for row in rows],
            lemmas=[row[LEMMA] for row in rows],
            tags=[row[UPOS] if row[XPOS] == MISSING else row[XPOS] for row in rows],
            coarse=[row[UPOS] for row in rows],
            feats=[() if row[FEATS] == MISSING else tuple(row[FEATS].split("|")) for row in rows],
        )

    def with_joined_tags(self) -> Words:
        """The words with finer tags: each joined with the word's morphology, and by itself the coarse tag.

        For treebanks whose tags are few and whose morphology tells more: conjunctions of neighbours' tags become finer.
        """
        if self.tags is None or self.feats is None:
            return self
        joined = ["|".join((tag, *feats)) for tag, feats in zip(self.tags, self.feats, strict=True)]
        return replace(self, tags=joined, coarse=self.tags)

    def values(self) -> dict[str, list[tuple[str, ...]]]:
        """The values of each attribute at each word, as texts."""
        empty: list[tuple[str, ...]] = [()] * len(self)
        return {
            "form": [(form,) for form in self.forms],
            "prefix": [(form[:PREFIX_LENGTH],) for form in self.forms],
            "lemma": _single(self.lemmas, empty),
            "tag": _single(self.tags, empty),
            "coarse": _single(self.coarse, empty),
            "feat": empty if self.feats is None else [tuple(feats) for feats in self.feats],
        }


def _single(column: Sequence[str] | None, empty: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if column is None:
        return empty
    return [() if value in ("", MISSING) else (value,) for value in column]


def informative_columns(sentences: Iterable[Words]) -> dict[str, bool]:
    """Which columns tell something that the others do not, as the arguments of `first_order`.

    Coarse tags do if one differs from its fine tag, lemmas if one differs from its form, morphology if there is any.
    """
    found = {"coarse": False, "lemmas": False, "morphology": False}
    for words in sentences:
        values = words.values()
        found["coarse"] |= any(
            coarse and coarse != tag for coarse, tag in zip(values["coarse"], values["tag"], strict=True)
        )
        found["lemmas"] |= any(
            lemma and lemma != form for lemma, form in zip(values["lemma"], values["form"], strict=True)
        )
        found["morphology"] |= any(values["feat"])
        if all(found.values()):
            break
    return found


@dataclass(frozen=True)
class AtomHashes:
    """The hashed values of every attribute at the nodes -2 .. n+2 of a sentence.

    hashes: uint64. starts: (attributes, n+6) int32: the values of attribute a at node i, in the order of
    `ATTRIBUTES`, are ``hashes[starts[a, i + 2] : starts[a, i + 3]]``. is_cut: (n+5,) uint8 by node + 2, whether the
    prefix is shorter than the form.
    """

    hashes: np.ndarray
    starts: np.ndarray
    is_cut: np.ndarray

    @classmethod
    def of(cls, words: Words) -> AtomHashes:
        """The hashes of a sentence's words, of the root and of the edges. O(n)."""
        n, texts = len(words), words.values()
        hashes: list[int] = []
        starts = np.empty((len(ATTRIBUTES), n + 6), dtype=np.int32)
        for a, attribute in enumerate(ATTRIBUTES):
            row = [len(hashes)]
            for values in ((START,), (START,), (ROOT,), *texts[attribute], (END,), (END,)):
                hashes += map(hash_text, values)
                row.append(len(hashes))
            starts[a] = row
        is_cut = np.zeros(n + 5, dtype=np.uint8)
        is_cut[3 : n + 3] = [len(form) > PREFIX_LENGTH for form in words.forms]
        return cls(np.array(hashes, dtype=np.uint64), starts, is_cut)
