"""`spacy_mtt.LogLikelihood.v1`: the negative log-likelihood of annotated trees, whole or partial."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from .agreement import Agreement
from .cross_entropy import cross_entropy
from .log_linear import BatchReport, train_log_linear
from .objective import LabelledWords, LabelLoss, Sentences, TreeLoss
from .problem import Problem
from .tree_space import TreeSpace


class LogLikelihood:
    """-log p(the annotated arcs) under a distribution over dependency trees.

        loss = log Z(all trees) - log Z(trees that agree with the annotation)

    With a whole tree annotated that is Koo et al. (2007), section 4.1; with less, heads that are not annotated are
    summed over (Li et al. 2016, section 4). The gradient with respect to the scores is the difference of the two
    matrices of marginals.

    projective, single_root: the tree space, see `TreeDistribution`.
    labelled: whether the distribution is over labelled trees, one distribution for heads and labels, or
        over heads alone, with labels learned beside it.
    conflicts: "relax" or "skip", see `agreement.Agreement`. Either is counted in the result.
    """

    def __init__(
        self,
        *,
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        conflicts: Literal["relax", "skip"] = "relax",
    ):
        self.space = TreeSpace(projective=projective, single_root=single_root)
        self.labelled = labelled
        self.agreement = Agreement(self.space, labelled=labelled, conflicts=conflicts)

    def begin(self, keys: Iterable[bytes]) -> None:
        """Nothing is kept from one batch to the next."""

    def __call__(
        self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray, sentences: Sentences | None = None
    ) -> TreeLoss:
        """The loss and its gradient for a padded batch.

        scores: (B, N+1, N+1) arc scores, or (B, N+1, N+1, L) if `labelled`.
        allowed: bool of the same shape, which arcs agree with the annotation (see `annotation.allowed_arcs`).
        lengths: (B,) numbers of words.

        Sentences that still have no agreeing tree are skipped: loss and gradient 0. O(B N^3).
        """
        agreeing = self.agreement(scores, allowed, lengths)
        feasible = ~agreeing.skipped
        value, gradient = np.zeros(len(scores)), np.zeros(scores.shape)
        if feasible.any():
            everything = self.space.padded(scores[feasible], lengths[feasible])
            agreed = self.space.padded(agreeing.scores[feasible], lengths[feasible])
            value[feasible] = np.maximum(everything.log_partition - agreed.log_partition, 0.0)
            gradient[feasible] = everything.marginals - agreed.marginals
        return TreeLoss(value, gradient, relaxed=agreeing.relaxed, skipped=agreeing.skipped)

    def label_loss(self, xp, scores, gold: np.ndarray, words: LabelledWords) -> LabelLoss:
        """The cross-entropy of the labels."""
        return LabelLoss(*cross_entropy(xp, scores, gold))

    def train(self, problem: Problem, *, C: float, **options) -> tuple[np.ndarray, BatchReport]:
        """The weights of the linear model that minimises C times the loss plus |w|^2 / 2: see `train_log_linear`."""
        return train_log_linear(problem, C=C, **options)
