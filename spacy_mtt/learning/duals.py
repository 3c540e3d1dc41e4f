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

    def damped_update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        """The step of a dual with the entropy of the sentence's distribution in it, of a rate up to 1."""
        ...

    def loss(self, scores: np.ndarray, cost: np.ndarray, agreeing: np.ndarray, space: TreeSpace) -> float:
        """The primal loss of one sentence; `agreeing` are its scores, -inf where no right tree has an arc."""
        ...

    def label_losses(self, scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
        """The primal losses (T,) of labels at given arcs: scores (T, L), -inf if impossible; gold (T, L), 1 and 0."""
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

    def damped_update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        return theta + rate * (cost + scores - theta)

    def value(self, distribution: TreeDistribution, cost: np.ndarray) -> float:
        return float((cost * distribution.marginals).sum())

    def loss(self, scores: np.ndarray, cost: np.ndarray, agreeing: np.ndarray, space: TreeSpace) -> float:
        return max(_best(space.distribution(scores + cost)) - _best(space.distribution(agreeing)), 0.0)

    def label_losses(self, scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
        return (scores + 1.0 - gold).max(axis=1) - scores[gold == 1.0]

    def losses(self, scores: list[np.ndarray], examples: list[ArcExample], space: TreeSpace) -> np.ndarray:
        augmented = space.distributions([item + example.cost for item, example in zip(scores, examples, strict=True)])
        return np.maximum(_best(augmented) - augmented.score(*padded_trees(examples)), 0.0)


class LogLinearLoss:
    """-log p(gold): Koo et al. (2007), section 4.1; the dual is in Globerson et al. (2007).

    Its `value` is the entropy.
    """

    def update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        return theta + rate * (scores - theta)

    def damped_update(self, theta: np.ndarray, scores: np.ndarray, cost: np.ndarray, rate: float) -> np.ndarray:
        return self.update(theta, scores, cost, rate)

    def value(self, distribution: TreeDistribution, cost: np.ndarray) -> float:
        return distribution.entropy

    def loss(self, scores: np.ndarray, cost: np.ndarray, agreeing: np.ndarray, space: TreeSpace) -> float:
        right = space.distribution(agreeing).log_partition
        return max(float(space.distribution(scores).log_partition - right), 0.0)

    def label_losses(self, scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
        return np.logaddexp.reduce(scores, axis=1) - scores[gold == 1.0]

    def losses(self, scores: list[np.ndarray], examples: list[ArcExample], space: TreeSpace) -> np.ndarray:
        return -space.distributions(scores).log_prob(*padded_trees(examples))


def _best(distribution: TreeDistribution):
    """The score of the best tree of each sentence."""
    tree = distribution.argmax()
    return distribution.score(*tree) if distribution.labelled else distribution.score(tree)


def rise_of_dual(
    value: float,
    before: float,
    direction: np.ndarray,
    scores: np.ndarray,
    weight: float,
    squared_norm: float,
    neglected: float = 0.0,
) -> float:
    """The rise of the dual, over C, by a step in one example; 0.0 if it may be rounding or what was neglected.

    value, before: the example's `DualLoss.value` after the step and before. direction: by how much its marginals fall,
    squared_norm: |sum direction phi|^2. weight: C. neglected: up to which entries of `direction` were set to 0.
    """
    quadratic = 0.5 * weight * squared_norm
    linear = direction * scores
    gain = (value - before) - float(linear.sum()) - quadratic
    scale = value + before + float(np.abs(linear).sum()) + quadratic
    return 0.0 if abs(gain) <= (1e-14 + neglected) * scale else gain


def padded_trees(examples: list[ArcExample]) -> list[np.ndarray]:
    """[heads (B, N)] or [heads, labels] of a batch, -1 in the padding."""
    size = max(example.n for example in examples)
    parts = [np.full((len(examples), size), -1, dtype=np.intp) for _ in examples[0].tree]
    for row, example in enumerate(examples):
        for part, value in zip(parts, example.tree, strict=True):
            part[row, : example.n] = value
    return parts
