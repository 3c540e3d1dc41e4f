"""`spacy_mtt.LogLikelihood.v1`: the negative log-likelihood of annotated trees, whole or partial."""

from __future__ import annotations

from typing import Literal

import numpy as np

from spacy_mtt.inference.distribution import TreeDistribution
from spacy_mtt.inference.trees import crossing_arcs

from .annotation import fixed_heads
from .objective import TreeLoss


class LogLikelihood:
    """-log p(the annotated arcs) under a distribution over dependency trees.

        loss = log Z(all trees) - log Z(trees that agree with the annotation)

    With a whole tree annotated that is Koo et al. (2007), section 4.1; with less, heads that are not annotated are
    summed over (Li et al. 2016, section 4). The gradient with respect to the scores is the difference of the two
    matrices of marginals.

    projective, single_root: the tree space, see `TreeDistribution`.
    labelled: whether the distribution is over labelled trees, one distribution for heads and labels, or
        over heads alone, with labels learned beside it.
    conflicts: what to do with an annotation that no tree of the space agrees with (several roots where one is asked
        for, crossing arcs where none may be): "relax" treats the arcs in conflict, all root arcs or all crossing arcs,
        as unannotated; "skip" leaves the sentence out. Either is counted in the result.
    """

    def __init__(
        self,
        *,
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        conflicts: Literal["relax", "skip"] = "relax",
    ):
        if conflicts not in ("relax", "skip"):
            raise ValueError(f"conflicts must be 'relax' or 'skip', not {conflicts!r}")
        self.projective = projective
        self.single_root = single_root
        self.labelled = labelled
        self.conflicts = conflicts

    def __call__(self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray) -> TreeLoss:
        """The loss and its gradient for a padded batch.

        scores: (B, N+1, N+1) arc scores, or (B, N+1, N+1, L) if `labelled`.
        allowed: bool of the same shape, which arcs agree with the annotation (see `annotation.allowed_arcs`).
        lengths: (B,) numbers of words.

        Sentences that still have no agreeing tree are skipped: loss and gradient 0. O(B N^3).
        """
        agreeing = np.where(allowed, scores, -np.inf)
        feasible = np.isfinite(self._distribution(agreeing, lengths).log_partition)
        relaxed = np.zeros_like(feasible)
        if self.conflicts == "relax":
            for sentence in np.flatnonzero(~feasible):
                n = lengths[sentence]
                loosened = self._loosen(allowed[sentence, : n + 1, : n + 1])
                agreeing[sentence, : n + 1, : n + 1][loosened] = scores[sentence, : n + 1, : n + 1][loosened]
                relaxed[sentence] = True
            if relaxed.any():
                feasible = np.isfinite(self._distribution(agreeing, lengths).log_partition)
        value, gradient = np.zeros(len(scores)), np.zeros(scores.shape)
        if feasible.any():
            everything = self._distribution(scores[feasible], lengths[feasible])
            agreed = self._distribution(agreeing[feasible], lengths[feasible])
            value[feasible] = np.maximum(everything.log_partition - agreed.log_partition, 0.0)
            gradient[feasible] = everything.marginals - agreed.marginals
        return TreeLoss(value, gradient, relaxed=relaxed & feasible, skipped=~feasible)

    def conflicting(self, heads: np.ndarray) -> np.ndarray:
        """Which annotated arcs of a sentence the tree space cannot hold together, (n,) bool from heads (n,)."""
        conflict = np.zeros(len(heads), dtype=bool)
        if self.single_root and (heads == 0).sum() > 1:
            conflict |= heads == 0
        if self.projective:
            conflict |= crossing_arcs(heads)
        return conflict

    def _distribution(self, scores: np.ndarray, lengths: np.ndarray) -> TreeDistribution:
        return TreeDistribution(
            scores,
            projective=self.projective,
            single_root=self.single_root,
            lengths=lengths,
            labelled=self.labelled,
        )

    def _loosen(self, allowed: np.ndarray) -> np.ndarray:
        """The arcs of one sentence, bool (n+1, n+1[, L]), with the columns in conflict opened."""
        heads = fixed_heads(allowed.any(axis=-1) if self.labelled else allowed)
        loosened = allowed.copy()
        loosened[:, 1:][:, self.conflicting(heads)] = True
        return loosened
