"""From the key of a feature to its slot in the weights: by the low bits of the key, or by a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from spacy_mtt.features._arc_features import insert
from spacy_mtt.features._arc_keys import ArcKeys

MOST_FEATURES = (1 << 31) - 2  # slots are int32, and one more must fit


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

    keys: (F,) uint64, distinct; feature i gets the slot i. 24 to 48 bytes a feature.
    """

    def __init__(self, keys: np.ndarray):
        keys = np.ascontiguousarray(keys, dtype=np.uint64)
        self.table, self.slots = _empty(2 * len(keys))
        self.size, self.mask = insert(keys, self.table, self.slots, 0), len(self.table) - 1
        if self.size != len(keys):
            raise ValueError(f"{len(keys) - self.size} of the {len(keys)} keys are repeated")

    @classmethod
    def of(cls, sentences: Iterable[ArcKeys], heads: Iterable[Sequence[int]] | None = None) -> FeatureDictionary:
        """The dictionary of the features of sentences, in the order in which they are first found.

        heads: their trees, (n,) in 0..n or -1 for none: only features of these arcs are taken, as in McDonald's
        parser, which keeps the dictionary small. None: those of all arcs. O(features) expected.
        """
        table, slots = _empty(1 << 16)
        used = 0
        pairs = zip(sentences, heads, strict=True) if heads is not None else ((keys, None) for keys in sentences)
        for keys, tree in pairs:
            for found in _keys_of(keys, tree):
                if 2 * (used + len(found)) > len(table):
                    old = _in_order(table, slots, used)
                    table, slots = _empty(4 * (used + len(found)))
                    insert(old, table, slots, 0)
                used = insert(found, table, slots, used)
                if used > MOST_FEATURES:
                    raise ValueError(f"there are more than {MOST_FEATURES} features: use a HashTable")
        return cls(_in_order(table, slots, used))

    @property
    def keys(self) -> np.ndarray:
        """The key of each slot, (F,) uint64: all that is needed to make the dictionary again."""
        return _in_order(self.table, self.slots, self.size)


def _keys_of(keys: ArcKeys, heads: Sequence[int] | None) -> Iterable[np.ndarray]:
    n = keys.n
    if heads is None:
        arcs = ((h, m) for h in range(n + 1) for m in range(1, n + 1) if h != m)
    else:
        if len(heads) != n:
            raise ValueError(f"there are {len(heads)} heads for a sentence of {n} words")
        arcs = ((int(h), m) for m, h in enumerate(heads, start=1) if h >= 0)
    return (keys.of_arc(h, m)[0] for h, m in arcs)


def _empty(places: int) -> tuple[np.ndarray, np.ndarray]:
    """A table of so many places or more, with one more than that at least, and free slots."""
    capacity = 1 << int(places).bit_length()
    return np.zeros(capacity, dtype=np.uint64), np.full(capacity, -1, dtype=np.int32)


def _in_order(table: np.ndarray, slots: np.ndarray, used: int) -> np.ndarray:
    keys = np.empty(used, dtype=np.uint64)
    taken = slots >= 0
    keys[slots[taken]] = table[taken]
    return keys
