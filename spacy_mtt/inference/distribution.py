"""TreeDistribution: one sentence's or one batch's dependency trees as a probability distribution."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from . import arborescence, eisner, matrix_tree
from .checks import arc_mask, as_batch, as_heads
from .feasibility import NoTreeError, explain_no_tree
from .trees import is_projective, is_tree


class TreeDistribution:
    """The distribution p(tree) = exp(sum of its arcs' scores) / Z over the dependency trees of a sentence.

    scores: log-weights of arcs, ``scores[h, m]`` for head h and modifier m, both 0..n with node 0 the artificial
        root: (n+1, n+1), or a padded batch (B, N+1, N+1). Column 0, the diagonal and the padding are never read.
        ``-inf`` forbids an arc. With `labelled`, one more axis L at the end scores each label of each arc.
    projective: whether trees may have crossing arcs (False) or not (True); root arcs count.
    single_root: whether exactly one word hangs from node 0 (True) or one or more (False).
    lengths: (B,) ints, the number of words of each sentence of a batch; all N if not given.

    Everything is computed in float64 and returned in float64 whatever the dtype of the scores, by sums and
    products of non-negative numbers alone, so that no scale of scores makes it inexact (Koo et al. 2007 gives
    the theorem; see the module `matrix_tree` for how). Results are computed when first asked for, in O(n^3), and kept.
    The scores are never written to; do not change them while the distribution is in use.

    Where no tree has positive weight, `log_partition` is ``-inf`` and all else raises NoTreeError, which says why.
    """

    def __init__(
        self,
        scores,
        *,
        projective: bool = False,
        single_root: bool = True,
        lengths=None,
        labelled: bool = False,
    ):
        self._scores, self._lengths, self._batched = as_batch(scores, lengths, labelled=labelled)
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self.labelled = bool(labelled)
        self._inference = eisner if projective else matrix_tree
        self._decoder = eisner if projective else arborescence
        self._size = self._scores.shape[1]

    def __repr__(self) -> str:
        space = "projective" if self.projective else "non-projective"
        root = "single-root" if self.single_root else "multi-root"
        shape = self._scores.shape if self._batched else self._scores.shape[1:]
        return f"TreeDistribution({space}, {root}, scores of shape {shape})"

    # ---- log Z and marginals

    @property
    def log_partition(self) -> float | np.ndarray:
        """log Z, the log of the summed weights of all trees: a float, or (B,) for a batch. O(n^3)."""
        return self._result(self._log_partition[0])

    @property
    def marginals(self) -> np.ndarray:
        """The probability of each arc, in the shape of the scores, 0 where no arc is.

        ``marginals[h, m]`` = p(h -> m); each column m >= 1 sums to 1. It is also the gradient of log Z. O(n^3).
        """
        marginals = self._arc_marginals  # first: it gives log Z as well
        self._require_trees()
        if not self.labelled:
            return self._result(marginals)
        return self._result(marginals[..., None] * self._label_given_arc)

    @property
    def entropy(self) -> float | np.ndarray:
        """The entropy in nats, H = log Z - sum of marginal * score: a float, or (B,) for a batch. O(n^3).

        Taken relative to each modifier's best score, so that large scores do not cancel
        (Zmigrod, Vieira and Cotterell 2021).
        """
        possible = self._arc_marginals > 0  # first: it gives log Z as well
        self._require_trees()
        below_best = np.where(possible, self._arc_scores, 0.0) - np.where(possible, self._best[:, None, :], 0.0)
        entropy = self._log_partition[1] - _sum_over_arcs(self._arc_marginals * below_best)
        if self.labelled:
            given_arc = self._label_given_arc
            surprise = -np.log(given_arc, out=np.zeros_like(given_arc), where=given_arc > 0)
            entropy += _sum_over_arcs(self._arc_marginals * (given_arc * surprise).sum(axis=3))
        return self._result(np.maximum(entropy, 0.0))

    # ---- trees

    def argmax(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The tree of the highest score: heads (n,), or (B, N) with -1 as padding; with labels (heads, labels).

        Chu-Liu-Edmonds in O(n^2), or Eisner in O(n^3). Ties are broken in a fixed way (see those modules); between
        labels of equal score the lowest index wins.
        """
        if not self.labelled:
            return self._decode(self._scores)
        return self._decode_labelled(self._scores)

    def mbr(self) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The tree with the largest expected number of correct arcs: minimum risk under Hamming loss.

        In the form of `argmax`. It maximises the sum of its arcs' marginals (Smith and Smith 2007, section 5), with
        labels of its labelled arcs'.
        """
        marginals = self._as_batch(self.marginals)
        weights = np.where(np.isneginf(self._scores), -np.inf, marginals)
        return self._decode_labelled(weights) if self.labelled else self._decode(weights)

    def score(self, heads, labels=None) -> float | np.ndarray:
        """The score of a tree, the sum over its arcs: a float, or (B,). O(n).

        heads: (n,) or (B, N) ints (what stands in the padding is not read); labels likewise where scores are labelled.
        ValueError for shapes and for heads outside 0..n. A forbidden arc makes it -inf. That the heads
        form a tree is not checked.
        """
        rows, inside = self._arcs_of(heads, labels, self._scores)
        return self._result(_sum_over_words(np.where(inside, rows, 0.0)))

    def log_prob(self, heads, labels=None) -> float | np.ndarray:
        """log p(tree): a float, or (B,); arguments as in `score`. Heads that form no tree of the space have -inf."""
        self._require_trees()
        rows, inside = self._arcs_of(heads, labels, self._scores)
        excess = np.where(inside, rows, 0.0) - np.where(inside, self._best[:, 1:], 0.0)
        log_prob = np.minimum(_sum_over_words(excess) - self._log_partition[1], 0.0)
        trees = as_heads(heads, self._lengths, self._size, self._batched)
        for sentence, n in enumerate(self._lengths):
            tree = trees[sentence, :n]
            if not is_tree(tree, single_root=self.single_root) or (self.projective and not is_projective(tree)):
                log_prob[sentence] = -np.inf
        return self._result(log_prob)

    # ---- inside

    @cached_property
    def _arc_scores(self) -> np.ndarray:
        """(B, N+1, N+1): the scores, labels summed out by log-sum-exp; unread entries may hold anything."""
        if not self.labelled:
            return self._scores
        best = self._best_label_scores
        shifted = np.exp(self._scores - np.where(np.isfinite(best), best, 0.0)[..., None])
        with np.errstate(divide="ignore"):
            return np.where(self._arcs, best + np.log(shifted.sum(axis=3)), -np.inf)

    @cached_property
    def _best_label_scores(self) -> np.ndarray:
        return np.where(self._arcs, self._scores.max(axis=3), -np.inf)

    @cached_property
    def _label_given_arc(self) -> np.ndarray:
        """(B, N+1, N+1, L): p(label | arc), 0 where no arc is."""
        best = self._best_label_scores
        possible = np.isfinite(best)[..., None]
        shifted = np.where(possible, self._scores, -np.inf) - np.where(possible, best[..., None], 0.0)
        weights = np.exp(shifted)
        return weights / np.where(possible, weights.sum(axis=3, keepdims=True), 1.0)

    @cached_property
    def _arcs(self) -> np.ndarray:
        return arc_mask(self._lengths, self._size)

    @cached_property
    def _best(self) -> np.ndarray:
        """(B, N+1): the best score into each modifier, labels summed out; -inf in column 0 and padding."""
        return np.where(self._arcs, self._arc_scores, -np.inf).max(axis=1)

    @cached_property
    def _log_partition(self) -> tuple[np.ndarray, np.ndarray]:
        if "_log_partition_and_marginals" in self.__dict__:
            return self._log_partition_and_marginals[:2]
        return self._inference.log_partition(self._arc_scores, self._lengths, single_root=self.single_root)

    @cached_property
    def _log_partition_and_marginals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._inference.marginals(self._arc_scores, self._lengths, single_root=self.single_root)

    @property
    def _arc_marginals(self) -> np.ndarray:
        return self._log_partition_and_marginals[2]

    def _decode(self, weights: np.ndarray) -> np.ndarray:
        heads = self._decoder.argmax(weights, self._lengths, single_root=self.single_root)
        self._require_trees(lacking=(heads[:, :1] < 0).any(axis=1) & (self._lengths > 0))
        return self._result(heads)

    def _decode_labelled(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        best = np.where(self._arcs, weights.max(axis=3), -np.inf)
        heads = self._as_batch(self._decode(best))
        sentence, word = np.arange(len(heads))[:, None], np.arange(1, self._size)
        labels = weights[sentence, heads, word].argmax(axis=2)
        return self._result(heads), self._result(np.where(heads < 0, -1, labels))

    def _arcs_of(self, heads, labels, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scores of a tree's arcs (B, N), and which of them are inside the sentences."""
        heads = as_heads(heads, self._lengths, self._size, self._batched)
        index = (np.arange(len(heads))[:, None], heads, np.arange(1, self._size))
        inside = heads >= 0
        if not self.labelled:
            if labels is not None:
                raise ValueError("labels were given, but the scores are unlabelled")
            return np.where(heads == np.arange(1, self._size), -np.inf, scores[index]), inside
        if labels is None:
            raise ValueError("the scores are labelled: give the labels of the tree beside its heads")
        labels = as_heads(labels, self._lengths, self._size, self._batched, what="labels")
        if labels.size and labels.max() >= scores.shape[3]:
            raise ValueError(f"a label is {labels.max()}, but must be in 0..{scores.shape[3] - 1}")
        rows = scores[(*index, np.where(inside, labels, 0))]
        return np.where(heads == np.arange(1, self._size), -np.inf, rows), inside

    def _require_trees(self, lacking: np.ndarray | None = None) -> None:
        if lacking is None:
            lacking = np.isneginf(self._log_partition[0])
        if lacking.any():
            sentence = int(lacking.argmax())
            n = self._lengths[sentence]
            scores = self._arc_scores[sentence, : n + 1, : n + 1]
            why = explain_no_tree(scores, projective=self.projective, single_root=self.single_root)
            place = f"sentence {sentence} of the batch" if self._batched else "the sentence"
            raise NoTreeError(f"{place} has no tree with positive weight: {why}")

    def _result(self, batch: np.ndarray):
        """What the caller gets: the batch, or its only item where the caller gave one sentence."""
        if self._batched:
            return batch
        return batch[0].item() if batch.ndim == 1 else batch[0]

    def _as_batch(self, result: np.ndarray) -> np.ndarray:
        return result if self._batched else result[None]


def _sum_over_words(terms: np.ndarray) -> np.ndarray:
    """(B,) from (B, N), one after the other, so that zeros in the padding never change the rounding."""
    return np.cumsum(terms, axis=1)[:, -1] if terms.shape[1] else np.zeros(len(terms))


def _sum_over_arcs(terms: np.ndarray) -> np.ndarray:
    """(B,) from (B, N+1, N+1), in the same way."""
    return _sum_over_words(np.cumsum(terms, axis=1)[:, -1])
