"""Two convex losses of a tree, with what exponentiated gradient needs of their duals.

Both problems are ``min_w C sum_i loss_i(w) + |w|^2 / 2``. In the dual, each sentence has a distribution p_i over its
trees, given by arc scores theta_i, with marginals mu_i, and

    w = C sum_i sum_arcs (gold_i - mu_i) phi_i        D = C sum_i value(p_i) - |w|^2 / 2  <=  primal

with equality at the optimum (Bartlett et al. 2004; Collins et al. 2008).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from spacy_mtt.inference.distribution import TreeDistribution

from .problem import ArcExample
from .tree_space import TreeSpace


class DualLoss(Protocol):
    """A loss and its dual, over arcs or labelled arcs."""

    def update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        """The exponentiated-gradient step: new arc scores theta, from the scores w . phi."""
        ...

    def value(self, distribution: TreeDistribution, cost: np.ndarray) -> float:
        """What a sentence's distribution adds to the dual, over C."""
        ...

    def losses(self, scores: list[np.ndarray], examples: list[ArcExample], space: TreeSpace) -> np.ndarray:
        """The primal loss of each sentence of a batch, (B,)."""
        ...


class MaxMarginLoss:
    """The hinge loss, max_y wrong arcs of y - (s(gold) - s(y)): Koo et al. (2007), section 4.2.

    Its `value` is the expected number of wrong arcs.
    """

    def update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        return theta + rate * (cost + scores)

    def value(self, distribution: TreeDistribution, cost: np.ndarray) -> float:
        return float((cost * distribution.marginals).sum())

    def losses(self, scores: list[np.ndarray], examples: list[ArcExample], space: TreeSpace) -> np.ndarray:
        augmented = space.distributions([item + example.cost for item, example in zip(scores, examples, strict=True)])
        worst = augmented.argmax()
        over = augmented.score(*worst) if augmented.labelled else augmented.score(worst)
        return np.maximum(over - augmented.score(*padded_trees(examples)), 0.0)


class LogLinearLoss:
    """-log p(gold): Koo et al. (2007), section 4.1; the dual is in Globerson et al. (2007).

    Its `value` is the entropy.
    """

    def update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        return (1.0 - rate) * theta + rate * scores

    def value(self, distribution: TreeDistribution, cost: np.ndarray) -> float:
        return distribution.entropy

    def losses(self, scores: list[np.ndarray], examples: list[ArcExample], space: TreeSpace) -> np.ndarray:
        return -space.distributions(scores).log_prob(*padded_trees(examples))


def padded_trees(examples: list[ArcExample]) -> list[np.ndarray]:
    """[heads (B, N)] or [heads, labels] of a batch, -1 in the padding."""
    size = max(example.n for example in examples)
    parts = [np.full((len(examples), size), -1, dtype=np.intp) for _ in examples[0].tree]
    for row, example in enumerate(examples):
        for part, value in zip(parts, example.tree, strict=True):
            part[row, : example.n] = value
    return parts
