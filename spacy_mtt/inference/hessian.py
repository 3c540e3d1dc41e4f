"""Hessian-vector products of log Z: how the marginals move as the scores move along a direction.

The Hessian of log Z is the covariance of the arcs' indicators: entry (a, b) is p(a and b in the tree) - mu_a mu_b.
Every gradient of an expectation is a product with it (Zmigrod, Vieira and Cotterell 2021, "Efficient computation of
expectations under spanning tree distributions"). They get it from the inverse of the Laplacian, which cancels. Here
the subtraction-free elimination, or Eisner's chart, is differentiated forward, step by step: see `_dual.h`.

Two identities keep the error small. Each tree has one arc into each word, so a constant added to a column of the
direction changes nothing: it is taken relative to the likeliest head of each word, and where one tree has nearly all
probability, what its arcs add is 0 and not a large number that cancels. And the derivatives of a column sum to 0: that
gives the likeliest head's own.
"""

from __future__ import annotations

import numpy as np

from ._hessian import marginal_tangents
from .posterior import Posterior


def hessian_vector_product(p: Posterior, direction: np.ndarray) -> np.ndarray:
    """d/dt of the marginals at scores + t * direction; by symmetry also the gradient of sum(marginals * direction).

    direction: in the shape of p's scores, (B, N+1, N+1) or, with labels, (B, N+1, N+1, L). Entries whose marginal is
    0 are not read, so that they may be -inf or NaN; ValueError if another one is not finite. Answers in the same
    shape, 0 where no arc is. NoTreeError if a sentence has no tree. O(n^3) a sentence, and O(n^2 L) for labels.

    With labels, let pi be p(label | arc), D the direction and mu' the derivative of the arc marginals along the mean
    D_a = sum_l pi_l D_l over each arc's labels. The answer is mu' pi_l + mu pi_l (D_l - D_a).
    """
    p.require_trees()
    direction = finite_where_used(p.marginals, direction, "direction")
    if not p.labelled:
        return _arc_product(p, direction)
    likeliest = p.label_given_arc.argmax(axis=3)[..., None]
    reference = np.take_along_axis(direction, likeliest, axis=3)
    relative = np.where(p.marginals > 0, direction - reference, 0.0)
    mean = (p.label_given_arc * relative).sum(axis=3, keepdims=True)
    arcs = _arc_product(p, (reference + mean)[..., 0])
    return arcs[..., None] * p.label_given_arc + np.where(p.marginals > 0, p.marginals * (relative - mean), 0.0)


def _arc_product(p: Posterior, direction: np.ndarray) -> np.ndarray:
    """The product of the arcs' Hessian with `direction` (B, N+1, N+1), finite, 0 where mu is 0."""
    # Scaled to at most 1/2 by a power of two, so that nothing overflows on the way.
    _, exponent = np.frexp(np.abs(direction).max(axis=(1, 2), initial=0.0, keepdims=True))
    direction = np.ldexp(direction, -exponent - 1)
    likeliest = p.mu.argmax(axis=1)[:, None]
    relative = np.where(p.mu > 0, direction - np.take_along_axis(direction, likeliest, axis=1), 0.0)
    product = np.zeros(p.mu.shape)
    marginal_tangents(p.arc_scores, relative, p.lengths, p.projective, p.single_root, product)
    np.put_along_axis(product, likeliest, 0.0, axis=1)
    np.put_along_axis(product, likeliest, -np.cumsum(product, axis=1)[:, -1:], axis=1)
    return np.ldexp(product, exponent + 1) + 0.0


def finite_where_used(marginals: np.ndarray, values: np.ndarray, what: str, *, features: bool = False) -> np.ndarray:
    """`values` as float64 with 0 where the marginal is 0; ValueError where it is not and the value is not finite.

    The shape is that of the marginals; with `features` there may be one more axis.
    """
    values = np.asarray(values, dtype=np.float64)
    rank = marginals.ndim
    if values.shape[:rank] != marginals.shape or values.ndim > rank + features:
        more = " (and one more axis at most)" if features else ""
        raise ValueError(f"{what} must have the shape of the scores, {marginals.shape}{more}, not {values.shape}")
    used = marginals > 0 if values.ndim == rank else (marginals > 0)[..., None]
    values = np.where(used, values, 0.0)
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        place = ", ".join(str(i) for i in wrong[0])
        raise ValueError(f"{what}[{place}] is {values[tuple(wrong[0])]}, but must be finite where the arc is possible")
    return values
