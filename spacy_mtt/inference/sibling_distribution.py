"""SiblingTreeDistribution: projective trees scored by arcs and neighbouring modifiers, as a distribution."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from . import eisner, siblings
from .checks import as_batch, as_heads, as_siblings, part_mask
from .feasibility import NoTreeError, explain_no_tree
from .trees import is_projective, is_tree


class SiblingTreeDistribution:
    """p(tree) = exp(scores of its arcs and of its sibling parts) / Z over the projective trees of a sentence.

    scores: log-weights of arcs, ``scores[h, m]`` for head h and modifier m, both 0..n with node 0 the artificial
        root: (n+1, n+1), or a padded batch (B, N+1, N+1), as for `TreeDistribution`.
    siblings: log-weights of sibling parts, ``siblings[h, r, m]`` where r and m are neighbouring modifiers of h on one
        side, r the nearer; m without such an r, the first modifier on its side, has the part ``siblings[h, h, m]``.
        So every arc has one part, those of the root included. (n+1, n+1, n+1), or (B, N+1, N+1, N+1).
    single_root: whether exactly one word hangs from node 0 (True) or one or more (False).
    lengths: (B,) ints, the number of words of each sentence of a batch; all N if not given.

    Entries that belong to no arc or part, and the padding, are never read; ``-inf`` forbids an arc or a part. This is
    the second-order model of McDonald and Pereira (2006); with all sibling scores 0 it is the projective
    `TreeDistribution`. Everything is computed in float64 by sums and products of non-negative numbers alone, so that no
    scale of scores makes it inexact. Results are computed when first asked for, in O(n^3), and kept. The arrays are
    never written to; do not change them while the distribution is in use.

    Where no tree has positive weight, `log_partition` is ``-inf`` and all else but `score` raises NoTreeError.
    """

    def __init__(self, scores, siblings, *, single_root: bool = True, lengths=None):
        self._scores, self._lengths, self._batched = as_batch(scores, lengths)
        self._size = self._scores.shape[1]
        self._siblings = as_siblings(siblings, self._lengths, self._size, self._batched)
        self.single_root = bool(single_root)

    def __repr__(self) -> str:
        root = "single-root" if self.single_root else "multi-root"
        shape = self._scores.shape if self._batched else self._scores.shape[1:]
        return f"SiblingTreeDistribution({root}, scores of shape {shape})"

    @property
    def log_partition(self) -> float | np.ndarray:
        """log Z, the log of the summed weights of all trees: a float, or (B,) for a batch. O(n^3)."""
        return self._result(self._log_partition[0])

    @property
    def marginals(self) -> np.ndarray:
        """The probability of each arc, in the shape of the scores, 0 where no arc is. O(n^3).

        ``marginals[h, m]`` = p(h -> m); each column m >= 1 sums to 1. It is also the gradient of log Z.
        """
        self._require_trees()
        return self._result(self._log_partition_and_marginals[2])

    @property
    def sibling_marginals(self) -> np.ndarray:
        """The probability of each part, in the shape of the sibling scores, 0 where no part is. O(n^3).

        Summed over siblings they are the `marginals`. They are also the gradient of log Z.
        """
        self._require_trees()
        return self._result(self._log_partition_and_marginals[3])

    @property
    def entropy(self) -> float | np.ndarray:
        """The entropy in nats: a float, or (B,) for a batch. O(n^3).

        H = log Z - sum of marginal * score over arcs and parts, both taken relative to the best tree, so that large
        scores do not cancel.
        """
        self._require_trees()
        marginals = self._log_partition_and_marginals[3]
        best = siblings.argmax(self._scores, self._siblings, self._lengths, single_root=self.single_root)
        entropy = np.empty(len(marginals))
        for sentence, n in enumerate(self._lengths):
            of_best = _parts(best[sentence, :n])
            parts = np.nonzero(marginals[sentence, : n + 1, : n + 1, : n + 1])
            (total, error), (best_total, best_error) = (self._sums(sentence, *x) for x in (parts, of_best))
            word = parts[2] - 1
            below = 4.0 * ((best_total[word] - total) + (best_error[word] - error))
            entropy[sentence] = (marginals[sentence][parts] * below).sum() - self._log_prob(sentence, of_best)
        return self._result(np.maximum(entropy, 0.0))

    def argmax(self) -> np.ndarray:
        """The tree of the highest score: heads (n,), or (B, N) with -1 as padding. O(n^3).

        Ties are broken in a fixed way, stated at `spacy_mtt.inference.siblings.argmax`.
        """
        heads = siblings.argmax(self._scores, self._siblings, self._lengths, single_root=self.single_root)
        self._require_trees(lacking=(heads[:, :1] < 0).any(axis=1) & (self._lengths > 0))
        return self._result(heads)

    def score(self, heads) -> float | np.ndarray:
        """The score of a tree, the sum over its arcs and their parts: a float, or (B,). O(n).

        heads: (n,) or (B, N) ints (what stands in the padding is not read). ValueError for shapes and for heads
        outside 0..n. A forbidden arc or part makes it -inf. That the heads form a tree is not checked.
        """
        heads = as_heads(heads, self._lengths, self._size, self._batched)
        scores = np.empty(len(heads))
        for sentence, n in enumerate(self._lengths):
            h, r, m = _parts(heads[sentence, :n])
            terms = np.r_[self._scores[sentence, h, m], self._siblings[sentence, h, r, m]]
            possible = not (np.isneginf(terms).any() or (h == m).any())
            scores[sentence] = _exact_sum(terms) if possible else -np.inf
        return self._result(scores)

    def log_prob(self, heads) -> float | np.ndarray:
        """log p(tree): a float, or (B,); heads as in `score`. Heads that form no tree of the space have -inf."""
        self._require_trees()
        heads = as_heads(heads, self._lengths, self._size, self._batched)
        log_prob = np.full(len(heads), -np.inf)
        for sentence, n in enumerate(self._lengths):
            tree = heads[sentence, :n]
            if is_tree(tree, single_root=self.single_root) and is_projective(tree):
                log_prob[sentence] = min(self._log_prob(sentence, _parts(tree)), 0.0)
        return self._result(log_prob)

    # ---- inside

    @cached_property
    def _log_partition(self) -> tuple[np.ndarray, np.ndarray]:
        if "_log_partition_and_marginals" in self.__dict__:
            return self._log_partition_and_marginals[:2]
        return siblings.log_partition(self._scores, self._siblings, self._lengths, single_root=self.single_root)

    @cached_property
    def _log_partition_and_marginals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return siblings.marginals(self._scores, self._siblings, self._lengths, single_root=self.single_root)

    @cached_property
    def _parts(self) -> np.ndarray:
        """(B, N+1, N+1, N+1) bool: the parts that trees of the space may have, allowed or not."""
        parts = part_mask(self._lengths, self._size)
        if self.single_root:
            parts[:, 0, 1:] = False
        return parts

    @cached_property
    def _best(self) -> np.ndarray:
        """(B, N+1): a quarter of the best score + sibling score into each modifier; -inf in column 0 and padding."""
        with np.errstate(invalid="ignore"):  # what is no part may hold anything
            quarters = 0.25 * self._scores[:, :, None, :] + 0.25 * self._siblings  # quarters cannot overflow
        return np.where(self._parts, quarters, -np.inf).max(axis=(1, 2))

    def _sums(self, sentence: int, h: np.ndarray, r: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A quarter of score + sibling score for the parts (h[i], r[i], m[i]), rounded, and its rounding error."""
        arc, part = 0.25 * self._scores[sentence, h, m], 0.25 * self._siblings[sentence, h, r, m]
        total = arc + part
        possible = np.isfinite(total)
        arc, part = np.where(possible, arc, 0.0), np.where(possible, part, 0.0)
        added = np.where(possible, total, 0.0) - arc  # Knuth's two-sum
        return total, (arc - (np.where(possible, total, 0.0) - added)) + (part - added)

    def _log_prob(self, sentence: int, parts: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
        """log p of the tree that has the parts, before it is rounded to be at most 0."""
        total, error = self._sums(sentence, *parts)
        if np.isneginf(total).any():
            return -np.inf
        above = -self._best[sentence, parts[2]]
        return _exact_sum(np.r_[total, error, above, -0.25 * self._log_partition[1][sentence]], unit=4.0)

    def _require_trees(self, lacking: np.ndarray | None = None) -> None:
        if lacking is None:
            lacking = np.isneginf(self._log_partition[0])
        if lacking.any():
            sentence = int(lacking.argmax())
            place = f"sentence {sentence} of the batch" if self._batched else "the sentence"
            raise NoTreeError(f"{place} has no tree with positive weight: {self._explain(sentence)}")

    def _explain(self, sentence: int) -> str:
        """Why the sentence has no tree: for want of arcs that have a part, or of parts that fit together."""
        n = self._lengths[sentence]
        nodes = slice(n + 1)
        part_allowed = self._parts[sentence] & ~np.isneginf(self._siblings[sentence])
        arcs = np.where(part_allowed.any(axis=1), self._scores[sentence], -np.inf)[nodes, nodes]
        log_z, _ = eisner.log_partition(
            np.ascontiguousarray(arcs[None]), np.array([n], dtype=np.intp), single_root=self.single_root
        )
        if log_z[0] > -np.inf:
            return "every projective tree needs a forbidden sibling part"
        return explain_no_tree(arcs, projective=True, single_root=self.single_root)

    def _result(self, batch: np.ndarray):
        """What the caller gets: the batch, or its only item where the caller gave one sentence."""
        if self._batched:
            return batch
        return batch[0].item() if batch.ndim == 1 else batch[0]


def _parts(heads: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(h, r, m) of each word's part, each (n,)."""
    return heads, siblings.nearest_siblings(heads), np.arange(1, len(heads) + 1)


def _exact_sum(terms: np.ndarray, unit: float = 1.0) -> float:
    """The sum of the terms times `unit`, rounded once; infinite only if it exceeds the range of a double."""
    return math.fsum(terms * 2.0**-20) * (unit * 2.0**20)
