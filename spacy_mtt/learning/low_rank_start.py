"""Where the factors of the low-rank tensor start from: random vectors, or the singular vectors of a sparse tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

from .low_rank import DISTANCES, LowRankWeights

SMALL = 0.01  # the length of a filled-in component's vectors
NEGLIGIBLE = 1e-10  # of the largest singular value


def random_start(
    gamma: float, n_arc_features: int, n_word_features: int, rank: int, *, seed: int = 0, dtype=np.float32
) -> LowRankWeights:
    """theta 0; each column of U, V and W a random vector of length 1, drawn from the seed, as RBGParser's choice."""
    weights = LowRankWeights.zeros(gamma, n_arc_features, n_word_features, rank, dtype)
    rng = np.random.default_rng(seed)
    for matrix in (weights.U, weights.V, weights.W):
        matrix[...] = unit_columns(rng, matrix.shape)
    return weights


def unit_columns(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Random columns of length 1."""
    columns = rng.normal(size=shape)
    return columns / np.linalg.norm(columns, axis=0) if columns.size else columns


@dataclass(frozen=True)
class SparseTensor:
    """Entries of a tensor of the shape (size, size, 15), (K,) each, no place twice; the others are 0."""

    head: np.ndarray
    modifier: np.ndarray
    distance: np.ndarray
    value: np.ndarray
    size: int


def svd_start(
    gamma: float, n_arc_features: int, tensor: SparseTensor, rank: int, *, seed: int = 0, dtype=np.float32
) -> LowRankWeights:
    """theta 0, and U, V, W such that sum_r u_r v_r w_r approximates the tensor (Lei et al. 2014, section 4.2).

    The tensor is unfolded to (head, modifier and distance) and cut off after `rank` singular values; each right vector,
    as a matrix (modifier, distance), is cut off after its first. The three vectors of a component get the same length.
    Components that the tensor does not have are small random vectors: with zeros they would never learn. The start
    vector of the iteration is drawn from the seed, so that the answer is the same each time.
    """
    weights = LowRankWeights.zeros(gamma, n_arc_features, tensor.size, rank, dtype)
    rng = np.random.default_rng(seed)
    for matrix in (weights.U, weights.V, weights.W):
        matrix[...] = SMALL * unit_columns(rng, matrix.shape)
    if gamma < 1:
        _set_components(weights, tensor, rng)
    return weights


def _set_components(weights: LowRankWeights, tensor: SparseTensor, rng: np.random.Generator) -> None:
    heads, row = np.unique(tensor.head, return_inverse=True)
    places, column = np.unique(tensor.modifier * DISTANCES + tensor.distance, return_inverse=True)
    modifiers, place = np.unique(places // DISTANCES, return_inverse=True)
    unfolded = csr_matrix((tensor.value, (row, column)), shape=(len(heads), len(places)))
    left, lengths, right = truncated_svd(unfolded, weights.rank, rng)
    for r, (u, length, flat) in enumerate(zip(left.T, lengths, right, strict=True)):
        matrix = np.zeros((len(modifiers), DISTANCES))
        matrix[place, places % DISTANCES] = flat
        v, further, w = first_component(matrix)
        scale = np.cbrt(length * further)
        weights.U[:, r], weights.V[:, r] = 0.0, 0.0
        weights.U[heads, r], weights.V[modifiers, r], weights.W[:, r] = scale * u, scale * v, scale * w


def truncated_svd(matrix: csr_matrix, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first `rank` left vectors (rows, K), singular values (K,) falling, and right vectors (K, columns).

    K is smaller if the matrix has no more singular values that are not negligible.
    """
    smaller = min(matrix.shape)
    if smaller <= rank + 1 or matrix.nnz == 0:  # svds finds fewer than there are
        left, lengths, right = np.linalg.svd(matrix.toarray(), full_matrices=False)
    else:
        left, lengths, right = svds(matrix, k=rank, v0=rng.normal(size=smaller))
    order = np.argsort(-lengths)[:rank]
    order = order[lengths[order] > NEGLIGIBLE * max(lengths.max(initial=0.0), np.finfo(float).tiny)]
    return left[:, order], lengths[order], right[order]


def first_component(matrix: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """The first left vector, singular value and right vector of a tall matrix. O(rows columns^2)."""
    w = np.linalg.eigh(matrix.T @ matrix)[1][:, -1]
    image = matrix @ w
    length = float(np.linalg.norm(image))
    return image / length, length, w
