"""What learners know of a sentence's features."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class ArcFeatures(Protocol):
    """The features of one sentence of n words: a sparse vector phi(h -> m) for each arc.

    Weights are float64 (size,), arrays over arcs float64 (n+1, n+1); column 0 and the diagonal are no arcs.
    """

    n: int

    def score(self, weights: np.ndarray) -> np.ndarray:
        """<weights, phi(h -> m)> of every arc, (n+1, n+1); 0 where no arc is."""
        ...

    def add(self, weights: np.ndarray, coefficients: np.ndarray) -> None:
        """Add sum_hm coefficients[h, m] * phi(h -> m) to `weights`, in place."""
        ...

    def squared_norm(self, coefficients: np.ndarray) -> float:
        """|sum_hm coefficients[h, m] * phi(h -> m)|^2, with repeated keys merged."""
        ...
