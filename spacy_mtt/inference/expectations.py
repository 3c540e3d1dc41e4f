"""Expectations under a distribution over dependency trees, and their gradients with respect to its scores.

Entropies, risks and divergences of exponentially many trees come from log Z and the marginals alone (Zmigrod, Vieira
and Cotterell 2021, "Efficient computation of expectations under spanning tree distributions", section 6), in O(n^3).
Their gradients are marginals and Hessian-vector products (`hessian`). All take a :class:`Posterior`, or two, and
answer one number a sentence; with labels, trees are labelled trees. NoTreeError if a sentence of p has no tree.

How large scores do not cancel. With s_q the scores of q and g(m) the likeliest head of m under p,

    -E_p[log q] = (log Z_q - sum_m s_q[g(m), m]) - sum_hm mu_p[h, m] (s_q[h, m] - s_q[g(m), m])

where the last sum vanishes as p gathers on one tree, and the first part is exactly summed from log Z's excess.
"""

from __future__ import annotations

import math

import numpy as np

from .hessian import finite_where_used, hessian_vector_product
from .posterior import Posterior

# ---- expected values


def expected(p: Posterior, values: np.ndarray) -> np.ndarray:
    """E[sum of `values` over the tree's arcs]: risk, if they are costs, or expected counts. O(n^2) from the marginals.

    values: in the shape of p's scores, answer (B,); or with one more axis F at the end, answer (B, F). Entries whose
    marginal is 0 are not read; ValueError if another one is not finite.
    """
    p.require_trees()
    values = finite_where_used(p.marginals, values, "values", features=True)
    marginals = p.marginals if values.ndim == p.marginals.ndim else p.marginals[..., None]
    terms = marginals * values
    return sum_over_arcs(terms.sum(axis=3) if p.labelled else terms)


def expected_gradient(p: Posterior, values: np.ndarray) -> np.ndarray:
    """The gradient of `expected(p, values)`, values and answer in the shape of p's scores. O(n^3).

    With an axis F of values and upstream gradients (B, F), call it with the sum of values times those over F.
    """
    return hessian_vector_product(p, values)


# ---- entropy and divergence


def entropy(p: Posterior) -> np.ndarray:
    """H(p) >= 0 in nats (B,). O(n^3)."""
    p.require_trees()
    cost, mean = _surprise(p, p)
    return np.maximum(cost + mean, 0.0)


def entropy_gradient(p: Posterior) -> np.ndarray:
    """The gradient of the entropy, in the shape of p's scores: -(Hessian of log Z) . scores. O(n^3).

    H = log Z - sum mu s, and the derivative of log Z is mu: what is left is the derivative of mu, times s. The
    product does not change as constants are added to the columns of s, and is taken relative to likely arcs.
    """
    p.require_trees()
    return hessian_vector_product(p, -p.scores)


def cross_entropy(p: Posterior, q: Posterior) -> np.ndarray:
    """-E_p[log q(tree)] >= 0 in nats (B,). O(n^3).

    inf where p has a tree, however improbable, with an arc (or label) that q forbids. p and q score the same
    sentences. q's tree space must contain p's, or be the same: ValueError if q is projective or single-root and p is
    not, since p then has trees outside q's support.
    """
    p.require_trees()
    infinite = _forbidden_support(p, q)
    cost, mean = _surprise(p, q, infinite)
    return np.maximum(cost + mean, 0.0)


