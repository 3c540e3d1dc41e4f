"""The conventions that all of spacy_mtt follows, and linear-time predicates on trees.

Conventions
-----------
*Nodes.* A sentence of ``n`` words has the nodes ``0 .. n``. Node 0 is the artificial root, the words are
``1 .. n`` in their order.

*Scores.* ``scores[h, m]`` is the log-weight of the arc from head ``h`` to modifier ``m``, an array of shape
``(n+1, n+1)``; with labels ``(n+1, n+1, L)``. Column 0 (the root has no head) and the diagonal (no word heads
itself) do not exist: whatever stands there is never read. A forbidden arc is ``-inf``.

*Batches.* A padded batch has the shape ``(B, N+1, N+1)``; ``lengths[b] = n`` says that the sentence ``b`` uses the
nodes ``0 .. n`` alone. What stands in the padding is never read.

*Trees.* A tree is an int array ``heads`` of length ``n``: ``heads[m - 1]`` is the head of word ``m``, in ``0 .. n``.
In a batch, ``heads`` is ``(B, N)`` with -1 as padding.

*Tree spaces.* Non-projective: every arborescence rooted in node 0. Projective: those without crossing arcs, where the
root stands to the left of the first word. Single-root: exactly one word has the head 0. Multi-root: one or more have.
"""

from __future__ import annotations

import numpy as np


def is_tree(heads: np.ndarray, *, single_root: bool = False) -> bool:
    """Whether `heads` (n,) is a dependency tree: heads in 0..n, every word reaches the root, no cycle. O(n)."""
    n = len(heads)
    roots = 0
    for head, word in zip(heads, range(1, n + 1), strict=True):
        if not 0 <= head <= n or head == word:
            return False
        roots += head == 0
    if single_root and n and roots != 1:
        return False
    return find_cycle(heads) is None


def find_cycle(heads: np.ndarray) -> list[int] | None:
    """The words (1..n) of one cycle in `heads` (n,), in the order modifier, its head, ..., or None. O(n).

    Entries that are no head in 0..n (padding, unannotated words) end a walk as the root does.
    """
    n = len(heads)
    seen_in_walk = [0] * (n + 1)  # 0: not seen; else the number of the walk that saw it
    for start in range(1, n + 1):
        word = start
        while 1 <= word <= n and not seen_in_walk[word]:
            seen_in_walk[word] = start
            word = int(heads[word - 1])
        if 1 <= word <= n and seen_in_walk[word] == start:
            cycle = [word]
            while (word := int(heads[word - 1])) != cycle[0]:
                cycle.append(word)
            return cycle
    return None


def crossing_arcs(heads: np.ndarray) -> np.ndarray:
    """Which arcs of `heads` (n,) cross another arc, as a bool array (n,) by modifier; root arcs start at 0. O(n^2).

    Entries outside 0..n (unannotated words) have no arc and cross nothing.
    """
    heads = np.asarray(heads)
    words = np.arange(1, len(heads) + 1)
    left, right = np.minimum(heads, words), np.maximum(heads, words)
    has_arc = (heads >= 0) & (heads <= len(heads))
    # Arcs i and j cross iff exactly one end of j lies strictly inside i and the other strictly outside.
    a, b = left[:, None], right[:, None]
    crosses = (a < left) & (left < b) & (b < right)
    crosses &= has_arc[:, None] & has_arc
    return crosses.any(axis=0) | crosses.any(axis=1)


def is_projective(heads: np.ndarray) -> bool:
    """Whether no two arcs of `heads` (n,) cross, root arcs drawn from position 0 included. O(n^2)."""
    return not crossing_arcs(heads).any()
