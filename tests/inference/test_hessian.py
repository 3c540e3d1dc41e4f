"""Hessian-vector products of log Z against enumeration, many digits and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference._hessian import marginal_tangents
from spacy_mtt.inference.feasibility import NoTreeError
from spacy_mtt.inference.hessian import hessian_vector_product
from tests.inference.expectations_support import SCALES, cases, many_digit_bilinear, posterior, spaces
from tests.strategies import random_scores, score_matrices


def tangents(p, direction, **path):
    """The kernel's own answer for one unlabelled sentence, and whether plain doubles were enough."""
    out = np.zeros(p.scores.shape)
    used = np.where(p.mu > 0, direction, 0.0)
    left = marginal_tangents(p.scores, used, p.lengths, p.projective, p.single_root, out, **path)
    return out[0], left == 0


@spaces
@pytest.mark.parametrize("scale", SCALES)
def test_hessian_product_equals_enumeration(projective, single_root, scale):
    rng = np.random.default_rng(1)
    for scores, oracle in cases(1, scale, projective, single_root):
        p = posterior(scores, projective, single_root)
        direction = rng.normal(size=scores.shape)
        direction[:, 0] = np.nan
        exact = oracle.hessian_product(direction)
        product = hessian_vector_product(p, direction[None])[0]
        np.testing.assert_allclose(product, exact, rtol=0, atol=1e-13)
        assert not product[~oracle.x.any(axis=0)].any()
        if scores.ndim == 2:
            for path in ({}, {"force_wide": True}):
                np.testing.assert_allclose(tangents(p, direction, **path)[0], exact, rtol=0, atol=1e-12)


def hard_scores(n):
    """Scores (n+1, n+1) that break an inverse of the Laplacian, by name."""
    rng = np.random.default_rng(n)
    out = {f"deviation {scale}": random_scores(rng, n, scale) for scale in (1, 10, 100)}
    out["cycle +60"] = random_scores(rng, n)
    out["cycle +60"][[1, n], [n, 1]] += 60.0
    out["root row -50"] = random_scores(rng, n)
    out["root row -50"][0] -= 50.0
    out["row +80"] = random_scores(rng, n)
    out["row +80"][2] += 80.0
    out["masked"] = random_scores(rng, n, 10.0, 0.3)
    out["only one root"] = random_scores(rng, n, 10.0)
    out["only one root"][1:, 3] = -np.inf
    return out


@spaces
@pytest.mark.parametrize("name", hard_scores(6))
def test_hessian_product_equals_many_digits(projective, single_root, name):
    n = 6
    scores, rng = hard_scores(n)[name], np.random.default_rng(2)
    p = posterior(scores, projective, single_root)
    v = rng.normal(size=scores.shape)
    product = hessian_vector_product(p, v[None])[0]
    likely, unlikely = np.zeros(scores.shape), np.zeros(scores.shape)
    likely[np.unravel_index(np.argmin(np.abs(p.mu[0] - 0.5)), scores.shape)] = 1.0
    unlikely[np.unravel_index(np.argmin(np.where(p.mu[0] > 0, p.mu[0], 1.0)), scores.shape)] = 1.0
    for u in (rng.normal(size=scores.shape), likely, unlikely):
        exact = many_digit_bilinear(scores, u, v, projective, single_root)
        assert abs((u * product).sum() - exact) <= 1e-13 * max(1.0, np.abs(u).sum())
    scale = np.abs(unlikely * product).sum()
    assert scale == pytest.approx(abs(exact), rel=1e-9, abs=1e-300)  # the improbable to many digits, too


@spaces
def test_plain_doubles_and_wide_numbers_agree(projective, single_root):
    rng = np.random.default_rng(3)
    taken = set()
    for n in (6, 13, 30, 41):
        for scale in (1.0, 30.0, 120.0, 2000.0):
            p = posterior(random_scores(rng, n, scale), projective, single_root)
            direction = rng.normal(size=p.scores.shape)
            plain, was_plain = tangents(p, direction)
            wide, _ = tangents(p, direction, force_wide=True)
            np.testing.assert_allclose(plain, wide, rtol=0, atol=1e-12)
            np.testing.assert_allclose(plain.sum(axis=0), 0.0, rtol=0, atol=1e-12)
            if single_root:
                assert abs(plain[0].sum()) <= 1e-12
            taken.add(was_plain)
    assert taken == {False, True}


@spaces
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_hessian_product_equals_finite_differences(projective, single_root, scale):
    n, step = 12, 1e-5
    rng = np.random.default_rng(4)
    scores, direction = random_scores(rng, n, scale), rng.normal(size=(n + 1, n + 1))
    up = posterior(scores + step * direction, projective, single_root).mu
    down = posterior(scores - step * direction, projective, single_root).mu
    product = hessian_vector_product(posterior(scores, projective, single_root), direction[None])
    np.testing.assert_allclose(product, (up - down) / (2 * step), rtol=0, atol=1e-8)


@spaces
@settings(max_examples=40, deadline=None)
@given(
    scores=score_matrices(max_n=7, scale=1e6, masked=True) | score_matrices(max_n=7, scale=20.0, masked=True),
    seed=st.integers(0, 1000),
)
def test_hessian_is_linear_symmetric_and_positive(projective, single_root, scores, seed):
    p = posterior(scores, projective, single_root)
    if np.isneginf(p.log_z).any():
        with pytest.raises(NoTreeError):
            hessian_vector_product(p, np.zeros(p.scores.shape))
        return
    u, v = np.random.default_rng(seed).normal(size=(2, *p.scores.shape))
    hu, hv = hessian_vector_product(p, u), hessian_vector_product(p, v)
    np.testing.assert_allclose(hessian_vector_product(p, 2.0 * u - v), 2.0 * hu - hv, rtol=0, atol=1e-12)
    assert (u * hv).sum() == pytest.approx((v * hu).sum(), abs=1e-12)
    assert (u * hu).sum() >= -1e-12
    np.testing.assert_allclose(hu.sum(axis=1), 0.0, rtol=0, atol=1e-13)
    shift = np.random.default_rng(seed).normal(size=p.scores.shape[2])
    np.testing.assert_allclose(hessian_vector_product(p, u + shift), hu, rtol=0, atol=1e-12)


@spaces
def test_directions_of_any_size(projective, single_root):
    rng = np.random.default_rng(5)
    p = posterior(random_scores(rng, 4), projective, single_root)
    u = rng.normal(size=p.scores.shape)
    product = hessian_vector_product(p, u)
    for size in (2.0**-1000, 2.0**1000):
        np.testing.assert_allclose(hessian_vector_product(p, size * u), size * product, rtol=1e-13)
    assert not hessian_vector_product(p, np.zeros(p.scores.shape)).any()
    u[0, 1, 2] = np.inf
    with pytest.raises(ValueError, match=r"direction\[0, 1, 2\] is inf, but must be finite"):
        hessian_vector_product(p, u)
    with pytest.raises(ValueError, match=r"direction must have the shape of the scores, \(1, 5, 5\), not \(5, 5\)"):
        hessian_vector_product(p, u[0])


def test_the_kernel_refuses_what_it_cannot_answer():
    p = posterior(random_scores(np.random.default_rng(17), 2), False, True)
    values = np.zeros((1, 3, 3))
    with pytest.raises(ValueError, match=r"scores\[0\] have no tree"):
        marginal_tangents(np.full((1, 3, 3), -np.inf), values, p.lengths, False, True, np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="tangents must have the same shape"):
        marginal_tangents(p.scores, values, p.lengths, False, True, np.zeros((1, 4, 4)))