def cross_entropy_gradient(p: Posterior, q: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of `cross_entropy(p, q)` with respect to the scores of p and of q, in their shape. O(n^3).

    ValueError if it is infinite.
    """
    _require_finite(p, q, "cross-entropy")
    return hessian_vector_product(p, -q.scores), q.marginals - p.marginals


def kl(p: Posterior, q: Posterior) -> np.ndarray:
    """KL(p || q) = E_p[log p(tree) - log q(tree)] >= 0 in nats (B,); exactly 0 for the same scores. O(n^3).

    The rest is as in `cross_entropy`.
    """
    p.require_trees()
    infinite = _forbidden_support(p, q)
    cost_q, mean_q = _surprise(p, q, infinite)
    cost_p, mean_p = _surprise(p, p)
    return np.maximum((cost_q - cost_p) + (mean_q - mean_p), 0.0)


def kl_gradient(p: Posterior, q: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of `kl(p, q)` with respect to the scores of p and of q, in their shape. O(n^3).

    ValueError if it is infinite.
    """
    _require_finite(p, q, "divergence")
    used = p.marginals > 0
    apart = np.where(used, p.scores, 0.0) - np.where(used, q.scores, 0.0)
    return hessian_vector_product(p, apart), q.marginals - p.marginals


# ---- per word


def head_entropy(p: Posterior) -> np.ndarray:
    """The entropy in nats of each word's head under the marginals, (B, N), 0 in the padding. O(n^2) from them."""
    p.require_trees()
    mu = p.mu
    likeliest = mu.argmax(axis=1)[:, None]
    others = mu.copy()
    np.put_along_axis(others, likeliest, 0.0, axis=1)
    rest = np.cumsum(others, axis=1)[:, -1]  # 1 - mu of the likeliest, exact where that is near 1
    terms = -others * np.log(np.where(others > 0, others, 1.0))
    likeliest_term = -(1.0 - rest) * np.log1p(-rest)
    return (np.cumsum(terms, axis=1)[:, -1] + likeliest_term)[:, 1:]


def max_marginal(p: Posterior) -> np.ndarray:
    """The probability of each word's likeliest arc, labels being told apart, (B, N); 0 in the padding."""
    p.require_trees()
    best = p.marginals.max(axis=1)[:, 1:]
    return best.max(axis=2) if p.labelled else best


# ---- inside


def sum_over_arcs(terms: np.ndarray) -> np.ndarray:
    """(B, ...) from (B, N+1, N+1, ...), one after the other, so that zeros in the padding never change the rounding."""
    return sum_over_words(np.cumsum(terms, axis=1)[:, -1])


def sum_over_words(terms: np.ndarray) -> np.ndarray:
    """(B, ...) from (B, N, ...), in the same way."""
    return np.cumsum(terms, axis=1)[:, -1] if terms.shape[1] else np.zeros((len(terms), *terms.shape[2:]))


def _surprise(p: Posterior, q: Posterior, infinite: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The two parts of -E_p[log q] of the module's docstring, (B,) each; the first is inf where `infinite` has arcs."""
    skip = np.zeros(len(p.lengths), dtype=bool)
    if infinite is not None:
        skip = infinite.any(axis=tuple(range(1, infinite.ndim))) | np.isneginf(q.log_z)
    used = (p.mu > 0) & ~skip[:, None, None]
    scores = np.where(used, q.arc_scores, 0.0)
    likeliest = np.take_along_axis(scores, p.mu.argmax(axis=1)[:, None], axis=1)
    cost = np.full(len(skip), np.inf)
    for sentence in np.flatnonzero(~skip):
        words = slice(1, p.lengths[sentence] + 1)
        cost[sentence] = math.fsum(
            [q.excess[sentence], *q.best[sentence, words].tolist(), *(-likeliest[sentence, 0, words]).tolist()]
        )
    terms = p.mu * np.where(used, likeliest - scores, 0.0)
    if p.labelled:
        label_used = (p.marginals > 0) & ~skip[:, None, None, None]
        terms += (p.marginals * np.where(label_used, q.label_surprise, 0.0)).sum(axis=3)
    return cost, sum_over_arcs(terms)


def _forbidden_support(p: Posterior, q: Posterior) -> np.ndarray:
    """Which arcs (or labelled arcs), in the shape of the scores, q forbids and some tree of p has."""
    _check_pair(p, q)
    forbidden = np.isneginf(q.scores) & ~np.isneginf(p.scores)
    forbidden &= p.arcs[..., None] if p.labelled else p.arcs
    support = p.marginals > 0
    if (forbidden & ~support).any():  # too improbable for a double, or in no tree
        allowed = np.where(np.isneginf(p.arc_scores), -np.inf, 0.0)
        uniform = Posterior(allowed, p.lengths, projective=p.projective, single_root=p.single_root)
        support = uniform.mu[..., None] > 0 if p.labelled else uniform.mu > 0
    return forbidden & support


def _require_finite(p: Posterior, q: Posterior, what: str) -> None:
    p.require_trees()
    infinite = np.argwhere(_forbidden_support(p, q))
    if len(infinite):
        sentence, *arc = (int(i) for i in infinite[0])
        raise ValueError(
            f"the {what} of sentence {sentence} is infinite and has no gradient: q forbids the arc {tuple(arc)}, "
            "which trees of p have"
        )


def _check_pair(p: Posterior, q: Posterior) -> None:
    if p.scores.shape != q.scores.shape or not np.array_equal(p.lengths, q.lengths):
        raise ValueError(
            f"p and q must score the same sentences, but the shapes are {p.scores.shape} and {q.scores.shape}, "
            f"the lengths {p.lengths.tolist()} and {q.lengths.tolist()}"
        )
    for name in ("projective", "single_root"):
        if getattr(q, name) and not getattr(p, name):
            raise ValueError(f"q is {name.replace('_', '-')} and p is not: trees of p are no trees of q")
