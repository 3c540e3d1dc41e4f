"""A tree to learn from, as arrays over arcs."""

from __future__ import annotations

import numpy as np


class GoldTree:
    """The tree of a sentence of n words.

    heads: (n,) ints. labels: (n,) ints in 0..n_labels-1 for labelled models, whose scores are (n+1, n+1, n_labels).
    """

    def __init__(self, heads, labels=None, *, n_labels: int = 0):
        self.heads = np.asarray(heads, dtype=np.intp)
        self.labels = None if labels is None else np.asarray(labels, dtype=np.intp)
        self.n_labels = n_labels
        if (self.labels is None) != (n_labels == 0):
            raise ValueError(f"n_labels is {n_labels}, but must be above 0 if labels are given, and 0 if not")
        if self.labels is not None and self.labels.shape != self.heads.shape:
            raise ValueError(f"labels have the shape {self.labels.shape}, but heads {self.heads.shape}")
        if self.labels is not None and ((self.labels < 0) | (self.labels >= n_labels)).any():
            raise ValueError(f"labels must be in 0..{n_labels - 1}, not {self.labels.tolist()}")

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.heads)

    @property
    def tree(self) -> tuple[np.ndarray, ...]:
        """(heads,) or (heads, labels): the arguments of `TreeDistribution.score` and `log_prob`."""
        return (self.heads,) if self.labels is None else (self.heads, self.labels)

    @property
    def gold(self) -> np.ndarray:
        """1.0 at the arcs of the tree, 0.0 elsewhere: (n+1, n+1), or (n+1, n+1, n_labels)."""
        return self.indicators(*self.tree)

    @property
    def cost(self) -> np.ndarray:
        """1.0 for each wrong (labelled) arc: E of Koo et al. (2007), section 4.2, as a sum over arcs."""
        return 1.0 - self.gold

    def indicators(self, heads: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
        """As `gold`, of another tree over the same words."""
        shape = (self.n + 1, self.n + 1)
        words = np.arange(1, self.n + 1)
        arcs = np.zeros(shape if labels is None else (*shape, self.n_labels))
        arcs[(heads, words) if labels is None else (heads, words, labels)] = 1.0
        return arcs
