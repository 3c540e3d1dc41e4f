"""Which trees a model chooses from, as an object that learners are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_mtt.inference.distribution import TreeDistribution
from spacy_mtt.inference.trees import crossing_arcs, is_projective, is_tree


@dataclass(frozen=True)
class TreeSpace:
    """Projective or not, single-root or multi-root; see `spacy_mtt.inference.trees`."""

    projective: bool = False
    single_root: bool = True

    def distribution(self, scores: np.ndarray) -> TreeDistribution:
        """The distribution of one sentence, scores (n+1, n+1), or labelled (n+1, n+1, L)."""
        return TreeDistribution(
            scores, projective=self.projective, single_root=self.single_root, labelled=scores.ndim == 3
        )

    def padded(self, scores: np.ndarray, lengths: np.ndarray) -> TreeDistribution:
        """The distributions of a padded batch, scores (B, N+1, N+1), or labelled (B, N+1, N+1, L)."""
        return TreeDistribution(
            scores,
            projective=self.projective,
            single_root=self.single_root,
            lengths=lengths,
            labelled=scores.ndim == 4,
        )

    def distributions(self, scores: Sequence[np.ndarray]) -> TreeDistribution:
        """The distribution of a batch from a list of scores in the shapes of `distribution`, padded here."""
        lengths = np.array([len(item) - 1 for item in scores], dtype=np.intp)
        size = int(lengths.max()) + 1
        padded = np.zeros((len(scores), size, size, *scores[0].shape[2:]))
        for row, item in zip(padded, scores, strict=True):
            row[: len(item), : len(item)] = item
        return self.padded(padded, lengths)

    def conflicting(self, heads: np.ndarray) -> np.ndarray:
        """Which annotated arcs no tree of the space holds together, (n,) bool from heads (n,), -1 where unknown."""
        conflict = np.zeros(len(heads), dtype=bool)
        if self.single_root and (heads == 0).sum() > 1:
            conflict |= heads == 0
        if self.projective:
            conflict |= crossing_arcs(heads)
        return conflict

    def objection(self, heads: np.ndarray) -> str | None:
        """Why the space does not hold a tree, heads (n,), in a few words for a count; None if it does. O(n^2)."""
        if (heads < 0).any():
            return "heads unknown"
        if not is_tree(heads):
            return "not a tree"
        if self.single_root and (heads == 0).sum() > 1:
            return "several roots"
        if self.projective and not is_projective(heads):
            return "crossing arcs"
        return None


def batches_by_length(lengths: Sequence[int], max_cells: int) -> Iterator[list[int]]:
    """The indices of sentences in batches of like length, each of at most `max_cells` padded scores (or one sentence).

    Every index comes once. Shortest first; the order among equals is that of `lengths`.
    """
    batch: list[int] = []
    for index in np.argsort(lengths, kind="stable").tolist():
        if batch and (len(batch) + 1) * (lengths[index] + 1) ** 2 > max_cells:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
