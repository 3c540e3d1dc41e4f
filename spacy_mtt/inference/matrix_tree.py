"""The partition function and the arc marginals of non-projective dependency trees, exact at any scale.

The matrix-tree theorem (Koo, Globerson, Carreras and Collins 2007) by an elimination that never subtracts, in
place of a determinant and an inverse; `_matrix_tree.pyx` explains it. Arrays are float64, C-contiguous and
checked by the caller; conventions are those of :mod:`spacy_mtt.inference.trees`.
"""

from __future__ import annotations

import numpy as np

from spacy_mtt.inference._matrix_tree import tree_sums


def log_partition(scores: np.ndarray, lengths: np.ndarray, *, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """log Z (B,) and its excess (B,) over ``sum_m max_h scores[h, m]``, in nats. O(n^3 / 3) per sentence.

    scores: (B, N+1, N+1) float64, may be read-only. lengths: (B,) np.intp. Both answers are -inf where no
    tree has positive weight. The excess is computed by itself, not as a difference: log-probabilities and
    entropies take it where log Z is large. ValueError as in `marginals`.
    """
    log_z, excess = np.empty(len(lengths)), np.empty(len(lengths))
    too_wide, _ = tree_sums(scores, lengths, single_root, log_z, excess)
    _check(too_wide)
    return log_z, excess


def marginals(
    scores: np.ndarray, lengths: np.ndarray, *, single_root: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """log Z (B,) and its excess (B,) as in `log_partition`, and the probability mu (B, N+1, N+1) of each arc.

    mu[b, h, m] is also the derivative of log Z[b] by scores[b, h, m]. It is exactly 0 where no arc is (column
    0, the diagonal, padding, forbidden arcs) and all over a sentence that has no tree. O(n^3) per sentence.

    ValueError if every tree of a sentence has arcs that score some 1e14 nats below their column's best.
    """
    log_z, excess, mu = np.empty(len(lengths)), np.empty(len(lengths)), np.zeros(scores.shape)
    too_wide, _ = tree_sums(scores, lengths, single_root, log_z, excess, mu)
    _check(too_wide)
    return log_z, excess, mu


def _check(too_wide: int) -> None:
    if too_wide >= 0:
        raise ValueError(
            f"scores[{too_wide}]: every tree needs arcs that score some 1e14 nats below the best of their "
            "column, too far for an exact answer; forbid arcs with -inf, not with a large negative score"
        )
