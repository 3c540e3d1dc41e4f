"""Projective inference against enumeration, and against the identities that it must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference import eisner
from tests.inference.eisner_support import (
    PATHS,
    ROOTS,
    argmax,
    assert_agree,
    column_maxima,
    inside_outside,
    intp,
)
from tests.oracle import enumerate_distribution
from tests.strategies import poison_unread, random_scores, score_matrices

# ------------------------------------------------------------------------------------- against enumeration


@ROOTS
@PATHS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scale", [1, 30, 300, 3000])
@pytest.mark.parametrize("masked", [0.0, 0.3, 0.6])
def test_equals_enumeration(n, scale, masked, single_root, wide_only):
    rng = np.random.default_rng([n, scale, int(masked * 10)])
    for _ in range(4):
        scores = random_scores(rng, n, scale, masked)
        trees, values, log_z, _, mu = enumerate_distribution(scores, projective=True, single_root=single_root)
        excess = log_z - column_maxima(scores).sum() if log_z > -np.inf else -np.inf
        assert_agree(inside_outside(scores, single_root, wide_only), (log_z, excess, mu), scores)
        best = trees[values.argmax()] if log_z > -np.inf else np.full(n, -1)
        np.testing.assert_array_equal(argmax(scores, single_root), best)


@ROOTS
def test_equals_enumeration_six_words(single_root):
    scores = random_scores(np.random.default_rng(6), 6, 3.0, 0.1)
    trees, values, log_z, _, mu = enumerate_distribution(scores, projective=True, single_root=single_root)
    assert_agree(inside_outside(scores, single_root), (log_z, log_z - column_maxima(scores).sum(), mu), "n = 6")
    np.testing.assert_array_equal(argmax(scores, single_root), trees[values.argmax()])


@pytest.mark.parametrize("single_root, counts", [(False, [1, 3, 12, 55, 273, 1428]), (True, [1, 2, 7, 30, 143, 728])])
@PATHS
def test_zero_scores_count_trees(single_root, counts, wide_only):
    for n, count in enumerate(counts, start=1):
        log_z, excess, _ = inside_outside(poison_unread(np.zeros((n + 1, n + 1))), single_root, wide_only)
        assert np.exp(log_z) == pytest.approx(count, rel=1e-14) and log_z == excess


# ---------------------------------------------------------------------------------------------- identities


@given(score_matrices(max_n=9, scale=50.0), st.booleans(), st.booleans())
@settings(deadline=None)
def test_marginals_sum_to_one(scores, single_root, wide_only):
    _, _, mu = inside_outside(scores, single_root, wide_only)
    np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    root_arcs = mu[0].sum()
    assert root_arcs == pytest.approx(1.0, abs=1e-12) if single_root else root_arcs >= 1 - 1e-12


@given(score_matrices(max_n=7, scale=20.0, masked=True), st.booleans())
@settings(deadline=None)
def test_paths_agree_with_masks(scores, single_root):
    assert_agree(inside_outside(scores, single_root), inside_outside(scores, single_root, True), scores)


@given(score_matrices(max_n=7, scale=20.0, masked=True))
@settings(deadline=None)
def test_single_root_is_a_subset(scores):
    single, multi = inside_outside(scores, True)[0], inside_outside(scores, False)[0]
    assert single <= multi or single - multi <= 1e-12 * max(1.0, abs(multi))


@given(score_matrices(max_n=7, scale=20.0), st.booleans(), st.integers(1, 7), st.floats(-500, 500))
@settings(deadline=None)
def test_shifting_a_column(scores, single_root, column, shift):
    column = min(column, len(scores) - 1)
    log_z, excess, mu = inside_outside(scores, single_root)
    shifted = scores.copy()
    shifted[:, column] += shift
    shifted_log_z, shifted_excess, shifted_mu = inside_outside(shifted, single_root)
    assert shifted_log_z == pytest.approx(log_z + shift, abs=1e-10)
    assert shifted_excess == pytest.approx(excess, abs=1e-10)
    np.testing.assert_allclose(shifted_mu, mu, rtol=0, atol=1e-10)


@given(score_matrices(max_n=9, scale=20.0, masked=True), st.booleans())
@settings(deadline=None)
def test_reversing_the_words(scores, single_root):
    # A root arc 0 -> r crosses the arcs that span r; that does not depend on the side where the root stands.
    n = len(scores) - 1
    mirror = np.r_[0, n:0:-1]
    log_z, excess, mu = inside_outside(scores, single_root)
    mirrored = np.ascontiguousarray(scores[np.ix_(mirror, mirror)])
    assert_agree(inside_outside(mirrored, single_root), (log_z, excess, mu[np.ix_(mirror, mirror)]), scores)


@ROOTS
@PATHS
def test_marginals_are_the_gradient(single_root, wide_only):
    scores = random_scores(np.random.default_rng(3), 7, 2.0)
    _, _, mu = inside_outside(scores, single_root, wide_only)
    step = 1e-5
    for h, m in np.argwhere(~np.isnan(scores)):
        up, down = scores.copy(), scores.copy()
        up[h, m] += step
        down[h, m] -= step
        difference = inside_outside(up, single_root)[0] - inside_outside(down, single_root)[0]
        assert difference / (2 * step) == pytest.approx(mu[h, m], abs=1e-9)


# ------------------------------------------------------------------------------------- batches and edges


@ROOTS
@PATHS
def test_padding_and_neighbours_change_no_bit(single_root, wide_only):
    rng = np.random.default_rng(9)
    sentences = [random_scores(rng, n, 40.0 if n == 7 else 1.0, 0.1) for n in (3, 0, 9, 1, 7, 2, 4)]
    longest = 11
    batch = np.full((len(sentences), longest + 1, longest + 1), np.nan)
    for row, scores in zip(batch, sentences, strict=True):
        row[: len(scores), : len(scores)] = scores
    lengths = intp(*(len(scores) - 1 for scores in sentences))
    before = batch.copy()
    batch.flags.writeable = lengths.flags.writeable = False
    heads = eisner.argmax(batch, lengths, single_root=single_root)
    log_z, excess, mu = eisner._inside_outside(batch, lengths, single_root, with_marginals=True, wide_only=wide_only)
    np.testing.assert_array_equal(batch, before)
    assert heads.dtype == np.intp and heads.shape == (len(sentences), longest)
    for b, scores in enumerate(sentences):
        n = len(scores) - 1
        alone = inside_outside(scores, single_root, wide_only)
        assert (log_z[b], excess[b]) == alone[:2]
        np.testing.assert_array_equal(mu[b, : n + 1, : n + 1], alone[2])
        assert not (mu[b, n + 1 :].any() or mu[b, :, n + 1 :].any())
        np.testing.assert_array_equal(heads[b, :n], argmax(scores, single_root))
        assert (heads[b, n:] == -1).all()


@ROOTS
def test_log_partition_is_that_of_marginals(single_root):
    rng = np.random.default_rng(2)
    scores = np.stack([random_scores(rng, 6, scale, 0.2) for scale in (1.0, 100.0, 3000.0)])
    lengths = intp(6, 5, 6)
    log_z, excess = eisner.log_partition(scores, lengths, single_root=single_root)
    for found, expected in zip(
        (log_z, excess), eisner.marginals(scores, lengths, single_root=single_root), strict=False
    ):
        np.testing.assert_array_equal(found, expected)


@ROOTS
@PATHS
def test_empty_sentences(single_root, wide_only):
    for shape in ((2, 1, 1), (2, 4, 4), (0, 3, 3)):
        scores = np.full(shape, np.nan)
        lengths = np.zeros(shape[0], dtype=np.intp)
        log_z, excess, mu = eisner._inside_outside(
            scores, lengths, single_root, with_marginals=True, wide_only=wide_only
        )
        assert not (log_z.any() or excess.any() or mu.any()) and mu.shape == shape
        heads = eisner.argmax(scores, lengths, single_root=single_root)
        assert heads.shape == (shape[0], shape[1] - 1) and (heads == -1).all()


def test_one_and_two_words_by_hand():
    one = np.array([[np.nan, -7.5], [np.nan, np.nan]])
    for single_root in (False, True):
        log_z, excess, mu = inside_outside(one, single_root)
        assert (log_z, excess) == (-7.5, 0.0)
        np.testing.assert_array_equal(mu, [[0, 1], [0, 0]])
        np.testing.assert_array_equal(argmax(one, single_root), [0])
    two = poison_unread(np.log([[1, 2, 3], [1, 1, 5], [1, 7, 1]]))
    assert inside_outside(two, True)[0] == pytest.approx(np.log(2 * 5 + 3 * 7), rel=1e-15)
    assert inside_outside(two, False)[0] == pytest.approx(np.log(2 * 5 + 3 * 7 + 2 * 3), rel=1e-15)
    np.testing.assert_array_equal(argmax(two, True), [2, 0])


@ROOTS
@PATHS
def test_log_partition_near_the_ends_of_the_range(single_root, wide_only):
    scores = np.zeros((4, 4))
    scores[:, 1:3] = 1.5e308
    scores[:, 3] = -1.7e308
    log_z, excess, mu = inside_outside(poison_unread(scores), single_root, wide_only)
    assert log_z == pytest.approx(1.3e308, rel=1e-15)
    assert np.exp(excess) == pytest.approx(7 if single_root else 12, rel=1e-14)
    np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, rtol=1e-14)
    scores[:, 3] = 1.5e308
    assert inside_outside(poison_unread(scores), single_root, wide_only)[0] == np.inf


@PATHS
def test_no_tree_is_an_answer(wide_only):
    cycle = np.full((3, 3), -np.inf)
    cycle[1, 2] = cycle[2, 1] = 1.0
    two_roots = np.full((3, 3), -np.inf)
    two_roots[0, 1:] = 0.0
    crossing = np.full((5, 5), -np.inf)
    crossing[0, 1] = crossing[1, 3] = crossing[4, 2] = crossing[3, 4] = 0.0
    headless = np.zeros((3, 3))
    headless[:, 2] = -np.inf
    for scores, single_root in [(cycle, False), (two_roots, True), (crossing, False), (headless, True)]:
        log_z, excess, mu = inside_outside(scores, single_root, wide_only)
        assert np.isneginf(log_z) and np.isneginf(excess) and not mu.any()
        assert (argmax(scores, single_root) == -1).all()
    assert inside_outside(two_roots, False, wide_only)[0] == 0.0
