"""From the key of a feature to its slot in the weights: by the low bits of the key, or by a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from spacy_mtt.features._arc_keys import ArcKeys
from spacy_mtt.features._dictionary import at_most, insert, insert_arcs

MOST_FEATURES = (1 << 31) - 2  # slots are int32, and one more must fit
LARGE = 1 << 25  # places of 12 bytes


class FeatureTable(Protocol):
    """What `ComputedFeatures` and `CachedFeatures` read of a table.

    size: the number of slots. mask: which bits of a key to start from. table, slots: open addressing with linear
    probing, slots of -1 are free; both empty if those bits are the slot.
    """

    size: int
    mask: int
    table: np.ndarray
    slots: np.ndarray


class HashTable:
    """2^bits slots for all features that there may ever be (Weinberger et al. 2009); some share a slot.

    Nothing needs to be known beforehand, and features that were not seen in training have a slot, too.
    """

    def __init__(self, bits: int = 22):
        if not 1 <= bits <= 30:
            raise ValueError(f"bits is {bits}, but must be in 1..30")
        self.bits, self.size = bits, 1 << bits
        self.mask = self.size - 1
        self.table, self.slots = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)


class FeatureDictionary:
    """One slot for each known feature; all others are left out.

    keys: (F,) uint64, distinct; feature i gets the slot i. 48 to 96 bytes a feature, 16 to 96 from four million on.
    """

    def __init__(self, keys: np.ndarray):
        keys = np.ascontiguousarray(keys, dtype=np.uint64)
        self.table, self.slots = _with_room_for(len(keys))
        self.size, self.mask = insert(keys, self.table, self.slots, 0), len(self.table) - 1
        if self.size != len(keys):
            raise ValueError(f"{len(keys) - self.size} of the {len(keys)} keys are repeated")

    @classmethod
    def of(cls, sentences: Iterable[ArcKeys], heads: Iterable[Sequence[int]] | None = None) -> FeatureDictionary:
        """The dictionary of the features of sentences, in the order in which they are first found.

        heads: their trees, (n,) in 0..n or -1 for none: only features of these arcs are taken, as in McDonald's
        parser, which keeps the dictionary small. None: those of all arcs. O(features) expected.
        """
        dictionary = cls(np.empty(0, dtype=np.uint64))
        pairs = zip(sentences, heads, strict=True) if heads is not None else ((keys, None) for keys in sentences)
        for keys, tree in pairs:
            dictionary._add(keys, _all_arcs(keys.n) if tree is None else _arcs_of(tree, keys.n))
        return dictionary

    def _add(self, keys: ArcKeys, arcs: np.ndarray) -> None:
        most = self.size + at_most(keys, arcs)
        if most > MOST_FEATURES:
            raise ValueError(f"there may be {most} features, more than {MOST_FEATURES}: use a HashTable")
        if most > _holds(len(self.table)):
            old = self.keys
            self.table, self.slots = _with_room_for(most)
            insert(old, self.table, self.slots, 0)
            self.mask = len(self.table) - 1
        self.size = insert_arcs(keys, arcs, self.table, self.slots, self.size)

    @property
    def keys(self) -> np.ndarray:
        """The key of each slot, (F,) uint64: all that is needed to make the dictionary again."""
        keys = np.empty(self.size, dtype=np.uint64)
        taken = self.slots >= 0
        keys[self.slots[taken]] = self.table[taken]
        return keys


def _all_arcs(n: int) -> np.ndarray:
    return np.ones((n + 1, n + 1), dtype=np.uint8)


def _arcs_of(heads: Sequence[int], n: int) -> np.ndarray:
    """The arcs of a tree, (n+1, n+1) uint8."""
    if len(heads) != n:
        raise ValueError(f"there are {len(heads)} heads for a sentence of {n} words")
    arcs = np.zeros((n + 1, n + 1), dtype=np.uint8)
    for m, h in enumerate(heads, start=1):
        if h > n or h == m:
            raise ValueError(f"{h} -> {m} is not an arc of a sentence of {n} words")
        if h >= 0:
            arcs[h, m] = 1
    return arcs


def _holds(places: int) -> int:
    """How many keys a table may have: a quarter of its places, but three quarters if it takes 400 MB or more.

    Most look-ups are of keys that a dictionary of gold arcs lacks; they take 1.4 places on average, and 8.5 then.
    """
    return places // 4 if places < LARGE else places // 4 * 3


def _with_room_for(keys: int) -> tuple[np.ndarray, np.ndarray]:
    places = 16
    while _holds(places) < keys:
        places *= 2
    return np.zeros(places, dtype=np.uint64), np.full(places, -1, dtype=np.int32)
