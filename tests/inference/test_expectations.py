"""Expectations, divergences and their gradients against enumeration, in every variant through one set of tests."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference import eisner, expectations, matrix_tree
from spacy_mtt.inference.feasibility import NoTreeError
from spacy_mtt.inference.hessian import hessian_vector_product
from spacy_mtt.inference.posterior import Posterior
from tests.inference.expectations_support import SCALES, Enumerated, cases, labelled_scores, posterior, spaces
from tests.strategies import poison_unread, random_scores, score_matrices

# ---- entropy, expected values, divergences


@spaces
@pytest.mark.parametrize("scale", SCALES)
def test_entropy_and_its_gradient_equal_enumeration(projective, single_root, scale):
    for scores, oracle in cases(6, scale, projective, single_root):
        p = posterior(scores, projective, single_root)
        assert expectations.entropy(p)[0] == pytest.approx(oracle.entropy(), abs=1e-11)
        gradient = expectations.entropy_gradient(p)[0]
        np.testing.assert_allclose(gradient, -oracle.covariance(oracle.log_p), rtol=0, atol=1e-11)


@spaces
@pytest.mark.parametrize("scale", SCALES)
def test_expected_values_and_their_gradient_equal_enumeration(projective, single_root, scale):
    rng = np.random.default_rng(7)
    for scores, oracle in cases(7, scale, projective, single_root):
        p = posterior(scores, projective, single_root)
        values = rng.normal(size=(*scores.shape, 3))
        values[~oracle.x.any(axis=0)] = rng.choice([np.nan, np.inf, -np.inf])
        exact = [oracle.p @ oracle.totals(values[..., i]) for i in range(3)]
        np.testing.assert_allclose(expectations.expected(p, values[None])[0], exact, rtol=0, atol=1e-12)
        first = expectations.expected(p, values[None, ..., 0])
        assert first.shape == (1,) and first[0] == pytest.approx(exact[0], abs=1e-12)
        gradient = expectations.expected_gradient(p, values[None, ..., 0])[0]
        np.testing.assert_allclose(gradient, oracle.hessian_product(values[..., 0]), rtol=0, atol=1e-12)


@spaces
@pytest.mark.parametrize("scale", SCALES)
def test_divergences_and_their_gradients_equal_enumeration(projective, single_root, scale):
    rng = np.random.default_rng(8)
    for scores, oracle in cases(8, scale, projective, single_root):
        near = scores + rng.normal(size=scores.shape)
        far = np.where(np.isneginf(scores), -np.inf, rng.normal(size=scores.shape) * scale)
        p = posterior(scores, projective, single_root)
        for other in (near, far):
            q, exact = posterior(other, projective, single_root), Enumerated(other, projective, single_root)
            log_q = oracle.log_q(exact)
            cross = -math.fsum(oracle.p * log_q)
            kl = math.fsum(oracle.p * (oracle.log_p - log_q))
            assert expectations.cross_entropy(p, q)[0] == pytest.approx(cross, rel=1e-12, abs=1e-11)
            assert expectations.kl(p, q)[0] == pytest.approx(kl, rel=1e-12, abs=1e-11)
            tolerance = 1e-12 * max(1.0, scale)
            d_p, d_q = expectations.cross_entropy_gradient(p, q)
            np.testing.assert_allclose(d_p[0], -oracle.covariance(log_q), rtol=0, atol=tolerance)
            np.testing.assert_allclose(d_q[0], exact.mu - oracle.mu, rtol=0, atol=1e-12)
            d_p, d_q = expectations.kl_gradient(p, q)
            np.testing.assert_allclose(d_p[0], oracle.covariance(oracle.log_p - log_q), rtol=0, atol=tolerance)
            np.testing.assert_allclose(d_q[0], exact.mu - oracle.mu, rtol=0, atol=1e-12)


@spaces
@pytest.mark.parametrize("n_labels", [0, 3])
def test_gradients_equal_finite_differences(projective, single_root, n_labels):
    rng = np.random.default_rng(9)
    draw = (lambda: labelled_scores(rng, 6, n_labels, 1.5)) if n_labels else (lambda: random_scores(rng, 6, 1.5))
    a, b, values = draw(), draw(), draw()
    p, q = posterior(a, projective, single_root), posterior(b, projective, single_root)
    along, step = rng.normal(size=a.shape), 1e-5

    def check(f, gradient, at):
        up = f(posterior(at + step * along, projective, single_root))[0]
        down = f(posterior(at - step * along, projective, single_root))[0]
        slope = (np.where(gradient[0] == 0, 0.0, gradient[0] * along)).sum()
        assert (up - down) / (2 * step) == pytest.approx(slope, abs=1e-8)

    check(expectations.entropy, expectations.entropy_gradient(p), a)
    check(lambda r: expectations.expected(r, values[None]), expectations.expected_gradient(p, values[None]), a)
    for f, gradient in [
        (expectations.cross_entropy, expectations.cross_entropy_gradient),
        (expectations.kl, expectations.kl_gradient),
    ]:
        d_p, d_q = gradient(p, q)
        check(lambda r, f=f: f(r, q), d_p, a)
        check(lambda r, f=f: f(p, r), d_q, b)


@spaces
@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=6, scale=1e6, masked=True), seed=st.integers(0, 1000))
def test_divergence_is_positive_and_zero_for_the_same(projective, single_root, scores, seed):
    p = posterior(scores, projective, single_root)
    if np.isneginf(p.log_z).any():
        with pytest.raises(NoTreeError):
            expectations.kl(p, p)
        return
    assert expectations.kl(p, posterior(scores, projective, single_root))[0] == 0.0
    d_p, d_q = expectations.kl_gradient(p, p)
    assert not d_p.any() and not d_q.any()
    rng = np.random.default_rng(seed)
    q = posterior(scores + rng.normal(size=scores.shape), projective, single_root)
    entropy, cross, kl = expectations.entropy(p), expectations.cross_entropy(p, q), expectations.kl(p, q)
    assert entropy >= 0 and cross >= 0 and kl >= 0
    assert cross[0] - entropy[0] == pytest.approx(kl[0], abs=1e-8)
    moved = scores + np.round(rng.normal(size=len(scores)) * 64)  # columns moved: the same distribution
    assert expectations.kl(p, posterior(moved, projective, single_root))[0] == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1000.0])
@spaces
def test_divergence_of_close_distributions(projective, single_root, scale):
    """KL(p, p + t v) = t^2 v' Hessian v / 2 + O(t^3)."""
    rng = np.random.default_rng(10)
    scores, v, t = random_scores(rng, 10, scale), rng.normal(size=(11, 11)), 1e-4
    p = posterior(scores, projective, single_root)
    kl = expectations.kl(p, posterior(scores + t * v, projective, single_root))
    product = hessian_vector_product(p, v[None])
    assert kl[0] == pytest.approx(t * t / 2 * np.where(product == 0, 0, v * product).sum(), abs=1e-11)


