"""Cross-entropy of classes: of labels at given arcs, of tags."""

from __future__ import annotations

from thinc.types import Floats2d


def cross_entropy(xp, scores: Floats2d, gold) -> tuple[float, Floats2d]:
    """The summed cross-entropy of gold classes under softmax, in nats, and its gradient (T, L).

    scores: (T, L), -inf for a class that cannot be. gold: (T,) class numbers, -1 where there is none: no loss,
    no gradient. A gold class that cannot be counts as none.
    """
    gold = xp.asarray(gold)
    rows = xp.arange(len(gold))
    known = (gold >= 0) & xp.isfinite(scores[rows, xp.maximum(gold, 0)])
    shifted = scores - scores.max(axis=1, keepdims=True)
    probabilities = xp.exp(shifted)
    total = probabilities.sum(axis=1, keepdims=True)
    probabilities /= total
    rows, gold = rows[known], gold[known]
    loss = float((xp.log(total[rows, 0]) - shifted[rows, gold]).sum())
    gradient = probabilities * known[:, None]
    gradient[rows, gold] -= 1.0
    return loss, gradient
