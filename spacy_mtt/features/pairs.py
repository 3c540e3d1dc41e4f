"""Features of arcs that are products of two features of words, and so entries of a tensor."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spacy_mtt.features._pair_keys import PairKeys
from spacy_mtt.features.tables import FeatureDictionary, FeatureTable
from spacy_mtt.features.templates import DISTANCE, LONGEST_OF_BIN, Template
from spacy_mtt.features.word_templates import BIAS
from spacy_mtt.features.words import WordKeys, word_slots

ENTRIES = 2 * len(LONGEST_OF_BIN) + 3  # of the vector of distances: a bias, and the bins to either side
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def pairs_of(arc_templates: Iterable[Template], templates: Iterable[Template]) -> np.ndarray:
    """The templates of arcs that are products of word templates: (P, 2) int32, numbers of head's and modifier's.

    Those of words in between are none, nor are those with a side that `templates` lacks. A side without atoms is
    the bias. With distance or without makes no difference.
    """
    number = {tuple(sorted(template)): i for i, template in enumerate(templates)}
    found: dict[tuple[int, int], None] = {}
    for template in arc_templates:
        sides = [tuple(sorted("w" + atom[1:] for atom in _at(template, place))) or (BIAS,) for place in "hm"]
        if not _at(template, "b") and all(side in number for side in sides):
            found[number[sides[0]], number[sides[1]]] = None
    return np.array(list(found), dtype=np.int32).reshape(-1, 2)


def _at(template: Template, place: str) -> list[str]:
    return [atom for atom in template if atom != DISTANCE and atom[0] == place]


def pair_keys(keys: WordKeys, pairs: np.ndarray, table: FeatureTable) -> PairKeys:
    """The pairs of the arcs of a sentence, as keys for a `FeatureDictionary`."""
    longest = np.array(LONGEST_OF_BIN, dtype=np.int32)
    return PairKeys(pairs, keys.ends, word_slots(keys, table), table.size, longest)


def read_pairs(dictionary: FeatureDictionary, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The feature of the head, that of the modifier, and the entry of the distance of each slot: (F,) int64 each.

    size: the number of features of words.
    """
    codes = unmixed(dictionary.keys)
    entries, pairs = codes % np.uint64(ENTRIES), codes // np.uint64(ENTRIES)
    return tuple(part.astype(np.int64) for part in (pairs // np.uint64(size), pairs % np.uint64(size), entries))


def unmixed(keys: np.ndarray) -> np.ndarray:
    """The inverse of `mix` in compiled.py, of uint64 arrays."""
    x = np.array(keys, dtype=np.uint64)
    for shift, multiplier in ((31, MULTIPLIERS[1]), (27, MULTIPLIERS[0]), (30, 1)):
        x ^= (x >> np.uint64(shift)) ^ (x >> np.uint64(2 * shift))
        x *= np.uint64(pow(multiplier, -1, 1 << 64))
    return x
