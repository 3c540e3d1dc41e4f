"""Projective trees by Eisner's chart: the best tree, the partition function and all arc marginals.

The spans are those of Eisner (1996), "Three new probabilistic models for dependency parsing", section 4; for
sums instead of maxima and their outside pass see Paskin (2001), "Cubic-time parsing and learning algorithms
for grammatical bigram models". The root stands to the left of word 1, and its arcs count for crossing.

Sums run in plain doubles first, over weights ``exp(scores[h, m] - max_k scores[k, m]) <= 1``, and stand if no
underflow can have cost more than 1e-16 (the test is derived at ``accepts`` in ``_eisner.pyx``). Otherwise, with
many words or no clear heads, all weights times a constant may bring every number into range (``in_range``). What
is left runs in numbers with an extended exponent (``_wide.h``). All terms are positive, so nothing cancels.

Every function takes scores (B, N+1, N+1) float64, C-contiguous, without NaN or +inf where they are read, and
lengths (B,) intp, as validated by the caller; the conventions are those of `spacy_mtt.inference.trees`.
Time is O(n^3) and memory O(n^2) a sentence; the GIL is released. What a sentence gets never depends on its
padding or its neighbours in the batch.
"""

from __future__ import annotations

import numpy as np

from spacy_mtt.inference import _eisner, _eisner_argmax, _eisner_wide


def argmax(scores: np.ndarray, lengths: np.ndarray, *, single_root: bool) -> np.ndarray:
    """The best projective trees: heads (B, N) intp, -1 in the padding and throughout where no tree exists.

    Exact, for finite scores of any size, up to the rounding of sums of ``scores[h, m] - max_k scores[k, m]``.

    Ties: from the whole sentence downwards, each span takes the first of its best splits. So the single
    root is the leftmost possible; then, head by head, the outermost modifier on a side is the leftmost
    possible, and of the words between a head and its modifier as few as possible belong to the left one of
    the two.
    """
    heads = np.full((scores.shape[0], scores.shape[1] - 1), -1, dtype=np.intp)
    _eisner_argmax.argmax(scores, lengths, single_root, heads)
    return heads


def log_partition(scores: np.ndarray, lengths: np.ndarray, *, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """(log Z (B,), excess (B,)) over projective trees; both -inf where no tree exists, 0 for no words.

    The excess is ``log Z - sum_m max_h scores[h, m]``, computed without that subtraction. An arc more than
    1.4e14 nats below the best of its column counts as forbidden.
    """
    log_z, excess, _ = _inside_outside(scores, lengths, single_root, with_marginals=False)
    return log_z, excess


def marginals(
    scores: np.ndarray, lengths: np.ndarray, *, single_root: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(log Z (B,), excess (B,), mu (B, N+1, N+1)); ``mu[b, h, m]`` is the probability of the arc h -> m.

    mu is 0.0 where there is no arc, and throughout where no tree exists. The rest is as in `log_partition`.
    """
    return _inside_outside(scores, lengths, single_root, with_marginals=True)


def _inside_outside(
    scores: np.ndarray,
    lengths: np.ndarray,
    single_root: bool,
    *,
    with_marginals: bool,
    wide_only: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `marginals`; without marginals mu is (0, N+1, N+1). `wide_only`, for tests: no plain doubles."""
    log_z = np.zeros(len(scores))
    excess = np.zeros(len(scores))
    mu = np.zeros(scores.shape if with_marginals else (0, *scores.shape[1:]))
    rejected = np.full(len(scores), wide_only, dtype=np.uint8)
    if not wide_only:
        _eisner.inside_outside(scores, lengths, single_root, log_z, excess, mu, rejected)
    if rejected.any():
        _eisner_wide.inside_outside(scores, lengths, single_root, log_z, excess, mu, rejected)
    return log_z, excess, mu
