"""Cross-entropy of classes: of labels at given arcs, of tags, of sentence starts."""

from __future__ import annotations

from thinc.types import Floats1d, Floats2d


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


def logistic_loss(xp, log_odds: Floats1d, gold) -> tuple[float, Floats1d]:
    """The summed cross-entropy of yes and no, in nats, and its gradient (T,).

    log_odds: (T,) of yes. gold: (T,) 1 or 0, -1 where unknown: no loss, no gradient.
    """
    gold = xp.asarray(gold)
    known = gold >= 0
    loss = xp.logaddexp(0.0, log_odds) - gold * log_odds
    gradient = 0.5 * (1.0 + xp.tanh(0.5 * log_odds)) - gold  # a sigmoid that does not overflow
    return float(loss[known].sum()), gradient * known
