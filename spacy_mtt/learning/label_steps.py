"""Steps of online learners of labels at given arcs: a choice among L labels for each word.

Each takes scores (T, L), -inf for a label that cannot be, and gold labels (T,), -1 where unknown. A gold label that
cannot be counts as unknown.
"""

from __future__ import annotations

import numpy as np

from .objective import LabelLoss


def perceptron(scores: np.ndarray, gold: np.ndarray, *, is_step: bool) -> LabelLoss:
    """The perceptron's: the best label against the gold one. loss = s(best) - s(gold)."""
    known = _known(scores, gold)
    best, rows = scores.argmax(axis=1), np.arange(len(scores))
    loss = np.where(known, scores[rows, best] - scores[rows, gold], 0.0)
    return LabelLoss(float(loss.sum()), _difference(scores.shape, best, gold, known.astype(np.float64)), is_step)


def passive_aggressive(scores: np.ndarray, gold: np.ndarray, squared_norms: np.ndarray, C: float) -> LabelLoss:
    """The smallest step that gives the gold label a margin of 1, but at most C (PA-I of Crammer et al. 2006).

    squared_norms: (T,) those of the features of a word with one label: two labels are 2 |phi|^2 apart.
    """
    known = _known(scores, gold)
    rows = np.arange(len(scores))
    costly = scores + 1.0
    costly[rows, gold] -= 1.0
    worst = costly.argmax(axis=1)
    loss = np.where(known, costly[rows, worst] - scores[rows, gold], 0.0)
    reach = 2.0 * squared_norms
    tau = np.minimum(C, np.divide(loss, reach, out=np.zeros_like(loss), where=reach > 0))
    return LabelLoss(float(loss.sum()), _difference(scores.shape, worst, gold, tau), is_step=True)


def _known(scores: np.ndarray, gold: np.ndarray) -> np.ndarray:
    return (gold >= 0) & np.isfinite(scores[np.arange(len(scores)), np.maximum(gold, 0)])


def _difference(shape: tuple[int, int], label: np.ndarray, gold: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(T, L): the steps of the words at `label` less those at `gold`."""
    gradient, rows = np.zeros(shape), np.arange(len(gold))
    gradient[rows, label] += step
    gradient[rows, gold] -= step
    return gradient
