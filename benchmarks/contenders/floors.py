"""What linear algebra alone costs: the determinant and the inverse of ready-made tree Laplacians.

Koo et al. (2007) get log Z and all marginals from these. Neither is exact: see `benchmarks.robustness`. "numpy inv +
slogdet" is the whole method as one would write it in numpy; the others leave out exponentials, Laplacian and marginals.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetri, dgetri_lwork

from benchmarks.contenders.contender import NONPROJECTIVE_SUMS, Contender


def laplacian(weights, single_root):
    """(B, n, n) from weights (B, n+1, n+1) without a diagonal: Koo et al. (2007), sections 3.1 and 3.2."""
    inner = weights[:, 1:, 1:]
    matrix = -inner
    words = np.arange(inner.shape[1])
    matrix[:, words, words] = inner.sum(axis=1)
    if single_root:
        matrix[:, 0] = weights[:, 0, 1:]
    else:
        matrix[:, words, words] += weights[:, 0, 1:]
    return matrix


def arc_weights(scores):
    """(B, n+1, n+1): exp(s - column maximum), zero where no arc is; and the maxima (B, n+1)."""
    arcs = scores.copy()
    nodes = np.arange(arcs.shape[1])
    arcs[:, nodes, nodes] = -np.inf
    arcs[:, :, 0] = -np.inf
    best = arcs.max(axis=1)
    best[:, 0] = 0.0
    return np.exp(arcs - best[:, None, :]), best


def sums_by_inverse(prepared):
    """log Z and marginals, with numpy's batched slogdet and inv."""
    scores, single_root = prepared
    weights, best = arc_weights(scores)
    matrix = laplacian(weights, single_root)
    log_z = np.linalg.slogdet(matrix)[1] + best.sum(axis=1)
    inverse = np.linalg.inv(matrix)
    diagonal = np.einsum("bii->bi", inverse)
    marginals = np.zeros_like(scores)
    by_row, by_column = diagonal[:, None, :].copy(), inverse.transpose(0, 2, 1).copy()
    if single_root:
        by_row[:, :, 0] = 0.0
        by_column[:, 0] = 0.0
        marginals[:, 0, 1:] = weights[:, 0, 1:] * inverse[:, :, 0]
    else:
        marginals[:, 0, 1:] = weights[:, 0, 1:] * diagonal
    marginals[:, 1:, 1:] = weights[:, 1:, 1:] * (by_row - by_column)
    return log_z, marginals


def _prepare_matrices(scores, single_root):
    return laplacian(arc_weights(scores)[0], single_root)


def _numpy_floor(matrices):
    return np.linalg.slogdet(matrices), np.linalg.inv(matrices)


def _prepare_lapack(scores, single_root):
    return [np.asfortranarray(matrix) for matrix in _prepare_matrices(scores, single_root)]


def _lapack_floor(matrices):
    work = int(dgetri_lwork(len(matrices[0]))[0])
    solutions = []
    for matrix in matrices:
        factors, pivots, _ = dgetrf(matrix)
        log_z = np.log(np.abs(factors.diagonal())).sum()
        solutions.append((log_z, dgetri(factors, pivots, lwork=work, overwrite_lu=1)[0]))
    return solutions


CONTENDERS = [
    Contender(
        "numpy inv + slogdet",
        NONPROJECTIVE_SUMS,
        lambda scores, single_root: (scores, single_root),
        sums_by_inverse,
        lambda solution: solution,
        "floor",
    ),
    Contender(
        "floor: numpy inv + slogdet of ready Laplacians",
        NONPROJECTIVE_SUMS,
        _prepare_matrices,
        _numpy_floor,
        None,
        "floor",
    ),
    Contender("floor: dgetrf + dgetri in a loop", NONPROJECTIVE_SUMS, _prepare_lapack, _lapack_floor, None, "floor"),
]
