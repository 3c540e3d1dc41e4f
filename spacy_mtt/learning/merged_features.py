"""Features that occur in the same arcs, of the same training sentences, as one.

Such features have the same gradient everywhere, so that batch training with |w|^2 as regulariser, which starts with
equal weights, keeps their weights equal. k of them with the weight w are one feature with the weight sqrt(k) w: norms
and inner products stay the same, and so does every step of an optimiser that looks at nothing else. Most features of a
treebank occur once, beside others: 2.1 million features of 6,001 Dutch sentences merge into 0.36 million.
"""

from __future__ import annotations

import numpy as np

from .problem import Problem

SEED = 1  # of the coefficients that tell features apart


class MergedFeatures:
    """n_merged features in place of a problem's n_features. O(n^2) a sentence and O(n_features log n_features)."""

    def __init__(self, problem: Problem):
        # The sum of random whole numbers over the arcs of a feature, without rounding up to 2^21 arcs, tells it apart.
        # Two of 32 bits: of 10^7 features, two that differ have the same sums with probability 10^-6.
        rng = np.random.default_rng(SEED)
        sums = np.zeros((2, problem.n_features))
        for example in problem.examples:
            for row in sums:
                numbers = rng.integers(1, 2**32, size=example.gold.shape).astype(np.float64)
                numbers[:, 0] = numbers[np.diag_indices(example.n + 1)] = 0.0  # no arcs
                example.features.add(row, numbers)
        _, self._first, self._of, counts = np.unique(
            sums[0] + 1j * sums[1], return_index=True, return_inverse=True, return_counts=True
        )
        self._roots = np.sqrt(counts)

    def merge(self, weights: np.ndarray) -> np.ndarray:
        """(n_merged,) from (n_features,): of features that are one, the means, with which no score changes."""
        return np.bincount(self._of, weights) / self._roots

    def merge_gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by merged weights, (n_merged,), from that by the weights they stand for, (n_features,)."""
        return gradient[self._first] * self._roots

    def spread(self, merged: np.ndarray) -> np.ndarray:
        """(n_features,) from (n_merged,)."""
        return (merged / self._roots)[self._of]
