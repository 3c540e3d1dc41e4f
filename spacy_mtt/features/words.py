"""From sentences to the sparse features of their words, and their products with matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_mtt.features._arc_keys import ArcKeys, hash_sides
from spacy_mtt.features._word_rows import add_rows, collect, look_up_all, project
from spacy_mtt.features.atoms import AtomHashes, Words, hash_text
from spacy_mtt.features.tables import FeatureDictionary, FeatureTable
from spacy_mtt.features.templates import ATTRIBUTES, Template
from spacy_mtt.features.word_templates import BIAS, split_word_atom

SHIFTS = {"w": 0, "w-1": -1, "w+1": 1, "w-2": -2, "w+2": 2}


@dataclass(frozen=True)
class WordKeys:
    """The 64-bit keys of the features of the nodes 0..n of a sentence.

    Those of template t at node i are ``keys[ends[t, i] : ends[t, i + 1]]``. ends: (T, n+2) int32. keys: uint64.
    """

    ends: np.ndarray
    keys: np.ndarray

    @property
    def n(self) -> int:
        """The number of words."""
        return self.ends.shape[1] - 2

    @property
    def nodes(self) -> np.ndarray:
        """The node of each key, int32."""
        counts = np.diff(self.ends, axis=1)
        return np.repeat(np.tile(np.arange(self.n + 1, dtype=np.int32), len(counts)), counts.ravel())


class WordKeyExtractor:
    """Makes the keys of the features of a sentence's words from a table of templates (see word_templates.py).

    A key is the hash of the template and its values, made and mixed as one side of a template of arcs (see
    compiled.py). Raises ValueError on atoms that there are not and on repeated templates.
    """

    def __init__(self, templates: Iterable[Template]):
        self.templates = tuple(tuple(template) for template in templates)
        names = [" ".join(sorted(template)) for template in self.templates]
        if not names:
            raise ValueError("there must be one word template or more")
        for name, template in zip(names, self.templates, strict=True):
            if names.count(name) > 1 or len(set(template)) < len(template):
                raise ValueError(f"the word template {' '.join(template)!r} is there twice, or repeats an atom")
        sides = [[split_word_atom(atom) for atom in sorted(t) if t != (BIAS,)] for t in self.templates]
        self._side_starts = np.cumsum([0, *map(len, sides)], dtype=np.int32)
        self._shifts = np.array([SHIFTS[place] for side in sides for place, _ in side], dtype=np.int32)
        self._attributes = np.array([ATTRIBUTES.index(name) for side in sides for _, name in side], dtype=np.int32)
        self._seeds = np.array([hash_text(name) for name in names], dtype=np.uint64)

    def __call__(self, words: Words) -> WordKeys:
        """The keys at every node. O(features)."""
        atoms = AtomHashes.of(words)
        ends = np.empty((len(self.templates), len(words) + 2), dtype=np.int32)
        arrays = (self._side_starts, self._shifts, self._attributes, self._seeds, atoms.hashes, atoms.starts, ends)
        parts = np.empty(hash_sides(*arrays, np.empty(0, dtype=np.uint64)), dtype=np.uint64)
        hash_sides(*arrays, parts)
        return WordKeys(ends, parts)


def word_dictionary(sentences: Iterable[WordKeys], *, least: int = 1) -> FeatureDictionary:
    """One slot for each feature of the words of sentences, roots included; all others are left out.

    least: the number of sentences that a feature must be found in.
    """
    if least < 1:
        raise ValueError(f"least is {least}, but must be 1 or more")
    found: list[np.ndarray] = [np.empty(0, dtype=np.uint64)]
    for sentence in sentences:
        found.append(np.unique(sentence.keys))
    keys, counts = np.unique(np.concatenate(found), return_counts=True)
    return FeatureDictionary(keys[counts >= least])


def word_slots(keys: WordKeys, table: FeatureTable) -> np.ndarray:
    """The slot of each of the keys, int32; -1 for a feature that the table leaves out."""
    slots = np.empty(len(keys.keys), dtype=np.int32)
    look_up_all(table.table, table.slots, table.mask, keys.keys, slots)
    return slots


class SparseRows:
    """Sparse features of some items, against matrices with a row for each of `size` features.

    slots: (F,) int32, the distinct features of all items, in increasing order.
    """

    def __init__(self, items: np.ndarray, slots: np.ndarray, n_items: int, size: int):
        """items, slots: of each firing of a feature, an item in 0..n_items-1 and a slot; those of -1 are left out."""
        self.n_items, self.size = n_items, size
        slots = slots.astype(np.int32, copy=False)
        known = np.flatnonzero(slots >= 0)
        known = known[np.argsort(items[known], kind="stable")]
        self._starts = np.searchsorted(items[known], np.arange(n_items + 1)).astype(np.int32)
        self.slots, local = np.unique(slots[known], return_inverse=True)
        self._local = local.astype(np.int32)

    def project(self, rows: np.ndarray) -> np.ndarray:
        """The sum of the rows of each item's features: (n_items, R) float64 from (size, R) float32 or float64.

        O(features R). Raises ValueError on rows of another shape.
        """
        self._check(rows)
        out = np.zeros((self.n_items, rows.shape[1]))
        project(rows, self._starts, self._local, self.slots, out)
        return out

    def collect(self, coefficients: np.ndarray) -> np.ndarray:
        """The adjoint of `project`, (F, R) float64 from (n_items, R): what belongs to the rows `slots`."""
        out = np.zeros((len(self.slots), coefficients.shape[1]))
        collect(np.ascontiguousarray(coefficients, dtype=np.float64), self._starts, self._local, out)
        return out

    def add(self, rows: np.ndarray, values: np.ndarray, scale: float) -> None:
        """rows[slots] += scale * values, in place; values (F, R) float64 as `collect` gives them."""
        self._check(rows)
        add_rows(rows, self.slots, values, scale)

    def _check(self, rows: np.ndarray) -> None:
        if rows.ndim != 2 or len(rows) != self.size:
            raise ValueError(f"the matrix has the shape {rows.shape}, but must have {self.size} rows, one a feature")


class WordFeatures(SparseRows):
    """The features phi of the nodes 0..n of a sentence."""

    def __init__(self, keys: WordKeys, table: FeatureTable):
        self.n = keys.n
        super().__init__(keys.nodes, word_slots(keys, table), keys.n + 1, table.size)


class TreeArcFeatures(SparseRows):
    """The features of the n arcs of one tree, by modifier: what a model of labels given trees needs."""

    def __init__(self, keys: ArcKeys, heads: Sequence[int], table: FeatureTable):
        """keys: of the features of arcs. heads: (n,) in 0..n; raises ValueError on what is no arc."""
        self.n = keys.n
        if len(heads) != keys.n:
            raise ValueError(f"there are {len(heads)} heads for a sentence of {keys.n} words")
        items, found = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.uint64)]
        for m, h in enumerate(heads, start=1):
            arc_keys, counts = keys.of_arc(h, m)
            found.append(np.repeat(arc_keys, counts))
            items.append(np.full(len(found[-1]), m - 1))
        all_keys = np.concatenate(found)
        slots = np.empty(len(all_keys), dtype=np.int32)
        look_up_all(table.table, table.slots, table.mask, all_keys, slots)
        super().__init__(np.concatenate(items), slots, keys.n, table.size)