# ---- supports and tree spaces


@spaces
def test_cross_entropy_is_infinite_where_q_forbids_an_arc_of_p(projective, single_root):
    rng = np.random.default_rng(11)
    scores = random_scores(rng, 4)
    p = posterior(scores, projective, single_root)
    for arc in [(0, 1), (2, 1), (4, 3)]:
        forbidding = scores.copy()
        forbidding[arc] = -np.inf
        q = posterior(forbidding, projective, single_root)
        assert expectations.cross_entropy(p, q)[0] == np.inf and expectations.kl(p, q)[0] == np.inf
        assert np.isfinite(expectations.kl(q, p)[0])
        exact = Enumerated(forbidding, projective, single_root)
        log_p = exact.log_q(Enumerated(scores, projective, single_root))
        assert expectations.kl(q, p)[0] == pytest.approx(math.fsum(exact.p * (exact.log_p - log_p)), abs=1e-13)
        for gradient in (expectations.cross_entropy_gradient, expectations.kl_gradient):
            with pytest.raises(ValueError, match=rf"of sentence 0 is infinite .* the arc \({arc[0]}, {arc[1]}\)"):
                gradient(p, q)
    nothing = posterior(np.full((5, 5), -np.inf), projective, single_root)
    assert expectations.cross_entropy(p, nothing)[0] == np.inf
    with pytest.raises(NoTreeError, match="sentence 0 of the batch has no tree"):
        expectations.cross_entropy(nothing, p)


