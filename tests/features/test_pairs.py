"""Pairs of features of words: which there are, what their keys say, and weights of pairs as entries of a tensor."""

import numpy as np

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.compiled import mix
from spacy_mtt.features.extraction import CachedFeatures, ComputedFeatures
from spacy_mtt.features.pairs import ENTRIES, pair_keys, pairs_of, read_pairs, unmixed
from spacy_mtt.features.tables import FeatureDictionary
from spacy_mtt.features.templates import first_order
from spacy_mtt.features.word_templates import word_templates
from spacy_mtt.features.words import WordKeyExtractor, word_dictionary, word_slots
from tests.features.test_features import TOY
from tests.learning.low_rank_support import distance_vector

TEMPLATES = word_templates()
PAIRS = pairs_of(first_order(), TEMPLATES)
LONG = Words(forms=[f"form{i}" for i in range(14)], tags=list("NVNANVNNVANVNN"), feats=[("x", "x", "y")] * 14)
SENTENCES = [TOY, LONG, Words(forms=["grow", "new"], tags=["VB", "_"])]
KEYS = [WordKeyExtractor(TEMPLATES)(words) for words in SENTENCES]


def entries_of(keys, slots, h, m):
    """The entries (head, modifier, distance) of an arc, from the definition."""
    found = []
    for head, modifier in PAIRS:
        for i in slots[keys.ends[head, h] : keys.ends[head, h + 1]]:
            for j in slots[keys.ends[modifier, m] : keys.ends[modifier, m + 1]]:
                if i >= 0 and j >= 0:
                    found += [(int(i), int(j), int(k)) for k in np.flatnonzero(distance_vector(h, m))]
    return found


def test_the_pairs_are_the_templates_whose_sides_are_word_templates():
    named = {(TEMPLATES[head], TEMPLATES[modifier]) for head, modifier in PAIRS}
    assert len(named) == len(PAIRS)
    for pair in (
        (("w.form", "w.tag"), ("w.form", "w.tag")),
        (("w.tag", "w+1.tag"), ("w-1.tag", "w.tag")),
        (("bias",), ("w.lemma",)),
        (("w.feat",), ("w.feat",)),
    ):
        assert pair in named
    assert (("w.form", "w.coarse"), ("bias",)) not in named
    without = pairs_of([("h.tag", "b.tag", "m.tag"), ("h.tag", "m.tag"), ("h.tag", "m.tag", "distance")], TEMPLATES)
    assert len(without) == 1
    assert pairs_of([("h.form", "h.coarse", "m.tag")], TEMPLATES).shape == (0, 2)


def test_keys_are_unmixed():
    numbers = [0, 1, 14, 10**12, (1 << 64) - 1]
    keys = np.array([mix(number) for number in numbers], dtype=np.uint64)
    np.testing.assert_array_equal(unmixed(keys), np.array(numbers, dtype=np.uint64))


def test_entries_are_read_back_and_score_as_a_tensor():
    words = word_dictionary(KEYS[:2])
    pairs = [pair_keys(keys, PAIRS, words) for keys in KEYS]
    trees = [[2, 0, 2], [0, *range(1, 14)], [0, 1]]
    dictionary = FeatureDictionary.of(pairs, trees)
    entries = list(zip(*(part.tolist() for part in read_pairs(dictionary, words.size)), strict=True))
    expected = set()
    for keys, tree in zip(KEYS, trees, strict=True):
        for m, h in enumerate(tree, start=1):
            expected.update(entries_of(keys, word_slots(keys, words), h, m))
    assert set(entries) == expected and len(entries) == len(expected)
    assert max(entry[2] for entry in entries) < ENTRIES
    weights = np.random.default_rng(0).normal(size=dictionary.size)
    tensor = dict(zip(entries, weights, strict=True))
    for keys, found in zip(KEYS, pairs, strict=True):
        slots = word_slots(keys, words)
        for storage in (ComputedFeatures, CachedFeatures):
            scores = storage(found, dictionary).score(weights)
            for h in range(keys.n + 1):
                for m in range(1, keys.n + 1):
                    if h != m:
                        total = sum(tensor.get(entry, 0.0) for entry in entries_of(keys, slots, h, m))
                        np.testing.assert_allclose(scores[h, m], total, atol=1e-10)
