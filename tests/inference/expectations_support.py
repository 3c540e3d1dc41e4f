"""Shared by the tests of expectations and constraints: whole distributions by enumeration, and in many digits."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from spacy_mtt.inference.posterior import Posterior
from tests.oracle import SPACES, all_trees
from tests.strategies import random_scores

spaces = pytest.mark.parametrize("projective,single_root", SPACES)
SCALES = [1.0, 10.0, 100.0, 1000.0, 3000.0]


def posterior(scores, projective, single_root):
    """The Posterior of one sentence, (n+1, n+1) or with labels (n+1, n+1, L)."""
    lengths = np.array([len(scores) - 1], dtype=np.intp)
    return Posterior(np.ascontiguousarray(scores)[None], lengths, projective=projective, single_root=single_root)


class Enumerated:
    """Every (labelled) tree of positive weight of one sentence: indicators x (T, ...), log p and p (T,)."""

    def __init__(self, scores, projective, single_root):
        n = len(scores) - 1
        labels = range(scores.shape[2]) if scores.ndim == 3 else [None]
        self.index, rows = {}, []
        for heads in all_trees(n, projective, single_root).tolist():
            for labelling in itertools.product(labels, repeat=n):
                arcs = tuple(
                    (h, m) if label is None else (h, m, label)
                    for m, (h, label) in enumerate(zip(heads, labelling, strict=True), start=1)
                )
                row = [float(scores[arc]) for arc in arcs]
                if -math.inf not in row:
                    self.index[arcs] = len(rows)
                    rows.append(row)
        self.x = np.zeros((len(rows), *scores.shape))
        for arcs, i in self.index.items():
            for arc in arcs:
                self.x[(i, *arc)] = 1.0
        if rows:
            best = max(rows, key=math.fsum)
            gaps = [math.fsum([*row, *(-score for score in best)]) for row in rows]
            log_total = math.log(math.fsum(map(math.exp, gaps)))
            self.log_p = np.array(gaps) - log_total
            self.p = np.exp(self.log_p)
            self.mu = np.tensordot(self.p, self.x, axes=1)

    def totals(self, values):
        """The sum of `values` over each tree's arcs, (T,)."""
        values = np.where(self.x.any(axis=0), values, 0.0)
        return np.tensordot(self.x, values, axes=values.ndim)

    def hessian_product(self, direction):
        """sum_T p (x - mu) (its direction), that is the covariance times the direction."""
        return self.covariance(self.totals(direction))

    def covariance(self, per_tree):
        """The covariance of each arc's indicator with a number for each tree."""
        centred = per_tree - per_tree[self.p.argmax()]
        return np.tensordot(self.p * (centred - self.p @ centred), self.x, axes=1)

    def entropy(self):
        return -math.fsum(self.p * self.log_p)

    def log_q(self, q):
        """q's log-probability of each tree of this distribution, -inf where q has none."""
        return np.array([q.log_p[q.index[arcs]] if arcs in q.index else -math.inf for arcs in self.index])

    def log_prob_of(self, arcs):
        """log p(the tree has all of `arcs`)."""
        has_all = np.ones(len(self.p), dtype=bool)
        for arc in arcs:
            has_all &= self.x[(slice(None), *arc)].reshape(len(self.p), -1).any(axis=1)
        chosen = self.log_p[has_all]
        if not len(chosen):
            return -math.inf
        return chosen.max() + math.log(math.fsum(np.exp(chosen - chosen.max())))


def labelled_scores(rng, n, n_labels, scale, masked=0.0):
    return np.stack([random_scores(rng, n, scale, masked) for _ in range(n_labels)], axis=-1)


def cases(seed, scale, projective, single_root):
    """(scores, their enumeration) with masks, labels, near ties of large scores; those that have trees."""
    rng = np.random.default_rng([seed, int(scale)])
    ties = [random_scores(rng, n) + scale * rng.integers(0, 3, (n + 1, n + 1)) for n in (3, 4)]
    drawn = [random_scores(rng, n, scale, masked) for n, masked in [(1, 0), (2, 0), (3, 0.2), (4, 0), (4, 0.4), (5, 0)]]
    drawn += ties + [labelled_scores(rng, n, 2, scale, masked) for n, masked in [(1, 0), (2, 0.2), (3, 0), (3, 0.4)]]
    for scores in drawn:
        oracle = Enumerated(scores, projective, single_root)
        if len(oracle.x):
            yield scores, oracle


# ---- many digits


def many_digit_log_z(weights, projective, single_root):
    """log of the sum over all trees of products of `weights` (n+1, n+1), mpmath numbers, in the current precision."""
    return mpmath.log(_projective_z(weights, single_root) if projective else _determinant(weights, single_root))


def _determinant(w, single_root):
    n = len(w) - 1
    laplacian = mpmath.matrix(n, n)
    for m in range(1, n + 1):
        for h in range(1, n + 1):
            if h != m:
                laplacian[h - 1, m - 1] = -w[h, m]
                laplacian[m - 1, m - 1] += w[h, m]
        if not single_root:
            laplacian[m - 1, m - 1] += w[0, m]
    if single_root:
        for m in range(1, n + 1):
            laplacian[0, m - 1] = w[0, m]
    return mpmath.det(laplacian)


def _projective_z(w, single_root):
    n = len(w) - 1
    right, left = {}, {}
    arc_right, arc_left = {}, {}
    for i in range(n + 1):
        right[i, i] = left[i, i] = mpmath.mpf(1)
    first = 1 if single_root else 0
    for width in range(1, n + 1):
        for i in range(first, n + 1 - width):
            j = i + width
            between = mpmath.fsum(right[i, r] * left[r + 1, j] for r in range(i, j))
            arc_right[i, j], arc_left[i, j] = w[i, j] * between, (w[j, i] if i else 0) * between
            right[i, j] = mpmath.fsum(arc_right[i, r] * right[r, j] for r in range(i + 1, j + 1))
            left[i, j] = mpmath.fsum(left[i, r] * arc_left[r, j] for r in range(i, j))
    if not single_root:
        return right[0, n]
    return mpmath.fsum(w[0, r] * left[1, r] * right[r, n] for r in range(1, n + 1))


def many_digit_bilinear(scores, u, v, projective, single_root):
    """u' (Hessian of log Z) v as a mixed central difference of log Z with step 1e-30, enough digits for that."""
    n, step = len(scores) - 1, mpmath.mpf("1e-30")
    finite = np.where(np.isfinite(scores), scores, 0.0)
    with mpmath.workdps(int(120 + n * np.abs(finite).max() / 2)):

        def log_z(a, b):
            w = np.full(scores.shape, mpmath.mpf(0))
            for h, m in zip(*np.nonzero(scores > -np.inf), strict=True):
                w[h, m] = mpmath.exp(mpmath.mpf(scores[h, m]) + a * mpmath.mpf(u[h, m]) + b * mpmath.mpf(v[h, m]))
            return many_digit_log_z(w, projective, single_root)

        mixed = log_z(step, step) - log_z(step, -step) - log_z(-step, step) + log_z(-step, -step)
        return float(mixed / (4 * step * step))
