"""Exponentiated gradient for labels at given arcs: a distribution over the labels of each word."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import softmax

from .duals import DualLoss
from .objective import LabelledWords, LabelLoss

LARGEST_DAMPED_RATE = 0.5


class LabelDuals:
    """The duals of the words of each sentence, (n, L) scores theta and probabilities mu.

    The problem is that of trees with one arc, a label for each word: see `ExponentiatedGradient`. In a linear model a
    step is shortened to what its curvature C |phi|^2 allows.
    """

    def __init__(self, loss: DualLoss, C: float, beta: float, rate: float):
        self.loss = loss
        self.C = C
        self.beta = beta
        self.rate = rate
        self._theta: dict[bytes, np.ndarray] = {}
        self._mu: dict[bytes, np.ndarray] = {}

    def __call__(
        self, scores: np.ndarray, gold: np.ndarray, words: LabelledWords, counts: Mapping[bytes, int]
    ) -> LabelLoss:
        """A step for the words of a batch, and their losses. scores: (T, L), -inf for a label that cannot be.

        gold: (T,), -1 where unknown: no loss and no step. counts: how often each sentence comes in a pass.
        """
        value, gradient = 0.0, np.zeros(scores.shape)
        all_norms = None if words.squared_norms is None else words.squared_norms()
        ends = np.cumsum(words.lengths)
        for number, (first, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
            rows = slice(int(first), int(end))
            key = words.key(number)
            weights = np.full(end - first, self.C * counts.get(key, 1))
            norms = None if all_norms is None else all_norms[rows]
            loss, gradient[rows] = self._visit(key, scores[rows], gold[rows], weights, norms)
            value += loss
        return LabelLoss(value, gradient, is_step=all_norms is not None)

    def state(self) -> dict[str, np.ndarray]:
        """theta and mu of each sentence, as one array (2, n, L)."""
        return {key.hex(): np.stack([theta, self._mu[key]]) for key, theta in self._theta.items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`."""
        for name, (theta, mu) in state.items():
            self._theta[bytes.fromhex(name)], self._mu[bytes.fromhex(name)] = theta, mu

    def _visit(
        self, key: bytes, scores: np.ndarray, gold: np.ndarray, weights: np.ndarray, norms: np.ndarray | None
    ) -> tuple[float, np.ndarray]:
        possible, rows = np.isfinite(scores), np.arange(len(scores))
        known = (gold >= 0) & possible[rows, np.maximum(gold, 0)]
        right = np.zeros(scores.shape)
        right[rows[known], gold[known]] = 1.0
        finite = np.where(possible, scores, 0.0)
        old = self._mu.get(key)
        theta = self.beta * right if old is None else self._theta[key]
        if norms is None:
            theta = self.loss.damped_update(theta, finite, 1.0 - right, min(self.rate, LARGEST_DAMPED_RATE))
        else:
            rate = self.rate / np.maximum(1.0, weights * norms)
            theta = self.loss.update(theta, finite, 1.0 - right, rate[:, None])
        mu = np.where(known[:, None], softmax(np.where(possible, theta, -np.inf), axis=1), 0.0)
        self._theta[key], self._mu[key] = theta, mu
        loss = float(self.loss.label_losses(scores[known], right[known]).sum())
        if norms is None:
            return loss, mu - right
        before = 0.0 if old is None else old - right
        return loss, weights[:, None] * (mu - right - before)
