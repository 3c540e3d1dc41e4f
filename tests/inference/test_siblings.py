"""Inference with sibling parts against enumeration, against the first-order chart, and against identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spacy_mtt.inference import eisner, siblings
from spacy_mtt.inference.trees import is_projective, is_tree
from tests.inference.siblings_oracle import (
    best_parts,
    enumerate_siblings,
    part_exists,
    parts_of,
    random_problem,
    random_siblings,
    zero_siblings,
)
from tests.oracle import all_trees
from tests.strategies import poison_unread, random_scores, score_matrices

ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])
PATHS = pytest.mark.parametrize("wide_only", [False, True], ids=["any_path", "wide_path"])


def intp(*lengths):
    return np.array(lengths, dtype=np.intp)


def best_tree(scores, parts, single_root):
    return siblings.argmax(scores[None], parts[None], intp(len(scores) - 1), single_root=single_root)[0]


def sums(scores, parts, single_root, wide_only=False):
    """(log Z, excess, mu of arcs, mu of parts) of one sentence, after a look at what every answer must satisfy."""
    n = len(scores) - 1
    log_z, excess, mu_arcs, mu_parts = siblings._inside_outside(
        scores[None], parts[None], intp(n), single_root, with_marginals=True, wide_only=wide_only
    )
    for answer in (log_z, excess, mu_arcs, mu_parts):
        assert not np.isnan(answer).any()
    for mu in (mu_arcs, mu_parts):
        assert (mu >= 0).all() and (mu <= 1 + 1e-12).all()
    assert (mu_parts[0][~part_exists(n)] == 0.0).all() and (mu_parts[0][~(parts > -np.inf)] == 0.0).all()
    assert (mu_arcs[0][~(scores > -np.inf)] == 0.0).all()
    np.testing.assert_allclose(mu_parts.sum(axis=2), mu_arcs, rtol=0, atol=1e-12)
    assert excess.shape == (1, 2) and excess.sum() == excess[0, 0]
    return log_z[0], excess[0, 0], mu_arcs[0], mu_parts[0]


def assert_agree(found, expected, where=""):
    if np.isneginf(expected[0]):
        assert np.isneginf(found[0]) and np.isneginf(found[1]), where
        assert not (found[2].any() or found[3].any()), where
        return
    for x, y in zip(found[:2], expected[:2], strict=True):
        assert abs(x - y) <= 1e-12 * max(1.0, abs(y)), where
    for mu, true_mu in zip(found[2:], expected[2:], strict=True):
        np.testing.assert_allclose(mu, true_mu, rtol=0, atol=1e-12, err_msg=str(where))


def enumerated(truth):
    return truth["log_z"], truth["excess"], truth["mu_arcs"], truth["mu_siblings"]


@st.composite
def problems(draw, max_n=4, scale=20.0):
    scores = draw(score_matrices(max_n=max_n, scale=scale, masked=True))
    n = len(scores) - 1
    elements = st.one_of(st.floats(-scale, scale, width=64), st.just(-np.inf))
    parts = draw(arrays(np.float64, (n + 1,) * 3, elements=elements))
    return scores, np.where(part_exists(n), parts, np.nan)


# ------------------------------------------------------------------------------------- against enumeration


@ROOTS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scale", [1, 30, 300, 3000, 1e6])
@pytest.mark.parametrize("masked", [0.0, 0.2, 0.5])
def test_equals_enumeration(n, scale, masked, single_root):
    rng = np.random.default_rng([n, int(scale), int(masked * 10)])
    for _ in range(4):
        scores, parts = random_problem(rng, n, scale, masked)
        truth = enumerate_siblings(scores, parts, single_root)
        for wide_only in (False, True):
            assert_agree(sums(scores, parts, single_root, wide_only), enumerated(truth), wide_only)
        best = truth["trees"][truth["values"].argmax()] if truth["log_z"] > -np.inf else np.full(n, -1)
        np.testing.assert_array_equal(best_tree(scores, parts, single_root), best)


@ROOTS
def test_equals_enumeration_six_words(single_root):
    scores, parts = random_problem(np.random.default_rng(6), 6, 2.0, 0.1)
    truth = enumerate_siblings(scores, parts, single_root)
    assert_agree(sums(scores, parts, single_root), enumerated(truth))
    best = truth["trees"][truth["values"].argmax()]
    np.testing.assert_array_equal(best_tree(scores, parts, single_root), best)


@ROOTS
@PATHS
@pytest.mark.parametrize("size", [1e9, 1e11, 1e13])
def test_small_differences_between_large_sums_count(size, single_root, wide_only):
    # The sums of score and sibling round away what decides between trees.
    rng = np.random.default_rng(1)
    for n in (2, 4):
        for _ in range(4):
            large = rng.integers(2, size=(n + 1, n + 1)) * size
            scores = poison_unread(np.where(rng.random(large.shape) < 0.5, large, 0.0))
            parts = random_siblings(rng, n) - np.where(rng.random(large.shape) < 0.5, large, 0.0)[:, None, :]
            truth = enumerate_siblings(scores, parts, single_root)
            assert_agree(sums(scores, parts, single_root, wide_only), enumerated(truth), scores)


@ROOTS
@PATHS
@pytest.mark.parametrize("size", [1e15, 1e17, 1e100, 1e307])
def test_large_scores_may_cancel_against_large_siblings(size, single_root, wide_only):
    rng = np.random.default_rng(2)
    for n in (2, 4):
        scores = random_scores(rng, n, size)
        parts = np.where(part_exists(n), rng.integers(-3, 4, size=(n + 1,) * 3) * 0.25 - scores[:, None, :], np.nan)
        truth = enumerate_siblings(scores, parts, single_root)
        assert_agree(sums(scores, parts, single_root, wide_only), enumerated(truth), scores)


@given(problems(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_drawn_problems_equal_enumeration(problem, single_root, wide_only):
    truth = enumerate_siblings(*problem, single_root)
    assert_agree(sums(*problem, single_root, wide_only), enumerated(truth))
    heads = best_tree(*problem, single_root)
    if truth["log_z"] == -np.inf:
        assert (heads == -1).all()
    else:
        place = (truth["trees"] == heads).all(axis=1).argmax()
        assert (truth["trees"][place] == heads).all()
        assert truth["values"][place] >= truth["values"].max() - 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_nearest_siblings_are_the_parts(n):
    for tree in all_trees(n, False, False):
        nearest = siblings.nearest_siblings(tree)
        found = [(h, r, m) for h, r, m in zip(tree, nearest, range(1, n + 1), strict=True)]
        assert found == parts_of(tree)
    np.testing.assert_array_equal(siblings.nearest_siblings(np.array([1, 0, 3])), [1, 0, 3])


# ------------------------------------------------------------------------------------ against first order


@ROOTS
@PATHS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 30])
@pytest.mark.parametrize("scale", [1, 30, 300, 3000])
def test_zero_siblings_are_first_order(n, scale, single_root, wide_only):
    scores = random_scores(np.random.default_rng([n, scale]), n, scale)
    parts = zero_siblings(n)
    log_z, excess, mu = eisner.marginals(scores[None], intp(n), single_root=single_root)
    found = sums(scores, parts, single_root, wide_only)
    assert_agree((*found[:3], found[2]), (log_z[0], excess[0], mu[0], mu[0]))
    first_order = eisner.argmax(scores[None], intp(n), single_root=single_root)[0]
    np.testing.assert_array_equal(best_tree(scores, parts, single_root), first_order)


@ROOTS
@PATHS
@pytest.mark.parametrize("scale", [1, 3000])
def test_scores_may_move_between_arcs_and_parts(scale, single_root, wide_only):
    rng = np.random.default_rng(scale)
    scores, parts = random_problem(rng, 21, scale, 0.05)
    scores, parts = np.round(scores * 1024) / 1024, np.round(parts * 1024) / 1024
    moved = np.round(rng.normal(size=scores.shape) * 100 * scale) / 1024  # all sums are exact
    shifted = np.ascontiguousarray(parts - moved[:, None, :])
    expected = sums(scores, parts, single_root, wide_only)
    for found, other in zip(sums(scores + moved, shifted, single_root, wide_only), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(
        best_tree(scores + moved, shifted, single_root), best_tree(scores, parts, single_root)
    )


# ---------------------------------------------------------------------------------------------- identities


@given(st.integers(1, 12), st.sampled_from([1.0, 30.0, 1e3, 1e6]), st.integers(0, 999), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=60)
def test_marginals_sum_to_one(n, scale, seed, single_root, wide_only):
    scores, parts = random_problem(np.random.default_rng(seed), n, scale)
    log_z, _, mu_arcs, _ = sums(scores, parts, single_root, wide_only)
    np.testing.assert_allclose(mu_arcs[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    root_arcs = mu_arcs[0].sum()
    assert root_arcs == pytest.approx(1.0, abs=1e-12) if single_root else root_arcs >= 1 - 1e-12
    heads = best_tree(scores, parts, single_root)
    assert is_tree(heads, single_root=single_root) and is_projective(heads)
    h, r, m = np.array(parts_of(heads)).T
    assert scores[h, m].sum() + parts[h, r, m].sum() <= log_z + 1e-12 * n * scale


@ROOTS
@PATHS
def test_marginals_are_the_gradient(single_root, wide_only):
    n, step = 5, 1e-5
    problem = random_problem(np.random.default_rng(3), n, 2.0)
    *_, mu_arcs, mu_parts = sums(*problem, single_root, wide_only)
    for which, mu in ((0, mu_arcs), (1, mu_parts)):
        for place in np.argwhere(~np.isnan(problem[which])):
            log_z = []
            for change in (step, -step):
                changed = [table.copy() for table in problem]
                changed[which][tuple(place)] += change
                log_z.append(sums(*changed, single_root)[0])
            slope = (log_z[0] - log_z[1]) / (2 * step)
            assert slope == pytest.approx(mu[tuple(place)], abs=1e-9), place


@PATHS
def test_reversing_the_words(wide_only):
    scores, parts = random_problem(np.random.default_rng(4), 13, 3.0, 0.1)
    mirror = np.r_[0, 13:0:-1]
    log_z, excess, mu_arcs, mu_parts = sums(scores, parts, True, wide_only)
    assert log_z > -np.inf
    two, three = np.ix_(mirror, mirror), np.ix_(mirror, mirror, mirror)
    found = sums(np.ascontiguousarray(scores[two]), np.ascontiguousarray(parts[three]), True, wide_only)
    assert_agree(found, (log_z, excess, mu_arcs[two], mu_parts[three]))


@ROOTS
def test_forbidden_parts_and_arcs_stay_out(single_root):
    rng = np.random.default_rng(5)
    scores, parts = random_problem(rng, 12)
    heads = best_tree(scores, parts, single_root)
    h, r, m = np.array(parts_of(heads)).T
    for place in range(12):
        without = parts.copy()
        without[h[place], r[place], m[place]] = -np.inf
        other = best_tree(scores, without, single_root)
        assert [h[place], r[place], m[place]] not in np.array(parts_of(other)).tolist()
        assert sums(scores, without, single_root)[3][h[place], r[place], m[place]] == 0.0


# ------------------------------------------------------------------------------------------ range of doubles


def rejected(scores, parts, single_root):
    out = np.zeros(1, dtype=np.uint8)
    n = len(scores) - 1
    nothing = np.zeros((0, n + 1, n + 1)), np.zeros((0, n + 1, n + 1, n + 1))
    siblings._siblings.inside_outside(
        scores[None], parts[None], intp(n), single_root, np.zeros(1), np.zeros((1, 2)), *nothing, out
    )
    return bool(out[0])


@ROOTS
def test_plain_doubles_are_used_where_they_suffice_and_only_there(single_root):
    rng = np.random.default_rng(1)
    assert not rejected(*random_problem(rng, 30, 5.0), single_root)
    assert rejected(*random_problem(rng, 20, 1000.0), single_root)
    scores, parts = random_problem(rng, 3)
    assert not rejected(scores + 1e12, parts - 1e12, single_root)  # the best sums are small
    assert rejected(scores + 1e13, parts, single_root)
    scores[:, 2] = -np.inf
    assert rejected(scores, parts, single_root)


@ROOTS
def test_paths_agree_where_plain_doubles_end(single_root):
    scores, parts = random_problem(np.random.default_rng(8), 4)
    taken = set()
    for by in np.linspace(300, 720, 43):
        for lower_parts in (False, True):
            changed = scores.copy(), parts.copy()
            changed[lower_parts][0] -= by
            taken.add(rejected(*changed, single_root))
            truth = enumerate_siblings(*changed, single_root)
            assert_agree(sums(*changed, single_root), enumerated(truth), by)
            assert_agree(sums(*changed, single_root, True), enumerated(truth), by)
    assert taken == {False, True}


@ROOTS
def test_both_paths_agree_on_long_sentences(single_root):
    scores, parts = random_problem(np.random.default_rng(60), 61, 1.0, 0.1)
    found, wide = sums(scores, parts, single_root), sums(scores, parts, single_root, True)
    for x, y in zip(found, wide, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=0)


@ROOTS
@PATHS
def test_sums_near_the_ends_of_the_range(single_root, wide_only):
    scores, parts = np.zeros((4, 4)), np.zeros((4, 4, 4))
    scores[:, 1:3] = parts[..., 1:3] = 1.5e308
    scores[:, 3] = parts[..., 3] = -1.7e308
    parts[:, :, 2] = -1.5e308
    scores, parts = poison_unread(scores), np.where(part_exists(3), parts, np.nan)
    log_z, excess, mu, _ = sums(scores, parts, single_root, wide_only)
    assert log_z == pytest.approx(-0.4e308, rel=1e-15)  # 3.0 + 0.0 - 3.4
    assert np.exp(excess) == pytest.approx(7 if single_root else 12, rel=1e-14)
    np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, rtol=1e-14)
    assert sums(np.abs(scores), np.abs(parts), single_root, wide_only)[0] == np.inf


# ------------------------------------------------------------------------------------------------ the best tree


def first_by_rule(trees, single_root):
    """Of the tied trees (T, n), the one that the docstring of argmax names."""

    def modifiers(tree, head, i, j):
        return [m for m in range(i, j + 1) if tree[m - 1] == head]

    def owner(tree, word, i, j):
        while word not in (i, j):
            word = tree[word - 1]
        return word

    choices = {
        "right": lambda tree, i, j: max(modifiers(tree, i, i + 1, j)),
        "left": lambda tree, i, j: min(modifiers(tree, j, i, j - 1)),
        "arc_right": lambda tree, i, j: max(modifiers(tree, i, i + 1, j - 1), default=0),
        "arc_left": lambda tree, i, j: min(modifiers(tree, j, i + 1, j - 1), default=0),
        "between": lambda tree, i, j: max(m for m in range(i, j) if owner(tree, m, i, j) == i),
    }
    n = trees.shape[1]
    spans = [("right", 0, n)]
    if single_root:
        root = min(list(tree).index(0) + 1 for tree in trees)
        trees = trees[trees[:, root - 1] == 0]
        spans = [("left", 1, root), ("right", root, n)]
    while spans:
        kind, i, j = spans.pop()
        if i == j:
            continue
        found = np.array([choices[kind](tree, i, j) for tree in trees])
        r = found.min()
        trees = trees[found == r]
        spans += {
            "right": [("arc_right", i, r), ("right", r, j)],
            "left": [("left", i, r), ("arc_left", r, j)],
            "arc_right": [("arc_right", i, r), ("between", r, j)] if r else [("left", i + 1, j)],
            "arc_left": [("between", i, r), ("arc_left", r, j)] if r else [("right", i, j - 1)],
            "between": [("right", i, r), ("left", r + 1, j)],
        }[kind]
    assert len(trees) == 1
    return trees[0]


@ROOTS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_ties_follow_the_stated_rule(n, single_root):
    rng = np.random.default_rng(n)
    for levels in (1, 2, 3):
        for _ in range(8):
            scores = poison_unread(rng.integers(levels, size=(n + 1,) * 2).astype(float))
            parts = np.where(part_exists(n), rng.integers(levels, size=(n + 1,) * 3), np.nan)
            truth = enumerate_siblings(scores, parts, single_root)
            tied = truth["trees"][truth["values"] == truth["values"].max()]
            np.testing.assert_array_equal(best_tree(scores, parts, single_root), first_by_rule(tied, single_root))


@ROOTS
@pytest.mark.parametrize("size", [1e-300, 1e15, 1e290, 1e300, 1.7e308])
def test_best_tree_at_any_size(size, single_root):
    rng = np.random.default_rng(17)
    for n in (1, 2, 3, 4):
        for _ in range(5):
            scores = poison_unread(rng.uniform(-1, 1, size=(n + 1,) * 2))
            parts = np.where(part_exists(n), rng.uniform(-1, 1, size=(n + 1,) * 3), np.nan)
            parts[rng.random(parts.shape) < 0.2] = -np.inf
            expected = best_tree(scores, parts, single_root)
            np.testing.assert_array_equal(best_tree(scores * size, parts * size, single_root), expected)


@ROOTS
def test_best_tree_of_long_sentences(single_root):
    n = 61
    words = np.arange(1, n + 1)
    flat = np.where(words == 30, 0, 30)
    down_to_the_right, down_to_the_left = words - 1, np.r_[words[1:], 0]
    inwards = np.where(words <= n // 2, n + 1 - words, n - words)  # 0 -> n -> 1 -> n-1 -> 2 -> ...
    for heads in (flat, down_to_the_right, down_to_the_left, inwards):
        scores, parts = poison_unread(np.zeros((n + 1, n + 1))), zero_siblings(n)
        h, r, m = np.array(parts_of(heads)).T
        parts[h, r, m] = 1.0
        np.testing.assert_array_equal(best_tree(scores, parts, single_root), heads)
        assert sums(scores, parts * 50, single_root)[3][h, r, m] == pytest.approx(1.0, abs=1e-12)


# --------------------------------------------------------------------------------------------- batches and edges


@ROOTS
@PATHS
def test_padding_and_neighbours_change_no_bit(single_root, wide_only):
    rng = np.random.default_rng(9)
    problems = [random_problem(rng, n, 1000.0 if n == 7 else 1.0, 0.1) for n in (3, 0, 9, 1, 7, 2, 4)]
    longest = 11
    scores = np.full((len(problems), longest + 1, longest + 1), np.nan)
    parts = np.full((len(problems), longest + 1, longest + 1, longest + 1), np.nan)
    for b, (one, two) in enumerate(problems):
        size = len(one)
        scores[b, :size, :size], parts[b, :size, :size, :size] = one, two
    lengths = intp(*(len(one) - 1 for one, _ in problems))
    before = scores.copy(), parts.copy()
    scores.flags.writeable = parts.flags.writeable = lengths.flags.writeable = False
    heads = siblings.argmax(scores, parts, lengths, single_root=single_root)
    log_z, excess, mu_arcs, mu_parts = siblings._inside_outside(
        scores, parts, lengths, single_root, with_marginals=True, wide_only=wide_only
    )
    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(parts, before[1])
    assert heads.dtype == np.intp and heads.shape == (len(problems), longest)
    for b, (one, two) in enumerate(problems):
        size, inside = len(one), slice(len(one))
        alone = sums(one, two, single_root, wide_only)
        assert (log_z[b], excess[b, 0]) == alone[:2]
        np.testing.assert_array_equal(mu_arcs[b, inside, inside], alone[2])
        np.testing.assert_array_equal(mu_parts[b, inside, inside, inside], alone[3])
        assert np.count_nonzero(mu_arcs[b]) == np.count_nonzero(alone[2])
        assert np.count_nonzero(mu_parts[b]) == np.count_nonzero(alone[3])
        np.testing.assert_array_equal(heads[b, : size - 1], best_tree(one, two, single_root))
        assert (heads[b, size - 1 :] == -1).all()


@ROOTS
def test_log_partition_is_that_of_marginals(single_root):
    rng = np.random.default_rng(2)
    scores, parts = map(np.stack, zip(*(random_problem(rng, 6, scale, 0.1) for scale in (1, 100, 3000)), strict=True))
    lengths = intp(6, 5, 6)
    alone = siblings.log_partition(scores, parts, lengths, single_root=single_root)
    full = siblings.marginals(scores, parts, lengths, single_root=single_root)
    for found, expected in zip(alone, full, strict=False):
        np.testing.assert_array_equal(found, expected)


@ROOTS
@PATHS
def test_empty_sentences(single_root, wide_only):
    for batch, size in ((2, 1), (2, 4), (0, 3)):
        scores, parts = np.full((batch, size, size), np.nan), np.full((batch, size, size, size), np.nan)
        lengths = np.zeros(batch, dtype=np.intp)
        answers = siblings._inside_outside(
            scores, parts, lengths, single_root, with_marginals=True, wide_only=wide_only
        )
        assert [answer.shape for answer in answers] == [(batch,), (batch, 2), scores.shape, parts.shape]
        assert not any(answer.any() for answer in answers)
        heads = siblings.argmax(scores, parts, lengths, single_root=single_root)
        assert heads.shape == (batch, size - 1) and (heads == -1).all()


@PATHS
def test_a_single_root_has_no_siblings(wide_only):
    scores, parts = random_problem(np.random.default_rng(11), 6)
    expected = sums(scores, parts, True, wide_only)
    parts[0, 1:] = np.where(part_exists(6)[0, 1:], np.inf, np.nan)  # not read
    for found, other in zip(sums(scores, parts, True, wide_only), expected, strict=True):
        np.testing.assert_array_equal(found, other)
    assert is_tree(best_tree(scores, parts, True), single_root=True)


def test_two_words_by_hand():
    scores = poison_unread(np.log([[1, 2, 3], [1, 1, 5], [1, 7, 1]]))
    parts = zero_siblings(2)
    parts[0, 1, 2], parts[0, 0, 2], parts[1, 1, 2] = np.log([11, 13, 17])
    assert sums(scores, parts, True)[0] == pytest.approx(np.log(2 * 5 * 17 + 3 * 13 * 7), rel=1e-15)
    assert sums(scores, parts, False)[0] == pytest.approx(np.log(2 * 5 * 17 + 3 * 13 * 7 + 2 * 3 * 11), rel=1e-15)
    np.testing.assert_array_equal(best_parts(scores, parts, False), np.log([7, 85]))
