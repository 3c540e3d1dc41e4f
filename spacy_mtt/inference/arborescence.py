"""The best non-projective tree: a maximum spanning arborescence rooted in node 0.

Method
------
Each word takes its best head (Chu & Liu 1965; Edmonds 1967). If that is a tree, it is the best one: one
pass over the scores, the common case with a trained parser. Otherwise paths are grown from modifier to
head and each cycle met is contracted to one node. Its row of best incoming weights is the elementwise
maximum of its members' rows, each less the weight of the member's arc in the cycle (Tarjan 1977;
Camerini, Fratta & Maffioli 1979). A node is contracted once, into a row of n+1 entries, so all of it
takes O(n^2).

*Single root.* Let weights be pairs (-number of root arcs, score), compared lexicographically: the method
is as valid for them as for numbers, and its result has as few root arcs as any tree and the best score
among those. No member of a cycle is entered by a root arc, so the first part of a reduced weight is 0 or
-1 and need not be stored: a node just prefers any other arc to one from the root. Such a run may start
from the contractions of the unconstrained one, whose arcs are best in both orders. Only the nodes that
chose a root arc choose anew (in the spirit of Gabow & Tarjan 1984; for parsing, Zmigrod, Vieira &
Cotterell 2020). Unlike a constant subtracted from root arcs, this costs no precision.

Rounding
--------
A reduced weight is a sum of at most 2n scores. It is kept as the unevaluated sum of two doubles (Dekker
1971), and is only ever compared. If the largest |score| (forbidden arcs aside) is less than 2**48 / n
times the smallest that is not zero, each such sum is exact and so is the answer: no tree has a greater
score, not even by less than an ulp. For any other finite scores, the answer's score is within
n**3 * 2**-101 * max|score| of the best.
"""

from __future__ import annotations

import numpy as np

from . import _arborescence


def argmax(scores: np.ndarray, lengths: np.ndarray, *, single_root: bool) -> np.ndarray:
    """The best tree of each sentence: heads (B, N) np.intp, -1 in the padding.

    scores: (B, N+1, N+1) float64, C-contiguous, in the conventions of `trees`; finite or -inf where read.
    lengths: (B,) np.intp, each in 0..N.
    single_root: whether exactly one word has the head 0, or one or more.

    O(n^2) time a sentence, O(N^2) memory beside the scores, which are not written. A sentence without any
    tree (forbidden arcs leave none) gets a whole row of -1.

    Ties: a word takes its lowest best head (the root is the lowest of all), and where these heads are a
    tree of the space, it is the answer. Likewise, a contracted cycle takes the lowest of its best heads,
    and from this head the arc into the member which the path reached first; paths start at the lowest
    word not settled yet. Which of several best trees comes out depends on the sentence's scores alone,
    not on padding or batch.
    """
    heads = np.full((scores.shape[0], scores.shape[1] - 1), -1, dtype=np.intp)
    _arborescence.argmax(scores, lengths, single_root, heads)
    return heads
