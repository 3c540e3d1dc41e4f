"""What inference says of a batch of sentences: log Z and the arc marginals, with or without labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from . import eisner, matrix_tree
from .checks import arc_mask
from .feasibility import NoTreeError, explain_no_tree
from .threads import check_n_threads, run_batch


class Posterior:
    """p(tree) = exp(sum of its arcs' scores) / Z over the trees of one tree space, for a padded batch.

    scores: (B, N+1, N+1), or with labels (B, N+1, N+1, L), float64, C-contiguous, as `checks.as_batch` returns
        them. Labels are summed out: a tree with labels is a tree and, given each of its arcs, a label.
    lengths: (B,) np.intp. projective, single_root: the tree space (see `trees`). n_threads: how many threads may
        share the batch.

    Each result is computed when first asked for and kept. A sentence without a tree has log_z = excess = -inf
    and marginals of 0; `require_trees` raises for it.
    """

    def __init__(
        self, scores: np.ndarray, lengths: np.ndarray, *, projective: bool, single_root: bool, n_threads: int = 1
    ):
        self.scores = scores
        self.lengths = lengths
        self.projective = projective
        self.single_root = single_root
        self.n_threads = check_n_threads(n_threads)
        self._inference = eisner if projective else matrix_tree

    @property
    def labelled(self) -> bool:
        """Whether the scores have an axis of labels."""
        return self.scores.ndim == 4

    @cached_property
    def arcs(self) -> np.ndarray:
        """(B, N+1, N+1) bool: which entries are arcs, forbidden ones among them."""
        return arc_mask(self.lengths, self.scores.shape[1])

    @cached_property
    def arc_scores(self) -> np.ndarray:
        """(B, N+1, N+1): the scores, labels summed out by log-sum-exp; unread entries may hold anything."""
        return self._labels[0] if self.labelled else self.scores

    @property
    def label_given_arc(self) -> np.ndarray:
        """(B, N+1, N+1, L): p(label | arc), 0 where no arc is allowed."""
        return self._labels[1]

    @property
    def label_surprise(self) -> np.ndarray:
        """(B, N+1, N+1, L): -log p(label | arc), inf where the label is forbidden, 0 where no arc is allowed."""
        return self._labels[2]

    @cached_property
    def best(self) -> np.ndarray:
        """(B, N+1): the best arc score into each modifier; -inf in column 0, in the padding, and without a head."""
        return np.where(self.arcs, self.arc_scores, -np.inf).max(axis=1)

    @property
    def log_z(self) -> np.ndarray:
        """(B,): log Z."""
        return self._log_partition[0]

    @property
    def excess(self) -> np.ndarray:
        """(B,): log Z less the sum of `best`, computed without that subtraction."""
        return self._log_partition[1]

    @property
    def mu(self) -> np.ndarray:
        """(B, N+1, N+1): the probability of each arc, 0 where none is."""
        return self._solved[2]

    @cached_property
    def marginals(self) -> np.ndarray:
        """The probability of each arc, or of each labelled arc, in the shape of the scores."""
        return self.mu[..., None] * self.label_given_arc if self.labelled else self.mu

    def require_trees(self, *, batched: bool = True) -> None:
        """Raise NoTreeError, which says why, if a sentence has no tree of positive weight."""
        lacking = np.flatnonzero(np.isneginf(self.log_z))
        if len(lacking):
            sentence, nodes = lacking[0], self.lengths[lacking[0]] + 1
            scores = self.arc_scores[sentence, :nodes, :nodes]
            why = explain_no_tree(scores, projective=self.projective, single_root=self.single_root)
            place = f"sentence {sentence} of the batch" if batched else "the sentence"
            raise NoTreeError(f"{place} has no tree with positive weight: {why}")

    @cached_property
    def _labels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scores = np.where(self.arcs[..., None], self.scores, -np.inf)
        best = scores.max(axis=3)
        allowed = ~np.isneginf(best)
        below_best = scores - np.where(allowed, best, 0.0)[..., None]
        weights = np.exp(below_best)
        total = np.where(allowed, weights.sum(axis=3), 1.0)
        surprise = np.where(allowed[..., None], np.log(total)[..., None] - below_best, 0.0)
        return best + np.log(total), weights / total[..., None], surprise

    @cached_property
    def _solved(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._run(self._inference.marginals)

    @cached_property
    def _log_partition(self) -> tuple[np.ndarray, np.ndarray]:
        if "_solved" in self.__dict__:
            return self._solved[:2]
        return self._run(self._inference.log_partition)

    def _run(self, function: Callable):
        return run_batch(
            function, self.arc_scores, self.lengths, single_root=self.single_root, n_threads=self.n_threads
        )
