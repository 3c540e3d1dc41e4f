"""Annotation of trees, whole or partial, as sets of allowed arcs."""

from __future__ import annotations

import numpy as np

UNKNOWN = -1


def allowed_arcs(heads: np.ndarray, size: int) -> np.ndarray:
    """Which arcs agree with annotated heads: (B, size, size) bool.

    heads: (B, size - 1) ints in 0..n; -1 for a word without annotation (and in padding): every arc into it agrees.
    """
    allowed = np.zeros((len(heads), size, size), dtype=bool)
    sentence, word = np.nonzero(heads != UNKNOWN)
    allowed[sentence, heads[sentence, word], word + 1] = True
    sentence, word = np.nonzero(heads == UNKNOWN)
    allowed[sentence, :, word + 1] = True
    return allowed


def fixed_heads(allowed: np.ndarray) -> np.ndarray:
    """The head of each word with one allowed arc alone, -1 for the others: (n,) from (n+1, n+1) bool."""
    columns = allowed[:, 1:].copy()
    words = np.arange(columns.shape[1])
    columns[words + 1, words] = False
    return np.where(columns.sum(axis=0) == 1, columns.argmax(axis=0), UNKNOWN)


def allowed_labelled_arcs(heads: np.ndarray, labels: np.ndarray, size: int, possible: np.ndarray) -> np.ndarray:
    """Which labelled arcs agree with annotated heads and labels: (B, size, size, L) bool.

    heads: as in `allowed_arcs`. labels: (B, size - 1) ints, -1 where unknown: every label agrees.
    possible: (2, L) bool, which labels other arcs (row 0) and root arcs (row 1) can have.
    """
    allowed = np.repeat(allowed_arcs(heads, size)[..., None], possible.shape[1], axis=3)
    sentence, word = np.nonzero((labels != UNKNOWN) & (heads != UNKNOWN))
    allowed[sentence, :, word + 1] = False
    allowed[sentence, heads[sentence, word], word + 1, labels[sentence, word]] = True
    allowed[:, 0] &= possible[1]
    allowed[:, 1:] &= possible[0]
    return allowed
