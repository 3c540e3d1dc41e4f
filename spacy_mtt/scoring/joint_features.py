"""Features of labelled arcs as the linear scorer has them, for the batch learners."""

from __future__ import annotations

import numpy as np

from spacy_mtt.features.extraction import SlotFeatures


class JointFeatures:
    """`ArcFeatures` of labelled arcs: the weights of arcs (size,), then those of labels (rows, L), in one vector.

    score(h -> m, l) = w . phi(h -> m) + w_l . phi(h -> m), the second with slots modulo `rows`.
    """

    def __init__(self, features: SlotFeatures, rows: int, n_labels: int):
        self.features = features
        self.n = features.n
        self.rows = rows
        self.n_labels = n_labels

    def score(self, weights: np.ndarray) -> np.ndarray:
        """(n+1, n+1, L) float64; 0 where no arc is."""
        arcs, labels = self.split(weights)
        return self.features.score(arcs)[..., None] + self.features.score_labels(labels)

    def add(self, weights: np.ndarray, coefficients: np.ndarray) -> None:
        """weights += sum_hml coefficients[h, m, l] phi(h -> m, l), in place."""
        arcs, labels = self.split(weights)
        self.features.add(arcs, coefficients.sum(axis=2))
        self.features.add_labels(labels, coefficients)

    def squared_norm(self, coefficients: np.ndarray) -> float:
        """|sum_hml coefficients[h, m, l] phi(h -> m, l)|^2."""
        of_labels = self.features.squared_norm_of_labels(coefficients, self.rows)
        return self.features.squared_norm(coefficients.sum(axis=2)) + of_labels

    def split(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The weights of arcs (size,) and of labels (rows, L), in the same memory."""
        return split(weights, self.features.size, self.n_labels)


def split(weights: np.ndarray, size: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """The first `size` weights, and the others with a column a label, in the same memory."""
    return weights[:size], weights[size:].reshape(-1, n_labels)
