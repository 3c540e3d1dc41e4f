"""Features of labelled arcs from those of arcs (Koo et al. 2007, section 3.4)."""

from __future__ import annotations

import numpy as np

from .arc_features import ArcFeatures


class LabelledFeatures:
    """The features of an arc, once for its label and, with `shared`, once for all labels together.

    The weights are n_labels blocks of `n_features` each, one for each label, and with `shared` one more at the end:
    ``n_labelled_features`` says how many that is. Scores are (n+1, n+1, n_labels). Everything takes n_labels (+ 1)
    times what it takes without labels.
    """

    def __init__(self, features: ArcFeatures, *, n_labels: int, n_features: int, shared: bool = True):
        self.features = features
        self.n = features.n
        self.n_labels = n_labels
        self.n_features = n_features
        self.shared = shared

    def score(self, weights: np.ndarray) -> np.ndarray:
        """(n+1, n+1, n_labels) float64; 0 where no arc is."""
        blocks = self._blocks(weights)
        scores = np.empty((self.n + 1, self.n + 1, self.n_labels))
        for label in range(self.n_labels):
            scores[:, :, label] = self.features.score(blocks[label])
        if self.shared:
            scores += self.features.score(blocks[self.n_labels])[:, :, None]
        return scores

    def add(self, weights: np.ndarray, coefficients: np.ndarray) -> None:
        """weights += sum_hml coefficients[h, m, l] * phi(h -> m, l), in place."""
        for block, part in zip(self._blocks(weights), self._parts(coefficients), strict=True):
            if part.any():
                self.features.add(block, part)

    def squared_norm(self, coefficients: np.ndarray) -> float:
        """|sum_hml coefficients[h, m, l] phi(h -> m, l)|^2."""
        return sum(self.features.squared_norm(part) for part in self._parts(coefficients) if part.any())

    def _blocks(self, weights: np.ndarray) -> np.ndarray:
        """The blocks of the weights as rows, in the same memory."""
        size = n_labelled_features(self.n_features, n_labels=self.n_labels, shared=self.shared)
        if weights.shape != (size,):
            raise ValueError(f"the weights have the shape {weights.shape}, but must have ({size},)")
        return weights.reshape(-1, self.n_features)  # of one axis: a view, never a copy

    def _parts(self, coefficients: np.ndarray) -> list[np.ndarray]:
        """The coefficients (n+1, n+1) of each block."""
        parts = [np.ascontiguousarray(coefficients[:, :, label]) for label in range(self.n_labels)]
        return [*parts, coefficients.sum(axis=2)] if self.shared else parts


def n_labelled_features(n_features: int, *, n_labels: int, shared: bool = True) -> int:
    """The number of weights of `LabelledFeatures` made of `n_features` without labels."""
    return n_features * (n_labels + shared)
