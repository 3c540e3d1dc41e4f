"""Decoders: from scores to the tree that the parser predicts."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from spacy_mtt.learning.tree_space import TreeSpace

from .constraints import Distribution

Trees = np.ndarray | tuple[np.ndarray, np.ndarray]


class Decoder(Protocol):
    """From a padded batch of scores to heads (B, N) with -1 as padding; from labelled scores, to (heads, labels).

    space: the trees it chooses from.
    """

    space: TreeSpace

    def __call__(self, scores: np.ndarray, lengths: np.ndarray) -> Trees: ...

    def choose(self, trees: Distribution) -> Trees:
        """The tree of a distribution: heads (n,), or heads and labels."""
        ...


class ChuLiuEdmonds:
    """`spacy_mtt.ChuLiuEdmonds.v1`: the best tree, crossing arcs allowed, in O(n^2).

    single_root: exactly one word hangs from the root (True), or one or more.
    """

    def __init__(self, *, single_root: bool = True):
        self.space = TreeSpace(projective=False, single_root=single_root)

    def __call__(self, scores: np.ndarray, lengths: np.ndarray) -> Trees:
        return self.choose(self.space.padded(scores, lengths))

    def choose(self, trees: Distribution) -> Trees:
        return trees.argmax()


class Eisner:
    """`spacy_mtt.Eisner.v1`: the best tree without crossing arcs, in O(n^3)."""

    def __init__(self, *, single_root: bool = True):
        self.space = TreeSpace(projective=True, single_root=single_root)

    def __call__(self, scores: np.ndarray, lengths: np.ndarray) -> Trees:
        return self.choose(self.space.padded(scores, lengths))

    def choose(self, trees: Distribution) -> Trees:
        return trees.argmax()


class MinimumRisk:
    """`spacy_mtt.MinimumRisk.v1`: the tree with the largest expected number of correct arcs, in O(n^3)."""

    def __init__(self, *, projective: bool = False, single_root: bool = True):
        self.space = TreeSpace(projective=projective, single_root=single_root)

    def __call__(self, scores: np.ndarray, lengths: np.ndarray) -> Trees:
        return self.choose(self.space.padded(scores, lengths))

    def choose(self, trees: Distribution) -> Trees:
        return trees.mbr()
