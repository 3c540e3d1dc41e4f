"""Starting values: tensors that singular vectors give back exactly, and components that are not there."""

import numpy as np
import pytest

from spacy_mtt.learning.low_rank import DISTANCES
from spacy_mtt.learning.low_rank_start import SMALL, SparseTensor, svd_start

SIZE = 30


def dense_of(weights):
    return np.einsum("ir,jr,kr->ijk", weights.U, weights.V, weights.W)


def orthogonal_tensor(rank, *, seed=0, heads=12):
    """A tensor with orthogonal components of different lengths, which the two decompositions find one by one."""
    rng = np.random.default_rng(seed)
    u, v = np.zeros((SIZE, rank)), np.zeros((SIZE, rank))
    u[rng.permutation(SIZE)[:heads]] = np.linalg.qr(rng.normal(size=(heads, rank)))[0]
    v[rng.permutation(SIZE)[:heads]] = np.linalg.qr(rng.normal(size=(heads, rank)))[0]
    w = rng.normal(size=(DISTANCES, rank))
    w /= np.linalg.norm(w, axis=0)
    return np.einsum("ir,jr,kr,r->ijk", u, v, w, 2.0 ** -np.arange(rank))


def sparse(dense):
    places = np.nonzero(dense)
    return SparseTensor(*places, dense[places], SIZE)


@pytest.mark.parametrize("heads", [4, 12])  # by dense and by sparse decomposition
@pytest.mark.parametrize("rank", [3, 4])
def test_orthogonal_tensors_are_found_again(heads, rank):
    dense = orthogonal_tensor(rank, heads=heads)
    weights = svd_start(0.3, 5, sparse(dense), rank, dtype=np.float64)
    np.testing.assert_allclose(dense_of(weights), dense, atol=1e-10)
    lengths = [np.linalg.norm(matrix, axis=0) for matrix in (weights.U, weights.V, weights.W)]
    np.testing.assert_allclose(lengths, np.tile(np.cbrt(2.0 ** -np.arange(rank)), (3, 1)), rtol=1e-8)
    assert weights.theta.shape == (5,) and not weights.theta.any()


def test_fewer_components_are_the_longest_ones():
    dense = orthogonal_tensor(4)
    weights = svd_start(0.3, 5, sparse(dense), 2, dtype=np.float64)
    rest = np.linalg.norm(dense - dense_of(weights))
    assert rest == pytest.approx(np.hypot(2.0**-2, 2.0**-3), rel=1e-8)


@pytest.mark.parametrize("heads", [3, 12])
def test_components_that_are_missing_are_small_and_random(heads):
    dense = orthogonal_tensor(3, heads=heads)
    weights = svd_start(0.3, 5, sparse(dense), 8, dtype=np.float64)
    for matrix in (weights.U, weights.V, weights.W):
        np.testing.assert_allclose(np.linalg.norm(matrix[:, 3:], axis=0), SMALL, rtol=1e-12)
    np.testing.assert_allclose(dense_of(weights), dense, atol=10 * SMALL**3)


def test_an_empty_tensor_gives_small_random_vectors():
    nothing = np.empty(0, dtype=np.int64)
    weights = svd_start(0.0, 5, SparseTensor(nothing, nothing, nothing, np.empty(0), SIZE), 2)
    np.testing.assert_allclose(np.linalg.norm(weights.U, axis=0), SMALL, rtol=1e-6)


def test_the_same_seed_gives_the_same_start():
    tensor = sparse(orthogonal_tensor(6) + 1e-3 * np.random.default_rng(1).normal(size=(SIZE, SIZE, DISTANCES)))
    one, same = (svd_start(0.3, 5, tensor, 4, seed=3) for _ in range(2))
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, same.arrays()[name])


def test_the_linear_model_has_no_factors():
    weights = svd_start(1.0, 5, sparse(orthogonal_tensor(2)), 2)
    assert weights.rank == 0 and weights.theta.shape == (5,)