@spaces
def test_support_is_exact_where_marginals_underflow(projective, single_root):
    scores = poison_unread(np.zeros((4, 4)))
    scores[0, 2] = -5000.0
    p = posterior(scores, projective, single_root)
    forbidding = scores.copy()
    forbidding[0, 2] = -np.inf
    assert p.mu[0, 0, 2] == 0.0
    q = posterior(forbidding, projective, single_root)
    assert expectations.kl(p, q)[0] == np.inf
    # The same arc, now in no tree of p: word 2 heads nothing that could head the others.
    blocked = scores.copy()
    blocked[0, 1:] = [0.0, -np.inf, -np.inf]
    forbidding = blocked.copy()
    forbidding[[2, 3], 1] = -np.inf  # arcs into the only root
    kl = expectations.kl(posterior(blocked, projective, single_root), posterior(forbidding, projective, single_root))
    assert kl[0] == 0.0


def test_labels_that_q_forbids():
    rng = np.random.default_rng(12)
    scores = labelled_scores(rng, 3, 2, 1.0)
    forbidding = scores.copy()
    forbidding[1, 2, 0] = -np.inf
    p, q = posterior(scores, False, True), posterior(forbidding, False, True)
    assert expectations.kl(p, q)[0] == np.inf and np.isfinite(expectations.kl(q, p)[0])
    with pytest.raises(ValueError, match=r"q forbids the arc \(1, 2, 0\)"):
        expectations.kl_gradient(p, q)


def test_tree_spaces_that_differ():
    rng = np.random.default_rng(13)
    a, b = random_scores(rng, 4), random_scores(rng, 4)
    for small, large in [((True, True), (False, True)), ((True, True), (True, False)), ((True, True), (False, False))]:
        p, q = posterior(a, *small), posterior(b, *large)
        exact, other = Enumerated(a, *small), Enumerated(b, *large)
        kl = math.fsum(exact.p * (exact.log_p - exact.log_q(other)))
        assert expectations.kl(p, q)[0] == pytest.approx(kl, abs=1e-13)
        np.testing.assert_allclose(expectations.kl_gradient(p, q)[1][0], other.mu - exact.mu, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="q is projective and p is not"):
        expectations.kl(posterior(a, False, True), posterior(b, True, True))
    with pytest.raises(ValueError, match="q is single-root and p is not"):
        expectations.cross_entropy(posterior(a, True, False), posterior(b, True, True))
    with pytest.raises(
        ValueError, match=r"must score the same sentences, but the shapes are \(1, 5, 5\) and \(1, 4, 4\)"
    ):
        expectations.kl(posterior(a, True, True), posterior(b[:4, :4], True, True))


@spaces
@pytest.mark.parametrize("sentinel", [-1e9, -1e13])
def test_large_negative_scores_act_as_forbidden_arcs_in_gradients(projective, single_root, sentinel):
    rng = np.random.default_rng(18)
    forbidden = random_scores(rng, 5, 2.0, 0.2)
    finite = np.where(np.isneginf(forbidden), sentinel, forbidden)
    p, q = posterior(forbidden, projective, single_root), posterior(finite, projective, single_root)
    for f in (expectations.entropy, expectations.entropy_gradient):
        np.testing.assert_allclose(f(q), f(p), rtol=0, atol=1e-13)
    other = posterior(random_scores(rng, 5), projective, single_root)
    for f in (expectations.cross_entropy, expectations.kl):
        np.testing.assert_allclose(f(q, other), f(p, other), rtol=0, atol=1e-13)
    for f in (expectations.cross_entropy_gradient, expectations.kl_gradient):
        np.testing.assert_allclose(f(q, other), f(p, other), rtol=0, atol=1e-13)


# ---- per word


@spaces
@pytest.mark.parametrize("scale", SCALES)
def test_head_entropy_and_max_marginal(projective, single_root, scale):
    for scores, oracle in cases(14, scale, projective, single_root):
        p = posterior(scores, projective, single_root)
        heads = oracle.mu if scores.ndim == 2 else oracle.mu.sum(axis=2)
        exact = [-math.fsum(x * math.log(x) for x in column if x > 0) for column in heads.T[1:]]
        np.testing.assert_allclose(expectations.head_entropy(p)[0], exact, rtol=0, atol=1e-12)
        largest = oracle.mu[:, 1:].max(axis=0)
        np.testing.assert_allclose(
            expectations.max_marginal(p)[0], largest if scores.ndim == 2 else largest.max(axis=1), rtol=0, atol=1e-13
        )


