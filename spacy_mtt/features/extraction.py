"""From sentences to the features of their arcs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from spacy_mtt.features._arc_features import CachedFeatures, ComputedFeatures, SlotFeatures
from spacy_mtt.features._arc_keys import ArcKeys, hash_sides
from spacy_mtt.features.atoms import AtomHashes, Words
from spacy_mtt.features.compiled import CompiledTemplates
from spacy_mtt.features.tables import FeatureTable
from spacy_mtt.features.templates import ATTRIBUTES, Template

PREFIX = ATTRIBUTES.index("prefix")

__all__ = ["CachedFeatures", "CachedUpTo", "ComputedFeatures", "KeyExtractor", "SlotFeatures", "extract"]


class KeyExtractor:
    """Makes the keys of the features of a sentence's arcs from a table of templates (see templates.py)."""

    def __init__(self, templates: Iterable[Template]):
        self.templates = tuple(tuple(template) for template in templates)
        self.compiled = CompiledTemplates.of(self.templates)

    def __call__(self, words: Words) -> ArcKeys:
        """The keys of all arcs, to be computed when they are asked for. O(n) time and memory for given templates."""
        compiled, atoms = self.compiled, AtomHashes.of(words)
        n, sides = len(words), len(compiled.seeds)
        ends = np.empty((sides, n + 2), dtype=np.int32)
        arrays = (compiled.side_starts, compiled.shifts, compiled.attributes, compiled.seeds)
        total = hash_sides(*arrays, atoms.hashes, atoms.starts, ends, np.empty(0, dtype=np.uint64))
        parts = np.empty(total, dtype=np.uint64)
        hash_sides(*arrays, atoms.hashes, atoms.starts, ends, parts)
        columns, between, running = self._between(ends, parts)
        return ArcKeys(
            compiled.templates,
            compiled.distances,
            compiled.longest,
            ends,
            parts,
            self._is_cut(atoms.is_cut, n),
            columns,
            between,
            running,
        )

    def _is_cut(self, is_cut: np.ndarray, n: int) -> np.ndarray:
        """Whether a prefix in side s at node i is shorter than its word: (S, n+1) uint8."""
        compiled = self.compiled
        cut = np.zeros((len(compiled.seeds), n + 1), dtype=np.uint8)
        for side, first, end in zip(range(len(cut)), compiled.side_starts[:-1], compiled.side_starts[1:], strict=True):
            for atom in range(first, end):
                if compiled.attributes[atom] == PREFIX:
                    start = 2 + compiled.shifts[atom]
                    cut[side] |= is_cut[start : start + n + 1]
        return cut

    def _between(self, ends: np.ndarray, parts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The distinct hashes of each side between, and how often each is found in the words 1..i (see `ArcKeys`)."""
        sides, n = len(ends), ends.shape[1] - 2
        columns = np.zeros(sides + 1, dtype=np.int32)
        distinct, running = [np.empty(0, dtype=np.uint64)], [np.zeros((n + 1, 0), dtype=np.int32)]
        used = set(self.compiled.templates[:, 2].tolist())
        for side in range(sides):
            if side in used:
                hashes, where = np.unique(parts[ends[side, 1] : ends[side, n + 1]], return_inverse=True)
                words = np.repeat(np.arange(1, n + 1), np.diff(ends[side, 1:]))
                counts = np.zeros((n + 1, len(hashes)), dtype=np.int32)
                np.add.at(counts, (words, where), 1)
                distinct.append(hashes)
                running.append(np.cumsum(counts, axis=0, dtype=np.int32))
            columns[side + 1] = columns[side] + (len(distinct[-1]) if side in used else 0)
        return columns, np.concatenate(distinct), np.ascontiguousarray(np.concatenate(running, axis=1))


@dataclass(frozen=True)
class CachedUpTo:
    """Keeps the slots of sentences of at most so many words, and computes those of longer ones anew in every pass.

    The slots of a sentence take memory with the square of its length.
    """

    words: int

    def __call__(self, keys: ArcKeys, table: FeatureTable) -> SlotFeatures:
        """The features of a sentence."""
        return CachedFeatures(keys, table) if keys.n <= self.words else ComputedFeatures(keys, table)


def extract(
    sentences: Iterable[Words],
    extractor: KeyExtractor,
    table: FeatureTable,
    *,
    storage: Callable[[ArcKeys, FeatureTable], SlotFeatures] = ComputedFeatures,
) -> list[SlotFeatures]:
    """The features of each sentence, as `ArcFeatures`.

    storage: `ComputedFeatures`, which hashes anew in every pass, `CachedFeatures`, which keeps all slots, or a
        `CachedUpTo`.
    """
    return [storage(extractor(words), table) for words in sentences]
