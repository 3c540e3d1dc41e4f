"""What learners of linear models ask of features: scores, sums and norms, never a single key."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class ArcFeatures(Protocol):
    """The features of one sentence of n words."""

    n: int

    def score(self, weights) -> np.ndarray:
        """(n+1, n+1) float64: <w, phi(h -> m)>; 0 where no arc is. Labelled features have one more axis L."""
        ...

    def add(self, weights, coefficients) -> None:
        """weights += sum_hm coefficients[h, m] * phi(h -> m), in place; coefficients in the shape of the scores."""
        ...

    def squared_norm(self, coefficients) -> float:
        """|sum_hm coefficients[h, m] phi(h -> m)|^2, repeated keys merged."""
        ...
