"""Projective trees with sibling parts: the best tree, the partition function, marginals of arcs and of parts.

A tree scores ``scores[h, m]`` for each of its arcs and ``siblings[h, r, m]`` for each pair of consecutive modifiers
of a head on one side, r nearer to h than m. The first modifier of h on a side, which has no sibling between itself and
h, scores ``siblings[h, h, m]``. So every arc h -> m has exactly one part: r is the modifier of h next before m, seen
from h, or h itself. The root is a head like any other: with many roots, neighbouring root words are siblings, and
with a single root its only part is ``siblings[0, 0, m]``. Entries with m = 0, m = h, r = 0 < h, or r neither h nor
strictly between h and m are no parts and never read; ``-inf`` forbids a part. With all sibling scores 0 this is
Eisner's first-order model.

The chart and its O(n^3) algorithm are those of McDonald and Pereira (2006), "Online learning of approximate dependency
parsing algorithms", section 2; with sums for maxima, and the outside pass as their adjoint. It runs in plain doubles
first, over ``exp(scores[h, m] + siblings[h, r, m] - best[m]) <= 1`` with the exponent exact, and stands if no underflow
can have cost more than 1e-16 (derived at ``accepts`` in ``_siblings.pyx``); else once more in numbers with an extended
exponent (``_wide.h``). All terms are positive, so nothing cancels.

Every function takes scores (B, N+1, N+1) and siblings (B, N+1, N+1, N+1), [head, sibling, modifier], float64,
C-contiguous, without NaN or +inf where they are read, and lengths (B,) intp, as validated by the caller; the
conventions are those of `spacy_mtt.inference.trees`. Time and memory are O(n^3) a sentence, working memory about as
much as the sibling scores of the longest sentence; the GIL is released. What a sentence gets never depends on its
padding or its neighbours in the batch.
"""

from __future__ import annotations

import numpy as np

from spacy_mtt.inference import _siblings, _siblings_argmax, _siblings_wide


def argmax(scores: np.ndarray, siblings: np.ndarray, lengths: np.ndarray, *, single_root: bool) -> np.ndarray:
    """The best projective trees: heads (B, N) intp, -1 in the padding and throughout where no tree exists. O(n^3).

    Exact, for finite scores of any size, up to the rounding of sums of
    ``scores[h, m] + siblings[h, r, m] - best[m]``, best[m] being the largest of those sums into m.

    Ties: from the whole sentence downwards, each span takes the first of its best splits. So the single root is
    the leftmost possible; then, head by head, the outermost modifier on a side is the leftmost possible, the
    sibling before it is none where that is possible and else the leftmost possible, and of the words between two
    siblings as few as possible belong to the left one.
    """
    heads = np.full((scores.shape[0], scores.shape[1] - 1), -1, dtype=np.intp)
    _siblings_argmax.argmax(scores, siblings, lengths, single_root, heads)
    return heads


def log_partition(
    scores: np.ndarray, siblings: np.ndarray, lengths: np.ndarray, *, single_root: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(log Z (B,), excess (B, 2)) over projective trees; both -inf where no tree exists, 0 for no words. O(n^3).

    The excess is log Z less the sum over m of best[m], the largest ``scores[h, m] + siblings[h, r, m]`` as a double,
    computed without that subtraction, in two doubles whose sum it is: a tree may lie far below the best parts, and
    its probability is the difference. A part more than 1.4e14 nats below the best of its modifier counts as forbidden.
    """
    log_z, excess, _, _ = _inside_outside(scores, siblings, lengths, single_root, with_marginals=False)
    return log_z, excess


def marginals(
    scores: np.ndarray, siblings: np.ndarray, lengths: np.ndarray, *, single_root: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(log Z (B,), excess (B, 2), mu_arcs (B, N+1, N+1), mu_siblings (B, N+1, N+1, N+1)). O(n^3).

    ``mu_arcs[b, h, m]`` is the probability of the arc h -> m, ``mu_siblings[b, h, r, m]`` that of the part; summed over
    r the parts give the arcs. They are the gradients of log Z with respect to scores and siblings. Both are 0.0 where
    there is no arc or part, and throughout where no tree exists. The rest is as in `log_partition`.
    """
    return _inside_outside(scores, siblings, lengths, single_root, with_marginals=True)


def nearest_siblings(heads: np.ndarray) -> np.ndarray:
    """Which part each arc of a tree has: r (n,) for heads (n,), with ``siblings[heads[m-1], r[m-1], m]``. O(n).

    r is the modifier of the same head between it and m that is nearest to m, or the head where there is none. Heads
    must be in 0..n; whether they form a tree, projective or not, makes no difference. A word that heads itself has
    r = m.
    """
    n = len(heads)
    nearest = np.array(heads, dtype=np.intp)
    for words in (range(1, n + 1), range(n, 0, -1)):
        last: dict[int, int] = {}  # by head, its modifier seen last on the side in question
        rightwards = words.step > 0
        for m in words:
            head = int(heads[m - 1])
            if head != m and (head < m) == rightwards:
                nearest[m - 1] = last.get(head, head)
                last[head] = m
    return nearest


def _inside_outside(
    scores: np.ndarray,
    siblings: np.ndarray,
    lengths: np.ndarray,
    single_root: bool,
    *,
    with_marginals: bool,
    wide_only: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As `marginals`; without, the first axis of both has length 0. `wide_only`, for tests: no plain doubles."""
    log_z = np.zeros(len(scores))
    excess = np.zeros((len(scores), 2))
    mu_arcs = np.zeros(scores.shape if with_marginals else (0, *scores.shape[1:]))
    mu_siblings = np.zeros(siblings.shape if with_marginals else (0, *siblings.shape[1:]))
    rejected = np.full(len(scores), wide_only, dtype=np.uint8)
    result = log_z, excess, mu_arcs, mu_siblings
    if not wide_only:
        _siblings.inside_outside(scores, siblings, lengths, single_root, *result, rejected)
    if rejected.any():
        _siblings_wide.inside_outside(scores, siblings, lengths, single_root, *result, rejected)
    return result