def test_head_entropy_of_a_near_certainty_keeps_its_digits():
    for gap in (20.0, 60.0, 300.0):
        scores = poison_unread(np.zeros((3, 3)))
        scores[2, 1], scores[0, 2] = -np.inf, -gap
        x = math.exp(-gap)
        exact = x * gap + (1 + x) * math.log1p(x)
        entropy = expectations.head_entropy(posterior(scores, False, False))[0, 1]
        assert entropy == pytest.approx(exact / (1 + x), rel=1e-13)


# ---- batches


@spaces
@pytest.mark.parametrize("n_labels", [0, 2])
def test_padding_and_neighbours_change_nothing(projective, single_root, n_labels):
    rng = np.random.default_rng(15)
    lengths = np.array([3, 0, 6, 1, 5], dtype=np.intp)
    shape = (5, 8, 8, n_labels) if n_labels else (5, 8, 8)
    a, b, values = np.full((3, *shape), np.nan)
    alone = []
    for sentence, n in enumerate(lengths):
        for batch in (a, b, values):
            own = labelled_scores(rng, n, n_labels, 30.0) if n_labels else random_scores(rng, n, 30.0)
            batch[sentence, : n + 1, : n + 1] = own
        alone.append([np.ascontiguousarray(x[sentence : sentence + 1, : n + 1, : n + 1]) for x in (a, b, values)])

    def everything(a, b, values, lengths):
        for array in (a, b, values):
            array.flags.writeable = False
        p = Posterior(a, lengths, projective=projective, single_root=single_root)
        q = Posterior(b, lengths, projective=projective, single_root=single_root)
        yield from (expectations.entropy(p), expectations.cross_entropy(p, q), expectations.kl(p, q))
        yield expectations.expected(p, values)
        yield expectations.expected(p, np.stack([values, a], axis=-1))
        yield from (expectations.head_entropy(p), expectations.max_marginal(p))
        yield from (hessian_vector_product(p, values), expectations.entropy_gradient(p))
        yield from (*expectations.cross_entropy_gradient(p, q), *expectations.kl_gradient(p, q))

    together = list(everything(a, b, values, lengths))
    for sentence in range(len(lengths)):
        for batch, own in zip(together, everything(*alone[sentence], lengths[sentence : sentence + 1]), strict=True):
            assert not np.isnan(batch).any()
            where = tuple(slice(0, size) for size in own.shape[1:])
            np.testing.assert_array_equal(batch[sentence][where], own[0])
            outside = np.array(batch[sentence])
            outside[where] = 0.0
            assert not outside.any()


def test_an_empty_batch_and_an_empty_sentence():
    for shape, lengths in [((0, 3, 3), []), ((1, 1, 1), [0])]:
        p = Posterior(np.zeros(shape), np.array(lengths, dtype=np.intp), projective=False, single_root=True)
        assert not expectations.entropy(p).any() and not expectations.kl(p, p).any()
        assert expectations.entropy_gradient(p).shape == shape
        assert expectations.head_entropy(p).shape == (shape[0], shape[1] - 1) == expectations.max_marginal(p).shape
        assert expectations.expected(p, np.zeros((*shape, 4))).shape == (shape[0], 4)


def test_kernel_agrees_with_inference_about_the_rest():
    """A Posterior is what the modules of inference say, asked in any order."""
    scores = random_scores(np.random.default_rng(16), 9, 3.0)
    for projective, module in ((False, matrix_tree), (True, eisner)):
        p = posterior(scores, projective, True)
        log_z, excess = p.log_z, p.excess
        want = module.marginals(scores[None], p.lengths, single_root=True)
        for got, exact in zip((log_z, excess, p.mu), want, strict=True):
            np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-15)


def test_bad_values_and_shapes_are_named():
    p = posterior(random_scores(np.random.default_rng(17), 2), False, True)
    values = np.zeros((1, 3, 3))
    values[0, 2, 1] = np.nan
    with pytest.raises(ValueError, match=r"values\[0, 2, 1\] is nan, but must be finite where the arc is possible"):
        expectations.expected(p, values)
    with pytest.raises(ValueError, match=r"values must have the shape of the scores, \(1, 3, 3\)"):
        expectations.expected(p, np.zeros((1, 3, 3, 2, 2)))
