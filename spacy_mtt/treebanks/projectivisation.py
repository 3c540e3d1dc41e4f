"""Projectivisation: the closest tree without crossing arcs (Koo et al. 2007, section 6.1, footnote 4)."""

from __future__ import annotations

import numpy as np

from spacy_mtt.inference.distribution import TreeDistribution

UNKNOWN = -1


def projectivise(heads, *, single_root: bool = False) -> np.ndarray:
    """A projective tree that differs from `heads` (n,) in as few heads as any does: (n,) ints. O(n^3).

    heads: ints in 0..n, -1 for a word without annotation, which agrees with every head and stays -1.
    single_root: whether exactly one word may have the head 0; else one or more.

    The projective parser is run with the score +1 on the arcs of the tree and -1 on all others, as in the paper. A tree
    that is in the space comes back as it is; which of several closest ones comes out is fixed by the ties of
    `inference.eisner.argmax`. Heads that form no tree are no error: the result is the closest tree all the same.
    ValueError for heads outside -1..n and for a word that is its own head.
    """
    heads = np.asarray(heads, dtype=np.intp)
    n = len(heads)
    words = np.arange(1, n + 1)
    wrong = (heads < UNKNOWN) | (heads > n) | (heads == words)
    if wrong.any():
        word = int(words[wrong][0])
        raise ValueError(
            f"the head of word {word} is {heads[word - 1]}, but must be another of 0..{n}, or -1 if unknown"
        )
    known = heads != UNKNOWN
    scores = np.full((n + 1, n + 1), -1.0)
    scores[:, words[~known]] = 0.0
    scores[heads[known], words[known]] = 1.0
    closest = TreeDistribution(scores, projective=True, single_root=single_root).argmax()
    return np.where(known, closest, UNKNOWN)
